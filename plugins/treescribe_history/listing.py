"""The list of a workspace's runs, from their digests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Annotated

from treescribe.codec import Codec
from treescribe.errors import RunUnavailable, TreescribeError
from treescribe.frozen import Frozen, frozen
from treescribe.host import host
from treescribe.operation import Parameter
from treescribe.result import Result
from treescribe.workspace import Workspace

from treescribe_history.comparing import compare_with_previous
from treescribe_history.digest import CUT_SHORT, RUNNING, Digest, load_digest
from treescribe_history.ids import last_id
from treescribe_history.paging import LIMIT_HELP, OFFSET_HELP, check_page
from treescribe_history.pins import names_of, read_pins
from treescribe_history.store import Store, StoredRun
from treescribe_history.verdict_text import counts, iso

UNREADABLE = "unreadable"


@frozen
class RunRow(Frozen):
    """One run in a list.

    :ivar outcome: a run's outcome; running while it goes on; unreadable where its file is damaged.
    :ivar summary: the counts of its tests, or what is wrong with its file.
    :ivar changes: what differs from run `since`, the last one before of the same backend and targets.
    :ivar pinned: its names.
    """

    run: int
    started_at: int | None = None
    started: str | None = None
    backend: str = ""
    targets: tuple[str, ...] = ()
    client: str = ""
    outcome: str
    summary: str = ""
    tests: dict[str, int] = field(default_factory=dict)
    failing: int = 0
    duration_ms: int | None = None
    since: int | None = None
    changes: str | None = None
    pinned: tuple[str, ...] | None = None


@frozen
class RunsResult(Result):
    """A page of the runs of a workspace, the newest first. ``total`` are kept, of ``recorded`` ever begun."""

    summary: str
    workspace: str
    runs: tuple[RunRow, ...]
    total: int
    recorded: int
    offset: int
    limit: int


def list_runs(
    workspace: Workspace,
    limit: Annotated[int, Parameter(LIMIT_HELP)] = 32,
    offset: Annotated[int, Parameter(OFFSET_HELP)] = 0,
) -> RunsResult:
    """List the runs of this workspace, the newest first, with what differs from the run before of the same targets."""
    check_page(limit, offset)
    return list_store(Store(workspace), limit, offset)


class Listing:
    """Makes the rows; each digest is looked at once, and only where a row needs it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._codec: Codec | None = None
        self._digests: dict[int, Digest | TreescribeError] = {}
        self.runs = store.runs()
        self._pins = _pins(store)

    def row(self, position: int) -> RunRow:
        """The row of the run at a position among `runs`."""
        stored = self.runs[position]
        pinned = names_of(self._pins, stored.id) or None
        digest = self._digest(stored)
        if isinstance(digest, TreescribeError):
            return RunRow(run=stored.id, outcome=UNREADABLE, summary=digest.message, pinned=pinned)
        since, changes = self._changes(position, digest)
        return RunRow(
            run=stored.id,
            started_at=digest.started_at,
            started=iso(digest.started_at),
            backend=digest.backend,
            targets=digest.targets,
            client=digest.client,
            outcome=digest.outcome,
            summary=counts(digest.tests),
            tests=digest.tests,
            failing=digest.failing,
            duration_ms=digest.duration_ms,
            since=since,
            changes=changes or None,
            pinned=pinned,
        )

    def _digest(self, stored: StoredRun) -> Digest | TreescribeError:
        if stored.id not in self._digests:
            try:
                self._digests[stored.id] = load_digest(self._store, stored, self._codec_for_all)
            except TreescribeError as error:
                self._digests[stored.id] = error
        return self._digests[stored.id]

    def _codec_for_all(self) -> Codec:
        if self._codec is None:
            self._codec = host().codec()
        return self._codec

    def _changes(self, position: int, digest: Digest) -> tuple[int | None, str]:
        """The run before, and what differs from it: what the recorder found, where that run is still that run."""
        if digest.outcome in (RUNNING, *CUT_SHORT):
            return None, ""
        base = next(self._earlier(position, digest), None)
        if base is None:
            return None, ""
        if base.run == digest.since and digest.changes:
            return base.run, digest.changes
        try:
            header = self._store.header(self.runs[position])
        except RunUnavailable as error:  # evicted a moment ago
            return base.run, f"not compared: {error.message}"
        comparison = compare_with_previous(self._store, header, digest.facts)
        return comparison.since, comparison.text or f"not compared: {comparison.problem}"

    def _earlier(self, position: int, digest: Digest) -> Iterator[Digest]:
        """Runs of the same backend and targets before the one at a position, that reached their end."""
        for stored in self.runs[position + 1 :]:
            other = self._digest(stored)
            if isinstance(other, TreescribeError) or other.outcome in (RUNNING, *CUT_SHORT):
                continue
            if (other.backend, other.targets) == (digest.backend, digest.targets):
                yield other


def list_store(store: Store, limit: int, offset: int) -> RunsResult:
    """Return a page of the runs, the newest first."""
    listing = Listing(store)
    total = len(listing.runs)
    recorded = max(last_id(store), total)
    return RunsResult(
        summary=f"{total} kept of {recorded} recorded",
        workspace=str(store.workspace.root),
        runs=tuple(listing.row(position) for position in range(offset, min(offset + limit, total) if limit else total)),
        total=total,
        recorded=recorded,
        offset=offset,
        limit=limit,
    )


def _pins(store: Store) -> dict[str, int]:
    try:
        return read_pins(store)
    except TreescribeError:
        return {}  # told by those who need them
