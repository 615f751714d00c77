"""A comparison of two runs as people read it: one sentence, then a line an entry, what it says below it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from treescribe.terminal import Style, columns, count

from treescribe_history.changes import position
from treescribe_history.diff_models import (
    CommandChange,
    CommandEnd,
    CompileChange,
    CompileUnit,
    DiagnosticEntry,
    DiffResult,
    Listed,
    OtherChange,
    SuiteChange,
    TaskChange,
    TestChange,
)

WIDEST = 160
"""How many characters of a message a line shows; ``--json`` has more of it."""


class Row(NamedTuple):
    """One entry: what became of what, and the lines below it."""

    label: str
    text: str
    role: str = ""
    below: tuple[str, ...] = ()


def render_diff(result: DiffResult, style: Style) -> str:
    """Return `result` as people read it."""
    lines = [_first_line(result), *(style.paint(note, "dim") for note in _notes(result))]
    sections = {name: rows for name, rows in _sections(result) if rows}
    if sections:
        lines.append("")
    width = max((len(row.label) for rows in sections.values() for row in rows), default=0)
    for name, rows in sections.items():
        lines.append(style.paint(name, "strong"))
        for row in rows:
            lines.extend(_row_lines(row, width, style))
    return "\n".join(lines)


def _row_lines(row: Row, width: int, style: Style) -> Iterator[str]:
    label = row.label.ljust(width)
    yield f"  {style.paint(label, row.role) if row.role else label}  {printable(row.text)}".rstrip()
    for line in row.below:
        yield f"  {' ' * width}  {style.paint(line, 'dim')}"


_NOUNS = {"test": "test", "command": "command", "task": "task", "suite": "suite", "compile": "compile unit"}


def _first_line(result: DiffResult) -> str:
    if not result.identical:
        return result.summary
    same = [count(result.same[kind], noun) for kind, noun in _NOUNS.items() if result.same.get(kind)]
    rest = sum(number for kind, number in result.same.items() if kind not in _NOUNS)
    same += [count(rest, "other fact")] if rest else []
    if not same:
        return f"{result.summary} Neither run established anything to compare."
    joined = " and ".join(filter(None, (", ".join(same[:-1]), same[-1])))
    verb = "is" if sum(result.same.values()) == 1 else "are"
    return f"{result.summary} {joined} {verb} the same; durations are compared by history.timing."


def _notes(result: DiffResult) -> Iterator[str]:
    yield from result.notes
    if result.not_compared:
        events = count(sum(result.not_compared.values()), "event")
        yield f"Not compared: {events} of types that are not installed here ({', '.join(result.not_compared)})."


def _sections(result: DiffResult) -> Iterator[tuple[str, list[Row]]]:
    yield "Tests", list(_tests(result))
    yield "Suites", [*map(_suite, result.suites), *_left_out(result, "suites")]
    yield "Compile units", list(_compile(result))
    yield "Diagnostics", list(_diagnostics(result))
    yield "Tasks", [*map(_task, result.tasks), *_left_out(result, "tasks")]
    yield "Commands", [*map(_command, result.commands), *_left_out(result, "commands")]
    yield "Other", [*map(_other, result.other), *_left_out(result, "other")]


def _left_out(result: DiffResult, section: str) -> Iterator[Row]:
    """The row that says how many entries are not listed; ``offset`` and ``limit`` are the command's own options."""
    if section in result.left_out:
        how = result.more.replace("offset", "--offset").replace("limit", "--limit")
        yield Row("", f"… {count(result.left_out[section], 'other')} not listed: {how}", "dim")


# ---- tests and suites ---------------------------------------------------------------------------------

_TEST_LABELS = {
    "newly_failing": ("newly failing", "bad"),
    "still_failing": ("still failing", "bad"),
    "fixed": ("fixed", "good"),
    "newly_skipped": ("newly skipped", ""),
    "unskipped": ("unskipped", ""),
    "status_changed": ("status changed", ""),
    "added": ("added", ""),
    "removed": ("removed", ""),
}
_USUAL = {("passed", "failed"), ("failed", "passed"), ("passed", "skipped"), ("skipped", "passed")}


def _tests(result: DiffResult) -> Iterator[Row]:
    for section, (label, role) in _TEST_LABELS.items():
        for test in getattr(result.tests, section):
            yield _test(test, label, role)
        yield from _left_out(result, f"tests.{section}")


def _test(test: TestChange, label: str, role: str) -> Row:
    if label == "still failing" and not test.changed:
        return Row(label, f"{test.name}  (as before)", "dim", _below(test.message))
    usual = (test.before, test.after) in _USUAL or test.before == test.after
    text = test.name if usual else f"{test.name}  {_arrow(test.before, test.after)}"
    says = test.message or test.reason
    if test.previous:
        return Row(label, text, role, (*_below(test.previous, "was: "), *_below(says or "(nothing)", "now: ")))
    return Row(label, text, role, _below(says))


