"""Comparing how long two runs took: the one comparison that looks at durations, asked for on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from treescribe.events import (
    CommandFinished,
    CommandStatus,
    CompileFinished,
    Event,
    RunFinished,
    SuiteFinished,
    TaskFinished,
    TestFinished,
)
from treescribe.facts import Fact, compared, full_test_name, root_pattern, told
from treescribe.frozen import frozen
from treescribe.terminal import duration

from treescribe_history.diff_models import Compact, Names, Side
from treescribe_history.diff_sentences import notes_on

if TYPE_CHECKING:
    from treescribe_history.transcript import Transcript

AT_LEAST_MS = 50
AT_LEAST_PERCENT = 20
SLOWEST = 5
"""How many of each kind are listed as the slowest of the target."""


@frozen
class Threshold(Compact):
    """What counts as a change: at least both of these."""

    ms: int = AT_LEAST_MS
    percent_of_base: int = AT_LEAST_PERCENT


@frozen
class TimingChange(Compact):
    """Something that took noticeably longer or shorter. Of what ran several times (`times`) the sums are compared."""

    kind: str
    name: str = ""
    base_ms: int
    target_ms: int
    change_ms: int
    times: int | None = None


@frozen
class Slow(Compact):
    """Something of the target, and how long it took, all `times` together."""

    kind: str
    name: str = ""
    ms: int
    times: int | None = None


@frozen
class TimingResult(Compact):
    """How the durations of two runs differ.

    ``slower`` and ``faster`` reach the threshold, biggest change first. ``suppressed``: how many do not.
    ``only_in_base`` and ``only_in_target``: how many the other run lacks, or ran another number of times.
    ``slowest_in_target``: the slowest few of each kind.
    """

    summary: str
    base: Side
    target: Side
    cross_workspace: bool
    notes: Names = ()
    threshold: Threshold = Threshold()
    total_base_ms: int
    total_target_ms: int
    slower: tuple[TimingChange, ...] = ()
    faster: tuple[TimingChange, ...] = ()
    suppressed: int = 0
    only_in_base: int = 0
    only_in_target: int = 0
    slowest_in_target: tuple[Slow, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)


Key = tuple[str, tuple[str, ...]]


class Spent(NamedTuple):
    """What one thing took: the sum of its durations, how often it ran, and one of its facts to name it by."""

    ms: int
    times: int
    fact: Fact


class Compared(NamedTuple):
    """One thing that both runs did."""

    key: Key
    base: Spent
    target: Spent

    @property
    def change(self) -> int:
        """How many milliseconds longer the target took."""
        return self.target.ms - self.base.ms


def timing(base: Transcript, target: Transcript, *, limit: int = 0) -> TimingResult:
    """Compare how long two runs took.

    :param limit: how many of the slower and of the faster are listed, 0 for all. The summary counts all of them.
    """
    before, after = _spent(base), _spent(target)
    pairs = [Compared(key, spent, after[key]) for key, spent in before.items() if _comparable(spent, after.get(key))]
    slower = sorted((pair for pair in pairs if pair.change > 0 and counts(pair)), key=_biggest_first)
    faster = sorted((pair for pair in pairs if pair.change < 0 and counts(pair)), key=_biggest_first)
    suppressed = len(pairs) - len(slower) - len(faster)
    totals = _total(base), _total(target)
    end = limit or None
    return TimingResult(
        summary=_summary(len(slower), len(faster), suppressed, totals),
        base=Side(run=base.header.run, workspace=base.header.workspace),
        target=Side(run=target.header.run, workspace=target.header.workspace),
        cross_workspace=base.header.workspace != target.header.workspace,
        notes=notes_on(base, target),
        total_base_ms=totals[0],
        total_target_ms=totals[1],
        slower=tuple(_change(pair, target) for pair in slower[:end]),
        faster=tuple(_change(pair, target) for pair in faster[:end]),
        suppressed=suppressed,
        only_in_base=len(before) - len(pairs),
        only_in_target=len(after) - len(pairs),
        slowest_in_target=tuple(_slowest(after, target)),
        left_out=_left_out(end, slower=slower, faster=faster),
    )


def counts(pair: Compared) -> bool:
    """Whether a change is at least max(50 ms, 20 % of base)."""
    size = abs(pair.change)
    return size >= AT_LEAST_MS and size * 100 >= pair.base.ms * AT_LEAST_PERCENT


def _comparable(base: Spent, target: Spent | None) -> bool:
    """Sums are comparable only of what ran equally often."""
    return target is not None and target.times == base.times


def _biggest_first(pair: Compared) -> tuple[int, Key]:
    return -abs(pair.change), pair.key


def _left_out(end: int | None, **sections: list[Compared]) -> dict[str, int]:
    return {name: len(part) - end for name, part in sections.items() if end and len(part) > end}


def _summary(slower: int, faster: int, suppressed: int, totals: tuple[int, int]) -> str:
    if slower + faster + suppressed == 0:
        compared = "The two runs have nothing in common whose durations could be compared."
    else:
        changed = [f"{number:,} {word}" for number, word in ((slower, "slower"), (faster, "faster")) if number]
        compared = f"{', '.join([*changed, f'{suppressed:,} within {threshold_text()}'])}."
    return f"{compared} Total {duration(totals[0])} → {duration(totals[1])}."


def threshold_text() -> str:
    """The threshold in words."""
    return f"max({AT_LEAST_MS} ms, {AT_LEAST_PERCENT} %)"


# ---- durations of one run -----------------------------------------------------------------------------


def _timed(events: tuple[Event, ...]) -> Iterator[tuple[Fact, int]]:
    """What has a duration of its own. A detached command has none: it was still running when its run ended."""
    for event in events:
        match event:
            case CommandFinished(status=CommandStatus.DETACHED):
                continue
            case TestFinished() | SuiteFinished() | CompileFinished() | TaskFinished() | CommandFinished():
                yield event.fact(), event.duration_ms


def _spent(run: Transcript) -> dict[Key, Spent]:
    pattern = root_pattern(run.header.workspace)
    spent: dict[Key, Spent] = {}
    for fact, ms in _timed(run.events):
        key = fact.kind, compared(fact, pattern).key
        earlier = spent.get(key)
        spent[key] = Spent(earlier.ms + ms, earlier.times + 1, earlier.fact) if earlier else Spent(ms, 1, fact)
    return spent


def _total(run: Transcript) -> int:
    """How long the run took; so far, where it did not finish."""
    for event in reversed(run.events):
        if isinstance(event, RunFinished):
            return event.duration_ms
    return run.elapsed_ms


# ---- entries ------------------------------------------------------------------------------------------

_NAMES: dict[str, Callable[[tuple[str, ...]], str]] = {
    "test": lambda key: full_test_name(*key),
    "suite": lambda key: ": ".join(filter(None, key)),
    "task": lambda key: f"{key[0]}({', '.join(key[1:])})" if len(key) > 1 else key[0],
}


def _name(fact: Fact, run: Transcript) -> str:
    key = told(fact, root_pattern(run.header.workspace)).key
    return _NAMES[fact.kind](key) if fact.kind in _NAMES else key[0]


def _times(spent: Spent) -> int | None:
    return spent.times if spent.times > 1 else None


def _change(pair: Compared, run: Transcript) -> TimingChange:
    return TimingChange(
        kind=pair.key[0],
        name=_name(pair.target.fact, run),
        base_ms=pair.base.ms,
        target_ms=pair.target.ms,
        change_ms=pair.change,
        times=_times(pair.target),
    )


def _slowest(spent: dict[Key, Spent], run: Transcript) -> Iterator[Slow]:
    """The slowest few of each kind, slowest first: all kinds as one, a task would hide the tests that it ran."""
    taken: dict[str, int] = {}
    for key in sorted(spent, key=lambda key: (-spent[key].ms, key)):
        kind, one = key[0], spent[key]
        taken[kind] = taken.get(kind, 0) + 1
        if one.ms and taken[kind] <= SLOWEST:
            yield Slow(kind=kind, name=_name(one.fact, run), ms=one.ms, times=_times(one))
