"""A third party's event that breaks the contract is told by name, and costs nobody else anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from treescribe.events import Event, TaskFinished
from treescribe.facts import Fact
from treescribe.foreign import ForeignEventError, check, fact_of, is_foreign


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Event):
    """A third party's event whose fact is whatever a test wants it to be."""

    value: Any = None
    fails: bool = False

    def fact(self) -> Fact:
        if self.fails:
            raise ZeroDivisionError("division by zero")
        return Fact("measured", ("key",), self.value)


GOOD = Measured(value=(("percent", 93),))


def test_a_proper_event_passes() -> None:
    check(GOOD, {"Measured"})
    assert fact_of(GOOD) == Fact("measured", ("key",), (("percent", 93),))


@pytest.mark.parametrize(
    ("event", "problem", "keepable"),
    [
        (Measured(value=(), fails=True), "its fact cannot be had: ZeroDivisionError: division by zero", True),
        (Measured(value=[("percent", 93)]), "its value must be a tuple of (name, value) pairs", True),
        (Measured(value={"percent": 93}), "its value must be a tuple of (name, value) pairs", True),
        (Measured(value=(("percent", ["no", "hash"]),)), "unhashable type", True),
        (Measured(value=object()), "it cannot be written as JSON", False),
    ],
)
def test_a_fault_is_told_with_the_plugins_name(event: Measured, problem: str, keepable: bool) -> None:
    with pytest.raises(ForeignEventError) as raised:
        check(event, {"Measured"})
    assert str(raised.value).startswith("event Measured of ")
    assert problem in str(raised.value)
    assert raised.value.keepable is keepable
    assert fact_of(event) is None or keepable is False


def test_a_type_that_was_not_declared_is_told() -> None:
    with pytest.raises(ForeignEventError, match="its type is not among treescribe_event_types"):
        check(GOOD, {"Another"})


def test_treescribes_own_events_are_not_foreign() -> None:
    assert is_foreign(GOOD)
    assert not is_foreign(TaskFinished(task=1, name="build", status="passed"))
