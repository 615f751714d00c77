"""What the history's operations take in a project whose runs have 1,000 tests, beside `inv --list` there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pairs import Program, in_turns, run
from projects import break_tests, history_of, new_project, throw_away_folder
from rows import Row, show, timed

BUDGET = 1.5
TESTS = 1000
RUNS = 12
"""Fewer than are kept by default (32), for the time it takes to record them: a list of those reads 20 digests more."""
ROUNDS = 11


def rows() -> Iterator[Row]:
    """Every run is that of a real pytest; ten of the tests of the last one fail."""
    with throw_away_folder() as folder:
        project = _with_history(folder / "project")
        before, last = (path.stem for path in history_of(project)[-2:])
        operations = {
            "history.list": ("history.list",),
            "history.show": ("history.show", last),
            "history.diff": ("history.diff", before, last),
        }
        reference, *samples = in_turns(
            Program(("inv", "--list"), project),
            *(Program(("treescribe", *words), project) for words in operations.values()),
            rounds=ROUNDS,
        )
    for name, ours in zip(operations, samples, strict=True):
        yield timed(f"{name}, runs of {TESTS} tests / inv --list", ours, reference, BUDGET)


def _with_history(folder: Path) -> Path:
    project = new_project(folder, tests=TESTS)
    recorded = Program(("treescribe", "test"), project)
    for _ in range(RUNS - 1):
        run(recorded)
    break_tests(project, range(10))
    run(recorded, expected=1)
    return project


if __name__ == "__main__":
    show(rows())
