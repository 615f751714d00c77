"""Projects to measure in: real git worktrees in throw-away folders, with invoke's tasks and pytest's tests."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pairs import environment

TASKS = """\
import os

from invoke import task


@task
def second(c):
    \"\"\"Take a second.\"\"\"
    c.run("sleep 1")


@task
def output(c, size):
    \"\"\"Print so many bytes.\"\"\"
    c.run(f"head -c {size} output.txt")


@task
def test(c):
    \"\"\"Run the tests.\"\"\"
    c.run("pytest -q")
"""

RECORDED = "tasks: {executor_class: treescribe.Executor}\n"
"""The configuration that has plain ``inv`` record."""

TESTS_PER_FILE = 100
_PLAIN_TEST = """\

def test_order_{number:05d}_is_priced_with_its_discount():
    assert {number} + 1 == {number} - -1
"""


@contextmanager
def throw_away_folder() -> Iterator[Path]:
    """A folder that is gone after the block."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        yield Path(folder).resolve()


def new_project(folder: Path, *, recorded: bool = False, tests: int = 0) -> Path:
    """Create a worktree in `folder`: with `tasks.py`, so many tests that pass, and, recorded, the configuration."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, env=environment(), check=True)
    (folder / "tasks.py").write_text(TASKS)
    if recorded:
        (folder / "invoke.yaml").write_text(RECORDED)
    for first in range(0, tests, TESTS_PER_FILE):
        numbers = range(first, min(first + TESTS_PER_FILE, tests))
        _write_tests(folder / "tests" / f"test_orders_{first // TESTS_PER_FILE:03d}.py", numbers)
    return folder


def _write_tests(path: Path, numbers: range) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(_PLAIN_TEST.format(number=number) for number in numbers))


def break_tests(folder: Path, numbers: range) -> None:
    """Have a project's tests of these numbers fail."""
    for number in numbers:
        path = folder / "tests" / f"test_orders_{number // TESTS_PER_FILE:03d}.py"
        path.write_text(path.read_text().replace(f"assert {number} + 1 ==", f"assert {number} + 2 =="))


def history_of(folder: Path) -> list[Path]:
    """The transcripts of a project, the oldest first."""
    return sorted((folder / ".treescribe" / "history").glob("*.jsonl"), key=lambda path: int(path.stem))
