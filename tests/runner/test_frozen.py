"""Frozen dataclasses with shared methods: to everybody they are frozen dataclasses like any."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest
from treescribe.frozen import Frozen, frozen


@frozen
class Point(Frozen):
    """A place."""

    x: int
    y: int = 0
    names: tuple[str, ...] = ()


@frozen
class Named(Point):
    name: str = field(default_factory=lambda: "origin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard(Point):
    """One that derives from ours with the standard decorator, as third parties write them."""

    weight: float
    marks: list[str] = field(default_factory=list)


def test_they_are_made_by_name_with_their_defaults() -> None:
    assert (Point(x=1).x, Point(x=1).y, Point(x=1, names=("a",)).names) == (1, 0, ("a",))
    assert Named(x=1).name == "origin"


@pytest.mark.parametrize(
    ("values", "problem"),
    [({}, "needs x"), ({"x": 1, "z": 2}, "has no z"), ({"y": 1}, "needs x"), ({"x": 1, "b": 1, "a": 2}, "has no a, b")],
)
def test_what_is_missing_or_unknown_is_told(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(TypeError, match=rf"Point\(\) {problem}"):
        Point(**values)


def test_nothing_can_be_changed() -> None:
    for instance in (Point(x=1), Named(x=1), Standard(x=1, weight=2.0)):
        with pytest.raises(FrozenInstanceError):
            instance.x = 2  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            del instance.x
        with pytest.raises((FrozenInstanceError, TypeError)):
            instance.other = 2
        assert not hasattr(instance, "__dict__")


def test_equal_values_are_equal_and_other_classes_are_not() -> None:
    assert Point(x=1) == Point(x=1, y=0)
    assert Point(x=1) != Point(x=2)
    assert Point(x=1) != Named(x=1)
    assert hash(Point(x=1)) == hash(Point(x=1))
    assert len({Point(x=1), Point(x=1), Point(x=2)}) == 2


def test_they_show_themselves_as_dataclasses_do() -> None:
    assert repr(Named(x=1)) == "Named(x=1, y=0, names=(), name='origin')"


def test_the_functions_for_dataclasses_work() -> None:
    point = Named(x=1, name="a")
    assert is_dataclass(point)
    assert [member.name for member in fields(point)] == ["x", "y", "names", "name"]
    assert replace(point, y=5) == Named(x=1, y=5, name="a")
    assert asdict(point) == {"x": 1, "y": 0, "names": (), "name": "a"}


def test_they_can_be_copied_and_pickled() -> None:
    point = Named(x=1, name="a")
    assert copy.deepcopy(point) == copy.copy(point) == pickle.loads(pickle.dumps(point)) == point


def test_a_class_that_derives_by_the_standard_decorator_is_a_dataclass_like_any() -> None:
    one = Standard(x=1, weight=2.5)
    assert one == replace(one, x=1) != replace(one, x=2)
    assert (one.y, one.marks) == (0, [])
    assert "weight=2.5" in repr(one)


def test_one_that_is_not_frozen_cannot_derive_from_one_that_is() -> None:
    with pytest.raises(TypeError, match="non-frozen"):

        @dataclass
        class Mutable(Point):  # type: ignore[misc]
            z: int = 0
