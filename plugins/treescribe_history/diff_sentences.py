"""What a comparison of two runs says in sentences: its summary, what to know beforehand, and what a run changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treescribe.events import RunFinished, RunOutcome
from treescribe.frozen import frozen
from treescribe.reduce import test_fails
from treescribe.terminal import count

from treescribe_history.diff_entries import Pages
from treescribe_history.diff_models import Compact, DiagnosticEntry, DiffResult, Names, TestChange

if TYPE_CHECKING:
    from treescribe_history.transcript import Transcript

_PHRASES = {
    "tests.newly_failing": ("newly failing", "newly failing"),
    "tests.still_failing": ("failing otherwise than before", "failing otherwise than before"),
    "tests.fixed": ("fixed", "fixed"),
    "tests.newly_skipped": ("newly skipped", "newly skipped"),
    "tests.unskipped": ("unskipped", "unskipped"),
    "tests.status_changed": ("test status changed", "test statuses changed"),
    "tests.added": ("test added", "tests added"),
    "tests.removed": ("test removed", "tests removed"),
    "suites": ("suite differs", "suites differ"),
    "compile": ("compile unit differs", "compile units differ"),
    "diagnostics.new": ("new diagnostic", "new diagnostics"),
    "diagnostics.resolved": ("diagnostic resolved", "diagnostics resolved"),
    "diagnostics.not_checked": ("diagnostic not checked", "diagnostics not checked"),
    "other": ("other difference", "other differences"),
}
_ENDS = {"tasks": ("task differs", "tasks differ"), "commands": ("command differs", "commands differ")}
"""Told in the summary only where nothing else differs: a failing test fails its command and its task."""


def summary(totals: dict[str, int], alike: int) -> str:
    """One sentence on how many entries each section has; `alike` tests fail as before, which is no difference."""
    compile_units = sum(totals.get(f"compile.{part}", 0) for part in ("changed", "added", "removed"))
    otherwise = totals.get("tests.still_failing", 0) - alike
    numbers = totals | {"compile": compile_units, "tests.still_failing": otherwise}
    phrases = _counted(numbers, _PHRASES) or _counted(numbers, _ENDS)
    if phrases:
        return f"{', '.join(phrases)}."
    return f"No logical differences; {_as_before(alike)}." if alike else "No logical differences."


def _counted(numbers: dict[str, int], phrases: dict[str, tuple[str, str]]) -> list[str]:
    return [count(numbers[name], *words) for name, words in phrases.items() if numbers.get(name)]


def _as_before(alike: int) -> str:
    return f"{count(alike, 'test')} {'fails' if alike == 1 else 'fail'} as before"


def notes_on(base: Transcript, target: Transcript) -> tuple[str, ...]:
    """Return what a reader should know of the two runs before believing a comparison of them."""
    notes = []
    workspaces = [side.header.workspace for side in (base, target)]
    if workspaces[0] != workspaces[1]:
        notes.append(f"Across worktrees, {' and '.join(workspaces)}: paths are relative to each one's own.")
    if base.header.targets != target.header.targets:
        targets = [" ".join(side.header.targets) or "none" for side in (base, target)]
        notes.append(f"The targets differ: {targets[0]}, then {targets[1]}.")
    for side in (base, target):
        ending = _ending(side)
        if ending:
            notes.append(f"Run #{side.header.run} {ending}: what it did not reach counts as missing from it.")
        if side.problems:
            unread = count(len(side.problems), "damaged record")
            notes.append(f"Run #{side.header.run}: {unread} left out of the comparison.")
    return tuple(notes)


def _ending(side: Transcript) -> str:
    """Why a run did not come to its end; empty where it did."""
    if side.state == "live":
        return "still goes on"
    last = side.events[-1] if side.events else None
    outcome = str(last.outcome) if isinstance(last, RunFinished) else str(RunOutcome.INTERRUPTED)
    return f"was {outcome}" if outcome in (RunOutcome.INTERRUPTED, RunOutcome.CANCELLED) else ""


def more(pages: Pages) -> str:
    """How to see what the page left out; empty where it left out nothing."""
    if not pages.left_out:
        return ""
    following = f"offset {pages.offset + pages.limit} shows the next, " if pages.limit else ""
    return f"{following}limit 0 and offset 0 show all"


# ---- what a run changed -------------------------------------------------------------------------------

NAMED = 3
"""How many tests the line at the end of a run names."""


@frozen
class Changes(Compact):
    """What a run changed since an earlier one, in as few words as an answer to the run has room for."""

    since: int
    newly_failing: Names = ()
    fixed: Names = ()
    summary: str = ""


def changes(result: DiffResult, since: int, named: int = NAMED) -> Changes:
    """Say what changed since run `since`; beyond the first `named` tests of a kind only how many more."""
    tests = result.tests
    return Changes(
        since=since,
        newly_failing=_some(tests.newly_failing, result.left_out.get("tests.newly_failing", 0), named),
        fixed=_some(tests.fixed, result.left_out.get("tests.fixed", 0), named),
        summary="" if tests.newly_failing or tests.fixed else result.summary,
    )


def _some(tests: tuple[TestChange, ...], left_out: int, named: int) -> Names:
    names = tuple([test.name for test in tests[:named]])
    rest = len(tests) + left_out - len(names)
    return (*names, f"{rest:,} more") if rest else names


def changes_text(result: DiffResult, since: int) -> str:
    """Say on one line what changed since run `since`, for the line that a run ends with."""
    changed = changes(result, since)
    parts = []
    if changed.newly_failing:
        parts.append(f"newly failing since #{since}: {_listed(changed.newly_failing)}")
    failing = [test.name for test in result.tests.added if test_fails(test.after)]
    if failing:
        names = (*failing[:NAMED], *([f"{len(failing) - NAMED:,} more"] if len(failing) > NAMED else ()))
        parts.append(f"added and failing: {_listed(names)}")
    if changed.fixed:
        parts.append(f"fixed since #{since}: {_listed(changed.fixed)}")
    if result.diagnostics.new and not (changed.newly_failing or failing):
        number = len(result.diagnostics.new) + result.left_out.get("diagnostics.new", 0)
        parts.append(f"{count(number, 'new diagnostic')}, first: {diagnostic_text(result.diagnostics.new[0])}")
    if parts:
        return " · ".join(parts)
    return f"no differences since #{since}" if result.identical else f"since #{since}: {result.summary.rstrip('.')}"


def _listed(names: Names) -> str:
    if len(names) < 2:
        return "".join(names)
    joint = " and " if names[-1].endswith(" more") else ", "
    return f"{', '.join(names[:-1])}{joint}{names[-1]}"


def position(diagnostic: DiagnosticEntry) -> str:
    """Where a diagnostic stands: ``path:line:column``, as far as it is known."""
    parts = [
        diagnostic.path or "(no file)",
        *(str(number) for number in (diagnostic.line, diagnostic.column) if number),
    ]
    return ":".join(parts)


def diagnostic_text(diagnostic: DiagnosticEntry) -> str:
    """A diagnostic on one line, without its severity."""
    message = (diagnostic.message.splitlines() or [""])[0]
    return " ".join(part for part in (position(diagnostic), diagnostic.code, message) if part)
