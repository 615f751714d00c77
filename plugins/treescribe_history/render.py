"""The history's results as people read them: facts first, one line each, times relative to now."""

from __future__ import annotations

import shlex
import textwrap

from treescribe.terminal import Style, columns, duration, relative_time

from treescribe_history.listing import UNREADABLE
from treescribe_history.results import Diagnostics, Item, PinResult, RunRow, RunsResult, RunSummary, ShowResult
from treescribe_history.verdict_text import counts

LONGEST_TARGETS = 40
SHOWN_TRACE_LINES = 12
_ROLES = {"passed": "good", "failed": "bad", "error": "bad", UNREADABLE: "bad"}


# ---- history.list -------------------------------------------------------------------------------------


def runs(result: RunsResult, style: Style) -> str:
    """A table of runs, the newest first."""
    if not result.total:
        return f"No runs are kept in {result.workspace}. Record one: treescribe TASK, or: treescribe exec -- COMMAND"
    number = max((len(str(row.run)) for row in result.runs), default=0)
    tests = max((len(_number(row)) for row in result.runs), default=0)
    cells: list[tuple[str, ...]] = [("#".rjust(number), "when", "targets", "result", "since the run before")]
    cells += [_cells(row, style, number, tests) for row in result.runs]
    header, *lines = columns(cells, gap="    ")
    painted = [_painted(line, row, style) for line, row in zip(lines, result.runs, strict=True)]
    return "\n".join([style.paint("  " + header, "dim"), *painted, _below_list(result)])


def _cells(row: RunRow, style: Style, number: int, tests: int) -> tuple[str, str, str, str, str]:
    when = relative_time(row.started_at, style.now_ms) if row.started_at is not None else ""
    return str(row.run).rjust(number), when, _cut(" ".join(row.targets)), _outcome(row, tests), _remark(row)


def _painted(line: str, row: RunRow, style: Style) -> str:
    before, outcome, after = line.rpartition(f"    {row.outcome}")
    return (
        "  " + before + (outcome[:4] + style.paint(outcome[4:], _ROLES.get(row.outcome, ""))) + after
        if (style.colour and row.outcome in _ROLES and outcome)
        else "  " + line
    )


def _number(row: RunRow) -> str:
    """How many tests passed, of a run that passed; how many failed, of one that failed."""
    number = row.tests.get("passed", 0) if row.outcome == "passed" else row.failing
    return f"{number:,}" if number and row.outcome in ("passed", "failed") else ""


def _outcome(row: RunRow, width: int) -> str:
    return f"{row.outcome.ljust(6)}  {_number(row).rjust(width)}".rstrip()


def _remark(row: RunRow) -> str:
    if row.outcome == UNREADABLE:
        remarks = [row.summary]
    elif row.outcome in ("interrupted", "running"):
        seen = sum(row.tests.values())
        remarks = [f"{seen:,} {'test' if seen == 1 else 'tests'} seen"]
    else:
        remarks = [row.changes or ""]
    if row.pinned:
        remarks.append(f"pinned: {', '.join(row.pinned)}")
    return " · ".join(remark for remark in remarks if remark)


def _below_list(result: RunsResult) -> str:
    end = result.offset + len(result.runs)
    kept = f"{result.total:,} kept of {result.recorded:,} recorded"
    if end < result.total:
        return f"{kept} · {result.total - end:,} more: treescribe history.list --offset {end}"
    return f"{kept} · treescribe history.show RUN"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TARGETS else text[: LONGEST_TARGETS - 1] + "…"


# ---- history.show -------------------------------------------------------------------------------------


def shown(result: ShowResult, style: Style) -> str:
    """A run: what it came to, how it was run, then its items."""
    lines = [_headline(result, style), style.paint(_circumstances(result, style), "dim")]
    lines += [f"reason: {result.reason}"] if result.reason else []
    lines += [f"not read: {problem}" for problem in result.problems or ()]
    lines += _diagnostics(result.diagnostics)
    if result.unknown_events:
        lines.append(f"{result.unknown_events:,} events are of types that are not installed here")
    lines.append("")
    width = max((len(_label(item)) for item in result.items), default=0)
    for item in result.items:
        lines += _item_lines(item, result, style, width)
    return "\n".join([*lines, _below_items(result)])


def _headline(result: ShowResult, style: Style) -> str:
    parts = [style.paint(f"#{result.run} {result.outcome}", _ROLES.get(result.outcome, "strong"))]
    parts += [part for part in (counts(result.tests), duration(result.duration_ms)) if part]
    return " · ".join(parts)


