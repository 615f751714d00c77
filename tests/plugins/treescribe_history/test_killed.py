"""Recorders that are killed, at any moment: what they had written stays, and is made whole by whoever writes next."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from recording_processes import Nursery
from support import unprivileged
from treescribe.codec import Codec
from treescribe.events import RunFinished, TestFinished
from treescribe.settings import Settings
from treescribe.workspace import Workspace
from treescribe_history.listing import RunRow, list_runs
from treescribe_history.pinning import pin_run
from treescribe_history.store import Store

TESTS = 4
"""In each run."""

KILLS = {"start": 15, "emit": 12, "finish": 15}
"""How often a recorder is killed after its run has begun each of its phases, within so many lines as that has."""

KILLS_FROM_OUTSIDE = 8

RECORDING = ("mint", "replace", "create", "finish", "tidy")
RECOVERING = ("recover", "_finish_if_free", "_complete")
"""The functions that make files appear, move and change."""

KEPT = 3


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    """A workspace that others may look into, also while another pytest closes its own folders to them."""
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        root = Path(folder) / "project"
        root.mkdir()
        (root / "tasks.py").touch()
        yield Workspace.open(root)


class Told(NamedTuple):
    """What a recorder told of one run before it was killed."""

    tests: int
    finished: bool


def told_by(notes: list[Any]) -> dict[int, Told]:
    told: dict[int, Told] = {}
    for what, run in notes:
        before = told.setdefault(run, Told(0, False))
        told[run] = Told(before.tests + (what == "emitted"), what == "finished")
    return told


class Account:
    """What is known of the runs of a workspace: from recorders that were killed, and from the disk."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.told: dict[int, Told] = {}
        self.targets: dict[int, tuple[str, ...]] = {}
        self.left: dict[int, bytes] = {}

    def recorder_died(self, notes: list[Any]) -> None:
        told = told_by(notes)
        assert told.keys().isdisjoint(self.told), "an id was given twice"
        assert sorted(told) == list(told), "an id was given that is not above those before"
        self.told |= told
        runs = self.store.runs()
        assert all(not told or stored.id >= min(told) for stored in runs if stored.active), "not finished by the next"
        for stored in runs:
            if stored.active or stored.id not in self.targets:
                targets = self.store.header(stored).targets
                assert self.targets.setdefault(stored.id, targets) == targets, "an id was given twice"
            if stored.active:
                self.left[stored.id] = stored.path.read_bytes()
                assert self.left[stored.id].endswith(b"\n"), "a line was torn"
        assert self.told.keys() <= self.targets.keys(), "a run that was begun is not there"

    def check(self) -> dict[int, str]:
        """Hold what the disk says against what the recorders told; the state of each run."""
        states = {}
        for stored in self.store.runs():
            transcript = self.store.read(stored, Codec())
            told = self.told.get(stored.id, Told(0, False))
            tests = [event.test for event in transcript.events if isinstance(event, TestFinished)]
            assert transcript.problems == ()
            assert transcript.header.targets == self.targets[stored.id], "an id was given twice"
            assert stored.active or transcript.state == "finished"
            assert tests == [str(number) for number in range(len(tests))], "an event is missing"
            assert told.tests <= len(tests) <= told.tests + 1, "it was told when it was written"
            end = transcript.events[-1]
            assert isinstance(end, RunFinished)
            assert end.outcome == "passed" or not told.finished
            states[stored.id] = str(end.outcome)
        return states

    def check_after_the_next(self, record: Any) -> None:
        """The same once another run was recorded: none is left unfinished, or changed but at its end."""
        record(settings=Settings(history_keep=len(self.targets) + 1))
        assert list(self.store.active.iterdir()) == []
        assert not any(stored.active for stored in self.store.runs())
        folder = self.store.folder
        assert all((folder / f"{run}.jsonl").read_bytes().startswith(data) for run, data in self.left.items())
        self.recorder_died([["started", self.store.runs()[0].id], ["finished", self.store.runs()[0].id]])
        self.check()


@contextmanager
def read_only(store: Store) -> Iterator[None]:
    """The history, where nothing in it can be written, nor anything put beside it."""
    folders = (store.workspace.root, store.workspace.state, store.folder, store.active)
    modes = [folder.stat().st_mode for folder in folders]
    for folder in folders:
        folder.chmod(0o555)
    try:
        with unprivileged():
            yield
    finally:
        for folder, mode in zip(folders, modes, strict=True):
            folder.chmod(mode)


def on_disk(folder: Path) -> dict[str, tuple[int, int]]:
    return {entry.path: (entry.stat().st_mtime_ns, entry.stat().st_size) for entry in os.scandir(folder)}


