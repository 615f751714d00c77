"""What a run keeps of a command's output: its beginning and its end, bounded, decoded and masked."""

from __future__ import annotations

import codecs
import threading
from collections.abc import Callable
from typing import NamedTuple

from treescribe.clock import Clock
from treescribe.events import Output
from treescribe.masking import Masker

PIECE = 4096
FLUSH_MS = 500


class OutputLimits(NamedTuple):
    """How much of one stream is kept, in bytes as printed: its first ``head`` and its last ``tail``."""

    head: int = 64 * 1024
    tail: int = 64 * 1024


class OutputCapture:
    """Takes the bytes of one stream of one command and emits `Output` events.

    The head is emitted as it comes, in pieces of about 4 KiB, or less where a piece has waited for half a second.
    From then on bytes are only remembered, and the oldest forgotten: `finish` masks and emits what is left of them,
    with the number of bytes left out before it. So a flood costs next to nothing, however long masking takes.
    Thread-safe: a command's output may still come while its run ends.

    :param also: takes all the bytes, too.
    """

    def __init__(
        self,
        emit: Callable[[Output], None],
        *,
        command: int,
        stream: str,
        masker: Masker,
        limits: OutputLimits,
        clock: Clock,
        also: Callable[[bytes], None] | None = None,
    ) -> None:
        self._emit = emit
        self._also = also
        self._clock = clock
        self._flushed_at = clock.elapsed_ms()
        self._lock = threading.Lock()
        self._command = command
        self._stream = stream
        self._masker = masker
        self._limits = limits
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors=_LOSSLESS)
        self._waiting = ""  # of the head: decoded, not yet masked
        self._piece = bytearray()  # of the head: masked, not yet emitted
        self._head_left = limits.head
        self._rest: bytearray | None = None  # what came after the head, as it came; None until the head is whole
        self._omitted = 0
        self._finished = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        if self._also is not None:
            self._also(data)
        with self._lock:
            if self._finished:
                return
            if self._rest is None:
                self._take_head(self._decoder.decode(data))
            else:
                self._rest += data
                self._forget_oldest()

    def flush_waiting(self) -> None:
        """Emit what has waited for half a second; called from time to time."""
        with self._lock:
            if self._piece and not self._finished and self._has_waited():
                self._flush()

    def finish(self) -> None:
        """The stream has ended: emit all that is still to be told. What is fed later is dropped."""
        with self._lock:
            if self._finished:
                return
            if self._rest is None:
                self._take_head(self._decoder.decode(b"", True), last=True)
            self._finished = True
            self._flush()
            if self._rest:
                self._emit_tail(self._rest)

    # -- the head ---------------------------------------------------------------------------------------

    def _take_head(self, text: str, *, last: bool = False) -> None:
        text = self._waiting + text
        safe, self._waiting = (self._masker.text(text), "") if last else self._masker.split(text)
        data = _encoded(safe)
        end = _whole_characters(safe, data, self._head_left)
        self._piece += data[:end]
        self._head_left -= end
        if end < len(data) or self._head_left <= 0:
            undecoded, _ = self._decoder.getstate()
            self._rest = bytearray(data[end:] + _encoded(self._waiting) + undecoded)
            self._forget_oldest()
        if len(self._piece) >= PIECE or self._rest is not None or self._has_waited():
            self._flush()

    def _has_waited(self) -> bool:
        return self._clock.elapsed_ms() - self._flushed_at >= FLUSH_MS

    def _flush(self) -> None:
        self._flushed_at = self._clock.elapsed_ms()
        if self._piece:
            self._emit_piece(self._piece)
            self._piece = bytearray()

    # -- the tail ---------------------------------------------------------------------------------------

    def _forget_oldest(self) -> None:
        """Forget what cannot be part of the tail, nor decide what is masked in it."""
        room = self._limits.tail + 4 * self._masker.reach
        if self._rest is not None and len(self._rest) > 2 * room + PIECE:
            forgotten = len(self._rest) - room
            self._omitted += forgotten
            del self._rest[:forgotten]

    def _emit_tail(self, rest: bytearray) -> None:
        text = rest.decode(errors=_LOSSLESS)
        unsure = self._masker.unsure_beginning(text) if self._omitted else 0
        masked = _encoded(self._masker.text(text[unsure:]))
        start = _end_of_character(masked, max(0, len(masked) - self._limits.tail))
        self._emit_piece(masked[start:], self._omitted + len(_encoded(text[:unsure])) + start)

    def _emit_piece(self, data: bytes | bytearray, omitted: int = 0) -> None:
        text = data.decode(errors="replace")
        self._emit(Output(command=self._command, stream=self._stream, text=text, omitted_bytes=omitted))


_LOSSLESS = "surrogateescape"
"""How bytes that are no UTF-8 are decoded until they are told: so that they can be counted as the bytes they are."""


def _encoded(text: str) -> bytes:
    return text.encode(errors=_LOSSLESS)


def _whole_characters(text: str, data: bytes, room: int) -> int:
    """How many bytes the characters of `text` take that fit into `room` bytes of `data`, which is the text, encoded."""
    end = min(room, len(data))
    while not text.startswith(data[:end].decode(errors=_LOSSLESS)):
        end -= 1
    return end


def _end_of_character(data: bytes, place: int) -> int:
    """The first place at or after `place` where a character begins."""
    while place < len(data) and _continues_character(data[place]):
        place += 1
    return place


def _continues_character(byte: int) -> bool:
    """Whether a byte of UTF-8 stands within a character, and not at its beginning."""
    return byte & 0xC0 == 0x80