def _circumstances(result: ShowResult, style: Style) -> str:
    parts = [f"{' '.join(result.targets)} ({result.backend})", relative_time(result.started_at, style.now_ms)]
    parts.append(f"by {result.client}")
    if result.parent and result.parent.get("run") is not None:
        parts.append(f"within run #{result.parent['run']} of {result.parent.get('workspace')}")
    if result.pinned:
        parts.append(f"pinned: {', '.join(result.pinned)}")
    return " · ".join([*parts, result.workspace])


def _diagnostics(diagnostics: Diagnostics | None) -> list[str]:
    if diagnostics is None:
        return []
    told = {"error": diagnostics.errors, "warning": diagnostics.warnings}
    return [", ".join(f"{number:,} {noun if number == 1 else noun + 's'}" for noun, number in told.items() if number)]


def _label(item: Item) -> str:
    return item.status or item.kind


def _item_lines(item: Item, result: ShowResult, style: Style, width: int) -> list[str]:
    role = "bad" if item.failing else "good" if item.status == "passed" else ""
    label = _label(item).ljust(width)
    lines = [f"  {style.paint(label, role) if role else label}  {_text(item, result.workspace)}"]
    indent = " " * (width + 4)
    for text in _below(item, whole=result.query is not None):
        lines.append(style.paint(f"{indent}{text}".rstrip(), "dim"))
    return lines


def _text(item: Item, root: str) -> str:
    if item.kind == "test":
        return item.name
    if item.kind != "diagnostic":
        return f"{item.kind} {item.name}"
    path = (item.path or "").removeprefix(root.rstrip("/") + "/")
    place = ":".join([path or "(no file)", *(str(number) for number in (item.line, item.column) if number)])
    tool = f"({item.details['tool']})" if item.details else ""
    message = (item.message or "").partition("\n")[0]
    return " ".join(part for part in (place, item.name, message, tool) if part)


def _below(item: Item, *, whole: bool) -> list[str]:
    """What stands below an item's line: its trace where it fails, else its message; details of other kinds."""
    if item.kind == "diagnostic":
        return (item.message or "").splitlines()[1:]
    lines = (item.message or "").splitlines()
    if item.trace and (item.failing or whole):
        trace = textwrap.dedent(item.trace).splitlines()
        cut = 0 if whole else max(0, len(trace) - SHOWN_TRACE_LINES)
        mark = [f"… {cut} lines before these; a query shows all …"] if cut else []
        lines = [*lines, *mark, *trace[cut:]]
    return [*lines, *(f"{name}: {value}" for name, value in (item.details or {}).items())]


def _below_items(result: ShowResult) -> str:
    end = result.offset + len(result.items)
    if not result.total:
        if result.projects is not None:
            return f"Nothing of that project. Projects of this run: {', '.join(result.projects) or 'none'}"
        return (
            "Nothing matches the query." if result.query else "Nothing happened yet." if not result.ok else "Nothing."
        )
    if end < result.total:
        query = f" --query {shlex.quote(result.query)}" if result.query else ""
        more = f"treescribe history.show {result.run}{query} --offset {end}"
        return f"{end:,} of {result.total:,} · more: {more}"
    return f"{result.total:,} of {result.total:,}"


# ---- history.summary, history.pin, history.unpin --------------------------------------------------------


def summary(result: RunSummary, style: Style) -> str:
    """A run's summary: one sentence, then the failing tests."""
    number = f"#{result.run} " if result.run is not None else ""
    outcome = style.paint(number + result.outcome, _ROLES.get(result.outcome, "strong"))
    lines = [f"{outcome}{result.summary.removeprefix(result.outcome)}"]
    for failure in result.failures or ():
        lines.append(f"  {failure.status}  {failure.test}")
        lines += [f"          {failure.message}"] if failure.message else []
    lines += [f"  {line}" for line in (result.diagnostics.top if result.diagnostics else ())]
    if result.run is not None:
        lines.append(f"treescribe history.show {result.run}")
    return "\n".join(lines)


def pinned(result: PinResult, style: Style) -> str:
    """What a name stands for, or stood for."""
    if result.pinned:
        return f"#{result.run} is kept as {result.name}."
    others = [name for name, run in result.pins.items() if run == result.run]
    kept = f"It is still kept as {', '.join(others)}." if others else "It is kept as long as any other run."
    return f"{result.name} no longer stands for #{result.run}. {kept}"
