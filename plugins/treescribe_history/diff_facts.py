"""What differs between two sets of facts, on plain values: equal facts cancel out, the rest is paired by key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from treescribe.facts import Fact, FactSet, Value, rank


class Occurrence(NamedTuple):
    """A fact of one side: as it is compared, and as it is told to people."""

    compared: Fact
    told: Fact

    def text(self, name: str) -> str:
        """The told value of this name as text; empty where there is none."""
        value = self.value(name)
        return "" if value is None else str(value)

    def value(self, name: str) -> Value:
        """The told value of this name."""
        return _named(self.told.value, name)


class Change(NamedTuple):
    """One difference: what a fact of the base became in the target. None on one side: it was added or removed."""

    before: Occurrence | None
    after: Occurrence | None

    @property
    def side(self) -> Occurrence:
        """The side it is shown by: the target's, or the base's where only that has it."""
        side = self.after or self.before
        assert side is not None
        return side

    def differs(self, name: str) -> bool:
        """Whether both sides have the fact and disagree in the value of this name."""
        if self.before is None or self.after is None:
            return False
        return _named(self.before.compared.value, name) != _named(self.after.compared.value, name)


def _named(pairs: tuple[tuple[str, Value], ...], name: str) -> Value:
    for each, value in pairs:
        if each == name:
            return value
    return None


def changes(base: FactSet, target: FactSet, kind: str) -> list[Change]:
    """Return every difference between the facts of one kind, sorted by their keys.

    Facts that occur equally often on both sides are no difference. What is left of a key that repeats is paired:
    first with what came out alike but for the rest of its value, then in order; what finds no partner was added or removed.
    """
    before = _surplus(base, target, kind)
    after = _surplus(target, base, kind)
    return [
        Change(old, new)
        for key in sorted(before.keys() | after.keys())
        for old, new in _paired(before.get(key, []), after.get(key, []))
    ]


def in_common(base: FactSet, target: FactSet, facts: Iterable[Fact]) -> Iterator[Change]:
    """Yield those of `facts` that both sides have, as often as both have them, as changes that change nothing."""
    for fact in facts:
        times = min(base.counts[fact.kind][fact], target.counts.get(fact.kind, _NONE)[fact])
        for told in target.told(fact)[:times]:
            same = Occurrence(fact, told)
            yield Change(same, same)


_NONE: Counter[Fact] = Counter()
_Surplus = dict[tuple[str, ...], list[Occurrence]]


def _surplus(mine: FactSet, others: FactSet, kind: str) -> _Surplus:
    """By key, the facts that `mine` has more often than `others`."""
    ours, theirs = mine.counts.get(kind, _NONE), others.counts.get(kind, _NONE)
    found: _Surplus = {}
    for fact, times in ours.items() - theirs.items():
        more = times - theirs[fact]
        if more > 0:
            found.setdefault(fact.key, []).extend(_beyond(fact, more, mine, others))
    return found


def _beyond(fact: Fact, more: int, mine: FactSet, others: FactSet) -> list[Occurrence]:
    """The `more` occurrences of `fact` that `mine` has beyond those of `others`: those first that are shown differently."""
    if fact not in mine.originals:
        return [Occurrence(fact, fact)] * more
    theirs = Counter(rank(told.shown) for told in others.told(fact)) if fact in others.originals else Counter()
    fresh: list[Occurrence] = []
    seen: list[Occurrence] = []
    for told in mine.told(fact):
        shown = rank(told.shown)
        (seen if theirs[shown] > 0 else fresh).append(Occurrence(fact, told))
        theirs[shown] -= 1
    return (fresh + seen)[:more]


def _paired(before: list[Occurrence], after: list[Occurrence]) -> Iterable[tuple[Occurrence | None, Occurrence | None]]:
    if len(before) < 2 and len(after) < 2:
        return zip_longest(before, after)
    return _paired_repeated(before, after)


def _paired_repeated(
    before: list[Occurrence], after: list[Occurrence]
) -> list[tuple[Occurrence | None, Occurrence | None]]:
    """Pair the facts of a key that repeats. Exchanging the sides exchanges each pair."""
    alike: dict[object, tuple[list[Occurrence], list[Occurrence]]] = {}
    for number, side in enumerate((before, after)):
        for one in sorted(side, key=_order):
            alike.setdefault(one.compared.value[:1], ([], []))[number].append(one)
    pairs: list[tuple[Occurrence | None, Occurrence | None]] = []
    olds: list[Occurrence] = []
    news: list[Occurrence] = []
    for first in sorted(alike, key=rank):
        old, new = alike[first]
        pairs.extend(zip(old, new, strict=False))
        olds.extend(old[len(new) :])
        news.extend(new[len(old) :])
    return pairs + list(zip_longest(olds, news))


def _order(one: Occurrence) -> tuple[object, ...]:
    return rank(one.compared.value), rank(one.told.shown)
