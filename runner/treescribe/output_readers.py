"""Readers of what commands print: whole lines in, events out.

Plugins bring them through the hook `treescribe_output_readers`, a set for each command. They see everything that was
printed, also what the transcript leaves out, and only look: nothing they do reaches the terminal.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from typing import Protocol

from treescribe.events import Event
from treescribe.facts import without_colours

LONGEST_LINE = 1 << 20
"""Bytes; a line that is longer is passed over."""


class OutputReader(Protocol):
    """Takes what one command prints. Its calls never overlap; one that raises is reported and not called again."""

    def read(self, stream: str, text: str) -> Iterable[Event]:
        """Take the next whole lines of a stream; return the events that they complete.

        :param stream: stdout or stderr.
        :param text: as printed, undecodable bytes replaced; each line ends with a newline. See `plain_text`.
        """

    def end(self) -> Iterable[Event]:
        """The command has ended, and all its lines were handed over."""


class MadeWhenNeeded:
    """A reader that `make` makes once the command prints something: most say little, and importing takes time."""

    def __init__(self, make: Callable[[], OutputReader]) -> None:
        self._make = make
        self._made: OutputReader | None = None

    def read(self, stream: str, text: str) -> Iterable[Event]:
        if self._made is None:
            self._made = self._make()
        return self._made.read(stream, text)

    def end(self) -> Iterable[Event]:
        return self._made.end() if self._made is not None else ()


_LINE_END = re.compile(r"\r+\n")
_REDRAWN = re.compile(r"[^\n]*\r(?!\n)")


def plain_text(text: str) -> str:
    """`text` as a terminal shows it: no colours, lines ended by a newline alone, of a line drawn anew its last form."""
    text = without_colours(text)
    if "\r" in text:
        text = _REDRAWN.sub("", _LINE_END.sub("\n", text))
    return text


class CommandReaders:
    """Cuts the streams of one command into lines and hands them to its readers. Thread-safe."""

    def __init__(
        self, readers: Iterable[OutputReader], emit: Callable[[Event], None], report: Callable[[str], None]
    ) -> None:
        self._readers = list(readers)
        self._emit = emit
        self._report = report
        self._lock = threading.Lock()
        self._lines: dict[str, _Lines] = {}

    def stream(self, name: str) -> Callable[[bytes], None]:
        """Return what takes the bytes of one stream."""
        lines = self._lines[name] = _Lines()

        def feed(data: bytes) -> None:
            with self._lock:
                if self._readers:
                    self._read(name, lines.whole(data))

        return feed

    def finish(self) -> None:
        """The command has ended: read last lines that were not ended, and have the readers tell the rest."""
        with self._lock:
            for name, lines in self._lines.items():
                self._read(name, lines.rest())
            self._each(lambda reader: reader.end())
            self._readers.clear()

    def _read(self, stream: str, text: str) -> None:
        if text:
            self._each(lambda reader: reader.read(stream, text))

    def _each(self, call: Callable[[OutputReader], Iterable[Event]]) -> None:
        for reader in tuple(self._readers):
            try:
                for event in call(reader):
                    self._emit(event)
            except Exception as error:  # noqa: BLE001 - a reader that raises never stops a run or the other readers
                self._readers.remove(reader)
                name = f"{type(reader).__module__}.{type(reader).__qualname__}"
                self._report(f"the output reader {name} failed: {type(error).__name__}: {error}")


class _Lines:
    """One stream, of which whole lines are wanted."""

    def __init__(self) -> None:
        self._begun = b""
        self._too_long = False

    def whole(self, data: bytes) -> str:
        """The lines that `data` completes, with their newlines; empty where it completes none."""
        end = data.rfind(b"\n") + 1
        if not end:
            self._go_on(data)
            return ""
        whole = self._begun + data[:end]
        if self._too_long:
            whole = data[data.find(b"\n") + 1 : end]
        self._begun, self._too_long = data[end:], False
        return whole.decode(errors="replace")

    def rest(self) -> str:
        """The last line, where no newline ended it."""
        return self._begun.decode(errors="replace") + "\n" if self._begun else ""

    def _go_on(self, data: bytes) -> None:
        """Take more of a line that has no end yet."""
        self._begun = b"" if self._too_long else self._begun + data
        if len(self._begun) > LONGEST_LINE:
            self._begun, self._too_long = b"", True
