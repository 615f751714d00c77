"""A run within a run: it knows its parent, and its events are its parent's too."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import pytest
from support import OWN_SPOOL, below, new_run, python
from treescribe.codec import Codec
from treescribe.errors import LockTimeout
from treescribe.events import (
    CommandFinished,
    CommandStarted,
    Event,
    OperationFinished,
    Output,
    RunFinished,
    RunStarted,
    TaskFinished,
    TaskStarted,
    TestFinished,
)
from treescribe.locks import try_lock
from treescribe.nested import PARENT_VARIABLE, Forwarder, NestedRuns, Parent, parent_of_this_process
from treescribe.request import Outcome
from treescribe.spool import SPOOL_VARIABLE
from treescribe.testing import Witness
from treescribe.workspace import Workspace
from treescribe.workspace_lock import WorkspaceLock

NESTED = """
import os, sys
from treescribe.events import TaskFinished, TaskStarted, TestFinished
from treescribe.host import Host
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.workspace import Workspace

run = Run(Workspace.open(sys.argv[1]), RunRequest(backend="invoke", targets=("inner",)), host=Host([]))
run.start()
outer = run.next_number()
run.emit(TaskStarted(task=outer, name="inner"))
inner = run.next_number()
run.emit(TaskStarted(task=inner, parent=outer, name="inner.most", role="call"))
command = run.command_started("make", task=inner)
run.capture(command, "stdout").feed(b"printed\\n")
run.command_finished(command, "exited", exit_code=2)
run.emit(TestFinished(at=5, suite="s", test="t", status="failed"))
run.emit(TaskFinished(task=inner, name="inner.most", status="failed"))
run.emit(TaskFinished(task=outer, name="inner", status="failed"))
run.finish(Outcome("failed", 2))
print(run.parent)
"""


def test_a_real_nested_run_forwards_what_it_did_under_numbers_of_its_parent(workspace: Workspace) -> None:
    witness = Witness()
    run = new_run(workspace, witness)
    run.start()
    ours = run.next_number()
    run.emit(TaskStarted(task=ours, name="outer"))
    environment = run.environment(os.environ)
    commands = []
    for _ in range(2):
        commands.append(run.command_started("treescribe inner"))
        printed = python(NESTED, workspace.root, env=environment).stdout
        run.command_finished(commands[-1], "exited", exit_code=2)
    run.finish(Outcome("failed", 2))
    assert printed == f"Parent(run=None, workspace={str(workspace.root)!r})\n"

    assert [event.name for event in witness.events.of(TaskStarted)] == ["outer", *["inner", "inner.most"] * 2]
    numbers = [event.task for event in witness.events.of(TaskStarted)]
    numbers += [event.command for event in witness.events.of(CommandStarted)]
    assert len(set(numbers)) == len(numbers), "no number is given twice"
    for outer, inner in ((1, 2), (3, 4)):
        assert witness.events.of(TaskStarted)[inner].parent == witness.events.of(TaskStarted)[outer].task
    nested = [event for event in witness.events.of(CommandStarted) if event.line == "make"]
    assert [event.task for event in nested] == [numbers[2], numbers[4]]
    ended = [event.command for event in witness.events.of(CommandFinished) if event.line == "make"]
    assert ended == [event.command for event in nested]
    assert [event.task for event in witness.events.of(TaskFinished)] == [numbers[2], numbers[1], numbers[4], numbers[3]]
    assert [event.at for event in witness.events.of(TestFinished)] == [5, 5], "it keeps the time that it happened at"
    assert len(witness.events.of(RunStarted)) == len(witness.events.of(RunFinished)) == 1
    assert witness.events.of(Output) == [], "what it printed is the command's output already"
    types = witness.events.types()
    assert types.index("TestFinished") < types.index("CommandFinished", types.index("TestFinished"))
    assert not run.verdict.ok


def test_a_nested_run_does_not_wait_for_its_ancestors_lock(workspace: Workspace) -> None:
    """It would wait for ever behind somebody who waits for the ancestor."""
    run = new_run(workspace)
    run.start()
    environment = run.environment(os.environ)
    with pytest.raises(LockTimeout):
        WorkspaceLock(workspace, shared=False, holder="x", timeout=0).acquire()
    with (workspace.state / "lock.gate").open("r+b") as gate:
        assert try_lock(gate.fileno()), "as one that waits would hold it"
        python(NESTED, workspace.root, env=environment)
    run.finish(Outcome("passed", 0))


@pytest.mark.parametrize(
    ("text", "parent"),
    [
        (Parent(12, "/ws").text(), Parent(12, "/ws")),
        (Parent(None, "/caf\udce9").text(), Parent(None, "/caf\udce9")),
        ("", None),
        ("nonsense", None),
        ("[]", None),
        ("5", None),
        ('{"run": 1}', None),
    ],
)
def test_the_parent_is_read_from_the_environment(text: str, parent: Parent | None) -> None:
    assert parent_of_this_process({PARENT_VARIABLE: text, SPOOL_VARIABLE: str(OWN_SPOOL.folder)}) == parent


def test_a_run_that_has_ended_is_nobodys_parent(workspace: Workspace) -> None:
    """A server that a task left behind hands its environment on to whoever is started from it."""
    run = new_run(workspace)
    run.start()
    environment = run.environment({})
    assert parent_of_this_process(environment) == Parent(None, str(workspace.root))
    run.finish(Outcome("passed", 0))
    assert parent_of_this_process(environment) is None


def test_without_a_parent_nothing_is_forwarded() -> None:
    assert parent_of_this_process({}) is None
    forwarder = Forwarder({}, None, "/ws")
    forwarder.send(TestFinished(suite="s", test="t", status="passed"))
    forwarder.close()


def test_a_parent_that_is_gone_is_no_error(workspace: Workspace) -> None:
    run = new_run(workspace, environment={SPOOL_VARIABLE: str(workspace.root / "gone")})
    run.start()
    run.emit(TestFinished(suite="s", test="t", status="passed"))
    run.finish(Outcome("passed", 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwritable(Event):
    """A third party's event that cannot be written."""

    thing: object


