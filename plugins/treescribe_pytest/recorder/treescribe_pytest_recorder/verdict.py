"""One test, from the reports of its phases: status, duration, one line that says why, and the traceback."""

from __future__ import annotations

import re
from json.encoder import encode_basestring_ascii as _quoted
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

LONGEST_TRACE = 16 * 1024
LONGEST_MESSAGE = 1000
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_SKIP_PREFIXES = ("Skipped: ", "unittest.case.SkipTest: ")


class Verdict:
    """What a test comes to, report by report.

    A failed call is ``failed``. A failed setup or teardown is ``error``, and so is a report of no phase (the
    crash of an xdist worker), unless the call has failed before. Skips and expected failures are ``skipped``, an
    unexpected pass is ``passed`` (where it is strict, pytest itself reports a failure). These are the counts of
    pytest's own JUnit XML, with one difference: there, a test that failed twice, in its call and its teardown,
    is two.

    :ivar decided: whether a report has said how the test came out: not before its call.
    :ivar reruns: whether this was a try that does not count.
    """

    __slots__ = ("decided", "line", "message", "path", "reruns", "seconds", "status", "trace")

    def __init__(self) -> None:
        self.status = "passed"
        self.message = ""
        self.trace = ""
        self.seconds = 0.0
        self.path = ""
        self.line = 0
        self.decided = False
        self.reruns = False

    def add(self, report: pytest.TestReport) -> None:
        """Take the next report of the test into account."""
        outcome: str = report.outcome
        if outcome == "rerun":  # pytest-rerunfailures: another try follows, which decides
            self.reruns = True
            self.trace = trace_of(report)
            self.message = message_of(report.longrepr, self.trace)
            return
        known = vars(report)
        is_subtest = "context" in known
        if not is_subtest:  # its time is part of the call's
            self.seconds += known.get("duration", 0.0)
            path, line, _ = report.location
            self.path, self.line = path, 0 if line is None else line + 1
        if outcome == "failed":
            self._fail(report)
        elif not is_subtest and outcome == "skipped":
            self._skip(report)
        elif not is_subtest and report.when == "call":
            self._pass(report)

    def after(self, failed: Verdict) -> None:
        """The try before this one has failed: where this one passes, that is told of it."""
        if self.status == "passed":
            self.message, self.trace = f"flaky: {failed.message}", failed.trace

    def members(self) -> str:
        """What is written of it: the members of a JSON object."""
        duration = f"{self.seconds * 1000:.0f}"
        text = f'"status":"{self.status}","duration_ms":{duration},"path":{_quoted(self.path)},"line":{self.line}'
        if self.message:
            text += f',"message":{_quoted(self.message)}'
        if self.trace:
            text += f',"trace":{_quoted(bounded(self.trace))}'
        return text

    def _fail(self, report: pytest.TestReport) -> None:
        self.decided = True
        text = trace_of(report)
        if self.status == "failed":  # a second failure of one test: the teardown's, or that of another subtest
            self.trace = f"{self.trace}\n\n{text}"
            return
        self.status = "failed" if report.when == "call" else "error"
        message = message_of(report.longrepr, text)
        self.message = f"error at teardown: {message}" if report.when == "teardown" else message
        self.trace = f"{self.trace}\n\n{text}" if self.trace else text

    def _skip(self, report: pytest.TestReport) -> None:
        if self.decided:  # a skip in a teardown changes nothing
            return
        self.decided = True
        self.status = "skipped"
        expected = getattr(report, "wasxfail", None)
        self.message = skip_reason(report.longrepr) if expected is None else _named("xfail", expected)

    def _pass(self, report: pytest.TestReport) -> None:
        self.decided = True
        expected = getattr(report, "wasxfail", None)
        if expected is not None and self.status == "passed":
            self.message = _named("xpass", expected)


def _named(name: str, reason: str) -> str:
    reason = str(reason)
    reason = one_line(reason[len("reason: ") :] if reason.startswith("reason: ") else reason)
    return f"{name}: {reason}" if reason else name


def trace_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The whole report, without the line that names the worker it came from."""
    text = uncoloured(report.longreprtext)
    return text.partition("\n")[2] if hasattr(report, "node") and text.startswith("[") else text


def uncoloured(text: str) -> str:
    """`text` without colours: pytest renders some reports early, for a terminal (``FORCE_COLOR``, ``--color``)."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


def skip_reason(longrepr: object) -> str:
    """Why a test or a file was skipped."""
    reason = str(longrepr[2]) if isinstance(longrepr, tuple) and len(longrepr) == 3 else str(longrepr)
    for prefix in _SKIP_PREFIXES:
        if reason.startswith(prefix):
            reason = reason[len(prefix) :]
    return one_line(reason)


def message_of(longrepr: object, text: str) -> str:
    """The first line of what was raised; `text` is the whole report, for reports that do not name it."""
    crash = getattr(longrepr, "reprcrash", None)
    return _raised(crash.message.splitlines()) if crash is not None and crash.message else raised_in(text)


def raised_in(text: str) -> str:
    """The first line of the last exception of a rendered report (``E   …``); without one, its first line."""
    block: list[str] = []
    within = False
    for line in text.splitlines():
        marked = line.startswith("E  ")
        if marked:
            block = [*block, line[1:]] if within else [line[1:]]
        within = marked
    return _raised(block) or one_line(text)


def _raised(lines: list[str]) -> str:
    """The line that names the exception. A syntax error shows its place first, indented."""
    said = [line for line in lines if line.strip()]
    return one_line(min(said, key=lambda line: len(line) - len(line.lstrip()), default=""))


def one_line(text: str) -> str:
    """The first line of `text` that holds anything, bounded."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 1] + "…"


def bounded(text: str) -> str:
    """`text`, its middle left out where it is too long."""
    over = len(text) - LONGEST_TRACE
    if over <= 0:
        return text
    half = LONGEST_TRACE // 2
    return f"{text[:half]}\n… {over} characters left out …\n{text[-half:]}"
