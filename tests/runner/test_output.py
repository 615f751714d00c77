"""What is kept of a command's output: the beginning and the end, and exactly how much lies between."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from support import SetClock
from treescribe.events import Output
from treescribe.masking import Masker
from treescribe.output import FLUSH_MS, PIECE, OutputCapture, OutputLimits

DEFAULT = OutputLimits()


class Captured:
    """A capture and what it emitted."""

    def __init__(self, limits: OutputLimits = DEFAULT, masker: Masker | None = None) -> None:
        self.events: list[Output] = []
        self.clock = SetClock()
        self.capture = OutputCapture(
            self.events.append,
            command=3,
            stream="stderr",
            masker=masker or Masker(),
            limits=limits,
            clock=self.clock,
        )

    def of(self, pieces: Iterable[bytes]) -> list[Output]:
        for piece in pieces:
            self.capture.feed(piece)
        self.capture.finish()
        return self.events


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(ends)]


PRINTED = st.lists(st.one_of(st.text(max_size=8).map(str.encode), st.binary(max_size=4)), max_size=40).map(b"".join)
LIMITS = st.builds(OutputLimits, st.integers(1, 40), st.integers(1, 40))
PLACES = st.lists(st.integers(min_value=0), max_size=20)


@given(PRINTED, LIMITS, PLACES)
def test_what_is_kept_and_what_is_left_out_add_up(printed: bytes, limits: OutputLimits, places: list[int]) -> None:
    events = Captured(limits).of(cut(printed, places))
    texts = [event.text for event in events]
    omitted = [event.omitted_bytes for event in events]
    assert not any(omitted[:-1]), "what is left out stands before the end"
    if not omitted or not omitted[-1]:
        assert "".join(texts) == printed.decode(errors="replace")
        return
    kept = len(printed) - omitted[-1]
    head, tail = "".join(texts[:-1]), texts[-1]
    assert any(
        printed[:length].decode(errors="replace") == head
        and printed[len(printed) - (kept - length) :].decode(errors="replace") == tail
        for length in range(min(kept, limits.head) + 1)
        if kept - length <= limits.tail
    )


TEXTS = st.lists(st.text(max_size=8), max_size=40).map("".join)


@given(TEXTS, LIMITS, PLACES)
def test_of_text_as_much_is_kept_as_may_be(printed: str, limits: OutputLimits, places: list[int]) -> None:
    events = Captured(limits).of(cut(printed.encode(), places))
    kept = sum(len(event.text.encode()) for event in events)
    assert kept + sum(event.omitted_bytes for event in events) == len(printed.encode())
    assert min(len(printed.encode()), sum(limits)) - 6 <= kept <= sum(limits)


@given(PRINTED, LIMITS, PLACES, PLACES)
def test_how_it_came_makes_no_difference(
    printed: bytes, limits: OutputLimits, one: list[int], other: list[int]
) -> None:
    def kept(places: list[int]) -> tuple[str, int]:
        events = Captured(limits).of(cut(printed, places))
        return "".join(event.text for event in events), sum(event.omitted_bytes for event in events)

    assert kept(one) == kept(other)


@given(PRINTED, PLACES)
def test_output_within_the_limits_is_kept_whole(printed: bytes, places: list[int]) -> None:
    events = Captured().of(cut(printed, places))
    assert "".join(event.text for event in events) == printed.decode(errors="replace")
    assert all(event.omitted_bytes == 0 for event in events)


def test_pieces_name_their_command_and_stream() -> None:
    assert Captured().of([b"hello\n"]) == [Output(command=3, stream="stderr", text="hello\n")]


def test_nothing_printed_is_nothing_told() -> None:
    assert Captured().of([]) == []


def test_the_middle_is_left_out_and_counted() -> None:
    events = Captured(OutputLimits(head=4, tail=3)).of([b"0123456789"])
    assert [(event.text, event.omitted_bytes) for event in events] == [("0123", 0), ("789", 3)]


def test_a_character_that_does_not_fit_the_head_is_not_cut_and_nothing_overtakes_it() -> None:
    events = Captured(OutputLimits(head=2, tail=2)).of(["a€bcde".encode()])
    assert [(event.text, event.omitted_bytes) for event in events] == [("a", 0), ("de", 5)]


def test_a_character_that_came_in_two_pieces_is_one_character() -> None:
    assert Captured().of([b"\xe2\x82", b"\xac"])[0].text == "€"


def test_a_piece_is_told_when_it_is_long_enough_or_has_waited() -> None:
    captured = Captured()
    captured.capture.feed(b"a")
    assert captured.events == []
    captured.clock.advance(FLUSH_MS - 1)
    captured.capture.feed(b"b")
    assert captured.events == []
    captured.clock.advance(1)
    captured.capture.feed(b"c")
    assert [event.text for event in captured.events] == ["abc"]
    captured.capture.feed(b"x" * PIECE)
    assert [event.text for event in captured.events] == ["abc", "x" * PIECE]


def test_the_end_is_told_once_and_what_comes_later_is_dropped() -> None:
    captured = Captured()
    captured.of([b"before"])
    captured.capture.feed(b"after")
    captured.capture.finish()
    assert [event.text for event in captured.events] == ["before"]


def test_secrets_are_masked_before_anything_is_counted() -> None:
    captured = Captured(OutputLimits(head=6, tail=4), Masker({"TOKEN": "hunter2-hunter2"}))
    events = captured.of([b"a hunter2-", b"hunter2 b", b"cdefghij\n"])
    assert [(event.text, event.omitted_bytes) for event in events] == [("a *** ", 0), ("hij\n", 6)]


def test_a_secret_is_masked_where_the_middle_was_forgotten() -> None:
    """What is remembered begins anywhere, within a secret too; what may be the end of one is left out."""
    secret = "hunter2-hunter2"
    for length in range(1, 40):
        captured = Captured(OutputLimits(head=5, tail=100_000), Masker({"TOKEN": secret}))
        events = captured.of([b"x" * length, *[secret.encode()] * 200_000])
        assert events[-1].omitted_bytes > 1_000_000
        assert not any(secret in event.text or "nter2" in event.text for event in events)


def test_a_gigantic_output_takes_little_memory() -> None:
    captured = Captured(masker=Masker({"TOKEN": "hunter2-hunter2"}))
    chunk = b"0123456789abcdef" * 4096
    tracemalloc.start()
    try:
        for _ in range(300):
            captured.capture.feed(chunk)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    captured.capture.finish()
    total = sum(len(event.text) + event.omitted_bytes for event in captured.events)
    assert total == 300 * len(chunk)
    assert most < 20 * len(chunk)
    assert sum(sys.getsizeof(event.text) for event in captured.events) < 4 * (DEFAULT.head + DEFAULT.tail)
