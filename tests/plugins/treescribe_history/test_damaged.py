"""Transcripts that somebody edited, or that a disk lost parts of: told by run and line, and in no other run's way."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from treescribe.errors import RunUnavailable
from treescribe.workspace import Workspace
from treescribe_history.diff_runs import diff_runs
from treescribe_history.listing import list_runs
from treescribe_history.showing import show
from treescribe_history.store import Store
from treescribe_history.time_runs import time_runs

GARBAGE = bytes(range(256)) * 16


class Damage(NamedTuple):
    """What was done to a file.

    ``refused``: what is said of the run, whose file cannot be read at all.
    ``outcome`` and ``problems``: how a run is told that can be read; ``lost``: how many of its three tests are lost.
    """

    edit: Callable[[bytes], bytes]
    refused: str = ""
    outcome: str = "passed"
    problems: tuple[str, ...] = ()
    lost: int = 0


def line(number: int, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change one line of a file, counted from 1 as people do."""

    def edit(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        lines[number - 1] = change(lines[number - 1])
        return b"".join(lines)

    return edit


def torn(text: bytes) -> bytes:
    return text[: len(text) // 2]


DAMAGES = {
    "a torn line in the middle": Damage(line(4, lambda text: torn(text) + b"\n"), problems=("line 4: ",), lost=1),
    "a line torn together with its end": Damage(line(4, torn), problems=("line 4: ",), lost=2),
    "two lines that are no events": Damage(line(3, lambda text: b"[]\n7\n" + text), problems=("line 3: ", "line 4: ")),
    "garbage in the middle": Damage(
        line(5, lambda text: GARBAGE.replace(b"\n", b"") + b"\n"), problems=("line 5: ",), lost=1
    ),
    "a torn last line": Damage(line(6, torn), outcome="interrupted"),
    "a long line torn instead of the last two": Damage(
        lambda data: b"".join(data.splitlines(True)[:4]) + b'{"type":"LogMessage","message":"' + b"x" * 1000,
        outcome="interrupted",
        lost=1,
    ),
    "the last two lines gone": Damage(lambda data: b"".join(data.splitlines(True)[:4]), outcome="interrupted", lost=1),
    "a newer format": Damage(
        line(1, lambda text: text.replace(b'"format":1', b'"format":2')),
        "run #{run} has format 2, and this treescribe reads formats up to 1: {path}",
    ),
    "an empty file": Damage(lambda data: b"", "run #{run} cannot be read, its first line is no header: {path}"),
    "no header": Damage(line(1, lambda text: b""), "run #{run} cannot be read, its header names no format: {path}"),
    "a torn header": Damage(line(1, torn), "run #{run} cannot be read, its first line is no header: {path}"),
    "nothing but garbage": Damage(
        lambda data: GARBAGE, "run #{run} cannot be read, its first line is no header: {path}"
    ),
    "the file of another run": Damage(
        line(1, lambda text: text.replace(b'"run":', b'"run":7')),
        "run #{run} cannot be read, its header is that of run #7{run}: {path}",
    ),
}
every_damage = pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
every_run = pytest.mark.parametrize("run", [1, 2, 3])


@pytest.fixture
def three(record: Any, a_test: Any) -> None:
    """Three runs, of which one is damaged: six lines each, the third to the fifth of them tests."""
    for _ in range(3):
        record(*(a_test(name, duration_ms=100) for name in ("test_a", "test_b", "test_c")))


def edit(path: Path, damage: Damage) -> None:
    path.write_bytes(damage.edit(path.read_bytes()))


def says_what_is_wrong(workspace: Workspace, run: int, path: Path, damage: Damage) -> None:
    """The list, and whoever asks for the run, are told what is wrong with it; nothing else is."""
    rows = {row.run: row for row in list_runs(workspace).runs}
    assert [rows[other].outcome for other in (1, 2, 3) if other != run] == ["passed", "passed"]
    if damage.refused:
        text = damage.refused.format(run=run, path=path)
        assert (rows[run].outcome, rows[run].summary) == ("unreadable", text)
        for ask in (show, diff_runs, time_runs):
            with pytest.raises(RunUnavailable) as caught:
                ask(workspace, run)
            assert caught.value.message == text
    else:
        assert (rows[run].outcome, rows[run].tests) == (damage.outcome, {"passed": 3 - damage.lost})
        shown = show(workspace, run)
        assert (shown.outcome, shown.tests) == (damage.outcome, {"passed": 3 - damage.lost})
        told = shown.problems or ()
        assert [problem[:8] for problem in told] == list(damage.problems)
        other = 1 if run != 1 else 2
        for notes in (diff_runs(workspace, run, other).notes, time_runs(workspace, run, other).notes):
            about = [note for note in notes if f"#{run}" in note]
            assert len(about) == len(notes) == bool(damage.problems) + (damage.outcome == "interrupted")


def others_are_as_before(workspace: Workspace, run: int) -> None:
    first, second = (other for other in (1, 2, 3) if other != run)
    assert show(workspace, first).tests == {"passed": 3}
    assert diff_runs(workspace, first, second).identical
    assert time_runs(workspace, first, second).suppressed == 3


@every_damage
@every_run
def test_a_damaged_transcript_is_told_and_in_no_other_runs_way(
    three: None, record: Any, a_test: Any, workspace: Workspace, store: Store, run: int, damage: Damage
) -> None:
    path = store.folder / f"{run}.jsonl"
    edit(path, damage)
    says_what_is_wrong(workspace, run, path, damage)
    others_are_as_before(workspace, run)
    data = path.read_bytes()
    assert record(a_test("test_a")).id == 4
    assert path.read_bytes() == data, "what is finished is not written to"
    passed_over = run == 3 and (damage.refused or damage.outcome == "interrupted")
    assert diff_runs(workspace, "previous", 4).base.run == (2 if passed_over else 3)


@every_damage
@every_run
def test_a_damaged_transcript_of_a_writer_that_died_is_in_nobodys_way_and_becomes_a_finished_one(
    three: None, record: Any, a_test: Any, workspace: Workspace, store: Store, run: int, damage: Damage
) -> None:
    left, path = store.active / f"{run}.jsonl", store.folder / f"{run}.jsonl"
    os.rename(path, left)
    edit(left, damage)
    says_what_is_wrong(workspace, run, left, damage)
    others_are_as_before(workspace, run)
    if run != 3:
        assert diff_runs(workspace, "previous").target.run == 3
    data = left.read_bytes()
    assert record(a_test("test_a")).id == 4
    assert list(store.active.iterdir()) == []
    if damage.refused:
        assert path.read_bytes() == data
    else:
        assert path.read_bytes().startswith(data[: data.rfind(b"\n") + 1])
        assert path.read_bytes().splitlines(True)[-1].startswith(b'{"type":"RunFinished"')
    says_what_is_wrong(workspace, run, path, damage)
    others_are_as_before(workspace, run)
