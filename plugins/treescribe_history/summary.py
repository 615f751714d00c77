"""What a run came to, in the few facts that every answer to a run gives: `RunSummary`."""

from __future__ import annotations

from typing import Annotated

from treescribe.events import TestFinished
from treescribe.facts import full_test_name
from treescribe.frozen import Frozen, frozen
from treescribe.host import host
from treescribe.operation import Parameter
from treescribe.reduce import Verdict, reduce
from treescribe.result import Result
from treescribe.terminal import Style
from treescribe.workspace import Workspace

from treescribe_history.comparing import Comparison, compare_with_previous
from treescribe_history.diagnostics import Diagnostics, diagnostics_of
from treescribe_history.digest import CUT_SHORT, RUNNING
from treescribe_history.resolve import RUN_HELP, RunReference, resolve
from treescribe_history.store import Store
from treescribe_history.transcript import Header, Transcript
from treescribe_history.verdict_text import OUTCOME_ROLES, counts, one_line, reason

NAMED_FAILURES = 10


@frozen
class Failure(Frozen):
    """A failing test."""

    test: str
    status: str
    message: str | None = None
    project: str | None = None
    suite: str | None = None
    name: str | None = None


@frozen
class Changes(Frozen):
    """What differs from run ``since``: the first of each kind, and how many more."""

    since: int
    summary: str
    identical: bool
    newly_failing: tuple[str, ...] | None = None
    fixed: tuple[str, ...] | None = None
    new_diagnostics: tuple[str, ...] | None = None


@frozen
class RunSummary(Result):
    """What a run came to, short enough for every answer.

    :ivar run: its number; None where it was not recorded.
    :ivar failures: the first failing tests, of as many as ``tests`` counts.
    :ivar previous: the run that it is compared with: the last one before of the same backend and targets.
    :ivar not_compared: why there are no ``changes`` although there is a previous run.
    """

    summary: str
    ok: bool
    run: int | None
    workspace: str
    targets: tuple[str, ...]
    outcome: str
    reason: str | None = None
    exit_code: int | None = None
    duration_ms: int
    tests: dict[str, int]
    failures: tuple[Failure, ...] | None = None
    diagnostics: Diagnostics | None = None
    previous: int | None = None
    changes: Changes | None = None
    not_compared: str | None = None


def summarise(
    workspace: Workspace,
    run: Annotated[RunReference, Parameter(RUN_HELP, positional=True)] = "latest",
) -> RunSummary:
    """Tell what a run came to: verdict, counts, failing tests by name, and the difference from the run before."""
    store = Store(workspace)
    return summarise_transcript(store, store.read(resolve(store, run), host().codec()))


def render(result: RunSummary, style: Style) -> str:
    """A run's summary: one sentence, then the failing tests."""
    number = f"#{result.run} " if result.run is not None else ""
    outcome = style.paint(number + result.outcome, OUTCOME_ROLES.get(result.outcome, "strong"))
    lines = [f"{outcome}{result.summary.removeprefix(result.outcome)}"]
    width = max((len(failure.status) for failure in result.failures or ()), default=0)
    for failure in result.failures or ():
        lines.append(f"  {failure.status.ljust(width)}  {failure.test}")
        lines += [f"  {' ' * width}  {failure.message}"] if failure.message else []
    lines += [f"  {line}" for line in (result.diagnostics.top if result.diagnostics else ())]
    if result.run is not None:
        lines.append(f"treescribe history.show {result.run}")
    return "\n".join(lines)


def summarise_transcript(store: Store, transcript: Transcript) -> RunSummary:
    """Return the summary of a run that is stored, compared with the one before it."""
    verdict = reduce(transcript.events)
    whole = verdict.outcome not in ("", *CUT_SHORT)
    comparison = compare_with_previous(store, transcript.header, "", transcript) if whole else Comparison()
    return build_summary(transcript.header, verdict, comparison)


def build_summary(header: Header, verdict: Verdict, comparison: Comparison) -> RunSummary:
    """Return the summary of a run from what it came to and how it differs from the one before."""
    return RunSummary(
        summary=_sentence(verdict, comparison),
        ok=verdict.ok,
        run=header.run,
        workspace=header.workspace,
        targets=header.targets,
        outcome=verdict.outcome or RUNNING,
        reason=reason(verdict) or None if verdict.outcome else None,
        exit_code=verdict.exit_code,
        duration_ms=verdict.duration_ms,
        tests=verdict.tests,
        failures=tuple(_failure(test) for test in verdict.failures[:NAMED_FAILURES]) or None,
        diagnostics=diagnostics_of(verdict, header.workspace),
        previous=comparison.since,
        changes=_changes(comparison),
        not_compared=comparison.problem or None,
    )


def _sentence(verdict: Verdict, comparison: Comparison) -> str:
    parts = [text for text in (counts(verdict.tests), reason(verdict) if verdict.outcome else "") if text]
    if comparison.problem:
        parts.append(f"not compared: {comparison.problem}")
    elif comparison.since is not None:
        parts.append(f"{comparison.text} since #{comparison.since}")
    outcome = str(verdict.outcome) or RUNNING
    return f"{outcome}: {'; '.join(parts)}" if parts else outcome


def _failure(test: TestFinished) -> Failure:
    return Failure(
        test=full_test_name(test.project, test.suite, test.test),
        status=str(test.status),
        message=one_line(test.message) or None,
        project=test.project or None,
        suite=test.suite or None,
        name=test.test,
    )


def _changes(comparison: Comparison) -> Changes | None:
    if comparison.since is None or comparison.problem:
        return None
    if comparison.result is None:
        return Changes(since=comparison.since, summary=comparison.text, identical=comparison.identical)
    from treescribe_history.changes import NAMED, diagnostic_text, first_names

    tests, new = comparison.result.tests, comparison.result.diagnostics.new[:NAMED]
    return Changes(
        since=comparison.since,
        summary=comparison.text,
        identical=comparison.identical,
        newly_failing=first_names(tests.newly_failing) or None,
        fixed=first_names(tests.fixed) or None,
        new_diagnostics=tuple(diagnostic_text(entry) for entry in new) or None,
    )
