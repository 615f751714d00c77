"""Comparing two runs: a pure function of their transcripts, through their facts.

Time, order, interleaving and colours never enter it, for facts have none of them. The same two transcripts
give the same bytes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from treescribe.events import UnknownEvent
from treescribe.facts import FactSet, collect
from treescribe.foreign import fact_of

from treescribe_history import diff_sections as sections
from treescribe_history.diff_entries import Pages
from treescribe_history.diff_facts import Change, changes
from treescribe_history.diff_models import DiffResult, Side
from treescribe_history.diff_sentences import more, notes_on, summary

if TYPE_CHECKING:
    from treescribe_history.transcript import Transcript


def diff(base: Transcript, target: Transcript, *, limit: int = 0, offset: int = 0) -> DiffResult:
    """Compare two runs.

    :param limit: how many entries of each section are listed, 0 for all; ``offset``: how many are passed over first.
        Neither touches what the summary counts.
    """
    before, after = facts_of(base), facts_of(target)
    pages = Pages(limit, offset)
    found = _sorted_into_sections(before, after)
    alike = sections.failing_alike(before, after)
    parts: dict[str, Any] = {
        "tests": sections.tests(found["test"], alike, pages),
        "suites": sections.suites(found["suite"], pages),
        "compile": sections.compile_units(found["compile"], pages),
        "diagnostics": sections.diagnostics(found["diagnostic"], before, after, pages),
        "tasks": sections.tasks(found["task"], pages),
        "commands": sections.commands(found["command"], pages),
        "other": sections.other(found["other"], pages),
    }
    return DiffResult(
        summary=summary(pages.totals, len(alike)),
        identical=not any(found.values()),
        base=Side(run=base.header.run, workspace=base.header.workspace),
        target=Side(run=target.header.run, workspace=target.header.workspace),
        cross_workspace=base.header.workspace != target.header.workspace,
        notes=notes_on(base, target),
        same=_same(before, found),
        not_compared=_unknown(base, target),
        left_out=pages.left_out,
        more=more(pages),
        **parts,
    )


def exit_code(result: DiffResult, parameters: dict[str, Any]) -> int:
    """1 where ``--exit-code`` was given and the runs differ, else 0."""
    return int(bool(parameters.get("exit_code")) and not result.identical)


def facts_of(transcript: Transcript) -> FactSet:
    """Collect the facts of a run."""
    return collect(filter(None, map(fact_of, transcript.events)), transcript.header.workspace)


_KEY_LENGTHS = {"test": 3, "suite": 2, "compile": 1, "diagnostic": 3, "command": 1}


def _sorted_into_sections(before: FactSet, after: FactSet) -> dict[str, list[Change]]:
    """All differences by section. A fact whose key is not of its kind's shape is told among the others."""
    found: dict[str, list[Change]] = {kind: [] for kind in (*_KEY_LENGTHS, "task", "other")}
    for kind in sorted(before.counts.keys() | after.counts.keys()):
        for change in changes(before, after, kind):
            length = len(change.side.compared.key)
            fits = _KEY_LENGTHS.get(kind) == length or (kind == "task" and length > 0)
            found[kind if fits else "other"].append(change)
    return found


def _same(before: FactSet, found: dict[str, list[Change]]) -> dict[str, int]:
    """By kind, how many facts of the base the target has too."""
    gone = Counter(change.before.compared.kind for part in found.values() for change in part if change.before)
    same = {kind: sum(facts.values()) - gone[kind] for kind, facts in sorted(before.counts.items())}
    return {kind: number for kind, number in same.items() if number}


def _unknown(base: Transcript, target: Transcript) -> dict[str, int]:
    unknown = [event for side in (base, target) for event in side.events if type(event) is UnknownEvent]
    return dict(sorted(Counter(str(event.record.get("type", "")) for event in unknown).items()))
