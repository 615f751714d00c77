"""Arguments: what is refused, and in which words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from treescribe.errors import InvalidInput
from treescribe_mcp.arguments import place_text, validated


class Patch(BaseModel):
    path: str
    lines: int = 0
    tags: dict[str, bool] = {}


class Parameters(BaseModel):
    limit: Annotated[int, Field(ge=0, le=100)] = 50
    ratio: float = 1.0
    exact: bool = False
    run: str | int = "latest"
    how: Literal["fast", "slow"] = "fast"
    names: tuple[str, ...] = ()
    patches: list[Patch] = []
    first: Patch | None = None


SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"limit": "5"}, "limit: a whole number is expected, not a text or a boolean."),
        ({"limit": True}, "limit: a whole number is expected, not a text or a boolean."),
        ({"limit": 5.5}, "limit: a whole number is expected"),
        ({"limit": 101}, "limit: at most 100."),
        ({"limit": None}, "limit: a whole number is expected"),
        ({"exact": 1}, "exact: true or false is expected."),
        ({"exact": "true"}, "exact: true or false is expected."),
        ({"ratio": "1.5"}, "ratio: a number is expected."),
        ({"names": "one"}, "names: a list is expected."),
        ({"names": [1]}, "names[0]: a text is expected."),
        ({"how": SECRET}, "how must be 'fast' or 'slow'."),
        ({SECRET[:7]: 1}, "unknown argument hunter2; known there: directory, limit, ratio, exact, run, how, names, "),
        (
            {"patches": [{"path": "a", "imports": 1}]},
            "unknown argument patches[0].imports; known there: path, lines, tags.",
        ),
        ({"patches": [{"lines": 1}]}, "patches[0].path is missing."),
        ({"first": {"path": "a", "tags": {"x": 1}}}, "first.tags.x: true or false is expected."),
        ({"first": {"path": "a", "more": 1}}, "unknown argument first.more; known there: path, lines, tags."),
        ({"first": SECRET}, "first: an object is expected."),
    ],
)
def test_what_is_wrong_is_told_by_its_place_and_never_by_its_value(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        validated(Parameters, arguments, ["directory"], "1.2.3+abcd")
    assert caught.value.message.startswith(told)
    assert caught.value.hint == "(treescribe 1.2.3+abcd)"
    assert SECRET not in str(caught.value)


def test_only_the_first_few_of_many_faults_are_told() -> None:
    with pytest.raises(InvalidInput) as caught:
        validated(Parameters, {f"unknown_{number}": 1 for number in range(9)}, [], "1")
    assert "unknown_2" in str(caught.value)
    assert "unknown_3" not in str(caught.value)
    assert "and 6 more" in str(caught.value)


@pytest.mark.parametrize("arguments", [{}, {"limit": 5, "run": 3}, {"run": "main", "names": ["a"]}, {"ratio": 3}])
def test_what_fits_passes_unchanged(arguments: dict[str, Any]) -> None:
    valid = validated(Parameters, arguments, [], "1")
    assert valid.model_dump(exclude_unset=True, mode="json") == arguments


@pytest.mark.parametrize(
    ("place", "text"),
    [((), ""), (("a",), "a"), (("a", 0, "b"), "a[0].b"), (("a", 0, 1), "a[0][1]")],
)
def test_a_place_is_written_as_in_code(place: tuple[str | int, ...], text: str) -> None:
    assert place_text(place) == text
