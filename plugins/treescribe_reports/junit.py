"""JUnit XML, in the shapes that tools write it: Surefire, Gradle, gotestsum, jest-junit, cargo-nextest, pytest.

There is no standard. What they have in common: ``testcase`` elements within ``testsuite`` elements, ``failure``,
``error`` and ``skipped`` below them. https://github.com/testmoapp/junitxml collects the dialects.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from treescribe import Event, Workspace
from treescribe.events import SuiteFinished, SuiteOutcome, SuiteStarted, TestFinished, TestStatus

from treescribe_reports.texts import bounded, milliseconds, one_line
from treescribe_reports.written import UnreadableReport

BUILD_FOLDERS = ("target", "build")
"""Where Maven and Gradle keep what they make of a module: the folder that holds it is the module."""

_OUTCOMES = {"error": TestStatus.ERROR, "failure": TestStatus.FAILED, "skipped": TestStatus.SKIPPED}


class Case(NamedTuple):
    """One test, and the suite that it is told under."""

    suite: str
    test: str
    element: Element


def junit_events(path: str, workspace: Workspace) -> Iterator[Event]:
    """What a report says: its suites, one after the other, with their tests.

    :raises UnreadableReport: where it is no JUnit XML. One that is cut short also counts as a suite that errored: the
        results that it was to hold are lost.
    """
    project = project_of(path, workspace)
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        name = os.path.relpath(path, workspace.root)
        yield SuiteFinished(project=project, suite=name, outcome=SuiteOutcome.ERRORED, message=f"unreadable: {error}")
        raise UnreadableReport(f"it is no well-formed XML: {error}") from error
    if root.tag not in ("testsuites", "testsuite"):
        raise UnreadableReport(f"its root is <{root.tag}>, not <testsuites> or <testsuite>")
    suites: dict[str, list[Case]] = {}
    for case in _cases(root):
        suites.setdefault(case.suite, []).append(case)
    for suite, cases in suites.items():
        yield from _suite_events(project, suite, cases, workspace)
    for suite in _empty_suites(root):
        if suite not in suites:
            yield SuiteFinished(project=project, suite=suite, outcome=SuiteOutcome.EMPTY)


def project_of(path: str, workspace: Workspace) -> str:
    """The module that a report belongs to: the folder that holds the build folder it lies in; often none."""
    folders = os.path.relpath(path, workspace.root).split(os.sep)[:-1]
    place = next((place for place, name in enumerate(folders) if name in BUILD_FOLDERS), 0)
    return "/".join(folders[:place])


def _cases(root: Element) -> Iterator[Case]:
    """The tests in the order of the file, however deep their suites are nested."""
    waiting = [(root, "")]
    while waiting:
        element, suite = waiting.pop()
        if element.tag == "testcase":
            test, of_class = element.get("name", ""), element.get("classname", "")
            told_twice = of_class == test or of_class == f"{suite} {test}"  # jest-junit, unless it is told otherwise
            yield Case(suite if told_twice or not of_class else of_class, test, element)
        elif element.tag in ("testsuite", "testsuites"):
            name = element.get("name", "") or suite
            waiting += [(child, name) for child in reversed(element)]


def _empty_suites(root: Element) -> Iterator[str]:
    for suite in root.iter("testsuite"):
        if next(suite.iter("testcase"), None) is None and suite.get("name"):
            yield suite.get("name", "")


def _suite_events(project: str, suite: str, cases: list[Case], workspace: Workspace) -> Iterator[Event]:
    yield SuiteStarted(project=project, suite=suite, tests=len(cases))
    total = 0
    for case in cases:
        finished = _test(project, case, workspace)
        total += finished.duration_ms
        yield finished
    yield SuiteFinished(project=project, suite=suite, outcome=SuiteOutcome.EXECUTED, duration_ms=total)


def _test(project: str, case: Case, workspace: Workspace) -> TestFinished:
    element = case.element
    status, told = _status(element)
    message, trace = _texts(told) if told is not None else ("", "")
    if status == TestStatus.SKIPPED:
        trace = ""
    flakes = [tried for tag in ("flakyFailure", "flakyError") for tried in element.findall(tag)]
    if flakes and status == TestStatus.PASSED:
        message, trace = _texts(flakes[-1])
        message, trace = f"flaky: {message}", flakes[-1].findtext("stackTrace", trace)
    path = _path(element.get("file", ""), workspace)
    return TestFinished(
        project=project,
        suite=case.suite,
        test=case.test,
        status=status,
        duration_ms=milliseconds(element.get("time", "0")),
        message=message,
        trace=bounded(trace),
        path=path,
        line=_number(element.get("line", "")) if path else 0,
    )


def _status(element: Element) -> tuple[TestStatus, Element | None]:
    for tag, status in _OUTCOMES.items():
        told = element.find(tag)
        if told is not None:
            return status, told
    if "notrun" in (element.get("status"), element.get("result")) or element.get("status") == "disabled":
        return TestStatus.IGNORED, None  # GoogleTest
    return TestStatus.PASSED, None


def _texts(told: Element) -> tuple[str, str]:
    """(message, trace) of a failure, an error or a skip."""
    text = (told.text or "").strip("\n")
    kind, said = told.get("type", ""), told.get("message", "")
    if said in ("", "Failed"):  # gotestsum says no more of any failure
        lines = [line for line in text.splitlines() if not line.startswith(("=== ", "--- "))]
        said = "\n".join(lines) or said
    return one_line(said) or kind, text


def _path(file: str, workspace: Workspace) -> str:
    """The absolute path of a test's source; empty where the report names none that exists."""
    path = os.path.normpath(os.path.join(workspace.root, file)) if file else ""
    return path if path and os.path.isfile(path) else ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
