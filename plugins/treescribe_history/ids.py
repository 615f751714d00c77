"""Ids of runs: they count up per workspace, and none is ever given twice, whatever was evicted or deleted."""

from __future__ import annotations

from treescribe.errors import TreescribeError

from treescribe_history.pins import read_pins
from treescribe_history.store import Store

LONGEST = 18
"""Digits of the largest id that a counter file is believed."""


def last_id(store: Store) -> int:
    """The last id that was given, 0 where none was: what the counter says, and never less than what is there."""
    there = [stored.id for stored in store.runs()]
    return max([_counted(store), *there, *_pinned(store)])


def mint(store: Store) -> int:
    """Give the next id. The caller holds the store's lock.

    :raises OSError: where the counter cannot be written.
    """
    number = last_id(store) + 1
    store.replace(store.folder / "counter", b"%d\n" % number)
    return number


def _counted(store: Store) -> int:
    try:
        text = (store.folder / "counter").read_bytes().strip()
    except OSError:
        return 0
    return int(text) if text.isdigit() and len(text) <= LONGEST else 0


def _pinned(store: Store) -> list[int]:
    try:
        return list(read_pins(store).values())
    except TreescribeError:
        return []
