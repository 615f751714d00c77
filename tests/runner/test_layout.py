"""Who may import whom: plugins import the host, the host imports no plugin, and no plugin another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOST = ROOT / "runner" / "treescribe"
PLUGINS = sorted(path for path in (ROOT / "plugins").iterdir() if path.is_dir() and path.name.startswith("treescribe_"))


def imported(file: Path) -> Iterator[str]:
    """The top-level packages that a module imports anywhere, for types only too, or names as ``module:function``."""
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (
                str(part.value).partition(".")[0] for part in node.args if isinstance(part, ast.Constant) and part.value
            )


def plugins_imported(folder: Path) -> set[tuple[str, str]]:
    names = {plugin.name for plugin in PLUGINS}
    return {
        (str(file.relative_to(ROOT)), name)
        for file in sorted(folder.rglob("*.py"))
        for name in imported(file)
        if name in names and name != folder.name
    }


def test_there_are_plugins() -> None:
    assert {plugin.name for plugin in PLUGINS} >= {"treescribe_history", "treescribe_pytest"}


def test_the_host_imports_no_plugin() -> None:
    assert plugins_imported(HOST) == set()


def test_the_host_names_no_plugin_in_an_operation() -> None:
    named = [
        (file.name, plugin.name)
        for file in HOST.rglob("*.py")
        for plugin in PLUGINS
        if f"{plugin.name}." in file.read_text() or f"{plugin.name}:" in file.read_text()
    ]
    assert named == []


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_a_plugin_imports_no_other_plugin(plugin: Path) -> None:
    assert plugins_imported(plugin) == set()


@pytest.mark.parametrize("folder", [HOST, *PLUGINS], ids=lambda folder: folder.name)
def test_every_module_says_what_it_is_for(folder: Path) -> None:
    silent = [file for file in folder.rglob("*.py") if not ast.get_docstring(ast.parse(file.read_text()))]
    assert silent == []


def test_what_tests_stand_on_is_imported_by_nothing_else() -> None:
    files = [file for folder in (HOST, *PLUGINS) for file in folder.rglob("*.py")]
    importing = [file.name for file in files if "treescribe.testing" in file.read_text()]
    assert importing == ["testing.py"], "it imports pytest, which is installed only where tests are"
