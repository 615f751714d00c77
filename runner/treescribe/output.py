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
        self._piece = bytearray()  # masked, not yet emitted
        self._head_left = limits.head
        self._tail = bytearray()
        self._omitted = 0
        self._finished = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        with self._lock:
            if not self._finished:
                self._take(self._decoder.decode(data))

    def flush_waiting(self) -> None:
        """Emit what has waited for half a second; called from time to time."""
        with self._lock:
            if self._piece and not self._finished and self._has_waited():
                self._flush()

    def _has_waited(self) -> bool:
        return self._clock.elapsed_ms() - self._flushed_at >= FLUSH_MS

    def _flush(self) -> None:
        self._flushed_at = self._clock.elapsed_ms()
        if self._piece:
            self._emit_piece(self._piece)
            self._piece = bytearray()

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
        self._cut_tail()
        if self._tail or self._omitted:
            self._emit_piece(self._tail, self._omitted)

    def _take(self, text: str) -> None:
        safe, self._raw = self._masker.split(self._raw + text if self._raw else text)
        if safe:
            self._keep(safe)

    def _keep(self, text: str) -> None:
        data = text.encode(errors="replace")
        if self._head_left > 0:
            data = self._keep_head(data)
        self._tail += data
        if len(self._tail) > 2 * self._limits.tail + PIECE:
            self._cut_tail()

    def _keep_head(self, data: bytes) -> bytes:
        """Take what still belongs to the head; return the rest."""
        end = len(data)
        if end > self._head_left:
            end = self._head_left
            while end and _continues_character(data[end]):
                end -= 1
        self._piece += data[:end]
        self._head_left = self._head_left - end if end == len(data) else 0
        if len(self._piece) >= PIECE or self._head_left <= 0 or self._has_waited():
            self._flush()
        return data[end:]

    def _cut_tail(self) -> None:
        start = max(0, len(self._tail) - self._limits.tail)
        while start < len(self._tail) and _continues_character(self._tail[start]):
            start += 1
        self._omitted += start
        del self._tail[:start]

    def _emit_piece(self, data: bytearray, omitted: int = 0) -> None:
        self._emit(Output(command=self._command, stream=self._stream, text=data.decode(), omitted_bytes=omitted))


def _continues_character(byte: int) -> bool:
    """Whether a byte of UTF-8 stands within a character, and not at its beginning."""
    return byte & 0xC0 == 0x80
