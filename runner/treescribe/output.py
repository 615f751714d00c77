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
    """How much of one stream is kept, in bytes of UTF-8: its first ``head`` and its last ``tail``."""

    head: int = 64 * 1024
    tail: int = 64 * 1024


class OutputCapture:
    """Takes the bytes of one stream of one command and emits `Output` events.

    The head is emitted as it comes, in pieces of about 4 KiB, or less where a piece has waited for half a second;
    then only the tail is remembered, and emitted by `finish` with the number of bytes left out before it.
    Thread-safe: a command's output may still come while its run ends.
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
    ) -> None:
        self._emit = emit
        self._clock = clock
        self._flushed_at = clock.elapsed_ms()
        self._lock = threading.Lock()
        self._command = command
        self._stream = stream
        self._masker = masker
        self._limits = limits
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._raw = ""  # decoded, not yet masked
        self._piece: list[str] = []  # masked, not yet emitted
        self._piece_size = 0
        self._head_left = limits.head
        self._tail: list[str] = []
        self._tail_size = 0
        self._omitted = 0
        self._finished = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        with self._lock:
            if not self._finished:
                self._take(self._decoder.decode(data))

    def _flush(self) -> None:
        self._flushed_at = self._clock.elapsed_ms()
        if self._piece:
            self._emit_piece("".join(self._piece))
            self._piece, self._piece_size = [], 0

    def finish(self) -> None:
        """The stream has ended: emit all that is still to be told. What is fed later is dropped."""
        with self._lock:
            if not self._finished:
                self._finish()

    def _finish(self) -> None:
        self._take(self._decoder.decode(b"", True))
        if self._raw:
            rest, self._raw = self._masker.text(self._raw), ""
            self._keep(rest)
        self._finished = True
        self._flush()
        tail = "".join(self._tail)
        if len(tail) > self._limits.tail:
            cut = len(tail) - self._limits.tail
            self._omitted += len(tail[:cut].encode(errors="replace"))
            tail = tail[cut:]
        if tail or self._omitted:
            self._emit_piece(tail, self._omitted)

    def _take(self, text: str) -> None:
        safe, self._raw = self._masker.split(self._raw + text if self._raw else text)
        if safe:
            self._keep(safe)

    def _keep(self, text: str) -> None:
        if self._head_left > 0:
            head, text = text[: self._head_left], text[self._head_left :]
            self._head_left -= len(head)
            self._piece.append(head)
            self._piece_size += len(head)
            waited = self._clock.elapsed_ms() - self._flushed_at
            if self._piece_size >= PIECE or self._head_left <= 0 or waited >= FLUSH_MS:
                self._flush()
        if text:
            self._keep_tail(text)

    def _keep_tail(self, text: str) -> None:
        self._tail.append(text)
        self._tail_size += len(text)
        if self._tail_size > 2 * self._limits.tail + PIECE:
            tail = "".join(self._tail)
            cut = len(tail) - self._limits.tail
            self._omitted += len(tail[:cut].encode(errors="replace"))
            self._tail, self._tail_size = [tail[cut:]], self._limits.tail

    def _emit_piece(self, text: str, omitted: int = 0) -> None:
        self._emit(Output(command=self._command, stream=self._stream, text=text, omitted_bytes=omitted))
