"""Commands: whose they are, and that the quick way to find them finds what ``importlib.metadata`` would."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from treescribe.commands import command_of

POINTS = """\
[console_scripts]
greet = greeting:script

[treescribe.commands]
# a remark
greet = greeting:main

[treescribe]
greeting = greeting
"""
MODULE = """
import sys

WHO = {who!r}

class Nested:
    @staticmethod
    def main(words):
        return main(words)

def main(words):
    print(WHO, *words, "importlib.metadata" in sys.modules)
    return 7
"""


def distribution(who: str, points: str = POINTS) -> dict[str, str]:
    """The files of a distribution that brings the command ``greet``."""
    metadata = "Metadata-Version: 2.1\nName: greeting\nVersion: 1\n"
    return {
        "greeting.py": MODULE.format(who=who),
        "greeting-1.dist-info/METADATA": metadata,
        "greeting-1.dist-info/entry_points.txt": points,
    }


def in_folder(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return str(folder)


def greet(*path: str) -> tuple[int, str]:
    """What ``treescribe greet a --b`` does where these folders come first on the module path."""
    script = f"import sys; sys.path[:0] = {list(path)!r}; sys.argv = ['treescribe', 'greet', 'a', '--b']\n"
    command = [sys.executable, "-c", script + "from treescribe.cli import main; main()"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_a_command_takes_the_other_words_and_gives_the_exit_code(tmp_path: Path) -> None:
    assert greet(in_folder(tmp_path, distribution("one"))) == (7, "one a --b False\n")


def test_the_first_on_the_path_has_the_name(tmp_path: Path) -> None:
    first, second = (in_folder(tmp_path / who, distribution(who)) for who in ("first", "second"))
    assert greet(first, second) == (7, "first a --b False\n")
    assert greet(second, first) == (7, "second a --b False\n")


def test_a_command_of_an_archive_is_found_too(tmp_path: Path) -> None:
    archive = tmp_path / "greeting.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name, text in distribution("zipped").items():
            file.writestr(name, text)
    assert greet(str(archive)) == (7, "zipped a --b True\n")


def test_a_command_that_is_a_member_of_something_is_found_too(tmp_path: Path) -> None:
    points = POINTS.replace("greeting:main", "greeting:Nested.main")
    assert greet(in_folder(tmp_path, distribution("nested", points))) == (7, "nested a --b True\n")


@pytest.mark.parametrize("word", ["greet", "test", "history.list", "--version", "../x", ""])
def test_what_is_no_command_is_none(word: str) -> None:
    assert command_of(word) is None


@pytest.mark.parametrize("word", ["exec", "mcp"])
def test_treescribes_own_are_commands(word: str) -> None:
    assert command_of(word) is not None
