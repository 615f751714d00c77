"""What can be said instead of a run's number, and what is answered where there is no such run."""

from __future__ import annotations

from typing import Any

import pytest
from support import below
from treescribe.errors import InvalidInput, RunUnavailable
from treescribe.nested import Parent
from treescribe.settings import Settings
from treescribe.workspace import Workspace
from treescribe_history.diff_runs import diff_runs
from treescribe_history.paging import check_page
from treescribe_history.resolve import previous, resolve
from treescribe_history.showing import show
from treescribe_history.store import Store
from treescribe_history.time_runs import time_runs


def test_a_number_latest_and_previous_name_runs(record: Any, store: Store) -> None:
    for _ in range(3):
        record()
    assert [resolve(store, reference).id for reference in (2, "2", "#2", " 2 ", "latest", "previous")] == [
        2,
        2,
        2,
        2,
        3,
        2,
    ]


def test_previous_is_the_last_run_of_the_same_backend_and_targets(record: Any, store: Store) -> None:
    record(targets=("test",))
    record(targets=("test", "lint"))
    record(targets=("build",))
    record(targets=("test",))
    assert resolve(store, "previous").id == 1
    header = store.header(resolve(store, 3))
    with pytest.raises(RunUnavailable, match=r"no run of build \(invoke\) before #3 is kept") as caught:
        previous(store, header)
    assert "history.list" in caught.value.hint


def test_latest_is_the_newest_run_that_no_other_run_of_the_workspace_started(
    record: Any, begin: Any, store: Store
) -> None:
    begin(targets=("all",))
    record(targets=("inner",), environment=below(Parent(1, str(store.workspace.root))))
    assert resolve(store, "latest").id == 1
    record(targets=("other",), environment=below(Parent(1, "/elsewhere")))
    assert resolve(store, "latest").id == 3


def test_a_run_that_never_was(record: Any, store: Store) -> None:
    record()
    for number in (0, 2, 99, 10**30):
        with pytest.raises(RunUnavailable, match=f"there never was a run #{number} in .*; the newest is #1"):
            resolve(store, number)


def test_a_run_that_is_no_longer_kept(record: Any, store: Store) -> None:
    for _ in range(4):
        record(settings=Settings(history_keep=2))
    with pytest.raises(RunUnavailable) as caught:
        resolve(store, 1)
    root = store.workspace.root
    assert caught.value.message == f"run #1 is no longer kept in {root} (the newest 2 are; the oldest is #3)."
    assert caught.value.hint == "Keep a run for good with: treescribe history.pin RUN NAME"


def test_the_newest_run_evicted_by_hand_is_no_longer_kept_rather_than_never_there(record: Any, store: Store) -> None:
    record()
    record()
    (store.folder / "2.jsonl").unlink()
    with pytest.raises(RunUnavailable, match="run #2 is no longer kept"):
        resolve(store, 2)


def test_a_run_that_still_goes_on_is_shown_and_not_compared(record: Any, begin: Any, workspace: Workspace) -> None:
    record()
    begin()
    for compare in (diff_runs, time_runs):
        for pair in ((1, 2), (2, 1)):
            with pytest.raises(RunUnavailable, match="run #2 is still going on") as caught:
                compare(workspace, *pair)
            assert "history.show 2" in caught.value.hint
    assert show(workspace, 2).state == "live"


def test_latest_of_a_comparison_is_the_newest_that_ended(record: Any, begin: Any, workspace: Workspace) -> None:
    record()
    record()
    begin()
    result = diff_runs(workspace)
    assert (result.base.run, result.target.run) == (1, 2)


def test_no_runs_at_all(workspace: Workspace, begin: Any) -> None:
    for call in (show, diff_runs, time_runs):
        with pytest.raises(RunUnavailable, match="no runs are kept in") as caught:
            call(workspace)
        assert "Record one: " in caught.value.hint
    begin()
    with pytest.raises(RunUnavailable, match="run #1 is still going on"):
        diff_runs(workspace)


def test_a_run_alone_has_nothing_to_be_compared_with(record: Any, workspace: Workspace) -> None:
    record()
    with pytest.raises(RunUnavailable, match="nothing to compare with"):
        diff_runs(workspace)


@pytest.mark.parametrize("reference", ["", "newest", "-1", "1.5", "٣", "12a"])
def test_what_is_no_reference_is_told_as_such(record: Any, store: Store, reference: str) -> None:
    record()
    with pytest.raises(InvalidInput, match="no run is called"):
        resolve(store, reference)


def test_a_page_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match="limit must be at least 0, which means all, not -1"):
        check_page(-1, 0)
    with pytest.raises(InvalidInput, match="offset must be at least 0, not -1"):
        check_page(1, -1)


def test_the_base_can_be_a_run_of_another_worktree(
    record: Any, tmp_path: Any, workspace: Workspace, a_test: Any
) -> None:
    from support import git

    other = tmp_path / "fork"
    git(workspace.root, "worktree", "add", "-q", "-b", "fork", str(other))
    fork = Workspace.open(str(other))
    record(a_test("test_a"))
    for _ in range(2):
        record(a_test("test_a", "failed"), workspace=fork)
    result = diff_runs(workspace, base_directory=str(other))
    assert (result.base.workspace, result.base.run) == (str(other), 2)
    assert [test.test for test in result.tests.fixed] == ["test_a"]
    assert diff_runs(workspace, 1, base_directory=str(other)).base.run == 1
    assert result.cross_workspace
