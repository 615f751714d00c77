"""The history's part of the status of a workspace: its last run, and what runs at the moment."""

from __future__ import annotations

from treescribe.workspace import Workspace
from treescribe.workspace_status import Status

from treescribe_history.digest import RUNNING
from treescribe_history.listing import RunRow, list_store
from treescribe_history.store import Store

_LOOKED_AT = 8


def status_of(workspace: Workspace) -> Status:
    """What the newest runs came to; one that goes on is told first."""
    listed = list_store(Store(workspace), _LOOKED_AT, 0)
    running = [row for row in listed.runs if row.outcome == RUNNING]
    last = next((row for row in listed.runs if row.outcome != RUNNING), None)
    said = [f"{_named(row)} is running" for row in running]
    said += [f"last {_named(last)}: {last.outcome}"] if last else []
    details = {
        "running": [row.run for row in running],
        "last": {"run": last.run, "targets": list(last.targets), "outcome": last.outcome} if last else None,
        "kept": listed.total,
    }
    return Status("history", ", ".join(said) or "no runs yet", details)


def _named(row: RunRow) -> str:
    return f"#{row.run} {' '.join(row.targets)}".strip()
