"""Runs that cannot be had, in each operation that takes runs: what is said of one that never was, went, or goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from treescribe.errors import InvalidInput, RunUnavailable, TreescribeError
from treescribe.settings import Settings
from treescribe.workspace import Workspace
from treescribe_history.diff_runs import diff_runs
from treescribe_history.pinning import pin_run, unpin_run
from treescribe_history.showing import show
from treescribe_history.store import Store
from treescribe_history.time_runs import time_runs

Ask = Callable[[Workspace, Any], object]
KEEP_TWO = Settings(history_keep=2)

ASKED: dict[str, Ask] = {
    "show": lambda workspace, run: show(workspace, run),
    "base of diff": lambda workspace, run: diff_runs(workspace, run, "latest"),
    "target of diff": lambda workspace, run: diff_runs(workspace, "previous", run),
    "base of timing": lambda workspace, run: time_runs(workspace, run, "latest"),
    "target of timing": lambda workspace, run: time_runs(workspace, "previous", run),
}
every_operation = pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
every_comparison = pytest.mark.parametrize(
    "ask", [ask for name, ask in ASKED.items() if name != "show"], ids=[name for name in ASKED if name != "show"]
)


def said(error: type[TreescribeError], ask: Ask, workspace: Workspace, run: Any) -> tuple[str, str]:
    """The message and the hint that a run is answered with."""
    with pytest.raises(error) as caught:
        ask(workspace, run)
    return caught.value.message, caught.value.hint


@every_operation
@pytest.mark.parametrize("run", [0, 9, "9", "#9"])
def test_a_run_that_never_was(record: Any, workspace: Workspace, ask: Ask, run: Any) -> None:
    record()
    record()
    number = str(run).removeprefix("#")
    assert said(RunUnavailable, ask, workspace, run) == (
        f"there never was a run #{number} in {workspace.root}; the newest is #2.",
        "See which runs there are: treescribe history.list",
    )


@every_operation
def test_a_run_that_was_evicted(record: Any, workspace: Workspace, ask: Ask) -> None:
    for _ in range(4):
        record(settings=KEEP_TWO)
    assert said(RunUnavailable, ask, workspace, 1) == (
        f"run #1 is no longer kept in {workspace.root} (the newest 2 are; the oldest is #3).",
        "Keep a run for good with: treescribe history.pin RUN NAME",
    )


@every_operation
def test_what_is_kept_is_told_without_the_pinned_runs(record: Any, workspace: Workspace, ask: Ask) -> None:
    record(settings=KEEP_TWO)
    pin_run(workspace, 1, "base")
    for _ in range(4):
        record(settings=KEEP_TWO)
    message, _ = said(RunUnavailable, ask, workspace, 2)
    assert message == f"run #2 is no longer kept in {workspace.root} (the newest 2 are; the oldest is #4)."


@every_operation
def test_a_run_that_went_after_its_pin_was_taken_away(record: Any, workspace: Workspace, ask: Ask) -> None:
    record(settings=KEEP_TWO)
    pin_run(workspace, 1, "base")
    for _ in range(3):
        record(settings=KEEP_TWO)
    unpin_run(workspace, "base")
    record(settings=KEEP_TWO)
    assert "run #1 is no longer kept" in said(RunUnavailable, ask, workspace, 1)[0]
    assert said(InvalidInput, ask, workspace, "base") == (
        f"no run is called 'base' in {workspace.root}.",
        "A run is a number, latest, previous, or a pinned name. Pinned here: none.",
    )


@every_operation
def test_a_pinned_run_whose_file_was_deleted(record: Any, workspace: Workspace, store: Store, ask: Ask) -> None:
    record()
    record()
    pin_run(workspace, 1, "base")
    (store.folder / "1.jsonl").unlink()
    message, _ = said(RunUnavailable, ask, workspace, "base")
    assert message.startswith(f"run #1 (pinned as base) is no longer kept in {workspace.root} (")


@every_operation
def test_a_name_that_no_run_has(record: Any, workspace: Workspace, ask: Ask) -> None:
    record()
    record()
    pin_run(workspace, 2, "main")
    assert said(InvalidInput, ask, workspace, "mian") == (
        f"no run is called 'mian' in {workspace.root}.",
        "A run is a number, latest, previous, or a pinned name. Pinned here: main (#2).",
    )


@every_comparison
def test_a_run_that_goes_on_is_not_compared(record: Any, begin: Any, workspace: Workspace, ask: Ask) -> None:
    record()
    record()
    begin()
    assert said(RunUnavailable, ask, workspace, 3) == (
        f"run #3 is still going on in {workspace.root}.",
        "Wait for its end; until then: treescribe history.show 3",
    )


def test_a_run_that_goes_on_is_shown(record: Any, begin: Any, workspace: Workspace) -> None:
    record()
    begin()
    assert (show(workspace, 2).run, show(workspace, 2).state) == (2, "live")


def test_a_pinned_run_outlives_retention_and_is_a_base_by_its_name(
    record: Any, workspace: Workspace, a_test: Any
) -> None:
    record(a_test("test_a", duration_ms=100), a_test("test_b"), settings=KEEP_TWO)
    pin_run(workspace, 1, "main")
    for _ in range(5):
        record(a_test("test_a", "failed", duration_ms=900), a_test("test_b"), settings=KEEP_TWO)
    assert show(workspace, "main").run == 1
    difference = diff_runs(workspace, "main")
    assert (difference.base.run, difference.target.run) == (1, 6)
    assert [test.test for test in difference.tests.newly_failing] == ["test_a"]
    durations = time_runs(workspace, "main")
    assert (durations.base.run, durations.target.run) == (1, 6)
    assert [change.change_ms for change in durations.slower] == [800]
