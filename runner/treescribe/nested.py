"""A run within a run: it names its parent and forwards its events to it, through the parent's spool."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from treescribe.codec import Codec, InvalidEvent, to_line
from treescribe.events import Event, Output, RunFinished, RunStarted
from treescribe.spool import SPOOL_VARIABLE, is_live

if TYPE_CHECKING:
    from typing import BinaryIO

PARENT_VARIABLE = "TREESCRIBE_RUN"
_NUMBERS = ("task", "parent", "command")
_NOT_FORWARDED = (RunStarted, RunFinished, Output)


class Parent(NamedTuple):
    """The run that a run was started by. ``run`` is None where that one is not recorded."""

    run: int | None
    workspace: str

    def text(self) -> str:
        return json.dumps(self._asdict())


def parent_of_this_process(environment: Mapping[str, str]) -> Parent | None:
    """Return the run below which this process was started; one that has ended is nobody's parent any more."""
    if not is_live(environment.get(SPOOL_VARIABLE, "")):
        return None
    try:
        record = json.loads(environment.get(PARENT_VARIABLE, ""))
        return Parent(record["run"], str(record["workspace"]))
    except (ValueError, TypeError, KeyError):
        return None


class Forwarder:
    """Sends a run's events to its parent; does nothing where there is none, or where it has gone."""

    def __init__(self, environment: Mapping[str, str], parent: Parent | None, root: str) -> None:
        self._folder = environment.get(SPOOL_VARIABLE) if parent else None
        self._project = _place_below(root, parent.workspace) if parent else ""
        self._file: BinaryIO | None = None

    def send(self, event: Event) -> None:
        if self._folder is None or isinstance(event, _NOT_FORWARDED):
            return
        try:
            line = to_line(self._seen_from_parent(event))
        except (TypeError, ValueError):  # a third party's event with a field that is no JSON: the recorder says so
            return
        try:
            if self._file is None:
                name = os.path.join(self._folder, f"run-{os.getpid()}-{os.urandom(4).hex()}.jsonl")
                self._file = open(name, "xb", buffering=0)
            self._file.write(line)
        except OSError:
            self._folder = None

    def _seen_from_parent(self, event: Event) -> Event:
        """The event with its project named as the parent names it: two nested workspaces have tests of one name."""
        project = getattr(event, "project", None)
        if not self._project or not isinstance(project, str):
            return event
        return replace(event, project=f"{self._project}/{project}" if project else self._project)  # type: ignore[call-arg]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _place_below(root: str, parent: str) -> str:
    """Where `root` stands below the parent's; empty where they are one or it stands elsewhere."""
    place = os.path.relpath(os.path.realpath(root), os.path.realpath(parent)).replace(os.sep, "/")
    return "" if place == "." or place.startswith("../") else place


class _Run(Protocol):
    def emit(self, event: Event) -> None: ...

    def next_number(self) -> int: ...


class NestedRuns:
    """Reads what runs below this one forward; their tasks and commands get numbers of this run."""

    def __init__(self, run: _Run, codec: Callable[[], Codec]) -> None:
        self._run = run
        self._make_codec = codec
        self._codec: Codec | None = None
        self._numbers: dict[tuple[str, int], int] = {}

    def record(self, source: str, record: dict[str, Any]) -> None:
        if self._codec is None:
            self._codec = self._make_codec()
        try:
            event = self._codec.from_record(record)
        except InvalidEvent:
            return
        if not isinstance(event, _NOT_FORWARDED):
            self._run.emit(self._renumbered(source, event))

    def caught_up(self) -> None:
        """Events are handed on as they come; there is nothing to add."""

    def command_ended(self) -> None:
        """A nested run finishes its own commands; nothing of it can be missing."""

    def settle(self) -> None:
        """See `command_ended`."""

    def _renumbered(self, source: str, event: Event) -> Event:
        changes = {}
        for field in fields(event):
            number = getattr(event, field.name)
            if field.name in _NUMBERS and isinstance(number, int):
                key = (source, number)
                if key not in self._numbers:
                    self._numbers[key] = self._run.next_number()
                changes[field.name] = self._numbers[key]
        return replace(event, **changes) if changes else event