def test_an_event_that_cannot_be_written_does_not_stop_the_others(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = workspace.root / "spool"
    spool.mkdir()
    monkeypatch.setattr(OWN_SPOOL, "folder", spool)
    monkeypatch.setattr("treescribe.nested.is_live", lambda folder: True)
    run = new_run(workspace, environment=below(Parent(1, "/outer")))
    run.start()
    run.emit(Unwritable(thing=object()))
    run.emit(TestFinished(at=1, suite="s", test="t", status="passed"))
    run.finish(Outcome("passed", 0))
    (file,) = spool.iterdir()
    assert file.name.startswith("run-")
    assert [json.loads(line)["type"] for line in file.read_text().splitlines()] == ["LogMessage", "TestFinished"]


class FakeRun:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.number = 100

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def next_number(self) -> int:
        self.number += 1
        return self.number


@pytest.mark.parametrize(
    "record",
    [{}, {"type": 5}, {"type": "TestFinished"}, {"type": "RunFinished", "outcome": "passed"}, {"type": "RunStarted"}],
)
def test_what_a_run_must_not_take_from_below_is_dropped(record: dict[str, Any]) -> None:
    run = FakeRun()
    NestedRuns(run, Codec).record("run-1.jsonl", record)
    assert run.events == []


def test_the_same_number_from_two_runs_is_two_numbers_and_ids_of_engines_stay() -> None:
    run = FakeRun()
    nested = NestedRuns(run, Codec)
    started = {"type": "CommandStarted", "at": 1, "command": 1, "line": "make"}
    finished = {"type": "CommandFinished", "at": 2, "command": 1, "line": "make", "exit_code": 0}
    nested.record("run-1.jsonl", started)
    nested.record("run-2.jsonl", started)
    nested.record("run-1.jsonl", finished)
    nested.record(
        "run-1.jsonl", {"type": "OperationFinished", "operation": "7", "parent": "6", "name": "n", "status": "passed"}
    )
    assert [getattr(event, "command", None) for event in run.events] == [101, 102, 101, None]
    last = run.events[-1]
    assert isinstance(last, OperationFinished)
    assert (last.operation, last.parent) == ("7", "6")


def test_an_event_that_is_not_known_here_is_handed_on_whole() -> None:
    run = FakeRun()
    record = {"type": "Acme", "at": 3, "command": 1}
    NestedRuns(run, Codec).record("run-1.jsonl", record)
    assert [getattr(event, "record", None) for event in run.events] == [record]
