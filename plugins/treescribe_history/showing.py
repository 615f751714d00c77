"""What happened in one run: its verdict and a page of its items."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from treescribe.errors import TreescribeError
from treescribe.frozen import frozen
from treescribe.host import host
from treescribe.operation import Parameter
from treescribe.reduce import reduce
from treescribe.result import Result
from treescribe.workspace import Workspace

from treescribe_history.diagnostics import Diagnostics, diagnostics_of
from treescribe_history.digest import RUNNING
from treescribe_history.items import Item, items_of
from treescribe_history.paging import LIMIT_HELP, OFFSET_HELP, check_page
from treescribe_history.pins import names_of, read_pins
from treescribe_history.printed import Printed, printed
from treescribe_history.resolve import RUN_HELP, RunReference, resolve
from treescribe_history.store import Store
from treescribe_history.transcript import LIVE, Transcript
from treescribe_history.verdict_text import counts, iso, reason

LONGEST_TRACE = 2000
"""How much of a trace's end is shown where nothing was asked for by name."""


@frozen
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
    targets: tuple[str, ...]
    client: str
    started_at: int
    started: str
    parent: dict[str, Any] | None = None
    pinned: tuple[str, ...] | None = None
    duration_ms: int
    tests: dict[str, int]
    diagnostics: Diagnostics | None = None
    problems: tuple[str, ...] | None = None
    unknown_events: int | None = None
    query: str | None = None
    projects: tuple[str, ...] | None = None
    items: tuple[Item, ...]
    output: tuple[Printed, ...] | None = None
    total: int
    offset: int
    limit: int


def show(
    workspace: Workspace,
    run: Annotated[RunReference, Parameter(RUN_HELP, positional=True)] = "latest",
    project: Annotated[str, Parameter("only what belongs to this project")] = "",
    query: Annotated[str, Parameter("a regular expression, searched in messages, traces, paths and names")] = "",
    limit: Annotated[int, Parameter(LIMIT_HELP)] = 50,
    offset: Annotated[int, Parameter(OFFSET_HELP)] = 0,
    output: Annotated[bool, Parameter("show what the commands printed, as far as it was kept")] = False,
) -> ShowResult:
    """Show what happened in a run: its verdict, then tests, suites, diagnostics, commands and tasks, failing first.

    Works on runs that are still going on, and on those whose process died.
    """
    check_page(limit, offset)
    store = Store(workspace)
    transcript = store.read(resolve(store, run), host().codec())
    result = show_transcript(store, transcript, project=project, query=query, limit=limit, offset=offset)
    return replace(result, output=printed(transcript.events)) if output else result


def show_transcript(
    store: Store, transcript: Transcript, *, project: str, query: str, limit: int, offset: int
) -> ShowResult:
    """Return what happened in a run; raises InvalidInput for a query that is no regular expression."""
    header, events = transcript.header, transcript.events
    verdict = reduce(events)
    everything = items_of(events, RUNNING if transcript.state == LIVE else "unfinished")
    items = [item for item in everything if not project or item.project == project]
    if query:
        from treescribe_history.query import matching

        items = matching(items, query)
    outcome = str(verdict.outcome) or RUNNING
    return ShowResult(
        summary=": ".join(part for part in (outcome, counts(verdict.tests)) if part),
        ok=verdict.ok,
        run=header.run,
        workspace=header.workspace,
        state=transcript.state,
        outcome=outcome,
        reason=reason(verdict) or None if verdict.outcome else None,
        exit_code=verdict.exit_code,
        backend=header.backend,
        variant=header.variant or None,
        mode=header.mode,
        targets=header.targets,
        client=header.client,
        started_at=header.started_at,
        started=iso(header.started_at),
        parent=header.parent,
        pinned=_names(store, header.run),
        duration_ms=verdict.duration_ms if verdict.outcome else transcript.elapsed_ms,
        tests=verdict.tests,
        diagnostics=diagnostics_of(verdict, header.workspace),
        problems=transcript.problems or None,
        unknown_events=verdict.unknown_events or None,
        query=query or None,
        projects=_projects(everything) if project and not items else None,
        items=tuple(
            item if query else _with_short_trace(item) for item in items[offset : offset + limit if limit else None]
        ),
        total=len(items),
        offset=offset,
        limit=limit,
    )


def _names(store: Store, number: int) -> tuple[str, ...] | None:
    try:
        return names_of(read_pins(store), number) or None
    except TreescribeError:
        return None


def _projects(items: list[Item]) -> tuple[str, ...]:
    return tuple(sorted({item.project for item in items if item.project}))


def _with_short_trace(item: Item) -> Item:
    if item.trace is None or len(item.trace) <= LONGEST_TRACE:
        return item
    cut = len(item.trace) - LONGEST_TRACE
    return replace(item, trace=f"[… {cut:,} characters before this; a query shows all …]\n{item.trace[cut:]}")
