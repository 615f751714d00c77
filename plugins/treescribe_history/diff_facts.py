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
    first with what has the same first value (a status), then in order; what finds no partner was added or removed.

    Sets are made of the dictionaries themselves, which keep the hashes of their keys: most of the speed lies there.
    """
    ours, theirs = base.counts.get(kind, {}), target.counts.get(kind, {})
    lost = set(ours).difference(theirs)
    gained = set(theirs).difference(ours) if len(ours) - len(lost) < len(theirs) else set()
    before = _surplus(base, target, kind, lost)
    after = _surplus(target, base, kind, gained)
    return [
        Change(old, new)
        for key in sorted(before.keys() | after.keys())
        for old, new in _paired(before.get(key, []), after.get(key, []))
    ]


def in_common(base: FactSet, target: FactSet, facts: Iterable[Fact]) -> Iterator[Change]:
    """Yield those of `facts` that both sides have, as often as both have them, as changes that change nothing."""
    for fact in facts:
        times = min(base.counts[fact.kind][fact], target.counts.get(fact.kind, {}).get(fact, 0))
        for told in target.told(fact)[:times] if times else ():
            same = Occurrence(fact, told)
            yield Change(same, same)


_Surplus = dict[tuple[str, ...], list[Occurrence]]


def _surplus(mine: FactSet, others: FactSet, kind: str, alone: set[Fact]) -> _Surplus:
    """By key, the facts that `mine` has more often than `others`, which lacks those `alone`."""
    ours, theirs = mine.counts.get(kind, {}), others.counts.get(kind, {})
    more = dict.fromkeys(alone, 0)
    more.update((fact, theirs.get(fact, 0)) for fact, times in ours.items() if times > 1)
    found: _Surplus = {}
    for fact, their in more.items():
        if ours[fact] > their:
            found.setdefault(fact.key, []).extend(_beyond(fact, ours[fact] - their, mine, others))
    return found


def _beyond(fact: Fact, more: int, mine: FactSet, others: FactSet) -> list[Occurrence]:
    """The `more` occurrences of `fact` that `mine` has beyond `others`: those first that are shown differently."""
    ours = mine.told(fact)
    if len(ours) > more:
        theirs = Counter(rank(told.shown) for told in others.told(fact))
        seen: list[Fact] = []
        fresh: list[Fact] = []
        for told in ours:
            shown = rank(told.shown)
            (seen if theirs[shown] > 0 else fresh).append(told)
            theirs[shown] -= 1
        ours = (fresh + seen)[:more]
    return [Occurrence(fact, told) for told in ours]


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
