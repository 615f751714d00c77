"""Which runs stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from treescribe.request import Outcome
from treescribe.settings import Settings
from treescribe_history import ending
from treescribe_history.comparing import Comparison, compare_with_previous
from treescribe_history.pins import pin
from treescribe_history.retention import Limits, to_evict
from treescribe_history.store import Store

SIZES = {1: 10, 2: 10, 3: 10, 4: 10}


@pytest.mark.parametrize(
    ("pinned", "limits", "evicted"),
    [
        ((), Limits(4, 40), []),
        ((), Limits(3, 40), [1]),
        ((), Limits(1, 40), [3, 2, 1]),
        ((), Limits(4, 39), [1]),
        ((), Limits(4, 20), [2, 1]),
        ((), Limits(4, 1), [3, 2, 1]),  # the newest stays whatever its size
        ((1,), Limits(1, 40), [3, 2]),
        ((1,), Limits(3, 40), []),
        ((3,), Limits(2, 40), [1]),  # a pinned run takes no place
        ((3,), Limits(4, 20), [1]),  # and no room
        ((4,), Limits(1, 40), [2, 1]),
        ((4,), Limits(4, 1), [3, 2, 1]),  # the newest is the pinned one
        ((1, 2, 3), Limits(1, 1), []),
    ],
)
def test_what_exceeds_the_limits_goes_the_oldest_first(pinned: Any, limits: Limits, evicted: list[int]) -> None:
    assert to_evict(SIZES, pinned, limits) == evicted


@pytest.mark.parametrize(
    ("pinned", "limits", "evicted"),
    [
        ((), Limits(1, 40), [3, 2]),
        ((), Limits(4, 30), [2]),  # what it takes is taken from the room there is
        ((), Limits(4, 1), [3, 2]),
        ((1,), Limits(4, 30), []),
        ((1, 3), Limits(1, 40), [2]),
    ],
)
def test_the_run_that_just_finished_stays_and_is_counted(pinned: Any, limits: Limits, evicted: list[int]) -> None:
    assert to_evict(SIZES, pinned, limits, just_finished=1) == evicted


def test_where_there_are_no_runs_none_goes() -> None:
    assert to_evict({}, (), Limits(1, 1)) == []
    assert to_evict({}, (5,), Limits(1, 1), just_finished=5) == []


def names(store: Store) -> list[int]:
    return [stored.id for stored in store.runs()]


def test_only_the_newest_runs_are_kept(record: Any, store: Store) -> None:
    for _ in range(5):
        record(settings=Settings(history_keep=2))
    assert names(store) == [5, 4]
    assert sorted(path.name for path in store.folder.glob("[0-9]*")) == [
        "4.digest.json",
        "4.jsonl",
        "5.digest.json",
        "5.jsonl",
    ]


def test_pinned_runs_are_kept(record: Any, store: Store) -> None:
    record()
    pin(store, store.runs()[0], "main")
    for _ in range(3):
        record(settings=Settings(history_keep=1))
    assert names(store) == [4, 1]


def test_pinned_runs_take_no_other_runs_place(record: Any, store: Store) -> None:
    for _ in range(3):
        record()
    for number, stored in enumerate(store.runs()):
        pin(store, stored, f"base-{number}")
    for _ in range(4):
        record(settings=Settings(history_keep=2))
    assert names(store) == [7, 6, 3, 2, 1]


def test_files_beside_a_transcript_count_and_go_with_it(record: Any, store: Store) -> None:
    record()
    (store.folder / "1.patch").write_bytes(b"x" * 100_000)
    record(settings=Settings(history_bytes=50_000))
    assert names(store) == [2]
    assert not (store.folder / "1.patch").exists()


def test_files_that_belong_to_no_run_are_swept(record: Any, store: Store) -> None:
    run = record()
    (store.folder / "99.patch").write_text("left by a process that died while it removed run 99")
    (store.folder / "notes.txt").write_text("somebody's own")
    record()
    assert run.id == 1
    assert not (store.folder / "99.patch").exists()
    assert (store.folder / "notes.txt").exists()


def test_files_beside_a_live_run_stay(record: Any, begin: Any, store: Store) -> None:
    live = begin()
    beside = store.folder / f"{live.id}.patch"
    beside.write_text("+")
    record()
    assert beside.exists()


def test_a_long_run_is_not_evicted_at_its_own_end(record: Any, begin: Any, store: Store) -> None:
    keep_one = Settings(history_keep=1)
    begin(settings=keep_one, targets=("long",))
    for _ in range(3):
        record(settings=keep_one)
    assert names(store) == [4, 1]
    run = begin(settings=keep_one, targets=("other",))
    record(settings=keep_one)
    run.finish(Outcome("passed", 0))
    assert 5 in names(store)


def test_a_run_that_another_one_evicts_while_it_is_compared_is_nothing_to_be_told(
    record: Any, begin: Any, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_one = Settings(history_keep=1)
    run = begin(settings=keep_one, targets=("long",))
    record(settings=Settings(history_keep=2))

    def compare_slowly(*arguments: Any, **options: Any) -> Comparison:
        monkeypatch.undo()
        record(settings=keep_one)
        return compare_with_previous(*arguments, **options)

    monkeypatch.setattr(ending, "compare_with_previous", compare_slowly)
    run.finish(Outcome("passed", 0))
    assert names(store) == [3]
    assert capsys.readouterr().err == ""


def test_nothing_is_evicted_while_the_pins_cannot_be_read(
    record: Any, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    record()
    (store.folder / "pins.json").write_text("{")
    run = record(settings=Settings(history_keep=1))
    assert run.id == 2
    assert names(store) == [2, 1]
    assert "old runs of" in capsys.readouterr().err


def test_temporary_files_of_dead_processes_are_swept(record: Any, store: Store) -> None:
    record()
    left = [store.folder / ".writing-abc", store.active / ".writing-def"]
    for path in left:
        path.write_text("half of someth")
    record()
    assert [path for path in left if Path(path).exists()] == []
