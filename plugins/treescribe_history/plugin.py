"""The history plugin's hooks and operations. Importing it is cheap: what they need is imported when they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treescribe.operation import Operation
from treescribe.spec import hookimpl

if TYPE_CHECKING:
    from treescribe.events import Event
    from treescribe.request import Outcome
    from treescribe.run import Run
    from treescribe.workspace import Workspace
    from treescribe.workspace_status import Status


@hookimpl
def treescribe_operations() -> Sequence[Operation]:
    """What can be asked of the history, and the pins."""
    return (
        _operation("history.list", "listing:list_runs", "listing_text:render", "List the runs of this workspace."),
        _operation("history.show", "showing:show", "showing_text:render", "Show what happened in a run."),
        _operation(
            "history.diff",
            "diff_runs:diff_runs",
            "diff_text:render_diff",
            "Compare two runs: what differs, never how long it took.",
            exit_code="diff:exit_code",
        ),
        _operation(
            "history.timing", "time_runs:time_runs", "timing_text:render_timing", "Compare how long two runs took."
        ),
        _operation("history.summary", "summary:summarise", "summary:render", "Tell what a run came to, in short."),
        _operation("history.pin", "pinning:pin_run", "pinning:render", "Keep a run for good, under a name."),
        _operation("history.unpin", "pinning:unpin_run", "pinning:render", "Take a run's name away."),
    )


def _operation(name: str, function: str, render: str, text: str, exit_code: str = "") -> Operation:
    """An operation whose functions are named by their modules of this plugin."""
    function, render, exit_code = (
        f"treescribe_history.{part}" if part else "" for part in (function, render, exit_code)
    )
    return Operation(name, function, render, text, exit_code=exit_code)


@hookimpl
def treescribe_workspace_status(workspace: Workspace) -> Status:
    """The last run, and what runs at the moment."""
    from treescribe_history.status import status_of

    return status_of(workspace)


@hookimpl(tryfirst=True)
def treescribe_run_started(run: Run) -> None:
    """Give the run its id and begin its transcript."""
    from treescribe_history import recorder

    recorder.start(run)


@hookimpl(tryfirst=True)
def treescribe_event(run: Run, event: Event) -> None:
    """Write the event."""
    from treescribe_history import recorder

    recorder.record(run, event)


@hookimpl
def treescribe_run_abandoned(workspace: Workspace, run_id: int, outcome: Outcome) -> bool | None:
    """Finish the transcript that a killed process left."""
    from treescribe_history import recovery
    from treescribe_history.store import Store

    return recovery.finish_abandoned(Store(workspace), run_id, outcome) or None


@hookimpl(tryfirst=True)
def treescribe_run_finished(run: Run) -> None:
    """Complete the transcript, compare it with the one before, and say in a line what the run came to."""
    from treescribe_history import ending

    ending.finish(run)
