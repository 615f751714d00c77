"""Events as JSON lines: written with the standard library alone, validated by pydantic where they are read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from treescribe.errors import TreescribeError
from treescribe.events import CATALOGUE, Event, UnknownEvent

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class InvalidEvent(TreescribeError):
    """A record that claims a known type and does not have its shape."""


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


def to_line(event: Event) -> bytes:
    """Return `event` as one line of UTF-8 JSON. Lone surrogates (odd file names) are kept, escaped."""
    text = _encode(to_record(event))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(to_record(event), separators=(",", ":")).encode() + b"\n"


class Codec:
    """Reads records back. `types` are the third parties' event classes beyond the built-in catalogue."""

    def __init__(self, types: Iterable[type[Event]] = ()) -> None:
        self._types = {cls.type: cls for cls in (*CATALOGUE, *types)}
        self._adapters: dict[str, TypeAdapter[Event]] = {}

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
            return self._adapter(name).validate_python(record)
        except ValueError as error:  # pydantic's ValidationError is one
            raise InvalidEvent(f"not a {name}: {_first_problem(error)}") from error

    def _adapter(self, name: str) -> TypeAdapter[Event]:
        adapter = self._adapters.get(name)
        if adapter is None:
            from pydantic import TypeAdapter

            adapter = self._adapters[name] = TypeAdapter(self._types[name])
        return adapter


def _first_problem(error: ValueError) -> str:
    problems = getattr(error, "errors", None)
    if problems is None:
        return str(error)
    first = problems(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the record"
    return f"{place}: {first['msg']}"
