"""history.show and its queries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from support import SetClock
from treescribe.errors import InvalidInput
from treescribe.events import (
    CommandFinished,
    CommandStarted,
    Diagnostic,
    Event,
    LogMessage,
    Output,
    SuiteFinished,
    TaskFinished,
    TaskStarted,
    TestStarted,
)
from treescribe.facts import Fact
from treescribe.terminal import Style
from treescribe.workspace import Workspace
from treescribe_history.items import items_of
from treescribe_history.pinning import pin_run
from treescribe_history.query import compile_query
from treescribe_history.showing import ShowResult, show
from treescribe_history.showing_text import render
from treescribe_history.store import Store


@pytest.fixture
def shop(record: Any, a_test: Any, workspace: Workspace) -> Workspace:
    """A workspace with one run in which all sorts of things happened."""
    trace = "def test_total():\n>   assert 9 == 10\nE   assert 9 == 10"
    record(
        a_test("test_a", duration_ms=3),
        a_test(
            "test_total", "failed", "assert 9 == 10", trace=trace, path=f"{workspace.root}/tests/test_cart.py", line=14
        ),
        a_test("test_web", "skipped", "no network", project="web", suite="tests/test_web.py"),
        SuiteFinished(suite="tests/test_cart.py", outcome="executed"),
        Diagnostic(
            severity="warning",
            message="unused import",
            code="F401",
            tool="ruff",
            path=f"{workspace.root}/src/a.py",
            line=7,
            column=1,
        ),
        CommandFinished(command=1, line="pytest -q", exit_code=1, duration_ms=900),
        Output(command=1, text="only the output says Zwiebel\n"),
        TaskFinished(task=1, name="test", status="failed", error="UnexpectedExit"),
        exit_code=1,
    )
    return workspace


def names(result: ShowResult) -> list[str]:
    return [item.name for item in result.items]


def test_failing_things_come_first(shop: Workspace) -> None:
    result = show(shop)
    assert [(item.kind, item.status, item.failing) for item in result.items] == [
        ("test", "failed", True),
        ("command", "exited", True),
        ("task", "failed", True),
        ("test", "passed", False),
        ("test", "skipped", False),
        ("suite", "executed", False),
        ("diagnostic", "warning", False),
    ]
    assert result.total == 7


def test_the_model(shop: Workspace) -> None:
    pin_run(shop, 1, "main")
    record = json.loads(show(shop, limit=1).model_dump_json(exclude_none=True))
    (item,) = record.pop("items")
    assert item["name"] == "tests/test_cart.py::test_total"
    assert (item["path"], item["line"]) == (f"{shop.root}/tests/test_cart.py", 14)
    assert record == {
        "summary": "failed: 1 passed, 1 failed, 1 skipped",
        "ok": False,
        "run": 1,
        "workspace": str(shop.root),
        "state": "finished",
        "outcome": "failed",
        "exit_code": 1,
        "backend": "invoke",
        "mode": "run",
        "targets": ["test"],
        "client": "cli",
        "started_at": 1_700_000_000_000,
        "started": "2023-11-14T22:13:20Z",
        "pinned": ["main"],
        "duration_ms": 1000,
        "tests": {"failed": 1, "passed": 1, "skipped": 1},
        "diagnostics": {"errors": 0, "warnings": 1, "top": ["src/a.py:7:1 F401 unused import"]},
        "total": 7,
        "offset": 0,
        "limit": 1,
    }


def test_the_text(shop: Workspace, clock: SetClock) -> None:
    assert render(show(shop), Style(now_ms=clock.now_ms())).splitlines() == [
        "#1 failed · 1 passed, 1 failed, 1 skipped · 1.00 s",
        f"test (invoke) · just now · by cli · {shop.root}",
        "1 warning",
        "",
        "  failed    tests/test_cart.py::test_total",
        "            assert 9 == 10",
        "            def test_total():",
        "            >   assert 9 == 10",
        "            E   assert 9 == 10",
        "  exited    command pytest -q",
        "            exit code 1",
        "  failed    task test",
        "            UnexpectedExit",
        "  passed    tests/test_cart.py::test_a",
        "  skipped   web: tests/test_web.py::test_web",
        "            no network",
        "  executed  suite tests/test_cart.py",
        "  warning   src/a.py:7:1 F401 unused import (ruff)",
        "7 of 7",
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("test_total", ["tests/test_cart.py::test_total"]),
        ("no network", ["web: tests/test_web.py::test_web"]),
        (r"^>\s+assert|def test_total", ["tests/test_cart.py::test_total"]),
        ("src/a", ["F401"]),
        ("F40", ["F401"]),
        ("pytest -q$", ["pytest -q"]),
        ("(?i)UNEXPECTED", ["test"]),
        ("Zwiebel", []),
        ("^skipped$", []),
        ("ruff", []),
    ],
)
def test_a_query_searches_messages_traces_paths_and_names_and_nothing_else(
    shop: Workspace, query: str, found: list[str]
) -> None:
    assert names(show(shop, query=query)) == found


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("(total", "missing ), unterminated subpattern\n    (total\n    ^"),
        ("a**", "multiple repeat\n    a**\n      ^"),
        ("ok\n[a", "unterminated character set\n    [a\n    ^"),
        ("\\", "bad escape (end of pattern)\n    \\\n    ^"),
    ],
)
def test_a_query_that_is_no_regular_expression_is_marked_where_it_goes_wrong(query: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        compile_query(query)
    assert str(caught.value) == f"the query is not a regular expression: {says}"


def test_items_of_one_project(shop: Workspace) -> None:
    assert names(show(shop, project="web")) == ["web: tests/test_web.py::test_web"]
    result = show(shop, project="desk")
    assert (result.total, result.projects) == (0, ("web",))
    assert "Projects of this run: web" in render(result, Style())


def test_pages(shop: Workspace) -> None:
    result = show(shop, limit=2, offset=2)
    assert names(result) == ["test", "tests/test_cart.py::test_a"]
    assert render(result, Style()).splitlines()[-1] == "4 of 7 · more: treescribe history.show 1 --offset 4"
    result = show(shop, query="test x|t", limit=1)
    assert "history.show 1 --query 'test x|t' --offset 1" in render(result, Style())
    assert render(show(shop, query="nothing like it"), Style()).endswith("Nothing matches the query.")


def test_a_long_trace_is_cut_unless_it_was_asked_for(record: Any, workspace: Workspace, a_test: Any) -> None:
    record(a_test("test_a", "failed", trace="x" * 5000 + "\nthe end"))
    (item,) = show(workspace).items
    assert item.trace is not None
    assert item.trace.startswith("[… 3,008 characters before this; a query shows all …]")
    assert item.trace.endswith("the end")
    (item,) = show(workspace, query="test_a").items
    assert item.trace == "x" * 5000 + "\nthe end"


def test_a_live_run_shows_what_it_is_doing(begin: Any, workspace: Workspace, clock: SetClock, a_test: Any) -> None:
    run = begin(CommandStarted(command=1, line="pytest"), TestStarted(suite="s", test="one"), a_test("one", suite="s"))
    clock.advance(2000)
    run.emit(TestStarted(suite="s", test="two"))
    result = show(workspace)
    assert (result.state, result.outcome, result.ok, result.duration_ms) == ("live", "running", False, 2000)
    assert [(item.name, item.status) for item in result.items] == [
        ("s::one", "passed"),
        ("s::two", "running"),
        ("pytest", "running"),
    ]


def test_an_interrupted_run_shows_where_it_stopped() -> None:
    items = items_of([TestStarted(suite="s", test="deadly")], "unfinished")
    assert [(item.name, item.status, item.failing) for item in items] == [("s::deadly", "unfinished", False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed(Event):
    host: str

    def fact(self) -> Fact:
        return Fact("deployment", (self.host,), (("status", "failed"), ("version", "1.2")))


def test_a_third_partys_fact_is_an_item_too() -> None:
    (item,) = items_of([Deployed(host="web-1"), Output(text="x")], "running")
    assert (item.kind, item.name, item.status, item.failing) == ("deployment", "web-1", "failed", True)
    assert item.details == {"version": "1.2"}


def test_messages_about_the_run_itself_are_items(record: Any, workspace: Workspace) -> None:
    record(LogMessage(level="warning", message="the spool is gone"))
    assert [(item.kind, item.status, item.message) for item in show(workspace).items] == [
        ("log", "warning", "the spool is gone")
    ]


def test_lines_that_could_not_be_read_are_told(record: Any, workspace: Workspace, store: Store) -> None:
    record()
    path = store.folder / "1.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], b"oops\n", b'{"type":"Unheard","at":1}\n', lines[-1]]))
    result = show(workspace)
    assert result.problems is not None
    assert result.problems[0].startswith("line 3: not JSON")
    text = render(result, Style())
    assert "not read: line 3: " in text
    assert "1 events are of types" not in text
    assert "1 event is of a type that is not installed here" in text


def test_a_task_that_did_not_end_is_shown_with_its_arguments() -> None:
    events = [
        TaskStarted(task=1, name="deploy", arguments=(("to", "web"),)),
        TaskStarted(task=2, name="build", parent=1),
        TaskFinished(task=2, name="build", status="passed"),
    ]
    shown = [(item.kind, item.name, item.status) for item in items_of(events, "unfinished")]
    assert shown == [("task", "build", "passed"), ("task", "deploy to=web", "unfinished")]


def test_a_run_that_was_killed_says_so(record: Any, a_test: Any, workspace: Workspace, store: Store) -> None:
    record(a_test("test_a"))
    path = store.folder / "1.jsonl"
    path.write_bytes(path.read_bytes().rpartition(b'{"type":"RunFinished"')[0])
    assert show(workspace, 1).reason == "its process died"
