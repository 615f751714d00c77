"""Validation of dataclasses: the schema written by hand agrees with the one that pydantic derives."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter
from treescribe.events import CATALOGUE, Event
from treescribe.validation import Validator, first_problem


@dataclass(frozen=True, kw_only=True)
class Plain:
    number: int
    names: tuple[str, ...] = ()
    pair: tuple[str, int] | None = None
    anything: dict[str, Any] = field(default_factory=dict)
    flags: list[bool] = field(default_factory=list)


class Nested(BaseModel):
    deep: int


@dataclass(frozen=True, kw_only=True)
class Rich:
    nested: Nested


@dataclass(frozen=True, kw_only=True)
class Checked:
    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("negative")


def test_members_are_read_defaults_filled_in_and_unknown_ones_ignored() -> None:
    validator = Validator(Plain)
    assert validator.from_python({"number": 1, "names": ["a"], "later": 2}) == Plain(number=1, names=("a",))
    assert validator.from_json_list(b'[{"number":1,"pair":["a",2]},{"number":2}]') == [
        Plain(number=1, pair=("a", 2)),
        Plain(number=2),
    ]
    assert validator.from_python({"number": 1}).flags is not validator.from_python({"number": 1}).flags


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({}, "number: "),
        ({"number": "1"}, "number: "),
        ({"number": True}, "number: "),
        ({"number": 1.5}, "number: "),
        ({"number": 1, "names": "abc"}, "names: "),
        ({"number": 1, "names": [1]}, "names.0: "),
        ([], "the record: "),
    ],
)
def test_what_is_wrong_is_told_by_its_place(record: Any, says: str) -> None:
    with pytest.raises(ValueError) as caught:
        Validator(Plain).from_python(record)
    assert first_problem(caught.value).startswith(says)


def test_classes_with_more_than_plain_fields_are_left_to_pydantic() -> None:
    assert Validator(Rich).from_python({"nested": {"deep": 1}}) == Rich(nested=Nested(deep=1))
    with pytest.raises(ValueError):
        Validator(Checked).from_python({"number": -1})


@pytest.mark.parametrize("cls", CATALOGUE, ids=lambda cls: cls.type)
def test_every_event_is_validated_as_pydantic_would(cls: type[Event]) -> None:
    samples = {
        "str": "text",
        "int": 7,
        "bool": True,
        "int | None": 8,
        "tuple[str, ...]": ["a", "b"],
        "Arguments": [["name", "value"]],
    }
    record = {member.name: samples[str(member.type)] for member in fields(cls)}
    assert Validator(cls).from_python(record) == TypeAdapter(cls).validate_python(record)
