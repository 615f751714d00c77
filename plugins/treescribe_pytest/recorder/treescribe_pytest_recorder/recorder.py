"""The session: a pytest plugin that writes down what happens, and lets nothing of its own reach pytest."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as _quoted  # the two records of every test are written by hand: fast
from typing import TYPE_CHECKING, Any

import pytest

from .verdict import Verdict, bounded, message_of, one_line, raised_in, skip_reason, trace_of, uncoloured

if TYPE_CHECKING:
    from .journal import Journal


class Recorder:
    """Writes the records of one session. They are told in ``treescribe_pytest.session``, which reads them.

    A failure of a hook here loses its record, nothing else; the last record says how many were lost. Where not
    even the file can be created, nothing is recorded.
    """

    def __init__(self, journal: Journal, environment: str) -> None:
        self._journal = journal
        self._environment = environment
        self._begun = False
        self._open: dict[tuple[str, Any], Verdict] = {}
        self._lost = 0
        self._problem = ""

    # -- the hooks --------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._try(self._begin, session)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self._try(self._not_collected, report)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._try(self._collected, session)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        self._try(self._collected_by_worker, ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._try(self._test_started, nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._try(self._test_reported, report)

    def pytest_internalerror(self, excrepr: object) -> None:
        self._try(self._internal_error, excrepr)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._try(self._interrupted, excinfo)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._try(self._end, session)

    # -- what they write --------------------------------------------------------------------------------

    def _try(self, write: Callable[[Any], None], argument: object) -> None:
        if not self._begun and write != self._begin:
            return
        try:
            write(argument)
        except Exception as error:  # noqa: BLE001 - recording never breaks a pytest
            self._lost += 1
            self._problem = self._problem or f"{type(error).__name__}: {error}"

    def _begin(self, session: pytest.Session) -> None:
        self._journal.begin()
        self._begun = True
        self._journal.write(
            {
                "event": "session-started",
                "pid": self._journal.pid,
                "file": self._journal.path,
                "rootdir": str(session.config.rootpath),
                "environment": self._environment,
            }
        )

    def _collected(self, session: pytest.Session) -> None:
        files = Counter(item.nodeid.partition("::")[0] for item in session.items)
        if files:
            self._journal.write({"event": "collected", "files": files})

    def _collected_by_worker(self, ids: list[str]) -> None:
        self._journal.write({"event": "collected", "files": Counter(nodeid.partition("::")[0] for nodeid in ids)})

    def _not_collected(self, report: pytest.CollectReport) -> None:
        if report.outcome == "skipped":
            self._skipped_whole(report)
            return
        text = trace_of(report)
        record = {"event": "collection-error", "suite": report.nodeid or ".", "message": raised_in(text)}
        self._journal.write({**record, "trace": bounded(text)})

    def _skipped_whole(self, report: pytest.CollectReport) -> None:
        """A file that skipped itself is one skipped test, as it is in JUnit XML."""
        verdict = Verdict()
        verdict.status, verdict.message = "skipped", skip_reason(report.longrepr)
        verdict.path, _ = split(report.nodeid)
        self._test_finished(report.nodeid, verdict)

    def _test_started(self, nodeid: str) -> None:
        suite, test = split(nodeid)
        self._journal.append(f'{{"event":"test-started","suite":{_quoted(suite)},"test":{_quoted(test)}}}')

    def _test_reported(self, report: pytest.TestReport) -> None:
        key = report.nodeid, vars(report).get("node")  # `xdist --dist each` runs a test on every worker
        verdict = self._open.get(key)
        if verdict is None or report.when == "setup":
            verdict = self._open[key] = Verdict()
        verdict.add(report)
        if report.when not in ("setup", "call"):  # a report of no phase stands for a test whose process died
            del self._open[key]
            if not verdict.reruns:
                self._test_finished(report.nodeid, verdict)

    def _test_finished(self, nodeid: str, verdict: Verdict) -> None:
        suite, test = split(nodeid)
        names = f'"suite":{_quoted(suite)},"test":{_quoted(test)}'
        self._journal.append(f'{{"event":"test-finished",{names},{verdict.members()}}}')

    def _internal_error(self, excrepr: object) -> None:
        text = uncoloured(str(excrepr))
        record = {"event": "internal-error", "message": message_of(excrepr, text), "trace": bounded(text)}
        self._journal.write(record)

    def _interrupted(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        reason = getattr(excinfo.value, "msg", None) or str(excinfo.value)
        self._journal.write({"event": "interrupted", "by": excinfo.type.__name__, "message": one_line(str(reason))})

    def _end(self, session: pytest.Session) -> None:
        for (nodeid, _), verdict in self._open.items():
            if verdict.decided and not verdict.reruns:  # `xdist -x` stops before the failed test's teardown is reported
                self._test_finished(nodeid, verdict)
        record: dict[str, Any] = {"event": "session-finished", "exit_code": int(session.exitstatus)}
        error = sys.exc_info()[1]  # pytest tells a usage error to no hook, and is on its way out with it here
        report = getattr(session.config.option, "xmlpath", None)
        if report:
            record["junit"] = os.path.abspath(os.path.expanduser(os.path.expandvars(report)))  # as pytest itself does
        if isinstance(error, pytest.UsageError):
            record["usage"] = one_line("; ".join(str(part) for part in error.args))
        if self._lost:
            record["lost"], record["problem"] = self._lost, one_line(self._problem)
        try:
            self._journal.write(record)
        except OSError:
            self._journal.abandon()


def split(nodeid: str) -> tuple[str, str]:
    """(suite, test) of a node id: its file, and the rest. An item that is a whole file is named like the file."""
    suite, _, test = nodeid.partition("::")
    return suite, test or suite.rpartition("/")[2]
