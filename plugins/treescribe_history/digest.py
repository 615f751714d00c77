"""Digests: what `history.list` needs of each run, derived from its transcript and kept beside it.

A digest is a cache. It is believed while the transcript has the size and the time that it was made from, and made
again, in memory, where it is missing, stale or damaged; only a recorder, which writes anyway, stores one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treescribe.frozen import Frozen, frozen
from treescribe.reduce import Reducer, Verdict

from treescribe_history.store import Store, StoredRun
from treescribe_history.transcript import LIVE, Header, Transcript

if TYPE_CHECKING:
    from treescribe.codec import Codec

VERSION = 1
RUNNING = "running"
CUT_SHORT = ("cancelled", "interrupted")
"""Outcomes of runs that did not reach their end: what they lack says nothing, so no other run is held against them."""


@frozen
class Digest(Frozen):
    """A run in a few facts.

    :ivar outcome: a `RunOutcome`, or running.
    :ivar facts: the fingerprint of its facts.
    :ivar nested: it was started by another run of the same workspace.
    :ivar since: the run that `changes` tells the differences to, in a few words; None where nothing was compared.
    """

    run: int
    started_at: int
    backend: str
    targets: tuple[str, ...]
    client: str
    nested: bool
    outcome: str
    tests: dict[str, int] = field(default_factory=dict)
    failing: int = 0
    duration_ms: int = 0
    facts: str = ""
    since: int | None = None
    changes: str = ""

    def with_changes(self, since: int, changes: str) -> Digest:
        """This digest, with the differences to an earlier run."""
        return replace(self, since=since, changes=changes)


def make_digest(header: Header, verdict: Verdict, facts: str) -> Digest:
    """Return the digest of a run that is known already."""
    return Digest(
        run=header.run,
        started_at=header.started_at,
        backend=header.backend,
        targets=header.targets,
        client=header.client,
        nested=is_nested(header),
        outcome=verdict.outcome or RUNNING,
        tests=verdict.tests,
        failing=len(verdict.failures),
        duration_ms=verdict.duration_ms,
        facts=facts,
    )


def is_nested(header: Header) -> bool:
    """Whether a run was started by another run of its own workspace, which has its events too."""
    return header.parent is not None and header.parent.get("workspace") == header.workspace


def digest_of(transcript: Transcript) -> Digest:
    """Return the digest of a transcript."""
    from treescribe_history.fingerprint import Fingerprint

    reducer, fingerprint = Reducer(), Fingerprint()
    for event in transcript.events:
        reducer.add(event)
        fingerprint.add(event)
    verdict = reducer.verdict()
    digest = make_digest(transcript.header, verdict, fingerprint.text())
    if transcript.state != LIVE:
        return digest
    return replace(digest, outcome=RUNNING, duration_ms=transcript.elapsed_ms)


def load_digest(store: Store, stored: StoredRun, codec: Callable[[], Codec]) -> Digest:
    """Return the digest of a run, from beside it or made again; raises RunUnavailable."""
    kept = kept_digest(stored)
    return kept or digest_of(store.read(stored, codec()))


def save_digest(store: Store, transcript: Path, digest: Digest) -> None:
    """Keep a digest beside its transcript. The caller holds the store's lock."""
    values = {member.name: getattr(digest, member.name) for member in fields(digest)}
    record: dict[str, Any] = values | {"version": VERSION, "made_from": _state(transcript)}
    data = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
    store.replace(_path(transcript), data)


def kept_digest(stored: StoredRun) -> Digest | None:
    """The digest beside a finished run; None where there is none that can be believed."""
    if stored.active:
        return None
    try:
        record = json.loads(_path(stored.path).read_bytes())
        if record.pop("version") != VERSION or record.pop("made_from") != _state(stored.path):
            return None
        return Digest(**(record | {"targets": tuple(record["targets"])}))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _path(transcript: Path) -> Path:
    return transcript.with_suffix(".digest.json")


def _state(transcript: Path) -> list[int]:
    stat = transcript.stat()
    return [stat.st_size, stat.st_mtime_ns]
