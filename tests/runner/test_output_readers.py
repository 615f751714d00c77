"""What plugins read off a command's output: whole lines of each stream, whatever the pieces it came in."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import new_run
from treescribe import hookimpl, plain_text
from treescribe.events import CommandFinished, CommandStarted, Diagnostic, Event, LogMessage
from treescribe.output_readers import LONGEST_LINE, CommandReaders, MadeWhenNeeded, OutputReader
from treescribe.request import Outcome
from treescribe.run import Run
from treescribe.testing import Witness
from treescribe.workspace import Workspace


class Collecting:
    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.ended = 0

    def read(self, stream: str, text: str) -> Iterable[Event]:
        self.texts.setdefault(stream, []).append(text)
        return ()

    def end(self) -> Iterable[Event]:
        self.ended += 1
        return ()

    def text(self, stream: str) -> str:
        return "".join(self.texts.get(stream, []))


class ReadsErrors:
    """Each line that begins with ``error:`` is a diagnostic; the number of lines is one more."""

    def __init__(self) -> None:
        self.lines = 0

    def read(self, stream: str, text: str) -> Iterable[Event]:
        self.lines += text.count("\n")
        for line in text.splitlines():
            if line.startswith("error:"):
                yield Diagnostic(severity="error", message=line.removeprefix("error: "))

    def end(self) -> Iterable[Event]:
        yield Diagnostic(severity="info", message=f"{self.lines} lines")


class Brings:
    """A plugin whose readers are made by `make`."""

    def __init__(self, *makers: type[OutputReader]) -> None:
        self.makers = makers
        self.commands: list[CommandStarted] = []

    @hookimpl
    def treescribe_output_readers(self, command: CommandStarted) -> list[OutputReader]:
        self.commands.append(command)
        return [make() for make in self.makers]


def readers(*found: OutputReader) -> CommandReaders:
    return CommandReaders(found, emit=lambda event: None, report=pytest.fail)


@given(text=st.text(alphabet="ab\n\r\x1b[m\u2028é"), cuts=st.lists(st.integers(0, 60)))
def test_lines_are_whole_and_all_there_whatever_the_pieces(text: str, cuts: list[int]) -> None:
    data = text.encode()
    reader = Collecting()
    command = readers(reader)
    feed = command.stream("stdout")
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    for start, end in pairwise(places):
        feed(data[start:end])
    assert all(piece.endswith("\n") for piece in reader.texts.get("stdout", []))
    command.finish()
    assert reader.text("stdout") == text + ("" if text.endswith("\n") or not text else "\n")
    assert reader.ended == 1


def test_streams_are_kept_apart() -> None:
    reader = Collecting()
    command = readers(reader)
    out, err = command.stream("stdout"), command.stream("stderr")
    out(b"one ")
    err(b"two\nthree")
    out(b"line\n")
    command.finish()
    assert reader.texts == {"stderr": ["two\n", "three\n"], "stdout": ["one line\n"]}


def test_a_line_that_is_too_long_is_passed_over_and_takes_no_room() -> None:
    reader = Collecting()
    command = readers(reader)
    feed = command.stream("stdout")
    feed(b"before\n")
    for _ in range(5):
        feed(b"x" * (LONGEST_LINE // 2))
    feed(b"its end\nafter\n")
    command.finish()
    assert reader.text("stdout") == "before\nafter\n"


def test_what_comes_after_the_end_is_not_read() -> None:
    reader = Collecting()
    command = readers(reader)
    feed = command.stream("stdout")
    command.finish()
    feed(b"late\n")
    assert reader.texts == {}


def test_events_of_readers_come_between_a_commands_start_and_its_end(workspace: Workspace) -> None:
    witness, plugin = Witness(), Brings(ReadsErrors)
    run = new_run(workspace, witness, plugin)
    run.start()
    number = run.command_started("make")
    feed = run.capture(number, "stderr").feed
    feed(b"fine\nerr")
    feed(b"or: broken\n")
    run.command_finished(number, "exited", exit_code=1)
    run.finish(Outcome("failed", 1))
    told = [event for event in witness.events if isinstance(event, Diagnostic | CommandStarted | CommandFinished)]
    assert [event.message if isinstance(event, Diagnostic) else event.type for event in told] == [
        "CommandStarted",
        "broken",
        "2 lines",
        "CommandFinished",
    ]
    assert [command.line for command in plugin.commands] == ["make"]


def test_each_command_has_readers_of_its_own(workspace: Workspace) -> None:
    witness, plugin = Witness(), Brings(ReadsErrors)
    run = new_run(workspace, witness, plugin)
    run.start()
    for line in ("one", "two"):
        number = run.command_started(line)
        run.capture(number, "stdout").feed(b"line\n")
        run.capture(number, "stderr").feed(b"line\n")
        run.command_finished(number, "exited", exit_code=0)
    assert [event.message for event in witness.events.of(Diagnostic)] == ["2 lines", "2 lines"]
    assert [command.line for command in plugin.commands] == ["one", "two"]


class Raises:
    def read(self, stream: str, text: str) -> Iterable[Event]:
        yield Diagnostic(severity="error", message="the first")
        raise ValueError("what is this?")

    def end(self) -> Iterable[Event]:
        raise AssertionError("it has failed before")


class RaisesAtTheEnd(Collecting):
    def end(self) -> Iterable[Event]:
        raise ValueError("too late")


@pytest.mark.parametrize(("reader", "reason"), [(Raises, "what is this?"), (RaisesAtTheEnd, "too late")])
def test_a_reader_that_raises_is_told_once_and_the_others_go_on(
    workspace: Workspace, reader: type[OutputReader], reason: str
) -> None:
    witness = Witness()
    run = new_run(workspace, witness, Brings(reader, ReadsErrors))
    run.start()
    number = run.command_started("make")
    feed = run.capture(number, "stdout").feed
    feed(b"error: one\n")
    feed(b"error: two\n")
    run.command_finished(number, "exited", exit_code=0)
    (message,) = witness.events.of(LogMessage)
    assert (
        message.message == f"the output reader {reader.__module__}.{reader.__qualname__} failed: ValueError: {reason}"
    )
    assert [event.message for event in witness.events.of(Diagnostic)][-3:] == ["one", "two", "2 lines"]


def test_a_reader_may_be_made_once_something_is_printed() -> None:
    made: list[Collecting] = []

    def make() -> Collecting:
        made.append(Collecting())
        return made[-1]

    silent, talking = readers(MadeWhenNeeded(make)), readers(MadeWhenNeeded(make))
    silent.stream("stdout")
    silent.finish()
    assert made == []
    feed = talking.stream("stdout")
    feed(b"one\n")
    feed(b"two\n")
    talking.finish()
    assert [(one.text("stdout"), one.ended) for one in made] == [("one\ntwo\n", 1)]


def test_what_is_no_reader_is_told_with_the_plugins_name(workspace: Workspace) -> None:
    class Wrong:
        @hookimpl
        def treescribe_output_readers(self) -> list[str]:
            return ["error:"]

    witness = Witness()
    run: Run = new_run(workspace, witness, Wrong())
    run.start()
    number = run.command_started("make")
    run.capture(number, "stdout").feed(b"error: one\n")
    run.command_finished(number, "exited", exit_code=0)
    (message,) = witness.events.of(LogMessage)
    assert "plugin-1 failed in treescribe_output_readers" in message.message


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("plain\n", "plain\n"),
        ("\x1b[1m\x1b[31merror\x1b[0m: no\x1b[K\n", "error: no\n"),
        ("by a terminal\r\nand twice\r\r\n", "by a terminal\nand twice\n"),
        ("Building 1/3\rBuilding 2/3\r\x1b[Kerror: no\r\n", "error: no\n"),
        ("one\nhalf\rdone\nthree\n", "one\ndone\nthree\n"),
        ("\x1b]8;;file:///a.c\x07a.c\x1b]8;;\x07:1:2\n", "a.c:1:2\n"),
    ],
)
def test_plain_text_is_what_a_terminal_shows_without_colours(printed: str, read: str) -> None:
    assert plain_text(printed) == read
