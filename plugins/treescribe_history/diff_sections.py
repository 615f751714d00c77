"""The sections of a comparison: differences sorted into them, failing ones first, and told entry by entry."""

from __future__ import annotations

from typing import Any

from treescribe.events import CommandStatus, CompileStatus, Severity, TestStatus
from treescribe.facts import FactSet, Value
from treescribe.reduce import compile_fails, suite_fails, test_fails

from treescribe_history.diff_entries import Pages, after, before, cut, failing_first, kind_of, listed, moved
from treescribe_history.diff_facts import Change, Occurrence, in_common
from treescribe_history.diff_models import (
    CommandChange,
    CommandEnd,
    CompileChange,
    CompileChanges,
    CompileUnit,
    DiagnosticChanges,
    DiagnosticEntry,
    OtherChange,
    SuiteChange,
    TaskChange,
    TestChange,
    TestChanges,
)

# ---- tests --------------------------------------------------------------------------------------------

_TRANSITIONS = {
    ("passed", "failing"): "newly_failing",
    ("skipped", "failing"): "newly_failing",
    ("failing", "failing"): "still_failing",
    ("failing", "passed"): "fixed",
    ("passed", "skipped"): "newly_skipped",
    ("failing", "skipped"): "newly_skipped",
    ("skipped", "passed"): "unskipped",
    ("skipped", "skipped"): "status_changed",
    ("passed", "passed"): "status_changed",
    ("absent", "failing"): "added",
    ("absent", "passed"): "added",
    ("absent", "skipped"): "added",
    ("failing", "absent"): "removed",
    ("passed", "absent"): "removed",
    ("skipped", "absent"): "removed",
}
"""The section a test belongs to, by what it was and what it became. Skipped: neither passed nor a failure."""


def _group(test: Occurrence | None) -> str:
    if test is None:
        return "absent"
    status = test.text("status")
    if test_fails(status):
        return "failing"
    return "passed" if status == TestStatus.PASSED else "skipped"


def tests(found: list[Change], alike: list[Change], pages: Pages) -> TestChanges:
    """The section of tests. Those that fail `alike` on both sides stand last in ``still_failing``."""
    parts: dict[str, list[Change]] = {}
    for change in failing_first(found, "status", test_fails):
        parts.setdefault(_TRANSITIONS[_group(change.before), _group(change.after)], []).append(change)
    parts.setdefault("still_failing", []).extend(alike)
    return TestChanges(**{name: pages.take(f"tests.{name}", part, _test) for name, part in parts.items()})


def failing_alike(base: FactSet, target: FactSet) -> list[Change]:
    """Return the tests that fail on both sides with the same status and message: no difference, yet worth telling."""
    ours = base.counts.get("test", {})
    failing = {value for value in {fact.value for fact in ours} if test_fails(str(dict(value).get("status", "")))}
    facts = [fact for fact in ours if fact.value in failing and len(fact.key) == 3] if failing else []
    return list(in_common(base, target, sorted(facts, key=lambda fact: (fact.key, repr(fact.value)))))


def _test(change: Change) -> TestChange:
    project, suite, test = change.side.told.key
    return TestChange(
        project=project, suite=suite, test=test, **_before_after(change, "status"), **_told_messages(change)
    )


def _told_messages(change: Change) -> dict[str, Any]:
    """What the two sides say of a test: the failure's message, the skip's reason, and what stood there before."""
    old, new = _group(change.before), _group(change.after)
    told: dict[str, Any] = {}
    if old == new == "failing" and change.before is not change.after:
        told["changed"] = True
    if (old, new) == ("skipped", "passed"):
        return {"reason": before(change, "message")}
    told["reason" if _group(change.side) == "skipped" else "message"] = cut(change.side.text("message"))
    if old == new and change.differs("message"):
        told["previous"] = before(change, "message")
    return told


def _before_after(change: Change, name: str) -> dict[str, Any]:
    return {"before": before(change, name), "after": after(change, name)}


# ---- suites and compile units -------------------------------------------------------------------------


def suites(found: list[Change], pages: Pages) -> tuple[SuiteChange, ...]:
    """The section of suites."""
    return pages.take("suites", failing_first(found, "outcome", suite_fails), _suite)


def _suite(change: Change) -> SuiteChange:
    project, suite = change.side.told.key
    texts = {"message": cut(change.side.text("message")), **_before_after(change, "outcome")}
    return SuiteChange(project=project, suite=suite, change=kind_of(change), **texts)


def compile_units(found: list[Change], pages: Pages) -> CompileChanges:
    """The section of compile units."""
    parts: dict[str, list[Change]] = {"changed": [], "added": [], "removed": []}
    for change in failing_first(found, "status", compile_fails):
        parts[kind_of(change)].append(change)
    return CompileChanges(
        changed=pages.take("compile.changed", parts["changed"], lambda change: _compile_change(change, pages)),
        added=pages.take("compile.added", parts["added"], _compile_unit),
        removed=pages.take("compile.removed", parts["removed"], _compile_unit),
    )


