"""Reads the diagnostics off what one command prints."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from treescribe import Event, Workspace, plain_text
from treescribe.events import CommandStarted, Diagnostic

from treescribe_diagnostics.compilers import Arrowed, Dashed, Go, Linker, Located, Maven, Parenthesised
from treescribe_diagnostics.files import Files
from treescribe_diagnostics.linters import Coded, EslintStylish, EslintUnix
from treescribe_diagnostics.message import Format, Lines, Message

READ_CHARACTERS = 16 * 1024 * 1024
"""How much of each stream is looked at: so much of its beginning, and `TAIL_CHARACTERS` of its end."""

TAIL_CHARACTERS = 256 * 1024
MOST_DIAGNOSTICS = 10_000
"""Of one command; from then on nothing is looked at."""

LONGEST_LINE = 4096
CONTEXT = 8
"""Lines around one that may belong to its message."""

_PROMISING = re.compile(
    r":\d+(?:: | - |\}|$| +(?:error|warning))|\(\d+,\d+\): |:\[\d+,\d+\] "
    r"|undefined reference|multiple definition|ing directory ",
    re.MULTILINE,
)
_DIRECTORY = re.compile(r"(?:\S+: )?(?P<word>Entering|Leaving) directory [`'](?P<path>.+)'")

Told = Message | re.Match[str]
"""What a line tells: a message, or that make changes its directory."""


class DiagnosticsReader:
    """An `treescribe.OutputReader` that knows the formats of compilers, linters and type checkers."""

    def __init__(self, workspace: Workspace, command: CommandStarted, report: Callable[[str], None]) -> None:
        self._command = command
        self._report = report
        self._files = Files(workspace)
        self._folders = [command.cwd, str(workspace.root)]
        self._entered: list[str] = []  # the innermost first
        self._streams: dict[str, _Stream] = {}
        self._told = 0

    def read(self, stream: str, text: str) -> Iterator[Event]:
        if self._told < MOST_DIAGNOSTICS:
            yield from self._diagnostics(self._stream(stream).take(text))

    def end(self) -> Iterator[Event]:
        for stream in self._streams.values():
            yield from self._diagnostics(stream.rest())
        passed_over = sum(stream.passed_over for stream in self._streams.values())
        if self._told >= MOST_DIAGNOSTICS:
            self._report(f"no more than {MOST_DIAGNOSTICS:,} diagnostics of {self._command.line} are kept")
        elif passed_over:
            self._report(f"diagnostics were not looked for in {passed_over:,} characters of {self._command.line}")

    def _stream(self, name: str) -> _Stream:
        if name not in self._streams:
            self._streams[name] = _Stream(self._command.line)
        return self._streams[name]

    def _diagnostics(self, found: Iterable[Told]) -> Iterator[Event]:
        for one in found:
            if isinstance(one, re.Match):
                self._change_directory(one)
            elif diagnostic := self._diagnostic(one):
                if self._told >= MOST_DIAGNOSTICS:
                    return
                self._told += 1
                yield diagnostic

    def _change_directory(self, told: re.Match[str]) -> None:
        """make and ninja say where the programs run that they start."""
        if told["word"] == "Entering":
            self._entered.insert(0, told["path"])
        elif told["path"] in self._entered:
            self._entered.remove(told["path"])

    def _diagnostic(self, message: Message) -> Diagnostic | None:
        path = self._files.find(message.path, [*self._entered, *self._folders])
        if not path and not message.sure:
            return None
        return Diagnostic(
            severity=message.severity,
            message=message.message.strip(),
            code=message.code,
            tool=message.tool,
            path=path or message.path,
            line=message.line,
            column=message.column,
        )


class _Stream:
    """One stream: its lines, as long as messages may go on in them.

    :ivar passed_over: how many characters were not looked at.
    """

    def __init__(self, command: str) -> None:
        self.passed_over = 0
        self._formats = _formats(command)
        self._room = READ_CHARACTERS
        self._lines: list[str] = []
        self._next = 0  # the first line that was not looked at
        self._tail: deque[str] = deque()
        self._kept = 0

    def take(self, text: str) -> Iterator[Told]:
        """Look at the next whole lines, all but the last few, which may need the ones after them."""
        if self._room <= 0:
            self._put_by(text)
            return
        self._room -= len(text)
        text = plain_text(text)
        if not _PROMISING.search(text) and not any(map(_PROMISING.search, self._lines[self._next :])):
            self._lines = [*self._lines, *text.rsplit("\n", CONTEXT + 1)[-CONTEXT - 1 : -1]][-CONTEXT:]
            self._next = len(self._lines)
            return
        self._lines += text.split("\n")[:-1]
        yield from self._look(len(self._lines) - CONTEXT)

    def rest(self) -> Iterator[Told]:
        """The stream has ended: look at what is left of it."""
        if self.passed_over:
            yield from self._look(len(self._lines))
            self._lines, self._next = [], 0
        self._lines += plain_text("".join(self._tail)).split("\n")[:-1]
        yield from self._look(len(self._lines))

    def _look(self, end: int) -> Iterator[Told]:
        """Look at the lines up to `end`, and forget those that no message can need any more."""
        for at in range(self._next, end):
            line = self._lines[at]
            if len(line) <= LONGEST_LINE and _PROMISING.search(line):
                yield from self._told_by(Lines(self._lines, at))
        self._next = max(self._next, end)
        forgotten = max(0, self._next - CONTEXT)
        del self._lines[:forgotten]
        self._next -= forgotten

    def _told_by(self, lines: Lines) -> Iterator[Told]:
        if directory := _DIRECTORY.fullmatch(lines.line):
            yield directory
            return
        for known in self._formats:
            if message := known.read(lines):
                yield message
                return

    def _put_by(self, text: str) -> None:
        """Keep the end of the stream for `rest`."""
        self._tail.append(text)
        self._kept += len(text)
        while self._kept - len(self._tail[0]) >= TAIL_CHARACTERS:
            first = self._tail.popleft()
            self._kept -= len(first)
            self.passed_over += len(first)


def _formats(command: str) -> list[Format]:
    """Every format, the ones that can be told for sure first."""
    return [
        Located(),
        Parenthesised(),
        Dashed(),
        Arrowed(),
        Maven(),
        EslintStylish(),
        EslintUnix(),
        Coded(command),
        Go(),
        Linker(),
    ]
