"""Events of third parties: held to the contract once, where they are emitted, and trusted by nobody afterwards.

A fault in one (a `fact` that raises, a field that is no JSON) is its plugin's, and is told with the plugin's name;
it must not cost the run, the transcript or a later comparison.
"""

from __future__ import annotations

from collections.abc import Container

from treescribe.codec import to_line
from treescribe.events import CATALOGUE, Event, UnknownEvent
from treescribe.facts import Fact

_BUILT_IN = frozenset((*CATALOGUE, UnknownEvent))


def is_foreign(event: Event) -> bool:
    """Whether the event's type is not treescribe's own."""
    return type(event) not in _BUILT_IN


def fact_of(event: Event) -> Fact | None:
    """The fact of an event; None also where a third party's code fails to give a proper one."""
    if type(event) in _BUILT_IN:
        return event.fact()
    try:
        return _checked(event)
    except Exception:  # noqa: BLE001 - told where the event was emitted; reading a run must not depend on it
        return None


class ForeignEventError(Exception):
    """An event that breaks the contract. ``keepable``: it can be written all the same."""

    def __init__(self, event: Event, problem: str, *, keepable: bool) -> None:
        super().__init__(f"event {event.type} of {type(event).__module__.partition('.')[0]}: {problem}")
        self.keepable = keepable


def check(event: Event, declared: Container[str]) -> None:
    """Hold an event that is about to be emitted to the contract.

    :raises ForeignEventError: where it cannot be written, its fact is none, or its type was not declared.
    """
    try:
        to_line(event)
    except Exception as error:
        raise ForeignEventError(event, f"it cannot be written as JSON: {error}", keepable=False) from error
    if event.type not in declared:
        raise ForeignEventError(event, "its type is not among treescribe_event_types", keepable=True)
    try:
        _checked(event)
    except Exception as error:
        reason = f"its fact cannot be had: {type(error).__name__}: {error}"
        raise ForeignEventError(event, reason, keepable=True) from error


def _checked(event: Event) -> Fact | None:
    fact = event.fact()
    if fact is None:
        return None
    if not isinstance(fact, Fact):
        raise TypeError(f"a Fact is expected, not {type(fact).__name__}")
    if not (isinstance(fact.key, tuple) and all(isinstance(part, str) for part in fact.key)):
        raise TypeError("its key must be a tuple of texts")
    for pairs in (fact.value, fact.shown):
        if not isinstance(pairs, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise TypeError("its value must be a tuple of (name, value) pairs")
    hash(fact)
    return fact
