"""A clock that steps back while a run goes on: nothing takes less than no time, and every answer still comes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import treescribe_history.plugin
from history_processes import KILLED
from support import SetClock, new_run, python_in_background
from treescribe.codec import Codec
from treescribe.events import CommandFinished, RunFinished, TestFinished, TestStarted
from treescribe.request import Outcome
from treescribe.run import Run
from treescribe.terminal import Style
from treescribe.workspace import Workspace
from treescribe_history.listing import list_runs
from treescribe_history.listing_text import render as render_list
from treescribe_history.recovery import recover
from treescribe_history.showing import show
from treescribe_history.store import Store
from treescribe_history.time_runs import time_runs
from treescribe_history.timing_text import render_timing

HOUR = 3_600_000


def step_back(clock: SetClock) -> None:
    """The wall clock is put back by an hour; what counts the time that passes goes on."""
    clock.now -= HOUR
    clock.elapsed += 100


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


def begin(workspace: Workspace, clock: SetClock) -> Run:
    run = new_run(workspace, treescribe_history.plugin, clock=clock, environment={})
    run.start()
    return run


def run_over_a_step(workspace: Workspace, clock: SetClock) -> Run:
    run = begin(workspace, clock)
    number = run.command_started("make")
    run.capture(number, "stdout").feed(b"before\n")
    run.emit(TestStarted(suite="s", test="t"))
    step_back(clock)
    run.capture(number, "stdout").feed(b"after\n")
    run.emit(TestFinished(suite="s", test="t", status="passed", duration_ms=100))
    run.command_finished(number, "exited", exit_code=0)
    run.finish(Outcome("passed", 0))
    return run


def durations(workspace: Workspace) -> Iterator[int]:
    store = Store(workspace)
    for stored in store.runs():
        for event in store.read(stored, Codec()).events:
            if isinstance(event, CommandFinished | RunFinished | TestFinished):
                yield event.duration_ms
    yield from (row.duration_ms for row in list_runs(workspace).runs if row.duration_ms is not None)


def test_what_passed_is_what_counts_the_time_that_passes(workspace: Workspace, clock: SetClock) -> None:
    run_over_a_step(workspace, clock)
    assert set(durations(workspace)) == {100}


def test_the_later_run_is_listed_first_though_its_clock_is_earlier(workspace: Workspace, clock: SetClock) -> None:
    for _ in range(2):
        run_over_a_step(workspace, clock)
    result = list_runs(workspace)
    assert [row.run for row in result.runs] == [2, 1]
    assert [row.changes for row in result.runs] == ["no differences", None]
    text = render_list(result, Style(now_ms=clock.now_ms()))
    assert "-" not in text.replace("--", "")
    assert text.count("just now") == 2


def test_runs_are_timed_by_what_passed(workspace: Workspace, clock: SetClock) -> None:
    for _ in range(2):
        run_over_a_step(workspace, clock)
    result = time_runs(workspace, "1", "2")
    assert (result.slower, result.faster) == ((), ())
    assert "-" not in render_timing(result, Style(now_ms=clock.now_ms())).replace("--", "").partition("\n")[0]


def test_a_run_that_goes_on_has_taken_no_less_than_nothing(workspace: Workspace, clock: SetClock) -> None:
    run = begin(workspace, clock)
    run.command_started("make")
    step_back(clock)
    run.emit(TestFinished(suite="s", test="t", status="passed"))
    (row,) = list_runs(workspace).runs
    assert (row.outcome, row.duration_ms) == ("running", 0)
    shown = json.loads(show(workspace, "1").model_dump_json(exclude_none=True))
    assert shown["duration_ms"] == 0
    run.finish(Outcome("passed", 0))


def test_a_run_that_died_after_a_step_has_taken_no_less_than_nothing(workspace: Workspace) -> None:
    with python_in_background(KILLED, workspace.root) as process:
        process.kill()
        process.wait()
    store = Store(workspace)
    (stored,) = store.runs()
    header, *lines = stored.path.read_bytes().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    for record in records[2:]:
        record["at"] -= HOUR
    stored.path.write_bytes(header + b"".join(json.dumps(record).encode() + b"\n" for record in records))
    assert min(durations(workspace)) == 0
    with store.locked():
        recover(store)
    assert min(durations(workspace)) == 0
    assert [row.outcome for row in list_runs(workspace).runs] == ["interrupted"]
