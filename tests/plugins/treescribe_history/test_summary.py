"""history.summary: what every answer to a run gives."""

from __future__ import annotations

import json
from typing import Any

from treescribe.events import CommandFinished, Diagnostic
from treescribe.terminal import Style
from treescribe.workspace import Workspace
from treescribe_history.plugin import treescribe_operations
from treescribe_history.summary import render, summarise


def dumped(workspace: Workspace, run: Any = "latest") -> dict[str, Any]:
    record: dict[str, Any] = json.loads(summarise(workspace, run).model_dump_json(exclude_none=True))
    return record


def test_a_red_run(record: Any, workspace: Workspace, a_test: Any) -> None:
    record(a_test("test_a"), a_test("test_total"))
    record(a_test("test_a"), a_test("test_total", "failed", "assert 9 == 10\n  where …"))
    assert dumped(workspace) == {
        "summary": "failed: 1 passed, 1 failed; 1 newly failing since #1",
        "ok": False,
        "run": 2,
        "workspace": str(workspace.root),
        "targets": ["test"],
        "outcome": "failed",
        "exit_code": 1,
        "duration_ms": 1000,
        "tests": {"failed": 1, "passed": 1},
        "failures": [
            {
                "test": "tests/test_cart.py::test_total",
                "status": "failed",
                "message": "assert 9 == 10 where …",
                "suite": "tests/test_cart.py",
                "name": "test_total",
            }
        ],
        "previous": 1,
        "changes": {
            "since": 1,
            "summary": "1 newly failing",
            "identical": False,
            "newly_failing": ["tests/test_cart.py::test_total"],
        },
    }


def test_a_green_run_is_short(record: Any, workspace: Workspace, a_test: Any) -> None:
    record(a_test("test_a"))
    result = dumped(workspace)
    assert result["ok"] is True
    assert not {"failures", "diagnostics", "changes", "previous", "reason"} & result.keys()
    assert len(json.dumps(result)) < 400


def test_a_command_that_failed_and_its_diagnostics(record: Any, workspace: Workspace) -> None:
    found = [Diagnostic(severity="error", path=f"{workspace.root}/a.py", line=n, message=f"m{n}") for n in range(1, 6)]
    record(*found, CommandFinished(command=1, line="ruff check", exit_code=2), exit_code=2)
    result = dumped(workspace)
    assert result["summary"] == 'failed: exit code 2 of "ruff check"'
    assert result["reason"] == 'exit code 2 of "ruff check"'
    assert result["diagnostics"] == {"errors": 5, "warnings": 0, "top": ["a.py:1 m1", "a.py:2 m2", "a.py:3 m3"]}


def test_no_more_than_ten_failures_are_named(record: Any, workspace: Workspace, a_test: Any) -> None:
    record(*(a_test(f"test_{number}", "failed", "x" * 1000) for number in range(50)))
    result = dumped(workspace)
    assert len(result["failures"]) == 10
    assert result["tests"] == {"failed": 50}
    assert all(len(failure["message"]) == 200 for failure in result["failures"])


def test_a_run_that_goes_on(begin: Any, workspace: Workspace, a_test: Any) -> None:
    begin(a_test("test_a"))
    result = dumped(workspace)
    assert (result["outcome"], result["ok"], result["summary"]) == ("running", False, "running: 1 passed")


def test_the_text(record: Any, workspace: Workspace, a_test: Any) -> None:
    record(a_test("test_a", "failed", "no"))
    assert render(summarise(workspace), Style()).splitlines() == [
        "#1 failed: 1 failed",
        "  failed  tests/test_cart.py::test_a",
        "          no",
        "treescribe history.show 1",
    ]


def test_every_operation_has_schemas_and_its_results_are_valid_by_them(
    record: Any, workspace: Workspace, a_test: Any
) -> None:
    record(a_test("test_a"))
    record(a_test("test_a", "failed"))
    parameters: dict[str, dict[str, Any]] = {
        "history.pin": {"run": 1, "name": "main"},
        "history.unpin": {"name": "main"},
    }
    for operation in treescribe_operations():
        given = parameters.get(operation.name, {})
        operation.parameters_model().model_validate(given)
        result = operation.call(workspace, **given)
        text = result.model_dump_json(exclude_none=True)
        operation.result_model().model_validate_json(text)
        schema = operation.result_model().model_json_schema()
        assert schema["type"] == "object"
        assert operation.text(result, Style())
        assert operation.effect.idempotent
