"""What the answer to a run says: the verdict, what failed, and what changed, in about 200 tokens."""

from __future__ import annotations

from typing import Any

from treescribe.frozen import Frozen, frozen
from treescribe.host import host
from treescribe.reduce import Verdict
from treescribe.result import Result
from treescribe.workspace import Workspace

FAILURES = 3
NAMES = 10
MESSAGE = 200


@frozen
class FailedTest(Frozen):
    """A failing test; the message cut."""

    test: str
    status: str
    message: str | None = None


@frozen
class Changes(Frozen):
    """What differs from run ``since``."""

    since: int
    newly_failing: tuple[str, ...] | None = None
    fixed: tuple[str, ...] | None = None
    new_diagnostics: tuple[str, ...] | None = None


@frozen
class Diagnostics(Frozen):
    """How many diagnostics, and the first few."""

    errors: int | None = None
    warnings: int | None = None
    first: tuple[str, ...] | None = None


@frozen
class RunAnswer(Result):
    """The answer to `run`, `check` and `exec`. ``run`` is left out where the run could not be recorded."""

    summary: str
    ok: bool
    run: int | None = None
    workspace: str
    targets: tuple[str, ...]
    exit_code: int | None = None
    duration_ms: int
    tests: dict[str, int] | None = None
    failures: tuple[FailedTest, ...] | None = None
    diagnostics: Diagnostics | None = None
    changes: Changes | None = None
    output: str | None = None
    more: str | None = None


def answer_of_record(workspace: Workspace, run: int, output: str) -> dict[str, Any]:
    """The answer to a run that is in the history.

    :param output: the end of what it printed; shown where nothing else tells why it failed.
    """
    told = host().operations()["history.summary"].call(workspace, run=str(run)).model_dump(exclude_none=True)
    failures = told.get("failures", ())
    diagnostics = told.get("diagnostics")
    answer = RunAnswer(
        summary=told["summary"],
        ok=told["ok"],
        run=told["run"],
        workspace=told["workspace"],
        targets=told["targets"],
        exit_code=told.get("exit_code") or None,
        duration_ms=told["duration_ms"],
        tests=told["tests"] or None,
        failures=tuple(_failed(failure) for failure in failures[:FAILURES]) or None,
        diagnostics=_diagnostics(diagnostics) if diagnostics else None,
        changes=_changes(told["changes"]) if "changes" in told and not told["changes"]["identical"] else None,
        output=None if told["ok"] or failures or diagnostics else output or None,
        more=None if told["ok"] else _more(run, failures),
    )
    return answer.model_dump(exclude_none=True)


def answer_of_verdict(workspace: Workspace, targets: tuple[str, ...], verdict: Verdict, output: str) -> dict[str, Any]:
    """The answer to a run that nothing was written of."""
    counts = ", ".join(f"{number} {status}" for status, number in verdict.tests.items())
    parts = [str(verdict.outcome) or "failed", *([counts] if counts else [])]
    answer = RunAnswer(
        summary=f"{': '.join(parts)}; not recorded",
        ok=verdict.ok,
        workspace=str(workspace.root),
        targets=targets,
        exit_code=verdict.exit_code or None,
        duration_ms=verdict.duration_ms,
        tests=verdict.tests or None,
        failures=tuple(
            FailedTest(test=test.test, status=str(test.status), message=test.message[:MESSAGE] or None)
            for test in verdict.failures[:FAILURES]
        )
        or None,
        output=None if verdict.ok or verdict.failures else output or None,
    )
    return answer.model_dump(exclude_none=True)


def _failed(failure: dict[str, Any]) -> FailedTest:
    message = failure.get("message") or ""
    return FailedTest(test=failure["test"], status=failure["status"], message=message[:MESSAGE] or None)


def _diagnostics(told: dict[str, Any]) -> Diagnostics:
    return Diagnostics(
        errors=told.get("errors") or None,
        warnings=told.get("warnings") or None,
        first=tuple(told.get("top", ())) or None,
    )


def _changes(told: dict[str, Any]) -> Changes:
    return Changes(
        since=told["since"],
        newly_failing=tuple(told.get("newly_failing", ())[:NAMES]) or None,
        fixed=tuple(told.get("fixed", ())[:NAMES]) or None,
        new_diagnostics=tuple(told.get("new_diagnostics", ())[:FAILURES]) or None,
    )


def _more(run: int, failures: Any) -> str:
    query = f', query: "{failures[0].get("name") or failures[0]["test"]}"' if failures else ""
    return f"history_show {{run: {run}{query}}} for traces and output"
