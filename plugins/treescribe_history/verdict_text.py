"""What a run came to, in words: the counts of its tests, why it failed where no test tells, and when it was."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping

from treescribe.events import CommandFinished, CommandStatus, TestStatus
from treescribe.reduce import Verdict
from treescribe.terminal import count

_ORDER = (
    TestStatus.PASSED,
    TestStatus.FAILED,
    TestStatus.ERROR,
    TestStatus.TIMEOUT,
    TestStatus.CANCELLED,
    TestStatus.SKIPPED,
)
OUTCOME_ROLES = {"passed": "good", "failed": "bad", "error": "bad"}
"""Outcomes that are coloured, by the role of their colour."""

_LONGEST = 60
_LONGEST_MESSAGE = 200


def counts(tests: Mapping[str, int]) -> str:
    """How many tests of each status, those that matter first: ``40 passed, 1 failed``. Empty where there are none."""
    known = [status for status in map(str, _ORDER) if status in tests]
    others = sorted(tests.keys() - set(known))
    return ", ".join(f"{tests[status]:,} {status}" for status in (*known, *others))


def reason(verdict: Verdict) -> str:
    """Why a run did not pass, where no failing test says so: a suite, a compile unit, a command, or the error."""
    if verdict.ok or verdict.failures:
        return ""
    if verdict.suites:
        suite = verdict.suites[0]
        return f"{suite.suite} {suite.outcome}" + (f": {shortened(suite.message)}" if suite.message else "")
    if verdict.units:
        return f"{count(len(verdict.units), 'compile unit')} {verdict.units[0].status}: {verdict.units[0].project}"
    failed = [command for command in verdict.commands if command.status != CommandStatus.DETACHED]
    if failed:
        return command_end(failed[-1])
    return shortened(verdict.error)


def command_end(command: CommandFinished) -> str:
    """How a command ended: ``exit code 2 of "ruff check"``."""
    line = f'"{shortened(command.line)}"'
    if command.status == CommandStatus.TIMED_OUT:
        return f"{line} timed out"
    if command.signal is not None:
        return f"signal {_signal_name(command.signal)} ended {line}"
    if command.exit_code is not None:
        return f"exit code {command.exit_code} of {line}"
    return f"{line}: {shortened(command.error)}" if command.error else f"{line}: {command.status}"


def shortened(text: str) -> str:
    """The first line of a text, cut where it is long."""
    first, *more = text.strip().splitlines() or [""]
    if len(first) > _LONGEST:
        return first[: _LONGEST - 1] + "…"
    return first + " …" if more else first


def one_line(text: str) -> str:
    """A text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 1] + "…"


def _signal_name(number: int) -> str:
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def iso(at_ms: int) -> str:
    """A time in ISO 8601, in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_ms // 1000))
