"""The verdict over a run's events."""

from __future__ import annotations

from itertools import product

import pytest
from treescribe.events import (
    CommandFinished,
    CompileFinished,
    Diagnostic,
    Event,
    RunFinished,
    SuiteFinished,
    SuiteStarted,
    TestFinished,
    UnknownEvent,
)
from treescribe.reduce import Reducer, compile_fails, reduce, suite_fails
from treescribe.reduce import test_fails as counts_as_failure

GREEN = RunFinished(outcome="passed", exit_code=0, duration_ms=7)

TESTS = {
    "passed": True,
    "failed": False,
    "error": False,
    "skipped": True,
    "ignored": True,
    "cancelled": False,
    "assumption-failed": True,
    "pending": True,
    "timeout": False,
    "evaporated": False,
    "": False,
    "PASSED": False,
}
SUITES = {
    "executed": True,
    "empty": True,
    "no-framework-matched": True,
    "errored": False,
    "timed-out": False,
    "cancelled": False,
    "evaporated": False,
    "": False,
}
UNITS = {
    "success": True,
    "failed": False,
    "error": False,
    "skipped": False,
    "cancelled": False,
    "evaporated": False,
    "": False,
}


def finished_test(status: str, name: str = "test_total") -> TestFinished:
    return TestFinished(suite="tests/test_cart.py", test=name, status=status)


@pytest.mark.parametrize(("status", "good"), TESTS.items())
def test_one_test_of_each_status_beside_an_exit_code_of_0(status: str, good: bool) -> None:
    test = finished_test(status)
    verdict = reduce([test, GREEN])
    assert verdict.ok is good
    assert verdict.outcome == ("passed" if good else "failed")
    assert verdict.tests == {status: 1}
    assert verdict.failures == (() if good else (test,))
    assert counts_as_failure(status) is not good


@pytest.mark.parametrize(("outcome", "good"), SUITES.items())
def test_one_suite_of_each_outcome_beside_an_exit_code_of_0(outcome: str, good: bool) -> None:
    suite = SuiteFinished(suite="tests/test_cart.py", outcome=outcome)
    verdict = reduce([finished_test("passed"), suite, GREEN])
    assert verdict.ok is good
    assert verdict.suites == (() if good else (suite,))
    assert suite_fails(outcome) is not good


@pytest.mark.parametrize(("status", "good"), UNITS.items())
def test_one_compile_unit_of_each_status_beside_an_exit_code_of_0(status: str, good: bool) -> None:
    unit = CompileFinished(project="app", status=status)
    verdict = reduce([unit, GREEN])
    assert verdict.ok is good
    assert verdict.units == (() if good else (unit,))
    assert compile_fails(status) is not good


@pytest.mark.parametrize(
    ("outcome", "exit_code", "shown"),
    [
        ("passed", 0, "passed"),
        ("passed", 1, "failed"),
        ("passed", None, "failed"),
        ("failed", 0, "failed"),
        ("failed", 2, "failed"),
        ("error", 1, "error"),
        ("cancelled", 130, "cancelled"),
        ("interrupted", None, "interrupted"),
        ("evaporated", 0, "error"),
        ("", 0, "error"),
    ],
)
def test_how_the_run_ended_beside_green_tests(outcome: str, exit_code: int | None, shown: str) -> None:
    verdict = reduce([finished_test("passed"), RunFinished(outcome=outcome, exit_code=exit_code)])
    assert verdict.outcome == shown
    assert verdict.ok is (shown == "passed")


def test_a_run_is_green_only_where_every_part_of_it_is() -> None:
    for test, suite, unit, code in product(TESTS, SUITES, UNITS, (0, 1)):
        events: list[Event] = [
            finished_test(test),
            SuiteFinished(suite="s", outcome=suite),
            CompileFinished(project="app", status=unit),
            RunFinished(outcome="passed", exit_code=code),
        ]
        assert reduce(events).ok is (TESTS[test] and SUITES[suite] and UNITS[unit] and code == 0)


def test_a_failed_command_that_its_task_put_up_with_is_told_and_leaves_the_run_green() -> None:
    warned = CommandFinished(command=1, line="grep x", exit_code=1)
    killed = CommandFinished(command=2, line="sleep 9", status="signalled", signal=9)
    verdict = reduce([warned, killed, CommandFinished(command=3, line="true", exit_code=0), GREEN])
    assert verdict.ok
    assert verdict.commands == (warned, killed)


def test_the_last_word_on_a_compile_unit_counts() -> None:
    failed, mended = CompileFinished(project="app", status="failed"), CompileFinished(project="app", status="success")
    assert reduce([failed, mended, GREEN]).ok
    assert reduce([mended, failed, GREEN]).units == (failed,)


def test_diagnostics_are_counted_and_the_first_few_shown_errors_first() -> None:
    warnings = [Diagnostic(severity="warning", message=f"w{n}") for n in range(5)]
    errors = [Diagnostic(severity="error", message=f"e{n}") for n in range(2)]
    notes = [Diagnostic(severity="info", message="i")]
    verdict = reduce([*warnings, *notes, *errors, GREEN])
    assert (verdict.errors, verdict.warnings) == (2, 5)
    assert verdict.top == (errors[0], errors[1], warnings[0])
    assert verdict.ok, "diagnostics alone do not fail a run: the tool that gave them decides"


def test_a_diagnostic_of_an_unknown_severity_counts_as_an_error() -> None:
    odd = Diagnostic(severity="catastrophe", message="x")
    verdict = reduce([odd, GREEN])
    assert (verdict.errors, verdict.warnings, verdict.top) == (1, 0, (odd,))


def test_what_else_a_run_says_is_gathered() -> None:
    verdict = reduce(
        [
            UnknownEvent(record={"type": "Acme"}),
            RunFinished(outcome="error", exit_code=1, error="KeyError: 'x'", duration_ms=9),
        ]
    )
    assert (verdict.unknown_events, verdict.error, verdict.duration_ms) == (1, "KeyError: 'x'", 9)


def test_a_live_run_has_counts_and_no_outcome() -> None:
    reducer = Reducer()
    assert (reducer.verdict().outcome, reducer.verdict().ok, reducer.verdict().exit_code) == ("", False, None)
    reducer.add(SuiteStarted(suite="tests/test_cart.py"))
    reducer.add(finished_test("passed", "test_a"))
    reducer.add(finished_test("failed", "test_b"))
    live = reducer.verdict()
    assert (live.outcome, live.ok, live.tests) == ("", False, {"failed": 1, "passed": 1})
    reducer.add(GREEN)
    assert reducer.verdict().outcome == "failed"
    assert live.outcome == "", "a verdict is a value"


def test_tests_of_one_name_are_each_counted() -> None:
    verdict = reduce([finished_test("passed"), finished_test("failed"), finished_test("passed"), GREEN])
    assert verdict.tests == {"failed": 1, "passed": 2}
    assert not verdict.ok
