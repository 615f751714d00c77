"""The line at the end of a run."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from support import below
from treescribe.events import CommandFinished, CompileFinished, Diagnostic, SuiteFinished
from treescribe.nested import Parent
from treescribe.request import Outcome, RunRequest
from treescribe.settings import Settings
from treescribe.workspace import Workspace
from treescribe_history.diff_runs import diff_runs
from treescribe_history.listing import list_runs
from treescribe_history.store import Store
from treescribe_history.summary import summarise


def line(run: Any) -> str:
    (only,) = run.closing_lines
    return str(only)


def test_the_first_run_of_its_targets(record: Any, a_test: Any) -> None:
    assert line(record(a_test("test_a"))) == "History: #1 passed · 1 passed · first run of these targets"


def test_a_test_that_fails_and_is_fixed(record: Any, a_test: Any) -> None:
    record(a_test("test_a"), a_test("test_total"))
    failed = record(a_test("test_a"), a_test("test_total", "failed", "assert 9 == 10"))
    assert line(failed) == (
        "History: #2 failed · 1 passed, 1 failed"
        " · newly failing since #1: tests/test_cart.py::test_total · treescribe history.diff 1 2"
    )
    again = record(a_test("test_a"), a_test("test_total", "failed", "assert 9 == 10"))
    assert line(again) == "History: #3 failed · 1 passed, 1 failed · no differences since #2"
    fixed = record(a_test("test_a"), a_test("test_total"))
    assert line(fixed) == "History: #4 passed · 2 passed · fixed since #3: tests/test_cart.py::test_total"


def test_only_runs_of_the_same_targets_are_compared(record: Any, a_test: Any) -> None:
    record(a_test("test_a"))
    assert "first run of these targets" in line(record(targets=("lint",)))
    assert line(record(a_test("test_a"))) == "History: #3 passed · 1 passed · no differences since #1"


def test_a_command_that_failed_without_a_failing_test(record: Any, workspace: Any) -> None:
    command = CommandFinished(command=1, line="ruff check", exit_code=0)
    record(command, targets=("lint",))
    found = Diagnostic(
        severity="error", path=f"{workspace.root}/src/a.py", line=7, column=1, code="F401", message="unused"
    )
    failed = CommandFinished(command=1, line="ruff check", exit_code=2)
    run = record(found, found, found, failed, targets=("lint",), exit_code=2)
    assert line(run) == (
        'History: #2 failed · exit code 2 of "ruff check"'
        " · 3 new diagnostics, first: src/a.py:7:1 F401 unused · treescribe history.diff 1 2"
    )


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (CommandFinished(command=1, line="make", status="signalled", signal=9), 'signal 9 (SIGKILL) ended "make"'),
        (CommandFinished(command=1, line="make", status="timed-out", exit_code=-15), '"make" timed out'),
        (CommandFinished(command=1, line="x" * 99, exit_code=1), f'exit code 1 of "{"x" * 59}…"'),
        (SuiteFinished(suite="tests/test_x.py", outcome="errored", message="E1\nE2"), "tests/test_x.py errored: E1 …"),
        (CompileFinished(project="core", status="failed"), "1 compile unit failed: core"),
        (CompileFinished(project="core", status="some-day"), "1 compile unit some-day: core"),
    ],
)
def test_what_failed_where_no_test_did(record: Any, event: Any, says: str) -> None:
    assert f" · {says} · " in line(record(event, exit_code=1))


def test_a_run_that_is_not_recorded(begin: Any, workspace: Any, record: Any, a_test: Any) -> None:
    workspace.state.write_text("in the way")
    assert line(record(a_test("test_a"))) == "History: not recorded · passed · 1 passed"
    workspace.state.unlink()


def test_a_run_is_compared_with_the_last_one_that_reached_its_end(
    record: Any, begin: Any, store: Store, a_test: Any, workspace: Workspace
) -> None:
    """What a run that was cut short lacks says nothing: no test is fixed, added or newly failing for it."""
    tests = (a_test("test_a"), a_test("test_b"))
    record(*tests)
    cancelled = begin(a_test("test_a"), a_test("test_b", "cancelled"))
    cancelled.finish(Outcome("cancelled", 130))
    assert line(cancelled).endswith("1 cancelled · cut short · treescribe history.diff 1 2")
    killed = record(a_test("test_a"))
    path = store.folder / "3.jsonl"
    path.write_bytes(path.read_bytes().rpartition(b'{"type":"RunFinished"')[0])
    assert line(record(*tests)) == "History: #4 passed · 2 passed · no differences since #1"
    assert line(record(a_test("test_a"), a_test("test_b", "failed"))) == (
        "History: #5 failed · 1 passed, 1 failed · "
        "newly failing since #4: tests/test_cart.py::test_b · treescribe history.diff 4 5"
    )
    listed = {row.run: (row.outcome, row.since) for row in list_runs(workspace).runs}
    assert listed[4] == ("passed", 1)
    assert (listed[2], listed[killed.id]) == (("cancelled", None), ("interrupted", None))
    assert diff_runs(workspace).base.run == 4
    assert diff_runs(workspace, target=4).base.run == 1
    assert summarise(workspace, 2).changes is None


def test_a_fault_in_comparing_is_told_and_the_run_is_kept(
    record: Any, store: Store, a_test: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import treescribe_history.diff

    def broken(*arguments: Any, **options: Any) -> None:
        raise ZeroDivisionError("no")

    monkeypatch.setattr(treescribe_history.diff, "diff", broken)
    record(a_test("test_a"))
    assert line(record(a_test("test_b"))) == "History: #2 passed · 1 passed · not compared: ZeroDivisionError: no"
    assert [stored.active for stored in store.runs()] == [False, False]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("summary", "surface", "terminal", "shown"),
    [
        ("auto", "treescribe", False, True),
        ("auto", "treescribe", True, True),
        ("auto", "inv", False, False),
        ("auto", "inv", True, True),
        ("always", "inv", False, True),
        ("never", "treescribe", True, False),
    ],
)
def test_when_the_line_is_shown(
    record: Any, monkeypatch: pytest.MonkeyPatch, summary: str, surface: str, terminal: bool, shown: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal else io.StringIO())
    request = RunRequest("invoke", ("test",), surface=surface)
    assert bool(record(settings=Settings(summary=summary), request=request).closing_lines) is shown


def test_a_run_within_a_run_is_told_by_its_parent(record: Any) -> None:
    environment = below(Parent(1, "/outer"))
    assert record(settings=Settings(summary="always"), environment=environment).closing_lines == []


def test_a_digest_is_kept_also_where_no_line_is_shown(record: Any, store: Store, a_test: Any) -> None:
    for _ in range(2):
        record(a_test("test_a"), settings=Settings(summary="never"))
    assert '"changes":"no differences"' in (store.folder / "2.digest.json").read_text()


def test_all_that_was_added_and_fails_is_counted(record: Any, a_test: Any) -> None:
    record(a_test("test_old"))
    added = [a_test(f"test_{number:02}", "failed") for number in range(30)]
    assert "test_02 and 27 more" in line(record(a_test("test_old"), *added))
