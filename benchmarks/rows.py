"""What a benchmark answers with: rows, printed one a line. A ratio beyond its budget is marked, and nothing fails."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pairs import Ratio, Sample, peak_of, ratio, seconds_of

_WIDTHS = (64, 10, 10, 25, 9)
_TITLES = ("what", "ours", "reference", "ratio (min to max)", "budget", "memory: ours, reference")


class Row(NamedTuple):
    """One measurement.

    :ivar budget: what the ratio is to stay within; None for a row that is there for comparison only.
    :ivar memory: the largest process of ours and of the reference, in bytes; empty where they are not measured.
    """

    what: str
    ours: str
    reference: str
    ratio: Ratio
    budget: float | None = None
    memory: tuple[int, ...] = ()


def timed(what: str, ours: Sequence[Sample], reference: Sequence[Sample], budget: float | None = None) -> Row:
    """The row of two programs that were timed in turns."""
    return Row(
        what,
        f"{statistics.median(seconds_of(ours)):.3f} s",
        f"{statistics.median(seconds_of(reference)):.3f} s",
        ratio(seconds_of(ours), seconds_of(reference)),
        budget,
        (peak_of(ours), peak_of(reference)),
    )


def show(rows: Iterable[Row]) -> None:
    """Print a table of the rows, each as soon as it is there."""
    print(_line(_TITLES), flush=True)
    for row in rows:
        print(_line(_cells(row)), flush=True)


def _cells(row: Row) -> tuple[str, ...]:
    median, low, high = row.ratio
    over = "over" if row.budget is not None and median > row.budget else ""
    budget = "" if row.budget is None else f"{row.budget:g} {over}"
    memory = ", ".join(f"{size / 2**20:.0f} MiB" for size in row.memory)
    return row.what, row.ours, row.reference, f"{median:.3f} ({low:.3f} to {high:.3f})", budget, memory


def _line(cells: Sequence[str]) -> str:
    *columns, last = cells
    return " ".join([*(cell.ljust(width) for cell, width in zip(columns, _WIDTHS, strict=True)), last]).rstrip()
