"""Each operation of treescribe, on the command line, in a worktree with a run that passed and one that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from treescribe.testing import operation, record, treescribe
from treescribe.workspace import Workspace

TASKS = """
from invoke import task

@task
def check(c):
    c.run("test ! -e dust")
"""


@pytest.fixture
def worktree(treescribe_workspace: Workspace) -> Path:
    """Run 1 passed, run 2 failed."""
    (treescribe_workspace.root / "tasks.py").write_text(TASKS)
    record(treescribe_workspace.root, "check")
    (treescribe_workspace.root / "dust").touch()
    record(treescribe_workspace.root, "check")
    return treescribe_workspace.root


CASES: list[tuple[str, tuple[str, ...], str, Any]] = [
    ("history.list", (), "runs.0.run", 2),
    ("history.show", ("1",), "outcome", "passed"),
    ("history.diff", ("1", "2"), "tasks.0.name", "check"),
    ("history.timing", ("1", "2"), "target.run", 2),
    ("history.summary", ("2",), "outcome", "failed"),
    ("history.pin", ("1", "good"), "name", "good"),
    ("history.unpin", ("good",), "name", "good"),
    ("init", (), "changed", True),
    ("job.list", (), "total", 0),
    ("job.start", ("--command", "true"), "what", "true"),
    ("job.status", ("1", "--wait", "60"), "job.exit_code", 0),
    ("job.stop", ("1",), "job.job", 1),
    ("plugins", (), "summary", "6 plugins, all in use"),
    ("targets", (), "targets.0.name", "check"),
    ("workspace.status", (), "parts.history.last.run", 2),
]

BEFORE = {
    "history.unpin": ("history.pin", "1", "good"),
    "job.status": ("job.start", "--command", "true"),
    "job.stop": ("job.start", "--command", "true"),
}
"""What has to be there first."""


@pytest.mark.parametrize(("name", "words", "member", "value"), CASES, ids=[case[0] for case in CASES])
def test_an_operation_answers_in_json_and_in_words(
    name: str, words: tuple[str, ...], member: str, value: Any, worktree: Path
) -> None:
    if name in BEFORE:
        operation(worktree, *BEFORE[name])
    found = operation(worktree, name, *words)
    for part in member.split("."):
        found = found[int(part) if part.isdecimal() else part]
    assert found == value
    if name in BEFORE:
        operation(worktree, *BEFORE[name])
    told = treescribe(worktree, name, *words)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.strip()
