"""Retention: which finished runs stay, and the removal of the others with every file that belongs to them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import NamedTuple

from treescribe_history.pins import read_pins
from treescribe_history.store import SUFFIX, Store


class Limits(NamedTuple):
    """How many finished runs that are not pinned are kept, and how many bytes of them."""

    runs: int
    bytes: int


def to_evict(
    sizes: Mapping[int, int], pinned: Collection[int], limits: Limits, just_finished: int | None = None
) -> list[int]:
    """Which runs must go, the newest first.

    :param sizes: bytes of every finished run, by id.
    :param pinned: ids that stay and are not counted: pinning a run costs no other run its place.
    :param just_finished: stays and is counted, as the newest run is.
    """
    counted = sorted(sizes.keys() - {*pinned}, reverse=True)
    stay = {max(sizes, default=None), just_finished}
    room = limits.bytes - sum(sizes[number] for number in counted if number in stay)
    evicted = []
    for position, number in enumerate(counted):
        if number in stay:
            continue
        room -= sizes[number]
        if position >= limits.runs or room < 0:
            evicted.append(number)
    return evicted


def evict(store: Store, limits: Limits, just_finished: int | None = None) -> list[int]:
    """Remove what exceeds the limits; return the ids. The caller holds the store's lock.

    :param just_finished: stays as well: a long run may end when many younger ones have.
    :raises TreescribeError: where the pins cannot be read; nothing is removed then.
    """
    pins = read_pins(store)
    files: dict[int, list[os.DirEntry[str]]] = {}
    for entry in store.companions():
        files.setdefault(int(entry.name.partition(".")[0]), []).append(entry)
    live = {stored.id for stored in store.runs() if stored.active}
    whole = {number for number, entries in files.items() if any(e.name == f"{number}{SUFFIX}" for e in entries)}
    sizes = {number: sum(entry.stat().st_size for entry in files[number]) for number in whole}
    evicted = to_evict(sizes, pins.values(), limits, just_finished)
    orphaned = files.keys() - whole - live
    for number in (*evicted, *orphaned):
        for entry in sorted(files[number], key=lambda entry: entry.name != f"{number}{SUFFIX}"):
            with suppress(FileNotFoundError):
                os.unlink(entry.path)
    return evicted
