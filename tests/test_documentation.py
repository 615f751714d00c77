"""The documentation says what the code does: every hook, event, operation and setting, and the guide's own example.

Each also has a test of its own: a function ``test_<hook>_…``, or a case, whose id is the name, of the test of events,
operations or settings.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from dataclasses import MISSING, Field, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from treescribe import spec
from treescribe.effects import EFFECTS, effect_of
from treescribe.errors import InvalidInput
from treescribe.events import CATALOGUE, Event
from treescribe.foreign import fact_of
from treescribe.host import host
from treescribe.operation import Operation
from treescribe.settings import Settings, load_settings

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "plugins" / "README.md"
EXAMPLE = Path(__file__).parent / "example_plugin"

HOOKS = {name: hook for name, hook in vars(spec).items() if name.startswith("treescribe_")}
OPERATIONS = [name for name in host().operations() if name in EFFECTS]


def settings_keys() -> list[str]:
    """Every key, as treescribe names them to somebody who gave another."""
    with pytest.raises(InvalidInput) as raised:
        Settings.read({"no such key": 1})
    return re.findall(r"[a-z_.]*[a-z]", raised.value.hint.removeprefix("Known: "))


def default_of(key: str) -> Any:
    """A setting's default: ``history.keep`` is the field ``history_keep``, or ``keep`` of the field ``history``."""
    settings: Any = Settings()
    whole = key.replace(".", "_").replace("-", "_")
    if hasattr(settings, whole):
        return getattr(settings, whole)
    for part in key.split("."):
        settings = getattr(settings, part)
    return settings


# -- rows of the guide's tables -------------------------------------------------------------------------------


def hook_row(name: str) -> str:
    """The beginning of a hook's row: its signature and what it may return."""
    signature = inspect.signature(HOOKS[name])
    found = re.fullmatch(r"Sequence\[(.*)\] \| None", signature.return_annotation)
    one = signature.return_annotation.removesuffix(" | None")
    returned = f"a list of `{found[1]}`, or None" if found else "nothing" if one == "None" else f"a `{one}`, or None"
    return f"| `{name}({', '.join(signature.parameters)})` | {returned} |"


def event_row(cls: type[Event]) -> str:
    """The whole row of an event: its fields with their defaults, the kind of its fact, and what it says."""
    told = ", ".join(f"`{field_text(field)}`" for field in fields(cls) if field.name != "at")
    required = {field.name: given(field) for field in fields(cls) if field.default is MISSING}
    fact = fact_of(cls(**required))
    says = (inspect.getdoc(cls) or "").partition("\n")[0]
    return f"| `{cls.type}` | {told} | {f'`{fact.kind}`' if fact else ''} | {says} |"


def field_text(field: Field[Any]) -> str:
    if field.default is MISSING:
        return field.name
    default = str(field.default) if isinstance(field.default, str) else field.default  # of a status, its text
    return f"{field.name}={default!r}"


def given(field: Field[Any]) -> Any:
    return 1 if field.type == "int" else "x"


def operation_row(operation: Operation) -> str:
    """The whole row of an operation: its parameters with their defaults, and its effect."""
    parameters = [
        name if parameter.default is inspect.Parameter.empty else f"{name}={parameter.default!r}"
        for name, parameter in operation.parameters().items()
    ]
    told = ", ".join(f"`{parameter}`" for parameter in parameters)
    return f"| `{operation.name}` | {told} | {effect_of(operation.name).kind} | {operation.help} |"


def setting_row(key: str) -> str:
    """The beginning of a setting's row: its key and its default, as YAML."""
    default = default_of(key)
    return f"| `{key}` | `{default if isinstance(default, str) else json.dumps(default)}` |"


def assert_in_guide(row: str, table: str) -> None:
    lines = GUIDE.read_text().splitlines()
    assert any(line.startswith(row) for line in lines), (
        f"the table of {table} in {GUIDE.relative_to(ROOT)} needs a line that begins with:\n{row}"
    )


# -- documented -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_stands_in_the_guide_with_its_signature_and_answer(name: str) -> None:
    assert_in_guide(hook_row(name), "hooks")


