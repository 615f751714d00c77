"""What ``go test -json`` prints: one JSON object a line, https://pkg.go.dev/cmd/test2json."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from treescribe import Event, Workspace
from treescribe.events import (
    CommandStarted,
    Diagnostic,
    Severity,
    SuiteFinished,
    SuiteOutcome,
    SuiteStarted,
    TestFinished,
    TestStarted,
    TestStatus,
)

from treescribe_reports.texts import LONGEST_TRACE, bounded, milliseconds, one_line

_MARK = '"Action":"'
_ENDS = {"pass": TestStatus.PASSED, "fail": TestStatus.FAILED, "skip": TestStatus.SKIPPED}
_FRAME = re.compile(r"\s*(?:=== |--- (?:PASS|FAIL|SKIP): )")
_SAID = re.compile(r"\s+(?P<file>[^\s:]+\.go):(?P<line>\d+): (?P<message>.*)")
_PANIC = re.compile(r"(?:panic|fatal error): .*")
_COMPILER = re.compile(r"(?:vet: )?(?P<path>[^\s:][^:]*\.go):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)")


@dataclass
class _Package:
    """A package whose tests are running.

    :ivar printed: what each test has printed; that of the package itself is under an empty name.
    """

    failed: int = 0
    running: dict[str, None] = field(default_factory=dict)
    printed: dict[str, list[str]] = field(default_factory=dict)


class GoTestReader:
    """An `treescribe.OutputReader`. A package is a suite; what go cannot build is told by diagnostics, too."""

    def __init__(self, command: CommandStarted, workspace: Workspace) -> None:
        self._folders = (command.cwd, str(workspace.root))
        self._packages: dict[str, _Package] = {}

    def read(self, stream: str, text: str) -> Iterator[Event]:
        if _MARK not in text:
            return
        for line in text.split("\n"):
            if line.startswith("{") and _MARK in line:
                yield from self._take(line)

    def end(self) -> Iterator[Event]:
        for name, package in tuple(self._packages.items()):
            yield from self._died(name, package, "go test ended without finishing")

    def _take(self, line: str) -> Iterator[Event]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return
        action, package, test = (_text(record, key) for key in ("Action", "Package", "Test"))
        if action == "build-output":
            yield from self._built(_text(record, "Output"))
        elif not package:
            return
        elif action == "start":
            self._packages[package] = _Package()
            yield SuiteStarted(suite=package)
        elif test:
            yield from self._test(package, test, action, record)
        elif action == "output":
            self._print(package, "", _text(record, "Output"))
        elif action in _ENDS:
            yield from self._package_ended(package, action, record)

    # -- tests ------------------------------------------------------------------------------------------

    def _test(self, package: str, test: str, action: str, record: dict[str, Any]) -> Iterator[Event]:
        if action == "run":
            self._of(package).running[test] = None
            yield TestStarted(suite=package, test=test)
        elif action == "output":
            self._print(package, test, _text(record, "Output"))
        elif action in _ENDS:
            yield self._finished(package, test, _ENDS[action], milliseconds(record.get("Elapsed")))

    def _finished(self, package: str, test: str, status: TestStatus, duration_ms: int = 0) -> TestFinished:
        of = self._of(package)
        of.running.pop(test, None)
        of.failed += status not in (TestStatus.PASSED, TestStatus.SKIPPED)
        printed = "".join(of.printed.pop(test, []))
        if status == TestStatus.PASSED:
            return TestFinished(suite=package, test=test, status=status, duration_ms=duration_ms)
        message, path, line = self._said(package, printed)
        return TestFinished(
            suite=package,
            test=test,
            status=status,
            duration_ms=duration_ms,
            message=message,
            trace=bounded(printed) if status != TestStatus.SKIPPED else "",
            path=path,
            line=line,
        )

    def _said(self, package: str, printed: str) -> tuple[str, str, int]:
        """(message, path, line) of a test that did not pass: what it said last, or its panic."""
        lines = printed.splitlines()
        if panic := next((line for line in lines if _PANIC.match(line)), ""):
            return one_line(panic), "", 0
        said = [found for line in lines if (found := _SAID.fullmatch(line))]
        if said:
            path = self._source(package, said[-1]["file"])
            return one_line(said[-1]["message"]), path, int(said[-1]["line"]) if path else 0
        return one_line("\n".join(line for line in lines if not _FRAME.match(line))), "", 0

    def _source(self, package: str, file: str) -> str:
        """The absolute path of a package's file: its folder is called like the end of the package's import path."""
        steps = package.split("/")
        for folder in self._folders:
            for place in range(len(steps) + 1):
                path = os.path.join(folder, *steps[place:], file)
                if os.path.isfile(path):
                    return path
        return ""

    # -- packages ---------------------------------------------------------------------------------------

    def _of(self, package: str) -> _Package:
        return self._packages.setdefault(package, _Package())

    def _print(self, package: str, test: str, output: str) -> None:
        """Keep what was printed, of much only the beginning and the end."""
        printed = self._of(package).printed.setdefault(test, [])
        printed.append(output[:LONGEST_TRACE])
        if len(printed) > 2000:
            printed[1000:-500] = ["…\n"]

    def _package_ended(self, name: str, action: str, record: dict[str, Any]) -> Iterator[Event]:
        package = self._of(name)
        if action == "fail" and (package.running or not package.failed):
            reason = "it could not be built" if record.get("FailedBuild") else ""
            yield from self._died(name, package, reason)
            return
        del self._packages[name]
        outcome = SuiteOutcome.EMPTY if action == "skip" else SuiteOutcome.EXECUTED
        yield SuiteFinished(suite=name, outcome=outcome, duration_ms=milliseconds(record.get("Elapsed")))

    def _died(self, name: str, package: _Package, reason: str) -> Iterator[Event]:
        """A package has failed and no test explains it, or its tests were cut short."""
        for test in tuple(package.running):
            yield self._finished(name, test, TestStatus.ERROR)
        printed = "".join(package.printed.pop("", []))
        del self._packages[name]
        message = reason or one_line(printed)
        yield SuiteFinished(suite=name, outcome=SuiteOutcome.ERRORED, message=message, trace=bounded(printed))

    def _built(self, output: str) -> Iterator[Event]:
        if found := _COMPILER.fullmatch(output.rstrip("\n")):
            path = next(
                (
                    whole
                    for folder in self._folders
                    if os.path.isfile(whole := os.path.normpath(os.path.join(folder, found["path"])))
                ),
                found["path"],
            )
            yield Diagnostic(
                severity=Severity.ERROR,
                message=found["message"],
                tool="go",
                path=path,
                line=int(found["line"]),
                column=int(found["column"]),
            )


def _text(record: Any, key: str) -> str:
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""
