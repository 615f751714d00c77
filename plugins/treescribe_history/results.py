"""What the history's operations answer with. Times are milliseconds since the epoch, and ISO 8601 in UTC beside it.

What is None is left out of the JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from treescribe.result import Result

Names = tuple[str, ...]


def iso(at_ms: int) -> str:
    """A time in ISO 8601, in UTC, to the second."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, kw_only=True)
class RunRow:
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
    targets: Names = ()
    client: str = ""
    outcome: str
    summary: str = ""
    tests: dict[str, int] = field(default_factory=dict)
    failing: int = 0
    duration_ms: int | None = None
    since: int | None = None
    changes: str | None = None
    pinned: Names | None = None


@dataclass(frozen=True, kw_only=True)
class RunsResult(Result):
    """A page of the runs of a workspace, the newest first. ``total`` are kept, of ``recorded`` ever begun."""

    workspace: str
    runs: tuple[RunRow, ...]
    total: int
    recorded: int
    offset: int
    limit: int


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that happened in a run.

    :ivar kind: test, suite, compile, diagnostic, command, task, and so on; a third party's fact has its own.
    :ivar status: as the event says it; running or unfinished for what has not ended.
    :ivar details: further values, as text.
    """

    kind: str
    name: str
    status: str
    failing: bool = False
    message: str | None = None
    trace: str | None = None
    project: str | None = None
    path: str | None = None
    line: int | None = None
    column: int | None = None
    duration_ms: int | None = None
    details: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Diagnostics:
    """How many diagnostics a run has, and the first few: ``path:line:column code message``."""

    errors: int = 0
    warnings: int = 0
    top: Names = ()


@dataclass(frozen=True, kw_only=True)
class ShowResult(Result):
    """A run, and a page of what happened in it, failing things first.

    :ivar state: finished, live or interrupted.
    :ivar reason: why it did not pass, where no failing test says so.
    :ivar problems: lines of its file that could not be read.
    :ivar total: how many items there are, of which ``items`` are those from ``offset`` on.
    """

    summary: str
    ok: bool
    run: int
    workspace: str
    state: str
    outcome: str
    reason: str | None = None
    exit_code: int | None = None
    backend: str
    variant: str | None = None
    mode: str
    targets: Names
    client: str
    started_at: int
    started: str
    parent: dict[str, Any] | None = None
    pinned: Names | None = None
    duration_ms: int
    tests: dict[str, int]
    diagnostics: Diagnostics | None = None
    problems: Names | None = None
    unknown_events: int | None = None
    query: str | None = None
    projects: Names | None = None
    items: tuple[Item, ...]
    total: int
    offset: int
    limit: int


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A failing test."""

    test: str
    status: str
    message: str | None = None
    project: str | None = None
    suite: str | None = None
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What differs from run ``since``; at most ten of each are named."""

    since: int
    summary: str
    identical: bool
    newly_failing: Names | None = None
    fixed: Names | None = None
    new_diagnostics: Names | None = None


@dataclass(frozen=True, kw_only=True)
class RunSummary(Result):
    """What a run came to, short enough for every answer.

    :ivar run: its number; None where it was not recorded.
    :ivar failures: the first failing tests, of as many as ``tests`` counts.
    :ivar previous: the run that it is compared with: the last one before of the same backend and targets.
    :ivar not_compared: why there are no ``changes`` although there is a previous run.
    """

    summary: str
    ok: bool
    run: int | None
    workspace: str
    targets: Names
    outcome: str
    reason: str | None = None
    exit_code: int | None = None
    duration_ms: int
    tests: dict[str, int]
    failures: tuple[Failure, ...] | None = None
    diagnostics: Diagnostics | None = None
    previous: int | None = None
    changes: Changes | None = None
    not_compared: str | None = None


@dataclass(frozen=True, kw_only=True)
class PinResult(Result):
    """A name that a run was given, or that was taken away; ``pins`` are those there are after it."""

    workspace: str
    name: str
    run: int
    pinned: bool
    pins: dict[str, int]
