"""Events as JSON lines: written with the standard library alone, validated by pydantic where they are read."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from treescribe.errors import TreescribeError
from treescribe.events import CATALOGUE, Event, UnknownEvent

if TYPE_CHECKING:
    from treescribe.validation import Validator

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TYPE_FIRST = b'{"type":"'
_TOGETHER = 1000  # lines that are validated in one call: of more, the text no longer fits the processor's caches
_FIRST_BYTES = 32  # of a line; a type's name that is longer is found when the whole line is read


class InvalidEvent(TreescribeError):
    """A record that claims a known type and does not have its shape."""


class Damage(NamedTuple):
    """A line that could not be read: its position among the lines, from 0, and why."""

    position: int
    problem: str


_written: dict[type[Event], tuple[tuple[str, Any], ...]] = {}


def _fields(cls: type[Event]) -> tuple[tuple[str, Any], ...]:
    """(name, default) of what is written after ``type`` and ``at``."""
    if cls not in _written:
        _written[cls] = tuple((f.name, f.default) for f in fields(cls) if f.name != "at")
    return _written[cls]


def to_record(event: Event) -> dict[str, Any]:
    """Return `event` as a JSON object; fields that have their default are left out."""
    if isinstance(event, UnknownEvent):
        return event.record
    record: dict[str, Any] = {"type": event.type, "at": event.at}
    for name, default in _fields(type(event)):
        value = getattr(event, name)
        if default is MISSING or value != default:
            record[name] = value
    return record


def encode_line(record: Any) -> bytes:
    """Return `record` as one line of UTF-8 JSON. Lone surrogates (odd file names) are kept, escaped."""
    try:
        return _encode(record).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def to_line(event: Event) -> bytes:
    """Return `event` as one line of UTF-8 JSON."""
    return encode_line(to_record(event))


class Codec:
    """Reads records back. `types` are the third parties' event classes beyond the built-in catalogue."""

    def __init__(self, types: Iterable[type[Event]] = ()) -> None:
        self._types = {cls.type: cls for cls in (*CATALOGUE, *types)}
        self._validators: dict[str, Validator] = {}

    @property
    def types(self) -> Collection[str]:
        """The names of the types that are known here."""
        return self._types.keys()

    def from_record(self, record: Any) -> Event:
        """Return the event that `record` holds; an `UnknownEvent` where its type is not known here.

        :raises InvalidEvent: where it is no event, or not of its type's shape.
        """
        if not isinstance(record, dict) or not isinstance(record.get("type"), str):
            raise InvalidEvent("not an event: a JSON object with a text `type` is expected")
        name = record["type"]
        if name not in self._types:
            at = record.get("at")
            return UnknownEvent(at=at if isinstance(at, int) else 0, record=record)
        try:
            event: Event = self._validator(name).from_python(record)
        except ValueError as error:  # pydantic's ValidationError is one
            from treescribe.validation import first_problem

            raise InvalidEvent(f"not a {name}: {first_problem(error)}") from error
        return event

    def from_line(self, line: bytes) -> Event:
        """Return the event that a line of JSON holds.

        :raises InvalidEvent: where it is no JSON, no event, or not of its type's shape.
        """
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidEvent(f"not JSON: {error}") from error
        return self.from_record(record)

    def is_whole(self, line: bytes) -> bool:
        """Whether a line holds an event, and not only the beginning of one."""
        try:
            self.from_line(line)
        except InvalidEvent:
            return False
        return True

    def from_lines(self, lines: Sequence[bytes]) -> tuple[list[Event], list[Damage]]:
        """Return the events of many lines, in order, and what could not be read. Blank lines are passed over.

        Lines of one type are validated many together, in one call: several times as fast as one by one, and faster
        than `json.loads` of each.
        """
        found: list[Event | None] = [None] * len(lines)
        damages: list[Damage] = []
        for name, group in self._by_type(lines).items():
            for indices in (group[start : start + _TOGETHER] for start in range(0, len(group), _TOGETHER)):
                events = self._together(name, [lines[index] for index in indices])
                if events is not None:
                    for index, event in zip(indices, events, strict=True):
                        found[index] = event
                else:
                    damages += self._one_by_one(lines, indices, found)
        return [event for event in found if event is not None], sorted(damages)

    def _by_type(self, lines: Sequence[bytes]) -> dict[str, list[int]]:
        """Indices of the lines of each known type; under ``""`` those whose type is not known at a glance."""
        groups: dict[str, list[int]] = {}
        group_of: dict[bytes, list[int]] = {}  # by a line's first bytes: few are different, and most lines come again
        for index, line in enumerate(lines):
            group = group_of.get(line[:_FIRST_BYTES])
            if group is None:
                group = groups.setdefault(self._type_at_a_glance(line), [])
                group_of[line[:_FIRST_BYTES]] = group
            group.append(index)
        return groups

    def _type_at_a_glance(self, line: bytes) -> str:
        """The known type that stands in a line's first bytes; empty where there is none."""
        head, found, rest = line[:_FIRST_BYTES].partition(_TYPE_FIRST)
        name, ended, _ = rest.partition(b'"')
        known = name.decode(errors="replace")
        return known if found and ended and not head and known in self._types else ""

    def _together(self, name: str, lines: list[bytes]) -> list[Event] | None:
        """The events of lines of one type; None where they must be looked at one by one."""
        if not name:
            return None
        try:
            # a raw newline cannot stand within a JSON text: what is torn in one line does not reach into the next
            events: list[Event] = self._validator(name).from_json_list(b"[" + b",\n".join(lines) + b"]")
        except ValueError:
            return None
        return events if len(events) == len(lines) else None

    def _one_by_one(self, lines: Sequence[bytes], indices: list[int], found: list[Event | None]) -> list[Damage]:
        damages = []
        for index in indices:
            if not lines[index].strip():
                continue
            try:
                found[index] = self.from_line(lines[index])
            except InvalidEvent as error:
                damages.append(Damage(index, error.message))
        return damages

    def _validator(self, name: str) -> Validator:
        validator = self._validators.get(name)
        if validator is None:
            from treescribe.validation import Validator

            validator = self._validators[name] = Validator(self._types[name])
        return validator
