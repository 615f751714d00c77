"""A run's transcript as a value, and how it is read from its file.

The file: one line of header, then one event a line, the last of them `RunFinished`. Reading writes nothing and
needs no right to write; the only lock it touches is that of a file among the live ones, for the moment that it
takes to see whether a writer holds it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treescribe import locks
from treescribe.codec import Codec, encode_line
from treescribe.errors import RunUnavailable
from treescribe.events import CommandFinished, CommandStarted, CommandStatus, Event, RunFinished, RunOutcome
from treescribe.frozen import Frozen, frozen
from treescribe.request import Outcome

if TYPE_CHECKING:
    from treescribe.validation import Validator

DIED = Outcome(RunOutcome.INTERRUPTED, None, "its process died")
"""How a run ended whose process is gone."""

FORMAT = 1
"""The version of the file's format that is written; files of this and of earlier versions are read."""

ACTIVE = "active"
"""The folder, inside the history, of the runs that are going on."""

FINISHED = "finished"
LIVE = "live"
INTERRUPTED = "interrupted"

_YEAR_10000_MS = 253_402_300_800_000


@frozen
class Header(Frozen):
    """What identifies a run: the first line of its file.

    :ivar started_at: milliseconds since the epoch.
    :ivar parent: ``{"run", "workspace"}`` of the run that started this one.
    :ivar writer: describes the process that wrote: version, pid, start of the pid, boot, host. For people only.
    """

    format: int = FORMAT
    run: int
    workspace: str
    backend: str
    variant: str = ""
    mode: str = "run"
    targets: tuple[str, ...] = ()
    client: str = ""
    started_at: int
    parent: dict[str, Any] | None = None
    writer: dict[str, Any] = field(default_factory=dict)

    def to_line(self) -> bytes:
        """The header as the first line of a file."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return encode_line({name: value for name, value in values.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Transcript:
    """Everything a run said.

    :ivar state: finished; live (its process goes on); or interrupted (it died: what it would have said last stands
        at the end of `events` all the same).
    :ivar problems: lines that could not be read, with their numbers.
    :ivar closing: what stands at the end of `events` and not in the file.
    """

    header: Header
    events: tuple[Event, ...]
    state: str = FINISHED
    problems: tuple[str, ...] = ()
    closing: tuple[Event, ...] = ()

    @property
    def elapsed_ms(self) -> int:
        """From the start to the last event, on a clock that may have stepped back meanwhile."""
        return max(0, _last_moment(self.header, self.events) - self.header.started_at)


def read_transcript(path: Path, codec: Codec, *, written_to: bool | None = None) -> Transcript:
    """Read the transcript at `path`.

    :param written_to: whether a writer holds the file; None to find out.
    :raises RunUnavailable: where its first line is no header, or of a newer format.
    :raises OSError: where the file cannot be read.
    """
    with open(path, "rb") as file:
        if written_to is None:
            written_to = path.parent.name == ACTIVE and _is_locked(file.fileno())
        first, rest = file.readline(), file.read()
    header = parse_header(first, path)
    events, problems = _parse_events(rest, codec)
    if any(isinstance(event, RunFinished) for event in events[-1:]):
        return Transcript(header, tuple(events), FINISHED, problems)
    if written_to:
        return Transcript(header, tuple(events), LIVE, problems)
    closing = closing_events(header, events)
    return Transcript(header, (*events, *closing), INTERRUPTED, problems, closing)


def read_header(path: Path) -> Header:
    """Read only the header of the transcript at `path`; raises what `read_transcript` raises."""
    with open(path, "rb") as file:
        return parse_header(file.readline(), path)


def parse_header(line: bytes, path: Path) -> Header:
    """Return the header that stands in the first line of the file at `path`; raises what `read_transcript` raises."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _damaged(path, "its first line is no header") from None
    version = record.get("format") if isinstance(record, dict) else None
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise _damaged(path, "its header names no format")
    if version > FORMAT:
        raise RunUnavailable(
            f"run #{path.stem} has format {version}, and this treescribe reads formats up to {FORMAT}: {path}",
            "Look at it with the treescribe that wrote it, or upgrade this one: pip install --upgrade treescribe",
        )
    return _checked(record, path)


def _checked(record: Any, path: Path) -> Header:
    from treescribe.validation import first_problem

    try:
        header: Header = _header_validator().from_python(record)
    except ValueError as error:
        raise _damaged(path, f"its header is wrong at {first_problem(error)}") from None
    if str(header.run) != path.stem:
        raise _damaged(path, f"its header is that of run #{header.run}")
    if not 0 <= header.started_at < _YEAR_10000_MS:
        raise _damaged(path, "its header is wrong at started_at: not a time in milliseconds since the epoch")
    return header


@cache
def _header_validator() -> Validator:
    from treescribe.validation import Validator

    return Validator(Header)


def _damaged(path: Path, problem: str) -> RunUnavailable:
    return RunUnavailable(f"run #{path.stem} cannot be read, {problem}: {path}", "Mend the file, or delete it.")


def _parse_events(data: bytes, codec: Codec) -> tuple[list[Event], tuple[str, ...]]:
    """The events in `data`, and a problem for each damaged line. A last line that was torn is dropped."""
    lines = data.split(b"\n")
    torn = lines.pop()
    if torn and codec.is_whole(torn):
        lines.append(torn)
    events, damages = codec.from_lines(lines)
    return events, tuple(f"line {damage.position + 2}: {damage.problem}" for damage in damages)


def is_written_to(path: Path) -> bool:
    """Whether a writer holds the live file at `path`; one that was moved meanwhile has none."""
    try:
        with open(path, "rb") as file:
            return _is_locked(file.fileno())
    except OSError:
        return False


def _is_locked(descriptor: int) -> bool:
    """Whether a writer holds the live file. Only for a moment is the lock taken, shared, and given back on closing."""
    try:
        return not locks.try_lock(descriptor, shared=True)
    except OSError:
        return False  # no locks on this file system: no writer can hold one


def _last_moment(header: Header, events: Sequence[Event]) -> int:
    return max((event.at for event in events), default=header.started_at)


def closing_events(header: Header, events: list[Event]) -> tuple[Event, ...]:
    """What a run whose process died would have said last: its open commands detached, and that it was interrupted."""
    at = _last_moment(header, events)
    open_commands: dict[int, CommandStarted] = {}
    for event in events:
        if isinstance(event, CommandStarted):
            open_commands[event.command] = event
        elif isinstance(event, CommandFinished):
            open_commands.pop(event.command, None)
    detached = [
        CommandFinished(
            at=at,
            command=command.command,
            line=command.line,
            status=CommandStatus.DETACHED,
            duration_ms=max(0, at - command.at),
        )
        for command in open_commands.values()
    ]
    duration = max(0, at - header.started_at)
    return (
        *detached,
        RunFinished(at=at, outcome=DIED.outcome, error=DIED.error, duration_ms=duration),
    )
