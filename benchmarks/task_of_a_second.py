"""What recording adds to a task of one second: `inv` with and without it in its configuration, and `treescribe`."""

from __future__ import annotations

from collections.abc import Iterator

from pairs import Program, in_turns
from projects import new_project, throw_away_folder
from rows import Row, show, timed

BUDGET = 1.05
ROUNDS = 9


def rows() -> Iterator[Row]:
    """Plain `inv` is the reference of both rows."""
    with throw_away_folder() as folder:
        plain = new_project(folder / "plain")
        recorded = new_project(folder / "recorded", recorded=True)
        by_treescribe = new_project(folder / "treescribe")
        reference, inv, treescribe = in_turns(
            Program(("inv", "second"), plain),
            Program(("inv", "second"), recorded),
            Program(("treescribe", "second"), by_treescribe),
            rounds=ROUNDS,
        )
    yield timed("a task of 1 s: recorded inv / plain inv", inv, reference, BUDGET)
    yield timed("a task of 1 s: treescribe / plain inv", treescribe, reference)


if __name__ == "__main__":
    show(rows())
