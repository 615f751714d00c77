"""A finished run against the one before it: what the line at its end, the list and the summary tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from treescribe.errors import TreescribeError

from treescribe_history.digest import Digest, kept_digest
from treescribe_history.resolve import find_previous
from treescribe_history.store import Store, StoredRun
from treescribe_history.transcript import Header, Transcript

if TYPE_CHECKING:
    from treescribe_history.diff_models import DiffResult

IDENTICAL = "no differences"


class Comparison(NamedTuple):
    """A run against the last one before it of the same backend and targets.

    :ivar since: that run; None where there is none.
    :ivar identical: no fact differs.
    :ivar result: the comparison in full; None where fingerprints tell that nothing differs, and where it failed.
    :ivar problem: why there is no comparison.
    """

    since: int | None = None
    identical: bool = False
    result: DiffResult | None = None
    problem: str = ""

    @property
    def text(self) -> str:
        """The differences in a few words, for a column of a table; empty where nothing was compared."""
        if self.identical:
            return IDENTICAL
        return self.result.summary.rstrip(".") if self.result else ""


def compare_with_previous(
    store: Store, header: Header, facts: str, target: Transcript | None = None, *, in_full: bool = True
) -> Comparison:
    """Compare a run with the one before it; what goes wrong is told in the answer.

    :param facts: the run's fingerprint; empty where it is not known.
    :param target: its transcript, where it was read already.
    :param in_full: compare the transcripts where the fingerprints differ; it is left open otherwise.
    """
    base: StoredRun | None = None
    try:
        base = find_previous(store, header)
        if base is None:
            return Comparison()
        if _same_facts(base, facts):
            return Comparison(base.id, identical=True)
        return _compared(store, base, header, target) if in_full else Comparison(base.id)
    except Exception as error:  # noqa: BLE001 - comparing must never break the end of a run
        problem = error.message if isinstance(error, TreescribeError) else f"{type(error).__name__}: {error}"
        return Comparison(base.id if base else None, problem=problem)


def _same_facts(base: StoredRun, facts: str) -> bool:
    """Whether the digest kept beside a run says that its facts are those of a fingerprint."""
    digest = kept_digest(base)
    return bool(facts) and digest is not None and digest.facts == facts


def with_changes(digest: Digest, comparison: Comparison) -> Digest:
    """The digest with what a comparison found, where it found out."""
    if comparison.since is None or not comparison.text:
        return digest
    return digest.with_changes(comparison.since, comparison.text)


def _compared(store: Store, base: StoredRun, header: Header, target: Transcript | None) -> Comparison:
    from treescribe.host import host

    from treescribe_history.diff import diff

    codec = host().codec()
    if target is None:
        stored = store.find(header.run)
        if stored is None:
            return Comparison(base.id, problem=f"run #{header.run} is not kept")
        target = store.read(stored, codec)
    result = diff(store.read(base, codec), target)
    return Comparison(base.id, identical=result.identical, result=result)
