"""What a run came to, in the few facts that every answer to a run gives: `RunSummary`."""

from __future__ import annotations

from treescribe.events import Diagnostic, TestFinished
from treescribe.facts import full_test_name
from treescribe.reduce import Verdict, reduce

from treescribe_history.comparing import Comparison, compare_with_previous
from treescribe_history.digest import RUNNING
from treescribe_history.results import Changes, Diagnostics, Failure, RunSummary
from treescribe_history.store import Store
from treescribe_history.transcript import Header, Transcript
from treescribe_history.verdict_text import counts, reason

NAMED_FAILURES = 10
LONGEST_MESSAGE = 200


def summarise_transcript(store: Store, transcript: Transcript) -> RunSummary:
    """Return the summary of a run that is stored, compared with the one before it."""
    verdict = reduce(transcript.events)
    comparison = compare_with_previous(store, transcript.header, "", transcript) if verdict.outcome else Comparison()
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
        diagnostics=diagnostics(verdict, header.workspace),
        previous=comparison.since,
        changes=_changes(comparison),
        not_compared=comparison.problem or None,
    )


def diagnostics(verdict: Verdict, root: str) -> Diagnostics | None:
    """The diagnostics of a run; None where there are none."""
    if not (verdict.errors or verdict.warnings):
        return None
    top = tuple(diagnostic_line(diagnostic, root) for diagnostic in verdict.top)
    return Diagnostics(errors=verdict.errors, warnings=verdict.warnings, top=top)


def diagnostic_line(diagnostic: Diagnostic, root: str) -> str:
    """``path:line:column code message``, as far as they are known; the path as seen from the worktree's root."""
    path = diagnostic.path.removeprefix(root.rstrip("/") + "/")
    place = (
        ":".join([path, *(str(number) for number in (diagnostic.line, diagnostic.column) if number)]) if path else ""
    )
    return " ".join(part for part in (place, diagnostic.code, _one_line(diagnostic.message)) if part)


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
        message=_one_line(test.message) or None,
        project=test.project or None,
        suite=test.suite or None,
        name=test.test,
    )


def _changes(comparison: Comparison) -> Changes | None:
    if comparison.since is None or comparison.problem:
        return None
    if comparison.result is None:
        return Changes(since=comparison.since, summary=comparison.text, identical=comparison.identical)
    from treescribe_history.diff_sentences import changes, diagnostic_text

    named = changes(comparison.result, comparison.since)
    new = tuple(diagnostic_text(entry) for entry in comparison.result.diagnostics.new[:3])
    return Changes(
        since=comparison.since,
        summary=comparison.text,
        identical=comparison.identical,
        newly_failing=named.newly_failing or None,
        fixed=named.fixed or None,
        new_diagnostics=new or None,
    )


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 1] + "…"
