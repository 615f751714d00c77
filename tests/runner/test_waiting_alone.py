"""What copies compiled state, among many real runs: it waits for those that go on and is overtaken by none."""

from __future__ import annotations

from pathlib import Path

from recording_processes import Nursery, Recorder
from treescribe.workspace import Workspace

RUNS = 16


def waits(recorder: Recorder) -> bool:
    """Whether a recorder, which was told to start a run, has told that it waits."""
    return "waiting for" in str(recorder.note())


def test_one_that_wants_the_workspace_alone_waits_for_sixteen_runs_and_sixteen_later_ones_wait_for_it(
    processes: Nursery, workspace: Workspace, tmp_path: Path
) -> None:
    root = str(workspace.root)
    diary = tmp_path / "diary"
    earlier = [processes.recorder() for _ in range(RUNS)]
    runs = [
        recorder.ask("start", root=root, targets=[f"earlier {number}"], diary=str(diary))
        for number, recorder in enumerate(earlier)
    ]
    alone = processes.recorder()
    alone.send("hold_alone", root=root, diary=str(diary))
    assert alone.note() == "waiting"
    later = [processes.recorder() for _ in range(RUNS)]
    for recorder in later:
        recorder.send("start", root=root, targets=["later"], diary=str(diary))
    assert all(waits(recorder) for recorder in later)

    begun = [f"earlier {number}" for number in range(RUNS)]
    for run, recorder in zip(runs, earlier, strict=True):
        assert diary.read_text().splitlines() == begun, "it did not wait, or it was overtaken"
        recorder.ask("finish", run=run)
    alone.answer()
    alone.ask("let_go", diary=str(diary))
    given = [recorder.answer() for recorder in later]
    assert sorted(given) == list(range(RUNS + 1, 2 * RUNS + 1))
    assert diary.read_text().splitlines() == [*begun, "alone", "no longer alone", *["later"] * RUNS]


def test_a_run_within_a_run_does_not_wait_for_one_that_waits_for_its_parent(
    processes: Nursery, workspace: Workspace, tmp_path: Path
) -> None:
    root = str(workspace.root)
    parent, alone = processes.recorder(), processes.recorder()
    run = parent.ask("start", root=root, targets=["outer"])
    alone.send("hold_alone", root=root, diary=str(tmp_path / "diary"))
    assert alone.note() == "waiting"
    assert parent.ask("run_below", root=root, run=run) == run + 1
    assert not (tmp_path / "diary").exists()
    parent.ask("finish", run=run)
    alone.answer()


def test_one_that_is_killed_while_it_waits_is_in_nobodys_way(
    processes: Nursery, workspace: Workspace, tmp_path: Path
) -> None:
    root = str(workspace.root)
    first, alone, later = (processes.recorder() for _ in range(3))
    first.ask("start", root=root, targets=["first"])
    alone.send("hold_alone", root=root, diary=str(tmp_path / "diary"))
    assert alone.note() == "waiting"
    later.send("start", root=root, targets=["later"])
    assert waits(later)
    alone.kill()
    assert later.answer() == 2
