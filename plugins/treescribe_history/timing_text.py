"""A comparison of durations as people read it."""

from __future__ import annotations

from treescribe.terminal import Style, columns, count, duration

from treescribe_history.diff_text import one_line
from treescribe_history.timing import Slow, TimingChange, TimingResult

_KINDS = {"compile": "compile unit"}


def render_timing(result: TimingResult, style: Style) -> str:
    """Return `result` as people read it."""
    lines = [result.summary, *(style.paint(note, "dim") for note in _notes(result))]
    rows = [_change_row("slower", change) for change in result.slower]
    rows += [_change_row("faster", change) for change in result.faster]
    roles = ["bad"] * len(result.slower) + ["good"] * len(result.faster)
    for role, line in zip(roles, columns(rows), strict=True):
        label, rest = line[:6], line[6:]
        lines.append(f"  {style.paint(label, role)}{rest}")
    if result.left_out:
        left = ", ".join(f"{number:,} {name}" for name, number in result.left_out.items())
        lines.append(style.paint(f"  {left} not listed: --limit 0 shows all", "dim"))
    lines.extend(_slowest_lines(result.slowest_in_target, style))
    return "\n".join(lines)


def _change_row(label: str, change: TimingChange) -> tuple[str, ...]:
    sign = "+" if change.change_ms > 0 else "-"
    moved = f"{duration(change.base_ms)} → {duration(change.target_ms)}"
    return label, _named(change), moved, f"{sign}{duration(abs(change.change_ms))}"


def _named(entry: TimingChange | Slow) -> str:
    """What it is; a test needs no word before its name."""
    kind = "" if entry.kind == "test" else f"{_KINDS.get(entry.kind, entry.kind)} "
    times = f" ({entry.times:,} times)" if entry.times else ""
    return f"{kind}{one_line(entry.name)}{times}"


def _notes(result: TimingResult) -> list[str]:
    lacking = (
        (result.only_in_base, f"#{result.base.run}"),
        (result.only_in_target, f"#{result.target.run}"),
    )
    parts = [f"{count(number, 'more', 'more')} in {run}" for number, run in lacking if number]
    return [*result.notes, *([f"Not compared, for want of an equal counterpart: {', '.join(parts)}."] if parts else [])]


def _slowest_lines(slowest: tuple[Slow, ...], style: Style) -> list[str]:
    if not slowest:
        return []
    rows = [(duration(entry.ms), _named(entry)) for entry in slowest]
    width = max(len(ms) for ms, _ in rows)
    return [style.paint("Slowest", "strong"), *(f"  {ms.rjust(width)}  {name}" for ms, name in rows)]