@pytest.mark.parametrize("cls", CATALOGUE, ids=lambda cls: cls.type)
def test_an_event_stands_in_the_guide_with_its_fields_and_fact(cls: type[Event]) -> None:
    assert_in_guide(event_row(cls), "events")


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_stands_in_the_guide_with_its_parameters_and_effect(name: str) -> None:
    assert_in_guide(operation_row(host().operations()[name]), "operations")


@pytest.mark.parametrize("key", settings_keys())
def test_a_setting_stands_in_the_guide_with_its_default(key: str) -> None:
    assert_in_guide(setting_row(key), "settings")


def test_the_tables_name_nothing_that_is_not_there() -> None:
    rows = re.findall(r"^\| `([\w.]+)[`(]", GUIDE.read_text(), re.MULTILINE)
    known = {*HOOKS, *(cls.type for cls in CATALOGUE), *OPERATIONS, *settings_keys()}
    assert [name for name in rows if name not in known] == []


def test_the_settings_of_the_readme_are_the_defaults(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(treescribe:\n.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "invoke.yaml").write_text(block)
    shown, default = load_settings(tmp_path)._asdict(), Settings()._asdict()
    assert {name: value for name, value in shown.items() if default[name]} == {n: d for n, d in default.items() if d}
    missing = [key for key in settings_keys() if not re.search(rf"\b{key.rpartition('.')[2]}:", block)]
    assert missing == [], "the YAML under Settings in README.md lacks these"


def test_the_readme_names_every_operation() -> None:
    texts = [path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "plugins").glob("*/README.md")))]
    told = "\n".join(texts)
    missing = [name for name in EFFECTS if f"treescribe {name}" not in told and f"`{name}`" not in told]
    assert missing == [], "README.md, or the README of the plugin that brings them, has to tell of these"


# -- the example ----------------------------------------------------------------------------------------------


def blocks() -> list[str]:
    """The guide's blocks of code; those without a language show a terminal."""
    return re.findall(r"^```(?:python|toml)\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def example_files() -> list[Path]:
    files = [*EXAMPLE.rglob("*.py"), EXAMPLE / "pyproject.toml"]
    return sorted(path for path in files if path.read_text())


@pytest.mark.parametrize("path", example_files(), ids=lambda path: path.relative_to(EXAMPLE).as_posix())
def test_a_file_of_the_example_stands_in_the_guide_under_its_name(path: Path) -> None:
    name, text = path.relative_to(EXAMPLE).as_posix(), path.read_text()
    language = "python" if path.suffix == ".py" else "toml"
    shown = f"`{name}`:\n\n```{language}\n{text}```\n"
    place = GUIDE.relative_to(ROOT)
    assert shown in GUIDE.read_text(), f"{place} has to show tests/example_plugin/{name} as it is:\n{shown}"


def test_the_guide_shows_no_code_that_is_not_the_examples() -> None:
    texts = [path.read_text() for path in example_files()]
    assert [block for block in blocks() if block not in texts] == []


# -- tested ---------------------------------------------------------------------------------------------------


@cache
def names_of_tests() -> str:
    """The functions and ids of all tests but those in this file, a line each."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert listed.returncode == 0, listed.stdout[-2000:] + listed.stderr
    here = f"tests/{Path(__file__).name}"
    lines = [line for line in listed.stdout.splitlines() if "::" in line and not line.startswith(here)]
    return "\n".join(line.rpartition("::")[2] if "[" not in line else line.partition("::")[2] for line in lines)


@pytest.mark.xdist_group("documentation")  # which lists all tests once
@pytest.mark.parametrize(
    ("test", "where"),
    [
        *((f"test_{name}_", "tests/runner/test_hooks.py: a function of that name") for name in HOOKS),
        *((f"test_an_event_*[{cls.type}]", "CASES in tests/runner/test_catalogue.py") for cls in CATALOGUE),
        *((f"test_an_operation_*[{name}]", "CASES in tests/test_operations.py") for name in OPERATIONS),
        *((f"test_a_setting_*[{key}]", "ONE_BY_ONE in tests/runner/test_settings.py") for key in settings_keys()),
    ],
)
def test_each_has_a_test_that_is_named_after_it(test: str, where: str) -> None:
    pattern = re.escape(test).replace(r"\*", ".*")
    found = re.search(f"^{pattern}", names_of_tests(), re.MULTILINE)
    assert found, f"there is no test {test}…; the place for it: {where}"
