"""What recording costs where a command prints 100 MB. Plain `inv` takes a time that grows with the square of that."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from pairs import Program, Sample, in_turns, peak_of, ratio, seconds_of
from projects import new_project, throw_away_folder
from rows import Row, show, timed

BUDGET = 0.2
MEGABYTE = 1_000_000
SIZES = (4, 8)
"""The megabytes for which plain `inv` is measured: at 100 it runs for some twenty minutes."""
FULL_SIZE = 100
ROUNDS = 3
LINE = b"%08d  compiling module number %08d of this project: all is well\n"


def rows() -> Iterator[Row]:
    """Pairs at the sizes that plain `inv` can be asked for, the full size against what those come to, and `exec`."""
    with throw_away_folder() as folder:
        projects = [new_project(folder / "plain"), new_project(folder / "recorded", recorded=True)]
        for project in projects:
            _write_output(project / "output.txt")
        for size in SIZES:
            plain, recorded = in_turns(*(_printing(project, size) for project in projects), rounds=ROUNDS)
            yield timed(f"a command that prints {size} MB: recorded inv / plain inv", recorded, plain)
        yield _full_size(projects[1], plain)
        yield from _exec(projects[1])


def _printing(project: Path, megabytes: int) -> Program:
    return Program(("inv", "output", str(megabytes * MEGABYTE)), project)


def _write_output(path: Path) -> None:
    with path.open("wb") as file:
        file.writelines(LINE % (number, number) for number in range(FULL_SIZE * MEGABYTE // len(LINE % (0, 0)) + 1))


def _full_size(recorded: Path, plain: Sequence[Sample]) -> Row:
    """Recorded is measured; plain is what its last size comes to, times the square of how much more this is."""
    (samples,) = in_turns(_printing(recorded, FULL_SIZE), rounds=ROUNDS)
    estimated = statistics.median(seconds_of(plain)) * (FULL_SIZE / SIZES[-1]) ** 2
    return Row(
        f"a command that prints {FULL_SIZE} MB: recorded inv / plain, estimated",
        f"{statistics.median(seconds_of(samples)):.3f} s",
        f"~{estimated:.0f} s",
        ratio(seconds_of(samples), [estimated] * len(samples)),
        BUDGET,
        (peak_of(samples),),
    )


def _exec(project: Path) -> Iterator[Row]:
    command = ("head", "-c", str(FULL_SIZE * MEGABYTE), "output.txt")
    exec_, bare, piped = in_turns(
        Program(("treescribe", "exec", "--", *command), project),
        Program(command, project),
        Program(("sh", "-c", f"{' '.join(command)} | cat"), project),
        rounds=7,
    )
    yield timed(f"{FULL_SIZE} MB: treescribe exec / the command alone, > /dev/null", exec_, bare)
    yield timed(f"{FULL_SIZE} MB: treescribe exec / the command | cat > /dev/null", exec_, piped)


if __name__ == "__main__":
    show(rows())
