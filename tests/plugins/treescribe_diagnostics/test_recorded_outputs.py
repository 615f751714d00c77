"""What is read off output that was recorded from real compilers and linters.

``recorded/<name>.txt`` is what a command printed through pipes, ``<name>.pty.txt`` what it printed on a terminal, with
colours; ``<name>.expected`` holds the diagnostics, checked by hand against the tool's own count where it gives one. The
worktree stood at /home/ana/shop.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import git
from treescribe.events import CommandStarted, Diagnostic
from treescribe.workspace import Workspace
from treescribe_diagnostics.reader import DiagnosticsReader

RECORDED = Path(__file__).parent / "recorded"
NAMES = sorted(path.stem for path in RECORDED.glob("*.expected"))
ROOT = b"/home/ana/shop"


class Expected:
    """What stands in ``<name>.expected``: where the command ran, then one diagnostic a line."""

    def __init__(self, name: str) -> None:
        first, *self.lines = (RECORDED / f"{name}.expected").read_text().splitlines()
        self.cwd = first.removeprefix("cwd: ")

    @property
    def paths(self) -> set[str]:
        found = (re.match(r"\w+ (.+?):\d+:\d+ ", line) for line in self.lines)
        return {match[1] for match in found if match}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "worktree"
    place.mkdir()
    git(place, "init", "-q")
    return place


def make_files(root: Path, expected: Expected) -> None:
    for name in expected.paths:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (root / expected.cwd).mkdir(parents=True, exist_ok=True)


def read(root: Path, name: str, cwd: str, printed: bytes, size: int) -> list[str]:
    """The diagnostics that are read where the text comes in pieces of `size` lines."""
    command = CommandStarted(command=1, line=name.partition("-")[0], cwd=str(root / cwd))
    reader = DiagnosticsReader(Workspace.open(root), command, report=pytest.fail)
    text = printed.replace(ROOT, str(root).encode()).decode(errors="replace")
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    events = [
        event
        for start in range(0, len(lines), size)
        for event in reader.read("stdout", "".join(lines[start : start + size]))
    ]
    return [shown(event, root) for event in (*events, *reader.end()) if isinstance(event, Diagnostic)]


def shown(found: Diagnostic, root: Path) -> str:
    path = found.path.removeprefix(f"{root}/")
    place = f"{found.severity} {path}:{found.line}:{found.column}"
    return f"{place} {found.tool or '-'} {found.code or '-'} {found.message}"


@pytest.mark.parametrize("size", [1, 7, 100_000], ids=["line by line", "in pieces", "at once"])
@pytest.mark.parametrize("name", NAMES)
def test_diagnostics_are_those_that_the_tool_printed(root: Path, name: str, size: int) -> None:
    expected = Expected(name)
    make_files(root, expected)
    assert read(root, name, expected.cwd, (RECORDED / f"{name}.txt").read_bytes(), size) == expected.lines


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_makes_no_difference(root: Path, name: str) -> None:
    """Colours, carriage returns, progress bars; standard error may come elsewhere between the lines."""
    expected = Expected(name)
    make_files(root, expected)
    printed = (RECORDED / f"{name}.pty.txt").read_bytes()
    assert b"\r\n" in printed
    assert sorted(read(root, name, expected.cwd, printed, 3)) == sorted(expected.lines)


TOOLS = {"cargo", "clang", "eslint", "flake8", "gcc", "go", "javac", "maven", "mypy", "pyright", "ruff", "tsc"}


def test_every_tool_is_recorded() -> None:
    assert {name.partition("-")[0] for name in NAMES} == TOOLS
