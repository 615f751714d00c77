"""How a pytest session ended, and what there is to say about it that no single file can be blamed for."""

from __future__ import annotations

from dataclasses import dataclass

from treescribe.events import SuiteFinished, SuiteOutcome
from treescribe.reduce import test_fails

INTERRUPTED, INTERNAL_ERROR, USAGE_ERROR, NO_TESTS = 2, 3, 4, 5
"""Exit codes of pytest: https://docs.pytest.org/en/stable/reference/exit-codes.html"""

STOPPED_BY_PYTEST = "Interrupted"
"""The exception with which pytest, or xdist, stops itself: collection errors, ``--stepwise``, ``-n 2 -x``."""


@dataclass
class Ending:
    """What is known of a session's end.

    :ivar failures: tests that count as failures, and collection errors.
    :ivar internal_error: (message, trace).
    :ivar interrupted: (name of the exception, message).
    """

    exit_code: int = 0
    failures: int = 0
    internal_error: tuple[str, str] | None = None
    interrupted: tuple[str, str] | None = None
    usage: str = ""

    def count(self, status: str) -> None:
        """Take the end of one test into account."""
        self.failures += test_fails(status)

    @property
    def stopped_from_outside(self) -> bool:
        """Whether Ctrl-C or ``pytest.exit`` cut the session short."""
        return self.exit_code != 0 and self.interrupted is not None and self.interrupted[0] != STOPPED_BY_PYTEST


def own_suite(ending: Ending, name: str) -> SuiteFinished | None:
    """The suite that stands for the whole session; None for an ordinary one, passed or failed.

    A stop that follows from a failure (``-x``, collection errors) is none of its own: the failure is told.
    """
    if ending.internal_error is not None:
        message, trace = ending.internal_error
        return SuiteFinished(suite=name, outcome=SuiteOutcome.ERRORED, message=message, trace=trace)
    if ending.exit_code == INTERNAL_ERROR:
        return SuiteFinished(suite=name, outcome=SuiteOutcome.ERRORED, message="internal error")
    if ending.exit_code == USAGE_ERROR:
        return SuiteFinished(suite=name, outcome=SuiteOutcome.ERRORED, message=ending.usage or "usage error")
    if ending.stopped_from_outside or (ending.exit_code == INTERRUPTED and not ending.failures):
        return SuiteFinished(suite=name, outcome=SuiteOutcome.CANCELLED, message=_reason(ending))
    if ending.exit_code == NO_TESTS:
        return SuiteFinished(suite=name, outcome=SuiteOutcome.EMPTY)
    return None


def _reason(ending: Ending) -> str:
    by, message = ending.interrupted or ("", "")
    return message or (f"interrupted by {by}" if by else "interrupted")
