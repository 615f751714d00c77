"""What a query of history.show is searched in: each text of each event by a word of its own."""

from __future__ import annotations

from typing import Any

import pytest
from treescribe.events import (
    CommandFinished,
    CommandStarted,
    CompilationReason,
    CompileFinished,
    Diagnostic,
    Event,
    IssueChanged,
    LogMessage,
    OperationFinished,
    Output,
    PatchRecorded,
    SuiteFinished,
    TaskFinished,
    TestFinished,
    TestStarted,
)
from treescribe.workspace import Workspace
from treescribe_history.showing import show

EVENTS: tuple[Event, ...] = (
    TestFinished(
        project="ash",
        suite="beech",
        test="cedar",
        status="failed",
        message="dogwood",
        trace="elm",
        path="/fir",
        line=4711,
        duration_ms=4712,
    ),
    TestStarted(project="gorse", suite="hazel", test="ivy"),
    SuiteFinished(
        project="juniper", suite="kauri", outcome="errored", message="larch", trace="maple", duration_ms=4713
    ),
    Diagnostic(
        project="nettle",
        severity="warning",
        message="oak",
        code="pine",
        tool="quince",
        path="/rowan",
        line=4714,
        column=4715,
    ),
    CommandStarted(command=1, line="spruce", cwd="/tamarind"),
    CommandFinished(command=2, line="umbrella", status="signalled", signal=4716, error="vine", duration_ms=4717),
    Output(command=2, text="willow"),
    TaskFinished(task=1, name="yew", arguments=(("zelkova", "acacia"),), status="cancelled", error="balsa"),
    CompileFinished(project="cypress", status="skipped", skipped_because="damson"),
    CompilationReason(
        project="ebony",
        reason="incremental",
        invalidated_files=("/sequoia/a", "/teak"),
        changed_dependencies=("satinwood",),
    ),
    PatchRecorded(patch="sycamore", paths=("/tupelo", "/walnut/b"), added_lines=4719),
    LogMessage(level="info", source="fig", message="ginkgo"),
    OperationFinished(operation="op-4718", name="hemlock", status="passed", message="olive"),
    IssueChanged(tracker="palm", issue="ilex", field="jasmine", before="kapok", after="lime", actor="mango"),
)

NAMES = (
    "ash beech cedar gorse hazel ivy juniper kauri pine spruce umbrella yew zelkova acacia cypress ebony fig hemlock "
    "palm ilex jasmine"
)
MESSAGES = "dogwood larch oak vine balsa damson ginkgo olive"
TRACES = "elm maple"
PATHS = "fir rowan sequoia teak tupelo walnut"

STATUSES = "failed errored warning signalled cancelled skipped$ incremental ^info$ passed unfinished exited"
TYPES = "TestFinished SuiteFinished Diagnostic CommandFinished TaskFinished LogMessage RunStarted type"
KINDS = "^test$ ^suite$ diagnostic ^command$ ^task$ ^log$ compile operation issue"
NUMBERS = "4711 4712 4713 4714 4715 4717 4718"
OTHERS = "satinwood sycamore kapok lime mango quince tamarind willow invoke cli tests?$"


@pytest.fixture
def woods(record: Any, workspace: Workspace) -> Workspace:
    record(*EVENTS)
    return workspace


@pytest.mark.parametrize("word", f"{NAMES} {MESSAGES} {TRACES} {PATHS}".split())
def test_a_word_of_a_name_a_message_a_trace_or_a_path_is_found_where_it_stands(woods: Workspace, word: str) -> None:
    (item,) = show(woods, query=word).items
    details = item.details or {}
    texts = (item.name, item.message, item.trace, item.path, details.get("invalidated_files"), details.get("paths"))
    assert [word in text for text in texts if text].count(True) == 1


@pytest.mark.parametrize("word", f"{STATUSES} {TYPES} {KINDS} {NUMBERS} {OTHERS}".split())
def test_no_other_word_is_found(woods: Workspace, word: str) -> None:
    assert show(woods, query=word).items == ()


@pytest.mark.parametrize("syntax", ['"', r"\{", r"\}", r"\[", '","', "null", "true", r"\\", r"\n", "^$"])
def test_the_syntax_of_the_file_is_not_searched(woods: Workspace, syntax: str) -> None:
    assert show(woods, query=syntax).items == ()
