"""One pytest session: the records of a recorder in, events out.

The records, each an object with ``event``; every other key is of that event:

* ``session-started``: ``pid``, ``rootdir``, ``environment`` (the tox env or nox session that the run has started and
  this pytest is below, empty where there is none), and ``file``, the path of the file itself. The first of every
  file; one that was given up, since it could not be written to its end, has another name by then (see
  `reader.ABANDONED`).
* ``collected``: ``files``, how many tests were found in each.
* ``collection-error``: ``suite``, ``message``, ``trace``.
* ``test-started``: ``suite``, ``test``.
* ``test-finished``: ``suite``, ``test``, ``status``, ``duration_ms``, ``path`` (relative to the rootdir), ``line``,
  and ``message`` and ``trace`` where there are any.
* ``internal-error``: ``message``, ``trace``.
* ``interrupted``: ``by`` (the exception's name) and ``message``.
* ``session-finished``: ``exit_code``; ``junit``, the JUnit XML that pytest itself wrote, if any; ``usage`` where the
  arguments were wrong; ``lost`` and ``problem`` where records could not be written. A session of a pytest that has
  died does not have it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from treescribe.events import (
    ReportRead,
    SuiteFinished,
    SuiteOutcome,
    SuiteStarted,
    TestFinished,
    TestStarted,
    TestStatus,
)
from treescribe.run import Run

from treescribe_pytest.ending import Ending, own_suite
from treescribe_pytest.place import Place

PYTEST = "pytest"
"""The suite that stands for a whole session, where there is something to say that no file can be blamed for."""


class Session:
    """What one pytest has told so far.

    :ivar pid: its process.
    :ivar over: whether its end was told, or its death.
    """

    def __init__(self, pid: int, file: str, place: Place, environment: str, run: Run) -> None:
        self.pid = pid
        self._file = file
        self.over = False
        self._place = place
        self._project = place.project_in(environment)
        self._emit = run.emit
        self._report = run.report
        self._expected: dict[str, int] = {}
        self._durations: dict[str, int] = {}  # of the suites that were begun
        self._running: dict[tuple[str, str], bool] = {}  # whether its start was told
        self._ending = Ending()

    @classmethod
    def started(cls, record: dict[str, Any], run: Run) -> Session | None:
        """The session that begins with `record`; None where it is no beginning."""
        if record.get("event") != "session-started":
            return None
        try:
            pid, file, rootdir = _number(record, "pid"), _text(record, "file"), _text(record, "rootdir")
            environment = _text(record, "environment", "")
            return cls(pid, file, Place.of(rootdir, run.workspace), environment, run) if pid > 0 else None
        except (KeyError, TypeError, ValueError):  # ValueError: a path with a NUL character
            return None

    def record(self, record: dict[str, Any]) -> None:
        """Take the next record; one that has not the shape of its kind changes nothing."""
        take = self._TAKEN.get(str(record.get("event")))
        if take is None or self.over:
            return
        try:
            take(self, record)
        except (KeyError, TypeError, ValueError, OverflowError):
            return

    def tell_running(self) -> None:
        """Emit the start of every test that is running, once."""
        for (suite, test), told in self._running.items():
            if not told:
                self._running[suite, test] = True
                self._emit(TestStarted(project=self._project, suite=suite, test=test))

    def died(self) -> None:
        """The process is gone and told no end: what it was running has failed with it, unless its records were lost."""
        if not os.path.exists(self._file):
            self._report("pytest: its records could not be written to the end; the exit code of its command decides")
            self._close(None)
            return
        self._end_running(TestStatus.ERROR, "pytest died while this test ran")
        self._close(SuiteFinished(suite=PYTEST, outcome=SuiteOutcome.ERRORED, message="pytest ended without finishing"))

    # -- the records ------------------------------------------------------------------------------------

    def _collected(self, record: dict[str, Any]) -> None:
        files = record["files"]
        if not isinstance(files, dict):
            raise TypeError("files")
        self._expected = {self._place.suite(name): count for name, count in files.items() if isinstance(count, int)}

    def _collection_error(self, record: dict[str, Any]) -> None:
        finished = SuiteFinished(
            project=self._project,
            suite=self._suite(record),
            outcome=SuiteOutcome.ERRORED,
            message=_text(record, "message"),
            trace=_text(record, "trace"),
        )
        self._ending.failures += 1
        self._emit(finished)

    def _test_started(self, record: dict[str, Any]) -> None:
        suite, test = self._suite(record), _text(record, "test")
        self._begin_suite(suite)
        self._running.setdefault((suite, test), False)

    def _test_finished(self, record: dict[str, Any]) -> None:
        finished = TestFinished(
            project=self._project,
            suite=self._suite(record),
            test=_text(record, "test"),
            status=_text(record, "status"),
            duration_ms=max(0, _number(record, "duration_ms")),
            message=_text(record, "message", ""),
            trace=_text(record, "trace", ""),
            path=self._place.path(_text(record, "path")),
            line=_number(record, "line"),
        )
        self._finish(finished)

    def _internal_error(self, record: dict[str, Any]) -> None:
        self._ending.internal_error = (_text(record, "message"), _text(record, "trace"))

    def _interrupted(self, record: dict[str, Any]) -> None:
        self._ending.interrupted = (_text(record, "by"), _text(record, "message"))

    def _finished(self, record: dict[str, Any]) -> None:
        self._ending.exit_code = _number(record, "exit_code")
        self._ending.usage = _text(record, "usage", "")
        if "lost" in record:
            self._report(f"pytest: {_number(record, 'lost')} records were lost: {_text(record, 'problem')}")
        if self._ending.internal_error:
            self._end_running(TestStatus.ERROR, "pytest failed while this test ran")
        elif self._ending.stopped_from_outside:
            self._end_running(TestStatus.CANCELLED, "interrupted")
        self._close(own_suite(self._ending, PYTEST))
        if report := _text(record, "junit", ""):
            self._emit(ReportRead(path=report, format="junit"))

    _TAKEN = {
        "collected": _collected,
        "collection-error": _collection_error,
        "test-started": _test_started,
        "test-finished": _test_finished,
        "internal-error": _internal_error,
        "interrupted": _interrupted,
        "session-finished": _finished,
    }

    # -- suites and tests -------------------------------------------------------------------------------

    def _suite(self, record: dict[str, Any]) -> str:
        return self._place.suite(_text(record, "suite"))

    def _begin_suite(self, suite: str) -> None:
        if suite not in self._durations:
            self._durations[suite] = 0
            self._emit(SuiteStarted(project=self._project, suite=suite, tests=self._expected.get(suite)))

    def _finish(self, finished: TestFinished) -> None:
        self._begin_suite(finished.suite)
        self._running.pop((finished.suite, finished.test), None)
        self._durations[finished.suite] += finished.duration_ms
        self._ending.count(finished.status)
        self._emit(finished)

    def _end_running(self, status: str, message: str) -> None:
        for suite, test in tuple(self._running):
            path = self._place.path(self._place.above + suite)
            finished = TestFinished(
                project=self._project,
                suite=suite,
                test=test,
                status=status,
                message=message,
                path=path if os.path.exists(path) else "",
            )
            self._finish(finished)

    def _close(self, own: SuiteFinished | None) -> None:
        """Tell the end of every suite that was begun, and of the session as a whole if there is anything to say."""
        self.over = True
        for suite, duration in self._durations.items():
            self._emit(
                SuiteFinished(project=self._project, suite=suite, outcome=SuiteOutcome.EXECUTED, duration_ms=duration)
            )
        if own is not None:
            self._emit(replace(own, project=self._project))


def _text(record: dict[str, Any], key: str, default: str | None = None) -> str:
    value = record[key] if default is None else record.get(key, default)
    if not isinstance(value, str):
        raise TypeError(key)
    return value


def _number(record: dict[str, Any], key: str) -> int:
    value = record[key]
    if not isinstance(value, int):
        raise TypeError(key)
    return value
