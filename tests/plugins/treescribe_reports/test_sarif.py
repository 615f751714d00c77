"""SARIF: severities, messages, places, and what counts as no finding."""

from __future__ import annotations

import json
from typing import Any

import pytest
from treescribe.events import Diagnostic
from treescribe.workspace import Workspace
from treescribe_reports.sarif import sarif_events

RULES = [
    {
        "id": "S1",
        "defaultConfiguration": {"level": "note"},
        "messageStrings": {"default": {"text": "{0} is not {1}{2}"}},
    },
    {"id": "S2"},
]


def read(workspace: Workspace, *results: Any, **run: Any) -> list[Diagnostic]:
    driver = {"name": "Scanner", "rules": RULES}
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": list(results), **run}]}
    path = workspace.root / "scan.sarif"
    path.write_text(json.dumps(log))
    return [event for event in sarif_events(str(path), workspace) if isinstance(event, Diagnostic)]


def one(workspace: Workspace, result: Any, **run: Any) -> Diagnostic:
    (found,) = read(workspace, result, **run)
    return found


def at(uri: str, line: int = 0, column: int = 0, base: str = "") -> list[Any]:
    artifact = {"uri": uri, **({"uriBaseId": base} if base else {})}
    region = {"startLine": line, "startColumn": column}
    return [{"physicalLocation": {"artifactLocation": artifact, "region": region}}]


def test_a_finding_with_everything(workspace: Workspace) -> None:
    result = {
        "ruleId": "S1",
        "level": "warning",
        "message": {"text": "no"},
        "locations": at("src/a%20b.c", 3, 7),
    }
    assert one(workspace, result) == Diagnostic(
        severity="warning",
        message="no",
        code="S1",
        tool="Scanner",
        path=f"{workspace.root}/src/a b.c",
        line=3,
        column=7,
    )


@pytest.mark.parametrize(
    ("result", "severity"),
    [
        ({"level": "error"}, "error"),
        ({"level": "none"}, "info"),
        ({}, "warning"),
        ({"ruleId": "S1"}, "info"),
        ({"ruleIndex": 0}, "info"),
        ({"rule": {"index": 0}}, "info"),
        ({"rule": {"id": "S1"}}, "info"),
        ({"ruleId": "S2"}, "warning"),
        ({"ruleIndex": 99, "ruleId": "S1"}, "info"),
        ({"level": "fatal"}, "fatal"),
    ],
)
def test_the_severity_is_the_results_or_its_rules(workspace: Workspace, result: Any, severity: str) -> None:
    assert one(workspace, {"message": {"text": "no"}, **result}).severity == severity


def test_a_message_may_be_the_rules_with_arguments(workspace: Workspace) -> None:
    result = {"ruleId": "S1", "message": {"id": "default", "arguments": ["9", "10"]}}
    assert one(workspace, result).message == "9 is not 10{2}"
    assert one(workspace, {"message": {"text": "{0} in {1}", "arguments": ["a"]}}).message == "a in {1}"
    assert one(workspace, {"message": {"text": "{0}"}}).message == "{0}"


@pytest.mark.parametrize(
    "result",
    [
        {"kind": "pass"},
        {"kind": "notApplicable"},
        {"baselineState": "absent"},
        {"suppressions": [{"kind": "inSource"}]},
        {"suppressions": [{"kind": "external", "status": "accepted"}]},
    ],
)
def test_what_is_no_finding(workspace: Workspace, result: Any) -> None:
    assert read(workspace, {"message": {"text": "no"}, **result}) == []


@pytest.mark.parametrize(
    "result",
    [
        {"kind": "fail"},
        {"kind": "review"},
        {"baselineState": "new"},
        {"suppressions": []},
        {"suppressions": [{"kind": "external", "status": "underReview"}]},
    ],
)
def test_what_is_one(workspace: Workspace, result: Any) -> None:
    assert len(read(workspace, {"message": {"text": "no"}, **result})) == 1


def test_places(workspace: Workspace) -> None:
    bases = {"SRC": {"uri": "file:///home/ana/shop/src/"}, "NOWHERE": {}}
    root = str(workspace.root)
    for uri, base, path in (
        ("a.c", "", f"{root}/a.c"),
        ("../a.c", "", str(workspace.root.parent / "a.c")),
        ("a.c", "SRC", "/home/ana/shop/src/a.c"),
        ("a.c", "NOWHERE", f"{root}/a.c"),
        ("a.c", "UNKNOWN", f"{root}/a.c"),
        ("file:///home/ana/a%2Bb.c", "", "/home/ana/a+b.c"),
        ("https://example.com/a.c", "", "https://example.com/a.c"),
        ("", "", ""),
    ):
        result = {"message": {"text": "no"}, "locations": at(uri, base=base)}
        assert one(workspace, result, originalUriBaseIds=bases).path == path


@pytest.mark.parametrize("run", [{"results": None}, {"results": []}])
def test_an_analysis_without_results_tells_nothing(workspace: Workspace, run: Any) -> None:
    assert read(workspace, **run) == []


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"message": "no"},
        {"message": {"text": 7}},
        {"locations": {}},
        {"locations": [7]},
        {"locations": [{"physicalLocation": []}]},
        {"locations": at("a.c", -1, 0)},
        {"locations": [{"physicalLocation": {"region": {"startLine": "3", "startColumn": True}}}]},
        {"ruleIndex": "0", "ruleId": ["S1"]},
        {"suppressions": 7, "level": 7},
    ],
)
def test_members_of_another_kind_are_as_if_they_were_not_there(workspace: Workspace, result: Any) -> None:
    found = one(workspace, result)
    assert (found.line, found.column, found.severity) == (0, 0, "warning")


def test_a_byte_order_mark_is_no_fault(workspace: Workspace) -> None:
    path = workspace.root / "bom.sarif"
    path.write_bytes(b"\xef\xbb\xbf" + b'{"runs": [{"results": [{}]}]}')
    assert len(list(sarif_events(str(path), workspace))) == 1
