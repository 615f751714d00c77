"""What a comparison of two runs says in sentences: its summary, what to know beforehand, and what a run changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treescribe.events import RunFinished, RunOutcome
from treescribe.terminal import count

from treescribe_history.diff_entries import Pages

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
