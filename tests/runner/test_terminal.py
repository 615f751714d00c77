"""How text for people looks."""

from __future__ import annotations

import io

import pytest
from treescribe.terminal import Style, columns, count, duration, relative_time, style_for


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "colour"),
    [
        (Terminal(), {}, True),
        (io.StringIO(), {}, False),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_of_people_who_want_them(
    stream: io.StringIO, environment: dict[str, str], colour: bool
) -> None:
    assert style_for(stream, 5, environment) == Style(colour, 5)


def test_text_is_painted_only_where_colours_are_shown() -> None:
    assert Style().paint("x", "bad") == "x"
    assert Style(colour=True).paint("x", "bad") == "\x1b[31mx\x1b[0m"
    assert Style(colour=True).paint("", "bad") == ""


SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (-5 * HOUR, "just now"),
        (0, "just now"),
        (59 * SECOND, "just now"),
        (60 * SECOND, "1 min ago"),
        (59 * MINUTE, "59 min ago"),
        (60 * MINUTE, "1 h ago"),
        (24 * HOUR - 1, "23 h ago"),
        (24 * HOUR, "yesterday"),
        (48 * HOUR, "2 days ago"),
    ],
)
def test_times_are_told_relative_to_now(ago: int, text: str) -> None:
    assert relative_time(100 * HOUR - ago, 100 * HOUR) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0.00 s"),
        (412, "0.41 s"),
        (9_990, "9.99 s"),
        (12_340, "12.3 s"),
        (119_900, "119.9 s"),
        (120_000, "2 min 0 s"),
    ],
)
def test_durations(ms: int, text: str) -> None:
    assert duration(ms) == text


def test_counts_have_their_plural() -> None:
    assert [count(0, "test"), count(1, "test"), count(1_234, "test")] == ["0 tests", "1 test", "1,234 tests"]
    assert count(2, "entry", "entries") == "2 entries"


def test_columns_are_aligned_and_end_where_their_text_does() -> None:
    assert columns([("a", "bb", ""), ("ccc", "d", "e")]) == ["a    bb", "ccc  d   e"]
    assert columns([]) == []
