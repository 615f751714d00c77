"""What authors of plugins test with, used as they use it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from treescribe import hookimpl
from treescribe.events import CommandFinished, LogMessage, Output, RunFinished, TaskFinished, TestFinished
from treescribe.testing import Events, ObservedRun, RecordedRun, Witness, host_of, operation, treescribe
from treescribe.workspace import Workspace

TWO = Events(
    [
        TestFinished(at=1, suite="s", test="one", status="passed"),
        TestFinished(at=2, suite="s", test="two", status="failed", message="assert 1 == 2"),
    ]
)
TASKS = """
from invoke import task

@task
def check(c):
    c.run("test ! -e dust")
"""


def test_events_are_found_by_class_and_fields() -> None:
    assert TWO.types() == ["TestFinished", "TestFinished"]
    assert [event.test for event in TWO.of(TestFinished)] == ["one", "two"]
    assert TWO.of(TestFinished, status="failed", test="one") == TWO.of(RunFinished) == []
    assert TWO.one(TestFinished, status="failed").test == "two"


def test_facts_are_those_of_the_events_in_order_or_of_one_kind() -> None:
    assert [fact.key for fact in TWO.facts()] == [("", "s", "one"), ("", "s", "two")]
    assert TWO.facts("suite") == []


@pytest.mark.parametrize(
    ("cls", "fields", "message"),
    [
        (
            TestFinished,
            {"test": "three"},
            "0 events are TestFinished(test='three'), not 1.\n"
            "Every TestFinished:\n"
            '  {"type": "TestFinished", "at": 1, "suite": "s", "test": "one", "status": "passed"}\n'
            '  {"type": "TestFinished", "at": 2, "suite": "s", "test": "two", "status": "failed", '
            '"message": "assert 1 == 2"}',
        ),
        (LogMessage, {}, "0 events are LogMessage(), not 1.\nThere is no LogMessage among: TestFinished, TestFinished"),
    ],
)
def test_an_event_that_is_not_there_is_told_with_those_that_are(cls: Any, fields: Any, message: str) -> None:
    with pytest.raises(AssertionError) as raised:
        TWO.one(cls, **fields)
    assert str(raised.value) == message


def test_two_events_are_not_one() -> None:
    with pytest.raises(AssertionError, match=r"^2 events are TestFinished\(suite='s'\), not 1\."):
        TWO.one(TestFinished, suite="s")


def test_a_command_is_recorded_and_read_back(recorded_run: Callable[..., RecordedRun]) -> None:
    run = recorded_run("exec", "--", "sh", "-c", "echo $WORD; exit 3", env={"WORD": "hello"})
    assert (run.exit_code, run.stdout, run.id) == (3, "hello\n", 1)
    assert run.events.types() == ["RunStarted", "CommandStarted", "Output", "CommandFinished", "RunFinished"]
    assert [fact.kind for fact in run.facts] == ["command"]


def test_tasks_are_recorded_and_two_runs_compared(
    treescribe_workspace: Workspace, recorded_run: Callable[..., RecordedRun]
) -> None:
    (treescribe_workspace.root / "tasks.py").write_text(TASKS)
    clean = recorded_run("check")
    assert clean.events.one(TaskFinished, name="check").status == "passed"
    assert clean.diff(recorded_run("check"))["identical"] is True
    (treescribe_workspace.root / "dust").touch()
    dusty = recorded_run("check")
    assert [task["name"] for task in clean.diff(dusty)["tasks"]] == ["check"]


def test_of_runs_below_one_another_the_outermost_is_returned(recorded_run: Callable[..., RecordedRun]) -> None:
    run = recorded_run("exec", "--", "sh", "-c", "treescribe exec -- false; true")
    assert run.id == 1
    assert run.events.one(RunFinished).exit_code == 0


def test_where_nothing_is_recorded_there_are_no_events(recorded_run: Callable[..., RecordedRun]) -> None:
    run = recorded_run("history.list")
    assert (run.exit_code, run.id, run.events) == (0, None, [])


def test_nothing_around_a_test_reaches_what_it_runs(
    treescribe_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TREESCRIBE_DISABLE_PLUGINS", "history")
    assert treescribe(treescribe_workspace.root, "history.list").returncode == 0


def test_an_operation_returns_what_it_prints_as_json(treescribe_workspace: Workspace) -> None:
    assert operation(treescribe_workspace.root, "history.list")["runs"] == []
    with pytest.raises(AssertionError, match=r"treescribe history.show ended with 2:\ntreescribe: no run"):
        operation(treescribe_workspace.root, "history.show", "7")


def test_a_run_is_observed_with_plugins_at_hand(observed_run: Callable[..., ObservedRun]) -> None:
    witness = Witness()
    observed = observed_run(witness)
    observed.command("make", stdout="built\n", stderr="slowly\n", exit_code=2)
    assert [event.text for event in observed.events.of(Output)] == ["built\n", "slowly\n"]
    assert observed.finish(exit_code=2).one(RunFinished).outcome == "failed"
    assert observed.events.one(CommandFinished, line="make").exit_code == 2
    assert witness.events == observed.events
    assert witness.calls == ["run_started", *observed.events.types(), "run_finished"]


def test_a_hook_that_fails_is_told_in_the_observed_run(observed_run: Callable[..., ObservedRun]) -> None:
    class Failing:
        @hookimpl
        def treescribe_run_finishing(self) -> None:
            raise KeyError("name")

    observed = observed_run(Failing())
    assert "KeyError: 'name'" in observed.finish().one(LogMessage).message


def test_a_plugin_that_cannot_be_used_is_refused() -> None:
    plugin = ModuleType("acme")
    plugin.treescribe_evnt = hookimpl(lambda run: None, specname="treescribe_evnt")  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="there is no hook treescribe_evnt"):
        host_of(plugin)
