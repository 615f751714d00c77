"""Reports that were recorded from real tools, held against what other output of the same tools says.

The worktree stood at /home/ana/shop; properties of Java and descriptions of rules are left out.
"""

from __future__ import annotations

from pathlib import Path

from treescribe.events import CommandStarted, Diagnostic, Event, SuiteFinished, TestFinished
from treescribe.workspace import Workspace
from treescribe_reports.go_test import GoTestReader
from treescribe_reports.junit import junit_events
from treescribe_reports.sarif import sarif_events

RECORDED = Path(__file__).parent / "recorded"
RUFF_CONCISE = Path(__file__).parents[1] / "treescribe_diagnostics" / "recorded" / "ruff-concise.expected"


def go_test_events(workspace: Workspace) -> list[Event]:
    reader = GoTestReader(CommandStarted(command=1, line="go test -json ./..."), workspace)
    return [*reader.read("stdout", (RECORDED / "go-test.json").read_text()), *reader.end()]


def results(events: list[Event]) -> set[tuple[str, str, str]]:
    return {(event.suite, event.test, str(event.status)) for event in events if isinstance(event, TestFinished)}


def test_gotestsums_report_and_go_tell_of_the_same_tests(workspace: Workspace) -> None:
    by_report = results(list(junit_events(str(RECORDED / "gotestsum.xml"), workspace)))
    unbuilt = {suite for suite, test, _ in by_report if test == "TestMain"}
    assert {result for result in by_report if result[0] not in unbuilt} == results(go_test_events(workspace))
    errored = {
        event.suite
        for event in go_test_events(workspace)
        if isinstance(event, SuiteFinished) and event.outcome == "errored"
    }
    assert errored == unbuilt
    assert len(errored) == 6


def test_surefires_reports_of_nested_and_parametrised_tests(workspace: Workspace) -> None:
    found = [
        (event.suite, event.test, str(event.status), event.message)
        for path in sorted(RECORDED.glob("TEST-*.xml"))
        for event in junit_events(str(path), workspace)
        if isinstance(event, TestFinished)
    ]
    assert sorted(found) == [
        ("com.example.AppTest", "errors", "error", "error, not failure ]]> <x>"),
        ("com.example.AppTest", "fails", "failed", "one is not two ==> expected: <1> but was: <2>"),
        ("com.example.AppTest", "named", "failed", "named"),
        ("com.example.AppTest", "noMessage", "failed", "expected: <true> but was: <false>"),
        ("com.example.AppTest", "params(String)[1]", "passed", ""),
        ("com.example.AppTest", "params(String)[2]", "failed", "expected: <a> but was: <b>"),
        ("com.example.AppTest", "params(String)[3]", "failed", "expected: <a> but was: <c d>"),
        ("com.example.AppTest", "passes", "passed", ""),
        ("com.example.AppTest", "skipped", "skipped", "not now"),
        ("com.example.AppTest$Inner", "innerFails", "error", 'Cannot invoke "Object.toString()" because "o" is null'),
        ("com.example.AppTest$Inner$Deeper", "deepPass", "passed", ""),
        ("com.example.SetupTest", "", "error", "setup failed"),
    ]


def test_ruffs_sarif_and_its_output_tell_of_the_same(workspace: Workspace) -> None:
    found = [event for event in sarif_events(str(RECORDED / "ruff.sarif"), workspace) if isinstance(event, Diagnostic)]
    assert {one.tool for one in found} == {"ruff"}
    assert sorted(map(shown, found)) == sorted(RUFF_CONCISE.read_text().splitlines()[1:])


def shown(one: Diagnostic) -> str:
    """A diagnostic as it stands in what is expected of ruff's output."""
    path = one.path.removeprefix("/home/ana/shop/")
    return f"{one.severity} {path}:{one.line}:{one.column} ruff {one.code} {one.message}"
