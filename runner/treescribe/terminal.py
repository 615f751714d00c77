"""How text for people looks: colours on a terminal only, and times told relative to now."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import IO, NamedTuple

_CODES = {"good": "32", "bad": "31", "dim": "2", "strong": "1"}


class Style(NamedTuple):
    """What a rendering needs to know of where it is shown.

    :ivar now_ms: the moment that relative times refer to, in milliseconds since the epoch.
    """

    colour: bool = False
    now_ms: int = 0

    def paint(self, text: str, role: str) -> str:
        """`text` in the colour of its role (good, bad, dim, strong), where colours are shown."""
        return f"\x1b[{_CODES[role]}m{text}\x1b[0m" if self.colour and text else text


def style_for(stream: IO[str], now_ms: int, environment: Mapping[str, str] = os.environ) -> Style:
    """Return the style of a stream. ``NO_COLOR`` and ``TERM=dumb`` switch colours off (see no-color.org)."""
    plain = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    return Style(colour=not plain and stream.isatty(), now_ms=now_ms)


def show_any_text(stream: IO[str]) -> None:
    """Have a stream of this process show as escapes what its encoding has no characters for, and not fail."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def relative_time(at_ms: int, now_ms: int) -> str:
    """How long ago `at_ms` was, in a few words."""
    seconds = max(0, now_ms - at_ms) // 1000
    for limit, unit, name in ((60, 1, ""), (3600, 60, "min"), (86_400, 3600, "h")):
        if seconds < limit:
            return f"{seconds // unit} {name} ago" if name else "just now"
    days = seconds // 86_400
    return "yesterday" if days == 1 else f"{days} days ago"


def duration(ms: int) -> str:
    """A duration in seconds, or minutes from two of them on."""
    if ms < 120_000:
        return f"{ms / 1000:.2f} s" if ms < 10_000 else f"{ms / 1000:.1f} s"
    return f"{ms // 60_000} min {ms % 60_000 // 1000} s"


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 test``, ``2 tests``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def columns(rows: list[tuple[str, ...]], gap: str = "  ") -> list[str]:
    """Align `rows` of equal length in columns; trailing blanks are dropped."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return [gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
