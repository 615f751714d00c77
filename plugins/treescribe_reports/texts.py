"""Texts out of reports, made fit for events."""

from __future__ import annotations

LONGEST_TRACE = 16 * 1024
LONGEST_MESSAGE = 1000


def bounded(text: str, longest: int = LONGEST_TRACE) -> str:
    """`text`, its middle left out where it is too long."""
    over = len(text) - longest
    if over <= 0:
        return text
    half = longest // 2
    return f"{text[:half]}\n… {over} characters left out …\n{text[-half:]}"


def one_line(text: str) -> str:
    """The first line of `text` that holds anything, bounded."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 1] + "…"


def milliseconds(seconds: object) -> int:
    """A duration in seconds as reports write it (``0.123``, ``1,234.5``, a number); 0 where it is none."""
    try:
        value = float(str(seconds).replace(",", ""))
        return max(0, round(value * 1000))
    except (ValueError, OverflowError):
        return 0
