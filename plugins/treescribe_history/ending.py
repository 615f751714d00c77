"""The end of a run: the transcript is completed, compared with the one before, and one line says what it came to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from treescribe_history import recorder
from treescribe_history.comparing import Comparison, compare_with_previous, with_changes
from treescribe_history.digest import CUT_SHORT
from treescribe_history.store import Store
from treescribe_history.verdict_text import counts, reason

if TYPE_CHECKING:
    from treescribe.reduce import Verdict
    from treescribe.run import Run


def finish(run: Run) -> None:
    """Complete the run's record, and add the line at its end where it is wanted."""
    finished = recorder.finish(run)
    wanted = is_wanted(run)
    comparison = Comparison()
    if finished is not None:
        header, path, digest = finished
        comparison = compare_with_previous(
            Store(run.workspace), header, digest.facts, in_full=wanted and digest.outcome not in CUT_SHORT
        )
        recorder.tidy(run, path, with_changes(digest, comparison))
    if wanted:
        run.closing_lines.append(closing_line(run.id, run.verdict, comparison))


def is_wanted(run: Run) -> bool:
    """Whether the line is shown. A nested run has none: its parent tells what happened below it."""
    if run.parent is not None or run.settings.summary == "never":
        return False
    return run.settings.summary == "always" or run.request.surface == "treescribe" or sys.stderr.isatty()


def closing_line(number: int | None, verdict: Verdict, comparison: Comparison) -> str:
    """The line at the end of a run.

    >>> from treescribe.reduce import Verdict
    >>> closing_line(1, Verdict(outcome="passed", tests={"passed": 41}), Comparison())
    'History: #1 passed · 41 passed · first run of these targets'
    """
    outcome = str(verdict.outcome)
    parts = [f"#{number} {outcome}"] if number is not None else ["not recorded", outcome]
    parts += [part for part in (counts(verdict.tests), reason(verdict)) if part]
    if number is not None:
        parts += _changes(number, verdict, comparison)
    return "History: " + " · ".join(parts)


def _changes(number: int, verdict: Verdict, comparison: Comparison) -> list[str]:
    if comparison.problem:
        return [f"not compared: {comparison.problem}"]
    if verdict.outcome in CUT_SHORT:
        hint = [f"treescribe history.diff {comparison.since} {number}"] if comparison.since is not None else []
        return ["cut short", *hint]
    if comparison.since is None:
        return ["first run of these targets"]
    if comparison.result is None or comparison.identical:
        return [f"no differences since #{comparison.since}"]
    from treescribe_history.changes import changes_text

    text = changes_text(comparison.result, comparison.since)
    hint = [] if verdict.ok else [f"treescribe history.diff {comparison.since} {number}"]
    return [text, *hint]
