"""Events as lines of JSON, and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from event_strategies import events_of
from hypothesis import given
from hypothesis import strategies as st
from support import python
from treescribe.codec import Codec, Damage, InvalidEvent, to_line, to_record
from treescribe.events import CATALOGUE, CommandFinished, Event, TaskStarted, TestFinished, UnknownEvent

ANY_EVENT = st.one_of(*map(events_of, CATALOGUE))

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)


@given(ANY_EVENT)
def test_every_event_comes_back_as_it_was_written(event: Event) -> None:
    line = to_line(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    line.decode()
    assert Codec().from_line(line) == event
    assert Codec().from_record(to_record(event)) == event


@given(st.lists(ANY_EVENT))
def test_many_lines_are_read_as_each_would_be(events: list[Event]) -> None:
    assert Codec().from_lines([to_line(event) for event in events]) == (events, [])


@given(st.lists(st.one_of(ANY_EVENT.map(to_line), st.binary(max_size=20).filter(lambda data: b"\n" not in data))))
def test_damaged_lines_are_told_by_their_place_and_the_others_are_read(lines: list[bytes]) -> None:
    codec = Codec()
    events: list[Event] = []
    damages = []
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            events.append(codec.from_line(line))
        except InvalidEvent as error:
            damages.append(Damage(index, error.message))
    assert codec.from_lines(lines) == (events, damages)


def test_a_type_and_a_time_come_first_and_defaults_are_left_out() -> None:
    event = TestFinished(at=5, suite="tests/test_a.py", test="test_é", status="passed")
    expected = '{"type":"TestFinished","at":5,"suite":"tests/test_a.py","test":"test_é","status":"passed"}\n'
    assert to_line(event).decode() == expected


@given(
    st.text().filter(lambda name: name not in {cls.type for cls in CATALOGUE}), st.dictionaries(st.text(), JSON_VALUES)
)
def test_an_event_of_an_unknown_type_is_kept_whole_and_written_back(name: str, members: dict[str, Any]) -> None:
    record = {**members, "type": name}
    event = Codec().from_record(record)
    assert isinstance(event, UnknownEvent)
    assert json.loads(to_line(event)) == record
    assert event.fact() is None


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (None, "not an event: a JSON object with a text `type` is expected"),
        ([], "not an event: a JSON object with a text `type` is expected"),
        ({}, "not an event: a JSON object with a text `type` is expected"),
        ({"type": 5}, "not an event: a JSON object with a text `type` is expected"),
        ({"type": "CompileStarted"}, "not a CompileStarted: project: Field required"),
        (
            {"type": "CompileStarted", "project": 5},
            "not a CompileStarted: project: Input should be a valid string",
        ),
        (
            {"type": "CompileStarted", "project": "app", "at": "5"},
            "not a CompileStarted: at: Input should be a valid integer",
        ),
        (
            {"type": "Output", "text": "x", "command": True},
            "not a Output: command: Input should be a valid integer",
        ),
        (
            {"type": "TaskStarted", "task": 1, "name": "build", "arguments": [["x", "1"], ["y", 2]]},
            "not a TaskStarted: arguments.1.1: Input should be a valid string",
        ),
    ],
)
def test_a_record_of_the_wrong_shape_is_refused_naming_the_place(record: Any, message: str) -> None:
    with pytest.raises(InvalidEvent) as caught:
        Codec().from_record(record)
    assert caught.value.message == message


@pytest.mark.parametrize("line", [b"", b"\n", b"{", b'{"type":"Output","te', b"\xff\xfe", b"[" * 100_000, b"nonsense"])
def test_a_line_that_is_no_json_is_refused_as_that(line: bytes) -> None:
    with pytest.raises(InvalidEvent, match=r"^not JSON: "):
        Codec().from_line(line)
    assert not Codec().is_whole(line)


def test_a_member_that_a_newer_version_added_is_no_obstacle() -> None:
    record = {"type": "CompileStarted", "at": 1, "project": "app", "colour": "green"}
    event = Codec().from_record(record)
    assert to_record(event) == {"type": "CompileStarted", "at": 1, "project": "app"}


def test_a_status_that_this_version_does_not_know_is_kept() -> None:
    record = {"type": "CommandFinished", "command": 1, "line": "make", "status": "evaporated"}
    event = Codec().from_record(record)
    assert isinstance(event, CommandFinished)
    assert event.status == "evaporated"


def test_lists_become_tuples_so_that_events_stay_values() -> None:
    record = {"type": "TaskStarted", "task": 1, "name": "build", "arguments": [["x", "1"]]}
    event = Codec().from_record(record)
    assert isinstance(event, TaskStarted)
    assert event.arguments == (("x", "1"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed(Event):
    """A third party's event."""

    place: str
    seconds: float = 0.0
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed(Event):
    """A third party's event that checks itself."""

    grams: int

    def __post_init__(self) -> None:
        if self.grams < 0:
            raise ValueError("nothing weighs less than nothing")


@pytest.mark.parametrize("event", [Deployed(at=3, place="here", seconds=1.5, labels=("a",)), Weighed(at=3, grams=5)])
def test_a_third_partys_event_is_read_where_it_is_known_and_kept_where_it_is_not(event: Event) -> None:
    line = to_line(event)
    assert Codec([Deployed, Weighed]).from_line(line) == event
    kept = Codec().from_line(line)
    assert isinstance(kept, UnknownEvent)
    assert kept.at == 3
    assert to_line(kept) == line


def test_what_a_third_partys_event_says_against_a_record_is_told() -> None:
    with pytest.raises(InvalidEvent, match="nothing weighs less than nothing"):
        Codec([Weighed]).from_record({"type": "Weighed", "grams": -1})


@pytest.mark.parametrize("module", ["events", "codec", "run", "exec_command"])
def test_recording_does_not_import_pydantic(module: str) -> None:
    code = f"import sys, treescribe.{module}; print([name for name in sys.modules if name.startswith('pydantic')])"
    assert python(code).stdout == "[]\n"


def test_writing_does_not_import_pydantic_and_reading_the_catalogue_only_its_core() -> None:
    code = """if True:
        import sys
        from treescribe.codec import Codec, to_line
        from treescribe.events import TestFinished
        line = to_line(TestFinished(suite="a", test="b", status="passed"))
        print("pydantic_core" in sys.modules)
        Codec().from_line(line)
        print("pydantic" in sys.modules)
    """
    assert python(code).stdout == "False\nFalse\n"