def _suite(suite: SuiteChange) -> Row:
    name = f"{suite.project}: {suite.suite}" if suite.project else suite.suite
    return Row(suite.change, f"{name}  {_arrow(suite.before, suite.after)}", "", _below(suite.message))


# ---- compile units and diagnostics --------------------------------------------------------------------


def _compile(result: DiffResult) -> Iterator[Row]:
    units = result.compile
    yield from map(_compile_change, units.changed)
    yield from _left_out(result, "compile.changed")
    for label, part in (("added", units.added), ("removed", units.removed)):
        yield from (Row(label, _unit_text(unit)) for unit in part)
        yield from _left_out(result, f"compile.{label}")


def _compile_change(unit: CompileChange) -> Row:
    moved = (("status", unit.status), ("reason", unit.reason), ("skipped because of", unit.skipped_because))
    texts = [f"{name} {_arrow(what.before or 'none', what.after or 'none')}" for name, what in moved if what]
    below = (
        *_listed("invalidated files", unit.invalidated_files),
        *_listed("changed dependencies", unit.changed_dependencies),
    )
    return Row("changed", "  ".join((unit.project, ", ".join(texts))), "", below)


def _unit_text(unit: CompileUnit) -> str:
    because = f"because of {unit.skipped_because}" if unit.skipped_because else ""
    return "  ".join(filter(None, (unit.project, unit.status, unit.reason, because)))


def _listed(name: str, listed: Listed | None) -> Iterator[str]:
    if listed:
        for sign, names in (("+", listed.added), ("-", listed.removed)):
            if names:
                yield f"{name} {sign} {one_line(', '.join(names))}"


def _diagnostics(result: DiffResult) -> Iterator[Row]:
    parts = result.diagnostics
    texts = columns([_diagnostic(entry) for entry in (*parts.new, *parts.resolved)])
    for entry, text in zip(parts.new, texts, strict=False):
        yield Row("new", text, "bad" if entry.severity not in ("warning", "info") else "")
    yield from _left_out(result, "diagnostics.new")
    for text in texts[len(parts.new) :]:
        yield Row("resolved", text, "good")
    yield from _left_out(result, "diagnostics.resolved")
    if parts.not_checked:
        yield Row("not checked", f"{count(parts.not_checked, 'diagnostic')} of units that were not compiled", "dim")


def _diagnostic(entry: DiagnosticEntry) -> tuple[str, str, str]:
    tool = f"  ({entry.tool})" if entry.tool else ""
    return position(entry), entry.severity, f"{entry.code} {one_line(entry.message)}".strip() + tool


# ---- tasks, commands and all else ---------------------------------------------------------------------


def _task(task: TaskChange) -> Row:
    call = f"{task.name}({', '.join(task.arguments)})" if task.arguments else task.name
    return Row(task.change, f"{one_line(call)}  {_arrow(task.before, task.after)}")


def _command(command: CommandChange) -> Row:
    ends = _arrow(_end(command.before), _end(command.after))
    return Row(command.change, f"{one_line(command.line)}  {ends}")


def _end(end: CommandEnd | None) -> str:
    if end is None:
        return ""
    code = f"exit code {end.exit_code}" if end.exit_code is not None else ""
    signal = f"signal {end.signal}" if end.signal is not None else ""
    return ", ".join(filter(None, (end.status, code, signal)))


def _other(other: OtherChange) -> Row:
    names = sorted({*other.before, *other.after})
    below = [f"{name}: {_was_and_is(other, name)}" for name in names]
    return Row(other.change, f"{other.kind}  {one_line(' '.join(other.key))}", "", tuple(below))


def _was_and_is(other: OtherChange, name: str) -> str:
    old, new = _value(other.before.get(name)), _value(other.after.get(name))
    return f"{old or '(nothing)'} → {new or '(nothing)'}" if other.change == "changed" else old or new


def _value(value: object) -> str:
    if value is None:
        return ""
    return one_line(", ".join(value) if isinstance(value, tuple) else str(value))


# ---- words --------------------------------------------------------------------------------------------


def _arrow(before: str, after: str) -> str:
    """What was and what is; one word where both are the same, or only one side has any."""
    return " → ".join(dict.fromkeys(filter(None, (before, after))))


def _below(text: str, prefix: str = "") -> tuple[str, ...]:
    return (f"{prefix}{one_line(text)}",) if text else ()


def one_line(text: str) -> str:
    """The first line of `text`, as far as it fits."""
    lines = text.strip().splitlines() or [""]
    line = printable(lines[0])
    cut = len(line) > WIDEST or len(lines) > 1
    return f"{line[:WIDEST].rstrip()} …" if cut else line


def printable(text: str) -> str:
    """`text` without what could steer a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)
