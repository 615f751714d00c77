"""Results that are dataclasses: what they are written as, and the model that describes it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from pydantic import ValidationError
from treescribe.result import Result, model_of


@dataclass(frozen=True, kw_only=True)
class Part:
    name: str
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Whole(Result):
    """Something with parts."""

    parts: tuple[Part, ...]
    note: str | None = None
    counts: dict[str, int] = field(default_factory=dict)


WHOLE = Whole(parts=(Part(name="a"), Part(name="größe", line=3)), counts={"n": 1})


def test_what_is_none_is_left_out_if_asked_for_also_deep_inside() -> None:
    assert json.loads(WHOLE.model_dump_json(exclude_none=True)) == {
        "parts": [{"name": "a"}, {"name": "größe", "line": 3}],
        "counts": {"n": 1},
    }
    assert WHOLE.model_dump()["note"] is None
    assert "größe" in WHOLE.model_dump_json()


def test_names_that_are_no_unicode_can_be_written() -> None:
    text = Whole(parts=(Part(name="caf\udce9"),)).model_dump_json()
    assert json.loads(text.encode())["parts"][0]["name"] == "caf\udce9"


def test_the_model_describes_an_object_and_validates_what_was_written() -> None:
    model = model_of(Whole)
    schema = model.model_json_schema()
    assert (schema["type"], schema["title"], schema["description"]) == ("object", "Whole", "Something with parts.")
    assert schema["required"] == ["parts"]
    model.model_validate_json(WHOLE.model_dump_json(exclude_none=True))
    with pytest.raises(ValidationError):
        model.model_validate_json('{"parts":[{"line":1}]}')
