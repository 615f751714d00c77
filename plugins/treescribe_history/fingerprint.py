"""A fingerprint of a run's facts: where two are equal the runs have equal facts, and no file need be read to know.

The reverse does not hold: facts may be written differently and compare equal (colours, paths of a moved worktree),
so runs with different fingerprints are compared in full.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

from treescribe.events import Event
from treescribe.facts import Fact
from treescribe.foreign import fact_of

_BYTES = 16
_MODULUS = 1 << (8 * _BYTES)


class Fingerprint:
    """Takes a run's events one by one. Their order does not matter, except among facts that update each other."""

    def __init__(self) -> None:
        self._sum = 0
        self._begun = 0
        self._added = 0
        self._updates: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def add(self, event: Event) -> None:
        self._begun += 1
        fact = fact_of(event)
        if fact is not None:
            self._add(fact)
        self._added += 1

    def _add(self, fact: Fact) -> None:
        turn = 0
        if fact.merges:
            self._updates[fact.kind, fact.key] += 1
            turn = self._updates[fact.kind, fact.key]
        text = repr((fact.kind, fact.key, fact.value, turn)).encode(errors="surrogatepass")
        self._sum = (self._sum + int.from_bytes(blake2b(text, digest_size=_BYTES).digest(), "big")) % _MODULUS

    def text(self) -> str:
        """The fingerprint of what was added; empty, which equals none, where an event's fact could not be had."""
        if self._begun != self._added:
            return ""
        return f"{self._sum:0{2 * _BYTES}x}"
