"""Transcripts for tests of comparisons, built from the events themselves."""

from __future__ import annotations

from typing import Any

from treescribe.events import (
    CompilationReason,
    CompileFinished,
    Diagnostic,
    Event,
    RunFinished,
    SuiteFinished,
    TestFinished,
)
from treescribe_history.transcript import Header, Transcript

APP = "/ws/app"
FORK = "/ws/app-fork"
SUITE = "tests/test_cart.py"


def run(*events: Event, number: int = 11, root: str = APP, **fields: Any) -> Transcript:
    """A run of these events. It ends by itself; fields of the transcript (``state``) and of its header can be given."""
    own = {name: fields.pop(name) for name in ("state", "problems") if name in fields}
    header = Header(run=number, workspace=root, backend="invoke", started_at=0, **fields)
    if not any(isinstance(event, RunFinished) for event in events):
        events = (*events, RunFinished(outcome="passed", exit_code=0, duration_ms=1000))
    return Transcript(header, events, **own)


def passed(test: str, **fields: Any) -> TestFinished:
    return finished(test, "passed", **fields)


def failed(test: str, message: str = "assert 9 == 10", **fields: Any) -> TestFinished:
    return finished(test, "failed", message=message, **fields)


def skipped(test: str, reason: str = "needs a network", **fields: Any) -> TestFinished:
    return finished(test, "skipped", message=reason, **fields)


def finished(test: str, status: str, *, suite: str = SUITE, **fields: Any) -> TestFinished:
    return TestFinished(suite=suite, test=test, status=status, **fields)


def suite(name: str = SUITE, outcome: str = "executed", **fields: Any) -> SuiteFinished:
    return SuiteFinished(suite=name, outcome=outcome, **fields)


def compiled(project: str, reason: str = "incremental", status: str = "success", **fields: Any) -> tuple[Event, ...]:
    """Both events of one compile unit; `fields` are those of the reason."""
    return CompilationReason(project=project, reason=reason, **fields), CompileFinished(project=project, status=status)


def diagnostic(message: str, path: str = f"{APP}/src/cart.py", severity: str = "warning", **fields: Any) -> Diagnostic:
    return Diagnostic(severity=severity, message=message, path=path, **fields)
