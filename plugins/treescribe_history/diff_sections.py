"""The sections of a comparison: differences sorted into them, failing ones first, and told entry by entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from treescribe.events import CompileStatus, Severity, TestStatus
from treescribe.facts import FactSet, Value
from treescribe.reduce import compile_fails, suite_fails, test_fails
from treescribe_history.diff_facts import Change, Occurrence, in_common
from treescribe_history.diff_models import (
    CommandChange,
    CommandEnd,
    CompileChange,
    CompileChanges,
    CompileUnit,
    DiagnosticChanges,
    DiagnosticEntry,
    Kind,
    Listed,
    Moved,
    OtherChange,
    SuiteChange,
    TaskChange,
    TestChange,
    TestChanges,
)

LONGEST_TEXT = 500
"""How many characters of a message or command line an entry has at most."""

Entry = TypeVar("Entry")


class Pages:
    """Builds the entries that a page of each section shows, and counts all of them.

    :ivar totals: how many entries each section has; ``left_out``: how many of them the page does not show.
    """

    def __init__(self, limit: int = 0, offset: int = 0) -> None:
        self.limit = limit
        self.offset = offset
        self.totals: dict[str, int] = {}
        self.left_out: dict[str, int] = {}

    def take(self, section: str, changes: list[Change], build: Callable[[Change], Entry]) -> tuple[Entry, ...]:
        """The entries of `section` on this page."""
        end = self.offset + self.limit if self.limit else None
        shown = changes[self.offset : end]
        if changes:
            self.totals[section] = len(changes)
        if len(shown) < len(changes):
            self.left_out[section] = len(changes) - len(shown)
        return tuple(build(change) for change in shown)


# ---- tests --------------------------------------------------------------------------------------------

_TRANSITIONS = {
    ("passed", "failing"): "newly_failing",
    ("skipped", "failing"): "newly_failing",
    ("failing", "passed"): "fixed",
    ("passed", "skipped"): "newly_skipped",
    ("failing", "skipped"): "newly_skipped",
    ("skipped", "passed"): "unskipped",
    ("skipped", "skipped"): "status_changed",
    ("passed", "passed"): "status_changed",
    ("failing", "failing"): "still_failing",
    ("absent", "failing"): "added",
    ("absent", "passed"): "added",
    ("absent", "skipped"): "added",
    ("failing", "absent"): "removed",
    ("passed", "absent"): "removed",
    ("skipped", "absent"): "removed",
}
"""Which section a test belongs to, by what it was and what it became. Skipped: neither passed nor a failure."""


def _group(test: Occurrence | None) -> str:
    if test is None:
        return "absent"
    status = test.text("status")
    if test_fails(status):
        return "failing"
    return "passed" if status == TestStatus.PASSED else "skipped"


def tests(found: list[Change], base: FactSet, target: FactSet, pages: Pages) -> TestChanges:
    """The section of tests. Those that fail as before stand last in ``still_failing``."""
    sections: dict[str, list[Change]] = {}
    for change in _failing_first(found, "status", test_fails):
        sections.setdefault(_TRANSITIONS[_group(change.before), _group(change.after)], []).append(change)
    sections.setdefault("still_failing", []).extend(_failing_alike(base, target))
    return TestChanges(**{name: pages.take(f"tests.{name}", part, _test) for name, part in sections.items()})


def _failing_alike(base: FactSet, target: FactSet) -> list[Change]:
    ours = base.counts.get("test", {})
    failing = {value for value in {fact.value for fact in ours} if test_fails(str(dict(value).get("status")))}
    facts = sorted((fact for fact in ours if fact.value in failing), key=lambda fact: fact.key) if failing else []
    return list(in_common(base, target, facts))


def _test(change: Change) -> TestChange:
    project, suite, test = change.side.told.key
    message = cut(change.side.text("message"))
    entry = {"project": project, "suite": suite, "test": test, **_before_after(change, "status")}
    entry["reason" if _group(change.side) == "skipped" else "message"] = message
    if change.before and _group(change.before) == "skipped" and _group(change.after) == "passed":
        entry["reason"] = cut(change.before.text("message"))
    elif change.before and change.differs("message") and _group(change.before) == _group(change.after):
        entry["previous"] = cut(change.before.text("message"))
    alike = change.before is change.after
    return TestChange(**entry, changed=True if _group(change.before) == "failing" == _group(change.after) and not alike else None)


# ---- suites and compile units -------------------------------------------------------------------------


def suites(found: list[Change], pages: Pages) -> tuple[SuiteChange, ...]:
    """The section of suites."""
    return pages.take("suites", _failing_first(found, "outcome", suite_fails), _suite)


def _suite(change: Change) -> SuiteChange:
    project, suite = change.side.told.key
    return SuiteChange(
        project=project,
        suite=suite,
        change=_kind(change),
        message=cut(change.side.text("message")),
        **_before_after(change, "outcome"),
    )


def compile_units(found: list[Change], pages: Pages) -> CompileChanges:
    """The section of compile units."""
    parts: dict[Kind, list[Change]] = {"changed": [], "added": [], "removed": []}
    for change in _failing_first(found, "status", compile_fails):
        parts[_kind(change)].append(change)
    return CompileChanges(
        changed=pages.take("compile.changed", parts["changed"], lambda change: _compile_change(change, pages.limit)),
        added=pages.take("compile.added", parts["added"], _compile_unit),
        removed=pages.take("compile.removed", parts["removed"], _compile_unit),
    )


def _compile_change(change: Change, limit: int) -> CompileChange:
    return CompileChange(
        project=change.side.told.key[0],
        reason=_moved(change, "reason"),
        status=_moved(change, "status"),
        skipped_because=_moved(change, "skipped_because"),
        invalidated_files=_listed(change, "invalidated_files", limit),
        changed_dependencies=_listed(change, "changed_dependencies", limit),
    )


def _compile_unit(change: Change) -> CompileUnit:
    texts = {name: change.side.text(name) for name in ("reason", "status", "skipped_because")}
    return CompileUnit(project=change.side.told.key[0], **texts)


# ---- diagnostics --------------------------------------------------------------------------------------

_SEVERITIES = {Severity.WARNING: 1, Severity.INFO: 2}
_NOT_COMPILED = (CompileStatus.SKIPPED, CompileStatus.CANCELLED)


def diagnostics(found: list[Change], base: FactSet, target: FactSet, pages: Pages) -> DiagnosticChanges:
    """The section of diagnostics: errors first, and those not checked again counted apart from the resolved ones."""
    ordered = sorted(found, key=lambda change: _SEVERITIES.get(Severity(change.side.compared.key[0]), 0))
    unchecked = _not_compiled(base, target)
    gone = [change for change in ordered if change.after is None]
    resolved = [change for change in gone if _diagnostic(change).project not in unchecked]
    if len(resolved) < len(gone):
        pages.totals["diagnostics.not_checked"] = len(gone) - len(resolved)
    return DiagnosticChanges(
        new=pages.take("diagnostics.new", [change for change in ordered if change.after], _diagnostic),
        resolved=pages.take("diagnostics.resolved", resolved, _diagnostic),
        not_checked=pages.totals.get("diagnostics.not_checked"),
    )


def _not_compiled(base: FactSet, target: FactSet) -> set[str]:
    """Units that the target did not compile: up to date, skipped, cancelled, or not among its units at all."""
    names = {fact.key[0] for fact in base.counts.get("compile", {})}
    for fact in target.counts.get("compile", {}):
        value = dict(fact.value)
        if value.get("reason") == "up-to-date" or value.get("status") in _NOT_COMPILED:
            names.add(fact.key[0])
        else:
            names.discard(fact.key[0])
    return names


def _diagnostic(change: Change) -> DiagnosticEntry:
    severity, path, message = change.side.told.key
    shown = {name: value or None for name, value in change.side.told.shown}