def listed(store: Store) -> dict[int, RunRow]:
    """The runs as history.list tells them where nothing can be written."""
    list_runs(store.workspace)  # what it imports may be out of others' reach
    before = on_disk(store.folder) | on_disk(store.active)
    with read_only(store):
        rows = list_runs(Workspace.open(store.workspace.root), limit=0).runs
    assert on_disk(store.folder) | on_disk(store.active) == before
    return {row.run: row for row in rows}


def killed_by_itself(processes: Nursery, store: Store, label: str, **fuse: Any) -> list[Any]:
    """What a recorder told until its fuse had burnt down."""
    recorder = processes.recorder()
    recorder.send("record_until_killed", root=str(store.workspace.root), label=label, tests=TESTS, **fuse)
    return recorder.death()


def killed_from_outside(processes: Nursery, store: Store, label: str, after: int) -> list[Any]:
    """What a recorder told that was killed after it had told so much, or a little later."""
    recorder = processes.recorder()
    recorder.send("record_until_killed", root=str(store.workspace.root), label=label, tests=TESTS)
    return [*(recorder.note() for _ in range(after)), *recorder.kill()]


def lines_with_recovery(processes: Nursery, account: Account, within: str = "") -> dict[str, int]:
    """How many lines a run needs that has to finish one before it."""
    store = account.store
    account.recorder_died(killed_by_itself(processes, store, f"before {within}", phase="emit", lines=200))
    lines: dict[str, int] = processes.recorder().ask(
        "lines_of_phases", root=str(store.workspace.root), within=within, tests=TESTS
    )
    account.told[store.runs()[0].id] = Told(TESTS, True)
    return lines


def test_a_recorder_killed_anywhere_loses_nothing_and_the_next_writer_finishes_its_run(
    processes: Nursery, record: Any, store: Store
) -> None:
    chance = random.Random(20)
    account = Account(store)
    lines = lines_with_recovery(processes, account)
    points = [(phase, chance.randint(1, lines[phase])) for phase, kills in KILLS.items() for _ in range(kills)]
    points += [("", chance.randint(1, TESTS * 4)) for _ in range(KILLS_FROM_OUTSIDE)]
    chance.shuffle(points)

    for number, (phase, point) in enumerate(points):
        if phase:
            account.recorder_died(killed_by_itself(processes, store, str(number), phase=phase, lines=point))
        else:
            account.recorder_died(killed_from_outside(processes, store, str(number), after=point))
        if number % 5 and number + 1 < len(points):
            continue
        states = account.check()
        rows = listed(store)
        assert {run: row.outcome for run, row in rows.items()} == states
        assert all(rows[run].tests.get("passed", 0) >= told.tests for run, told in account.told.items())

    assert len(account.left) > len(points) // 3, "that many were killed while their run went on"
    account.check_after_the_next(record)
    assert states.items() <= account.check().items()


def test_a_recorder_killed_at_any_line_that_makes_or_moves_a_file_loses_nothing(
    processes: Nursery, record: Any, store: Store
) -> None:
    account = Account(store)
    for function in RECORDING + RECOVERING:
        lines = lines_with_recovery(processes, account, function)["all"]
        assert lines
        for line in range(1, lines + 1):
            if function in RECOVERING:
                account.recorder_died(killed_by_itself(processes, store, "left", phase="emit", lines=1))
            fuse = {"phase": "start", "within": function, "lines": line}
            account.recorder_died(killed_by_itself(processes, store, f"{function}:{line}", **fuse))
        account.check()
    account.check_after_the_next(record)


def test_a_recorder_killed_while_it_removes_old_runs_takes_no_other_and_leaves_no_part_of_one_for_long(
    processes: Nursery, record: Any, store: Store
) -> None:
    root = str(store.workspace.root)
    record(targets=("base",))
    pin_run(store.workspace, 1, "base")
    for _ in range(KEPT):
        record()
    lines = processes.recorder().ask("lines_of_phases", root=root, tests=1, within="evict", keep=KEPT)["all"]
    parts_left = 0
    for point in range(1, lines + 1):
        before = {stored.id for stored in store.runs()}
        killed = processes.recorder()
        fuse = {"phase": "finish", "within": "evict", "lines": point}
        killed.send("record_until_killed", root=root, label=str(point), tests=1, keep=KEPT, **fuse)
        killed.death()
        runs = {stored.id for stored in store.runs()}
        assert runs >= {1, *sorted(before | runs)[-KEPT:]}, "a run went that had its place"
        assert all(store.read(stored, Codec()).problems == () for stored in store.runs())
        parts_left += len(with_files(store) - runs)
        newest = record(settings=Settings(history_keep=KEPT)).id
        assert [stored.id for stored in store.runs()] == [*range(newest, newest - KEPT, -1), 1]
        assert with_files(store) == {stored.id for stored in store.runs()}
    assert parts_left, "one was killed between two files of a run"


def with_files(store: Store) -> set[int]:
    """Ids that a file of the history belongs to."""
    return {int(entry.name.partition(".")[0]) for entry in store.companions()}
