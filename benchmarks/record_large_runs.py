"""Records two large runs in the worktree that it is started in: ``record_large_runs.py TESTS``.

The events are those that the pytest plugin emits; a pytest of so many tests would take minutes. One test of a hundred
fails in each run, with a trace; half of those fail in both. The second run has ten tests more and ten fewer.
"""

from __future__ import annotations

import os
import sys
from itertools import groupby

from treescribe.events import SuiteFinished, SuiteStarted, TestFinished
from treescribe.host import host
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.workspace import Workspace

TESTS_PER_SUITE = 200
TRACE = "    assert total == expected\nE   AssertionError: assert 190 == 180\n" * 16


def main(tests: int) -> None:
    """Record both runs."""
    for first, shift in ((0, 0), (10, 50)):
        run = Run(Workspace.open(os.getcwd()), RunRequest("invoke", ("test",)), host=host())
        run.start()
        for suite, numbers in groupby(range(first, first + tests), lambda number: number // TESTS_PER_SUITE):
            _record_suite(run, f"tests/test_orders_{suite:04d}.py", list(numbers), shift)
        run.finish(Outcome("failed", 1))


def _record_suite(run: Run, suite: str, numbers: list[int], shift: int) -> None:
    run.emit(SuiteStarted(suite=suite, tests=len(numbers)))
    for number in numbers:
        run.emit(_finished(run, suite, number, shift))
    run.emit(SuiteFinished(suite=suite, outcome="executed", duration_ms=400))


def _finished(run: Run, suite: str, number: int, shift: int) -> TestFinished:
    failing = number % 200 == 7 or (number + shift) % 200 == 100
    return TestFinished(
        suite=suite,
        test=f"test_order_{number:06d}_is_priced_with_its_discount",
        status="failed" if failing else "passed",
        duration_ms=number % 7,
        message="AssertionError: assert 190 == 180" if failing else "",
        trace=TRACE if failing else "",
        path=str(run.workspace.root / suite),
        line=3 * (number % TESTS_PER_SUITE) + 1,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