def _compile_change(change: Change, pages: Pages) -> CompileChange:
    return CompileChange(
        project=change.side.told.key[0],
        reason=moved(change, "reason"),
        status=moved(change, "status"),
        skipped_because=moved(change, "skipped_because"),
        invalidated_files=listed(change, "invalidated_files", pages),
        changed_dependencies=listed(change, "changed_dependencies", pages),
    )


def _compile_unit(change: Change) -> CompileUnit:
    texts = {name: cut(change.side.text(name)) for name in ("reason", "status", "skipped_because")}
    return CompileUnit(project=change.side.told.key[0], **texts)


# ---- diagnostics --------------------------------------------------------------------------------------

_MILDER: dict[str, int] = {Severity.WARNING: 1, Severity.INFO: 2}
_SHOWN = ("line", "column", "code", "tool", "project")
_NOT_COMPILED = (CompileStatus.SKIPPED, CompileStatus.CANCELLED)


def diagnostics(found: list[Change], base: FactSet, target: FactSet, pages: Pages) -> DiagnosticChanges:
    """The section of diagnostics: errors first; what nobody looked at again is counted apart from what was resolved."""
    ordered = sorted(found, key=lambda change: _MILDER.get(change.side.compared.key[0], 0))
    unchecked = _not_compiled(base, target)
    gone = [change for change in ordered if change.after is None]
    resolved = [change for change in gone if dict(change.side.told.shown).get("project") not in unchecked]
    if len(resolved) < len(gone):
        pages.totals["diagnostics.not_checked"] = len(gone) - len(resolved)
    return DiagnosticChanges(
        new=pages.take("diagnostics.new", [change for change in ordered if change.after], _diagnostic),
        resolved=pages.take("diagnostics.resolved", resolved, _diagnostic),
        not_checked=pages.totals.get("diagnostics.not_checked"),
    )


def _not_compiled(base: FactSet, target: FactSet) -> set[Value]:
    """Units that the target did not compile: up to date, skipped, cancelled, or not among its units at all."""
    names: set[Value] = {fact.key[0] for fact in base.counts.get("compile", {})}
    for fact in target.counts.get("compile", {}):
        value = dict(fact.value)
        names.discard(fact.key[0])
        if value.get("reason") == "up-to-date" or value.get("status") in _NOT_COMPILED:
            names.add(fact.key[0])
    return names


def _diagnostic(change: Change) -> DiagnosticEntry:
    severity, path, message = change.side.told.key
    shown: dict[str, Any] = {name: value for name, value in change.side.told.shown if value and name in _SHOWN}
    return DiagnosticEntry(severity=severity, path=path, message=cut(message), **shown)


# ---- tasks, commands and all else ---------------------------------------------------------------------


def tasks(found: list[Change], pages: Pages) -> tuple[TaskChange, ...]:
    """The section of tasks."""
    return pages.take("tasks", failing_first(found, "status", lambda status: status != "passed"), _task)


def _task(change: Change) -> TaskChange:
    name, *arguments = change.side.told.key
    arguments = [cut(argument) for argument in arguments]
    return TaskChange(name=name, arguments=tuple(arguments), change=kind_of(change), **_before_after(change, "status"))


def commands(found: list[Change], pages: Pages) -> tuple[CommandChange, ...]:
    """The section of commands."""
    return pages.take("commands", failing_first(found, "exit_code", lambda code: code != "0"), _command)


def _command(change: Change) -> CommandChange:
    return CommandChange(
        line=cut(change.side.told.key[0]),
        change=kind_of(change),
        before=_end(change.before),
        after=_end(change.after),
    )


def _end(command: Occurrence | None) -> CommandEnd | None:
    """How a command ended; ``exited`` goes without saying where there is an exit code."""
    if command is None:
        return None
    known: dict[str, Any] = {name: value for name, value in command.told.value if value is not None}
    if known.get("status") == CommandStatus.EXITED and "exit_code" in known:
        del known["status"]
    return CommandEnd(**known)


def other(found: list[Change], pages: Pages) -> tuple[OtherChange, ...]:
    """The section of all facts without a section of their own."""
    return pages.take("other", found, lambda change: _other(change, pages))


def _other(change: Change, pages: Pages) -> OtherChange:
    return OtherChange(
        kind=change.side.told.kind,
        key=tuple(map(cut, change.side.told.key)),
        change=kind_of(change),
        before=_values(change.before, change.after, pages),
        after=_values(change.after, change.before, pages),
    )


def _values(mine: Occurrence | None, others: Occurrence | None, pages: Pages) -> dict[str, Value]:
    """The values of `mine` that differ from those of `others`; of a collection, what `others` lacks."""
    if mine is None:
        return {}
    theirs = dict(others.compared.value) if others else {}
    values: dict[str, Value] = {}
    for (name, told), (_, compared) in zip(mine.told.value, mine.compared.value, strict=True):
        their = theirs.get(name)
        if isinstance(compared, tuple):
            names = tuple(sorted(set(compared) - set(their if isinstance(their, tuple) else ())))
            if names:
                values[name] = pages.some(names)
        elif name not in theirs or compared != their:
            values[name] = cut(told) if isinstance(told, str) else told
    return values
