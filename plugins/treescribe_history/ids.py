"""Ids of runs: they count up per workspace, and none is ever given twice, whatever was evicted or deleted."""

from __future__ import annotations

from treescribe.errors import TreescribeError

from treescribe_history.pins import read_pins
from treescribe_history.store import Store

LARGEST = 10**17
"""The largest id that a file is believed: one more than it must still be an id (see `store`)."""


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
    return _believed(int(text)) if text.isdigit() and len(text) < 20 else 0


def _pinned(store: Store) -> list[int]:
    try:
        return [_believed(number) for number in read_pins(store).values()]
    except TreescribeError:
        return []


def _believed(number: int) -> int:
    return number if 0 < number <= LARGEST else 0
