"""A run: the order of everything that happens, and that each event passes one place."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from support import SetClock, eventually, host_with, new_run, python_in_background, unprivileged
from treescribe import hookimpl
from treescribe.environment import Variable
from treescribe.errors import LockTimeout
from treescribe.events import (
    CommandFinished,
    CommandStarted,
    Event,
    LockAcquired,
    LockContention,
    LogMessage,
    Output,
    RunFinished,
    RunStarted,
    TestFinished,
    TestStarted,
)
from treescribe.nested import PARENT_VARIABLE
from treescribe.request import CLIENT_VARIABLE, Outcome, RunRequest
from treescribe.run import Run
from treescribe.settings import Settings
from treescribe.spool import SPOOL_VARIABLE
from treescribe.testing import Witness
from treescribe.workspace import Workspace
from treescribe.workspace_lock import HELD_VARIABLE, WorkspaceLock

PASSED = Outcome("passed", 0)


class Talkative:
    """A plugin that has something to say before the run has begun, and when its commands have ended."""

    @hookimpl
    def treescribe_run_started(self, run: Run) -> None:
        run.report("early one")
        run.report("early two")

    @hookimpl
    def treescribe_run_finishing(self, run: Run) -> None:
        run.report("late")


# -- order ----------------------------------------------------------------------------------------------------


def test_hooks_and_events_come_in_the_order_that_the_contract_tells(workspace: Workspace) -> None:
    witness = Witness()
    run = new_run(workspace, witness, Talkative())
    run.start()
    number = run.command_started("make")
    run.capture(number, "stdout").feed(b"built\n")
    run.command_finished(number, "exited", exit_code=0)
    run.command_started("a daemon")
    run.finish(PASSED)
    assert witness.calls == [
        "run_started",
        "RunStarted",
        "LogMessage",
        "LogMessage",
        "CommandStarted",
        "Output",
        "CommandFinished",
        "CommandStarted",
        "CommandFinished",
        "LogMessage",
        "RunFinished",
        "run_finished",
    ]
    assert [event.message for event in witness.events.of(LogMessage)] == ["early one", "early two", "late"]


def test_events_are_stamped_by_the_clock_unless_they_are_already(workspace: Workspace) -> None:
    witness, clock = Witness(), SetClock(1_000)
    run = new_run(workspace, witness, clock=clock)
    run.start()
    clock.advance(5)
    run.emit(TestStarted(suite="s", test="t"))
    run.emit(TestStarted(at=17, suite="s", test="u"))
    number = run.command_started("make")
    clock.advance(40)
    run.command_finished(number, "exited", exit_code=2)
    run.finish(Outcome("failed", 2, "why"))
    assert [event.at for event in witness.events] == [1_000, 1_005, 17, 1_005, 1_045, 1_045]
    assert witness.events.of(CommandFinished) == [
        CommandFinished(at=1_045, command=number, line="make", status="exited", exit_code=2, duration_ms=40)
    ]
    assert witness.events.of(RunFinished) == [
        RunFinished(at=1_045, outcome="failed", exit_code=2, error="why", duration_ms=45)
    ]
    assert run.started_at == 1_000


def test_what_an_observer_emits_comes_after_the_event_at_hand(workspace: Workspace) -> None:
    class Answering:
        @hookimpl
        def treescribe_event(self, run: Run, event: Event) -> None:
            if isinstance(event, TestStarted):
                run.report(f"{event.test} began")

    first, last = Witness(), Witness()
    run = new_run(workspace, first, Answering(), last)
    run.start()
    run.emit(TestStarted(suite="s", test="t"))
    run.finish(PASSED)
    assert first.events == last.events
    assert first.events.types() == ["RunStarted", "TestStarted", "LogMessage", "RunFinished"]


def test_nothing_comes_after_the_last_event(workspace: Workspace) -> None:
    class Chatty:
        @hookimpl
        def treescribe_event(self, run: Run, event: Event) -> None:
            if isinstance(event, RunFinished):
                run.report("one more thing")

        @hookimpl
        def treescribe_run_finished(self, run: Run) -> None:
            run.report("and another")

    witness = Witness()
    run = new_run(workspace, witness, Chatty())
    run.start()
    number = run.command_started("make")
    capture = run.capture(number, "stdout")
    run.finish(PASSED)
    capture.feed(b"late")
    run.command_finished(number, "exited", exit_code=0)
    run.emit(TestStarted(suite="s", test="t"))
    run.finish(Outcome("failed", 1))
    assert witness.calls == [
        "run_started",
        "RunStarted",
        "CommandStarted",
        "CommandFinished",
        "RunFinished",
        "run_finished",
    ]


def test_threads_never_overlap_and_lose_nothing(workspace: Workspace) -> None:
    class Careful:
        inside = 0
        overlapped = False

        @hookimpl
        def treescribe_event(self) -> None:
            self.inside += 1
            self.overlapped |= self.inside != 1
            threading.Event().wait(0.0001)
            self.inside -= 1

    careful, witness = Careful(), Witness()
    run = new_run(workspace, careful, witness)

    def emit(name: str) -> None:
        for number in range(50):
            run.emit(TestStarted(suite=name, test=str(number)))

    threads = [threading.Thread(target=emit, args=(str(number),)) for number in range(6)]
    for thread in threads:
        thread.start()
    run.start()
    for thread in threads:
        thread.join()
    run.finish(PASSED)
    assert not careful.overlapped
    assert witness.events.types()[0] == "RunStarted"
    assert witness.events.types()[-1] == "RunFinished"
    for suite in map(str, range(6)):
        told = [event.test for event in witness.events.of(TestStarted) if event.suite == suite]
        assert told == [str(number) for number in range(50)]


def test_numbers_are_given_once(workspace: Workspace) -> None:
    run = new_run(workspace)
    assert [run.next_number() for _ in range(3)] == [1, 2, 3]
    run.start()
    assert run.command_started("make") == 4
    run.finish(PASSED)


def test_the_verdict_follows_the_run(workspace: Workspace) -> None:
    run = new_run(workspace)
    run.start()
    run.emit(TestFinished(suite="s", test="t", status="failed"))
    assert (run.verdict.outcome, run.verdict.tests) == ("", {"failed": 1})
    run.finish(PASSED)
    assert run.verdict.outcome == "failed"


# -- commands -------------------------------------------------------------------------------------------------


def test_a_command_that_outlives_its_run_is_detached(workspace: Workspace) -> None:
    witness = Witness()
    run = new_run(workspace, witness)
    run.start()
    run.command_started("make", task=7, pty=True)
    number = run.command_started("serve", cwd="/ws", mode="disowned")
    run.capture(number, "stderr").feed(b"listening\n")
    run.finish(PASSED)
    assert [(event.line, event.task, event.pty, event.mode) for event in witness.events.of(CommandStarted)] == [
        ("make", 7, True, "attached"),
        ("serve", None, False, "disowned"),
    ]
    assert [(event.line, event.status) for event in witness.events.of(CommandFinished)] == [
        ("make", "detached"),
        ("serve", "detached"),
    ]
    assert [event.text for event in witness.events.of(Output)] == ["listening\n"]
    assert witness.events.types()[-1] == "RunFinished"


def test_a_command_ends_once(workspace: Workspace) -> None:
    witness = Witness()
    run = new_run(workspace, witness)
    run.start()
    number = run.command_started("make")
    run.command_finished(number, "timed-out", error="timed out after 3 s")
    run.command_finished(number, "exited", exit_code=0)
    run.command_finished(99, "exited", exit_code=0)
    run.finish(PASSED)
    assert [event.status for event in witness.events.of(CommandFinished)] == ["timed-out"]


@pytest.mark.parametrize(("code", "outcome"), [(0, "passed"), (1, "failed"), (130, "failed")])
def test_the_outcome_of_an_exit_code(code: int, outcome: str) -> None:
    assert Outcome.of_exit_code(code) == Outcome(outcome, code, "")


# -- what commands are given ----------------------------------------------------------------------------------


def test_variables_are_added_to_what_the_user_set_and_never_replace_it(workspace: Workspace) -> None:
    class Getting:
        times = 0

        @hookimpl
        def treescribe_command_environment(self, workspace: Workspace, run: Run) -> list[Variable]:
            self.times += 1
            return [Variable("PYTHONPATH", "/recorder", ":"), Variable("PYTEST_ADDOPTS", "-p recorder", " ")]

    getting = Getting()
    run = new_run(workspace, getting)
    run.start()
    base = {"PYTHONPATH": "src", "HOME": "/home/ana"}
    environment = run.environment(base)
    again = run.environment(environment)
    assert environment["PYTHONPATH"] == "src:/recorder"
    assert environment["PYTEST_ADDOPTS"] == "-p recorder"
    assert environment["HOME"] == "/home/ana"
    assert base == {"PYTHONPATH": "src", "HOME": "/home/ana"}
    assert again == environment
    assert getting.times == 1
    run.finish(PASSED)


def test_commands_are_told_of_their_run(workspace: Workspace) -> None:
    class Numbering:
        @hookimpl
        def treescribe_run_started(self, run: Run) -> None:
            run.id = 12

    run = new_run(workspace, Numbering())
    run.start()
    environment = run.environment({})
    assert json.loads(environment[PARENT_VARIABLE]) == {"run": 12, "workspace": str(workspace.root)}
    assert environment[HELD_VARIABLE] == str(workspace.root)
    spool = Path(environment[SPOOL_VARIABLE])
    assert spool.is_dir()
    run.finish(PASSED)
    assert not spool.exists()


def test_where_there_is_no_temporary_folder_the_run_goes_on(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(workspace.root / "missing"))
    witness = Witness()
    run = new_run(workspace, witness)
    run.start()
    assert run.environment({"HOME": "/home/ana"}) == {"HOME": "/home/ana"}
    run.finish(PASSED)
    assert witness.events.of(LogMessage)[0].message.startswith(
        "no temporary folder for what processes below this run report"
    )


def test_secrets_are_masked_in_events_targets_and_output(workspace: Workspace) -> None:
    witness = Witness()
    request = RunRequest(backend="invoke", targets=("deploy --to=hunter2-hunter2",))
    settings = Settings(redact=("pin \\d+",))
    run = new_run(workspace, witness, request=request, settings=settings, environment={"TOKEN": "hunter2-hunter2"})
    run.start()
    run.environment({"CHILDS_PASSWORD": "of-the-child"})
    number = run.command_started("curl -u hunter2-hunter2 -p of-the-child")
    capture = run.capture(number, "stdout")
    for piece in (b"<hunter2-", b"hunter2> ", b"pin 12", b"34\n"):
        capture.feed(piece)
    run.command_finished(number, "exited", exit_code=0)
    run.finish(Outcome("failed", 1, "of-the-child"))
    assert run.request.targets == ("deploy --to=***",)
    assert witness.events.of(RunStarted)[0].targets == ("deploy --to=***",)
    assert witness.events.of(CommandStarted)[0].line == "curl -u *** -p ***"
    assert witness.events.of(Output)[0].text == "<***> ***\n"
    assert witness.events.of(RunFinished)[0].error == "***"


def test_who_asked_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert RunRequest(backend="invoke", targets=()).client == "cli"
    monkeypatch.setenv(CLIENT_VARIABLE, "mcp")
    assert RunRequest(backend="invoke", targets=()).client == "mcp"


# -- the spool ------------------------------------------------------------------------------------------------


class Following:
    """A plugin that reads the spool and emits what it finds."""

    def __init__(self, fault: type[Exception] | None = None) -> None:
        self.fault = fault

    @hookimpl
    def treescribe_run_started(self, run: Run) -> None:
        plugin = self

        class Reader:
            def record(self, source: str, record: dict[str, Any]) -> None:
                if plugin.fault is not None:
                    raise plugin.fault(record["test"])
                run.emit(TestStarted(suite=source, test=record["test"]))

            def caught_up(self) -> None: ...

            def command_ended(self) -> None: ...

            def settle(self) -> None:
                run.report("settled")

        run.follow("acme", Reader())


def write(spool: str, name: str, *tests: str) -> None:
    with open(Path(spool, name), "a") as file:
        for test in tests:
            file.write(json.dumps({"test": test}) + "\n")


def test_what_a_command_left_in_the_spool_comes_before_its_end(workspace: Workspace) -> None:
    witness = Witness()
    run = new_run(workspace, witness, Following())
    run.start()
    spool = run.environment({})[SPOOL_VARIABLE]
    number = run.command_started("pytest")
    write(spool, "acme-1.jsonl", "a", "b")
    write(spool, "other-1.jsonl", "nobody reads this")
    run.command_finished(number, "exited", exit_code=0)
    write(spool, "acme-2.jsonl", "late")
    run.finish(PASSED)
    told = [getattr(event, "test", event.type) for event in witness.events]
    assert told == [
        "RunStarted", "CommandStarted", "a", "b", "LogMessage", "CommandFinished", "late", "LogMessage", "RunFinished"
    ]  # fmt: skip


def test_the_spool_is_read_while_the_command_goes_on(workspace: Workspace) -> None:
    witness = Witness()
    run = new_run(workspace, witness, Following())
    run.start()
    write(run.environment({})[SPOOL_VARIABLE], "acme-1.jsonl", "a")
    eventually(lambda: witness.events.of(TestStarted))
    run.finish(PASSED)


def test_a_reader_that_raises_is_told_once_and_stops_nobody(workspace: Workspace) -> None:
    witness = Witness()
    run = new_run(workspace, witness, Following(KeyError))
    run.start()
    number = run.command_started("pytest")
    write(run.environment({})[SPOOL_VARIABLE], "acme-1.jsonl", "a", "b")
    run.command_finished(number, "exited", exit_code=0)
    run.finish(PASSED)
    assert [event.message for event in witness.events.of(LogMessage)] == [
        "the spool's reader acme failed: KeyError: 'a'"
    ]
    assert witness.events.types()[-2:] == ["CommandFinished", "RunFinished"]


# -- the workspace's lock -------------------------------------------------------------------------------------


def is_free(workspace: Workspace) -> bool:
    held = WorkspaceLock(workspace, shared=False, holder="x", timeout=0)
    try:
        held.acquire()
    except LockTimeout:
        return False
    held.release()
    return True


def test_a_run_holds_the_lock_until_its_plugins_are_done(workspace: Workspace) -> None:
    class Looking:
        free: list[bool] = []

        @hookimpl
        def treescribe_run_started(self) -> None:
            self.free.append(is_free(workspace))

        @hookimpl
        def treescribe_run_finished(self) -> None:
            self.free.append(is_free(workspace))

    looking = Looking()
    run = new_run(workspace, looking)
    run.start()
    run.finish(PASSED)
    assert looking.free == [False, False]
    assert is_free(workspace)


def test_a_read_only_run_neither_takes_the_lock_nor_says_that_it_has_it(workspace: Workspace) -> None:
    request = RunRequest(backend="invoke", targets=("lint",), effect="read-only")
    run = new_run(workspace, request=request)
    run.start()
    assert is_free(workspace)
    assert HELD_VARIABLE not in run.environment({})
    run.finish(PASSED)


HOLD = """
import sys
from treescribe.workspace import Workspace
from treescribe.workspace_lock import WorkspaceLock
with WorkspaceLock(Workspace.open(sys.argv[1]), shared=False, holder="copy-state into /ws/fork"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_waiting_for_the_lock_is_told(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    witness = Witness()
    run = new_run(workspace, witness)
    with python_in_background(HOLD, workspace.root) as holder:
        assert holder.stdin is not None
        starting = threading.Thread(target=run.start)
        starting.start()
        said = []
        eventually(lambda: said.append(capsys.readouterr().err) or any(said))  # type: ignore[func-returns-value]
        holder.stdin.write("go\n")
        holder.stdin.flush()
        starting.join(30)
    run.finish(PASSED)
    assert "".join(said) == f"treescribe: waiting for copy-state into /ws/fork, which holds {workspace.root}\n"
    assert witness.events.types() == ["RunStarted", "LockContention", "LockAcquired", "RunFinished"]
    assert (witness.events.of(LockContention)[0].lock, witness.events.of(LockContention)[0].holder) == (
        "workspace",
        "copy-state into /ws/fork",
    )
    assert witness.events.of(LockAcquired)[0].waited_ms > 0


def test_where_no_lock_can_be_taken_the_run_goes_on(read_only_workspace: Workspace) -> None:
    witness = Witness()
    run = new_run(read_only_workspace, witness)
    with unprivileged():
        run.start()
        assert HELD_VARIABLE not in run.environment({})
        run.finish(PASSED)
    assert witness.events.types() == ["RunStarted", "RunFinished"]


def test_a_plugin_object_can_be_shared_by_runs(workspace: Workspace) -> None:
    witness = Witness()
    host = host_with(witness)
    for _ in range(2):
        run = new_run(workspace, host=host)
        run.start()
        run.finish(PASSED)
    assert witness.calls == ["run_started", "RunStarted", "RunFinished", "run_finished"] * 2
