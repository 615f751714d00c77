"""What happened in one run: its verdict and a page of its items."""

from __future__ import annotations

from dataclasses import replace

from treescribe.errors import TreescribeError
from treescribe.events import Event
from treescribe.reduce import reduce

from treescribe_history.digest import RUNNING
from treescribe_history.items import items_of
from treescribe_history.pins import names_of, read_pins
from treescribe_history.query import compile_query, matches
from treescribe_history.results import Item, Names, ShowResult, iso
from treescribe_history.store import Store
from treescribe_history.summary import diagnostics
from treescribe_history.transcript import LIVE, Transcript
from treescribe_history.verdict_text import counts, reason

LONGEST_TRACE = 2000
"""How much of a trace's end is shown where nothing was asked for by name."""


def show_transcript(
    store: Store, transcript: Transcript, *, project: str, query: str, limit: int, offset: int
) -> ShowResult:
    """Return what happened in a run; raises InvalidInput for a query that is no regular expression."""
    pattern = compile_query(query) if query else None
    header, events = transcript.header, transcript.events
    verdict = reduce(events)
    everything = items_of(events, RUNNING if transcript.state == LIVE else "unfinished")
    items = [item for item in everything if not project or item.project == project]
    if pattern is not None:
        items = [item for item in items if matches(item, pattern)]
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
        duration_ms=verdict.duration_ms if verdict.outcome else _so_far(events, header.started_at),
        tests=verdict.tests,
        diagnostics=diagnostics(verdict, header.workspace),
        problems=transcript.problems or None,
        unknown_events=verdict.unknown_events or None,
        query=query or None,
        projects=_projects(everything) if project and not items else None,
        items=tuple(item if query else _with_short_trace(item) for item in items[offset : offset + limit]),
        total=len(items),
        offset=offset,
        limit=limit,
    )


def _so_far(events: tuple[Event, ...], started_at: int) -> int:
    return max(0, max((event.at for event in events), default=started_at) - started_at)


def _names(store: Store, number: int) -> Names | None:
    try:
        return names_of(read_pins(store), number) or None
    except TreescribeError:
        return None


def _projects(items: list[Item]) -> Names:
    return tuple(sorted({item.project for item in items if item.project}))


def _with_short_trace(item: Item) -> Item:
    if item.trace is None or len(item.trace) <= LONGEST_TRACE:
        return item
    cut = len(item.trace) - LONGEST_TRACE
    return replace(item, trace=f"[… {cut:,} characters before this; a query shows all …]\n{item.trace[cut:]}")
