"""Chores: run and recorded for real, compared, listed; and messages read off what commands print."""

from collections.abc import Callable

import pytest
import treescribe_chores.plugin
from treescribe import Workspace
from treescribe.events import Diagnostic, LogMessage
from treescribe.testing import ObservedRun, RecordedRun, operation
from treescribe_chores.events import ChoreFinished


@pytest.fixture
def chores(treescribe_workspace: Workspace) -> Workspace:
    """A worktree with two chores."""
    (treescribe_workspace.root / "chores.txt").write_text("greet: echo hello\nsweep: test ! -e dust\n")
    return treescribe_workspace


def test_chores_are_run_in_order_and_recorded(chores: Workspace, recorded_run: Callable[..., RecordedRun]) -> None:
    run = recorded_run("chores.greet", "chores.sweep")
    assert (run.exit_code, run.stdout) == (0, "hello\n")
    assert [event.chore for event in run.events.of(ChoreFinished, status="passed")] == ["greet", "sweep"]


def test_a_chore_that_fails_makes_a_difference(chores: Workspace, recorded_run: Callable[..., RecordedRun]) -> None:
    clean = recorded_run("chores.sweep")
    (chores.root / "dust").touch()
    dusty = recorded_run("chores.sweep")
    assert dusty.exit_code == 1
    assert dusty.events.one(ChoreFinished, chore="sweep").status == "failed"
    (change,) = clean.diff(dusty)["other"]
    assert (change["kind"], change["key"], change["after"]) == ("chore", ["sweep"], {"status": "failed"})


def test_chores_are_listed(chores: Workspace) -> None:
    assert operation(chores.root, "chores.list", "echo") == {"chores": [{"name": "greet", "line": "echo hello"}]}


def test_messages_become_diagnostics(treescribe_workspace: Workspace, observed_run: Callable[..., ObservedRun]) -> None:
    run = observed_run(treescribe_chores.plugin)
    run.command("check cart.txt", stderr="warning in cart.txt at line 3: no such item [unknown]\n1 warning.\n")
    found = run.events.one(Diagnostic)
    assert found.path == str(treescribe_workspace.root / "cart.txt")
    assert (found.message, found.line, found.code) == ("no such item", 3, "unknown")
    assert run.finish().of(LogMessage) == [], "no hook failed"
