"""A run as people read it: what it came to, how it was run, then one line an item and what it says below it."""

from __future__ import annotations

import shlex
import textwrap

from treescribe.terminal import Style, duration, relative_time

from treescribe_history.diagnostics import Diagnostics
from treescribe_history.items import Item
from treescribe_history.showing import ShowResult
from treescribe_history.verdict_text import OUTCOME_ROLES, counts

SHOWN_TRACE_LINES = 12


def render(result: ShowResult, style: Style) -> str:
    """A run: what it came to, how it was run, then its items."""
    lines = [_headline(result, style), style.paint(_circumstances(result, style), "dim")]
    lines += [f"reason: {result.reason}"] if result.reason else []
    lines += [f"not read: {problem}" for problem in result.problems or ()]
    lines += _diagnostics(result.diagnostics)
    if result.unknown_events:
        lines.append(_unknown(result.unknown_events))
    lines.append("")
    width = max((len(_label(item)) for item in result.items), default=0)
    for item in result.items:
        lines += _item_lines(item, result, style, width)
    lines.append(_below_items(result))
    for part in result.output or ():
        lines += ["", style.paint(f"{part.stream} of {part.source}:", "strong"), part.text.rstrip("\n")]
    if result.output == ():
        lines.append("Nothing was printed.")
    return "\n".join(lines)


def _unknown(number: int) -> str:
    if number == 1:
        return "1 event is of a type that is not installed here"
    return f"{number:,} events are of types that are not installed here"


def _headline(result: ShowResult, style: Style) -> str:
    parts = [style.paint(f"#{result.run} {result.outcome}", OUTCOME_ROLES.get(result.outcome, "strong"))]
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
