"""Records that no recorder writes change nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from treescribe.events import Event, LogMessage, SuiteFinished, TestFinished, TestStarted
from treescribe.host import Host
from treescribe.request import RunRequest
from treescribe.run import Run
from treescribe.workspace import Workspace
from treescribe_pytest.place import Place
from treescribe_pytest.reader import PytestReader, is_alive
from treescribe_pytest.tox import ToxReader

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Events, Project

STARTED = {"event": "test-started", "suite": "test_a.py", "test": "test_one"}
FINISHED = {
    "event": "test-finished",
    "suite": "test_a.py",
    "test": "test_one",
    "status": "passed",
    "duration_ms": 1,
    "path": "test_a.py",
    "line": 1,
}
ENDED = {"event": "session-finished", "exit_code": 0}


class Fed(NamedTuple):
    """A reader of a run, with a session begun, and what the run emitted since."""

    reader: PytestReader
    run: Run
    begin: dict[str, Any]
    seen: list[Event]

    def feed(self, *records: dict[str, Any]) -> None:
        for record in records:
            self.reader.record("pytest-1-a.jsonl", record)

    def end_of_command(self) -> None:
        self.reader.command_ended()
        self.reader.settle()

    def of(self, *kinds: type[Event]) -> list[Event]:
        return [event for event in self.seen if isinstance(event, kinds)]


@pytest.fixture
def fed(project: Project, events: Events) -> Iterator[Fed]:
    host = Host([], {})
    host.register(events, "events")
    run = Run(Workspace.open(project.root), RunRequest("command", ("x",)), host=host, environment={})
    run.start()
    events.seen.clear()
    begin = {
        "event": "session-started",
        "pid": os.getpid(),
        "file": str(project.root),
        "rootdir": str(project.root),
    }
    fed = Fed(PytestReader(run), run, begin, events.seen)
    fed.feed(begin)
    yield fed


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_start_is_told_only_where_no_end_was_written_with_it(fed: Fed) -> None:
    fed.feed(STARTED, FINISHED, {**STARTED, "test": "test_two"})
    fed.reader.caught_up()
    fed.reader.caught_up()
    assert [event.test for event in fed.seen if isinstance(event, TestStarted)] == ["test_two"]


@pytest.mark.parametrize("key", ["suite", "test", "status", "duration_ms", "path", "line"])
@pytest.mark.parametrize("value", [None, [], {}, 1.5, ..., "x", 7])
def test_a_field_of_another_type_or_none_loses_its_record_only(fed: Fed, key: str, value: object) -> None:
    record: dict[str, Any] = {**FINISHED, key: value}
    if value is ...:
        del record[key]
    fed.feed(record, FINISHED, ENDED)
    wrong = not isinstance(value, type(FINISHED[key]))
    assert len(fed.of(TestFinished)) == (1 if wrong else 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        "session-started",
        "collected",
        "collection-error",
        "internal-error",
        "interrupted",
        "test-started",
        "test-finished",
        "session-finished",
        "unknown",
    ]
)
KEYS = st.sampled_from(
    (
        *FINISHED,
        "pid",
        "file",
        "rootdir",
        "environment",
        "files",
        "message",
        "trace",
        "by",
        "lost",
        "exit_code",
        "usage",
    )
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(st.lists(st.builds(lambda name, rest: {**rest, "event": name}, NAMES | JSON, st.dictionaries(KEYS, JSON))))
def test_no_record_makes_reading_fail(fed: Fed, records: list[dict[str, Any]]) -> None:
    reader = PytestReader(fed.run)
    for source in ("pytest-1-a.jsonl", "pytest-1-b.jsonl"):
        if source.endswith("b.jsonl"):
            reader.record(source, fed.begin)
        for record in records:
            reader.record(source, record)
    reader.caught_up()
    reader.command_ended()
    reader.settle()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=100)
@given(st.dictionaries(st.sampled_from(["env", "root", "kind", "message"]), JSON))
def test_no_record_of_a_tox_makes_reading_fail(fed: Fed, record: dict[str, Any]) -> None:
    ToxReader(fed.run).record("tox-1-a.jsonl", {**record, "event": "env-not-run"})


def test_a_kind_of_env_that_this_version_does_not_know_counts_as_bad(fed: Fed) -> None:
    record = {"event": "env-not-run", "env": "one", "root": fed.begin["rootdir"], "kind": "unknown", "message": "no"}
    ToxReader(fed.run).record("tox-1-a.jsonl", record)
    (told,) = (event for event in fed.seen if isinstance(event, SuiteFinished))
    assert (told.project, told.suite, told.outcome, told.message) == ("one", "tox", "errored", "no")


@pytest.mark.parametrize(
    ("folder", "environment", "name"),
    [("", "", ""), ("", "py312", "py312"), ("a/b", "", "a/b"), ("a/b", "py312", "a/b:py312")],
)
def test_a_project_is_named_by_its_folder_and_its_environment(folder: str, environment: str, name: str) -> None:
    assert Place(folder, "/shop").project_in(environment) == name


def test_records_before_the_sessions_beginning_and_after_its_end_are_passed_over(fed: Fed) -> None:
    reader = PytestReader(fed.run)
    reader.record("pytest-2-b.jsonl", FINISHED)
    assert fed.seen == []
    fed.feed(ENDED, FINISHED, ENDED)
    assert fed.seen == []


def test_a_session_of_a_dead_process_is_closed_once(fed: Fed) -> None:
    fed.reader.record("pytest-2-b.jsonl", {**fed.begin, "pid": dead_pid()})
    fed.reader.record("pytest-2-b.jsonl", STARTED)
    fed.end_of_command()
    fed.end_of_command()
    assert [(event.suite, event.outcome) for event in fed.seen if isinstance(event, SuiteFinished)] == [
        ("test_a.py", "executed"),
        ("pytest", "errored"),
    ]
    assert [event.status for event in fed.seen if isinstance(event, TestFinished)] == ["error"]


def test_a_session_of_a_living_process_stays_open(fed: Fed) -> None:
    fed.feed(STARTED)
    fed.end_of_command()
    assert fed.of(SuiteFinished, TestFinished) == []
    fed.feed(FINISHED, ENDED)
    assert [event.suite for event in fed.seen if isinstance(event, SuiteFinished)] == ["test_a.py"]


def test_lost_records_are_told(fed: Fed) -> None:
    fed.feed({**ENDED, "lost": 2, "problem": "OSError: no space"})
    assert [event.message for event in fed.seen if isinstance(event, LogMessage)] == [
        "pytest: 2 records were lost: OSError: no space"
    ]


def test_a_process_that_was_not_waited_for_is_not_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read()  # its end: the process has ended, or is about to
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(process.pid)
    assert is_alive(os.getpid())
    assert not is_alive(dead_pid())


def test_a_project_name_never_tells_where_the_worktree_stands(project: Project) -> None:
    workspace = Workspace.open(project.root)
    root = str(project.root)
    for rootdir in (root, f"{root}/a/b", f"{root}-fork", "/", str(project.root.parent)):
        assert not os.path.isabs(Place.of(rootdir, workspace).project)
    assert Place.of(f"{root}-fork", workspace).project == "shop-fork"


def test_a_pytest_that_ends_while_the_last_records_are_read_is_not_taken_for_dead(fed: Fed) -> None:
    """It may have written its end after the look at the file and before the look at the process."""
    with subprocess.Popen(["sleep", "600"]) as process:
        fed.reader.record("pytest-2-b.jsonl", {**fed.begin, "pid": process.pid})
        fed.reader.record("pytest-2-b.jsonl", STARTED)
        fed.reader.command_ended()
        process.kill()
    fed.reader.settle()
    assert fed.of(SuiteFinished, TestFinished) == []
    fed.reader.record("pytest-2-b.jsonl", FINISHED)
    fed.reader.record("pytest-2-b.jsonl", ENDED)
    assert [event.status for event in fed.seen if isinstance(event, TestFinished)] == ["passed"]
