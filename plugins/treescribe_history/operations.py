"""The history's operations: pure reads of what is on disk, and the pins."""

from __future__ import annotations

from typing import Annotated

from treescribe.host import host
from treescribe.operation import Parameter
from treescribe.workspace import Workspace

from treescribe_history.results import PinResult, RunsResult, RunSummary, ShowResult
from treescribe_history.store import Store

RunReference = str | int
"""A run's number, ``latest``, ``previous``, or a pinned name."""

_RUN = "the run: its number, latest, previous, or a pinned name"
_LIMIT = "how many are listed at most"
_OFFSET = "how many are passed over first"


def list_runs(
    workspace: Workspace,
    limit: Annotated[int, Parameter(_LIMIT)] = 32,
    offset: Annotated[int, Parameter(_OFFSET)] = 0,
) -> RunsResult:
    """List the runs of this workspace, the newest first, with what differs from the run before of the same targets."""
    from treescribe_history.listing import list_store
    from treescribe_history.resolve import check_page

    check_page(limit, offset)
    return list_store(Store(workspace), limit, offset)


def show(
    workspace: Workspace,
    run: Annotated[RunReference, Parameter(_RUN, positional=True)] = "latest",
    project: Annotated[str, Parameter("only what belongs to this project")] = "",
    query: Annotated[str, Parameter("a regular expression, searched in messages, traces, paths and names")] = "",
    limit: Annotated[int, Parameter(_LIMIT)] = 50,
    offset: Annotated[int, Parameter(_OFFSET)] = 0,
) -> ShowResult:
    """Show what happened in a run: its verdict, then tests, suites, diagnostics, commands and tasks, failing first.

    Works on runs that are still going on, and on those whose process died.
    """
    from treescribe_history.resolve import check_page, resolve
    from treescribe_history.showing import show_transcript

    check_page(limit, offset)
    store = Store(workspace)
    transcript = store.read(resolve(store, run), host().codec())
    return show_transcript(store, transcript, project=project, query=query, limit=limit, offset=offset)


def summarise(
    workspace: Workspace,
    run: Annotated[RunReference, Parameter(_RUN, positional=True)] = "latest",
) -> RunSummary:
    """Tell what a run came to: verdict, counts, failing tests by name, and the difference from the run before."""
    from treescribe_history.resolve import resolve
    from treescribe_history.summary import summarise_transcript

    store = Store(workspace)
    return summarise_transcript(store, store.read(resolve(store, run), host().codec()))


def pin_run(
    workspace: Workspace,
    run: Annotated[RunReference, Parameter(_RUN, positional=True)],
    name: Annotated[str, Parameter("letters, digits and . _ - /, for example: main", positional=True)],
) -> PinResult:
    """Keep a run for good, under a name that serves wherever a run does."""
    from treescribe_history.pins import check_name, pin, read_pins
    from treescribe_history.resolve import ended, resolve

    check_name(name)
    store = Store(workspace)
    stored = ended(store, resolve(store, run))
    pin(store, stored, name)
    return PinResult(workspace=str(workspace.root), name=name, run=stored.id, pinned=True, pins=read_pins(store))


def unpin_run(
    workspace: Workspace,
    name: Annotated[str, Parameter("the pinned name", positional=True)],
) -> PinResult:
    """Take a name away from its run, which retention may then remove."""
    from treescribe_history.pins import read_pins, unpin

    store = Store(workspace)
    number = unpin(store, name)
    return PinResult(workspace=str(workspace.root), name=name, run=number, pinned=False, pins=read_pins(store))
