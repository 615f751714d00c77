"""Runs every benchmark and prints one table: ``python benchmarks/run_all.py``."""

from __future__ import annotations

from collections.abc import Iterator

import diff_of_large_runs
import event_floods
import history_operations
import mcp_server
import much_output
import recording_tests
import task_of_a_second
from rows import Row, show

BENCHMARKS = (
    task_of_a_second,
    much_output,
    recording_tests,
    history_operations,
    diff_of_large_runs,
    event_floods,
    mcp_server,
)


def rows() -> Iterator[Row]:
    """The rows of all, as they come."""
    for benchmark in BENCHMARKS:
        yield from benchmark.rows()


if __name__ == "__main__":
    show(rows())
