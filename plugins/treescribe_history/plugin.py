"""The history plugin's hooks and operations. Importing it is cheap: what they need is imported when they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treescribe.operation import Operation
from treescribe.spec import hookimpl

if TYPE_CHECKING:
    from treescribe.events import Event
    from treescribe.run import Run

_OPERATIONS = "treescribe_history.operations"
_COMPARISONS = "treescribe_history.comparisons"
_RENDER = "treescribe_history.render"
_DIFF = "treescribe_history.diff"
_TIMING_TEXT = "treescribe_history.timing_text"
_DIFF_TEXT = "treescribe_history.diff_text"


@hookimpl
def treescribe_operations() -> Sequence[Operation]:
    """What can be asked of the history, and the pins."""
    return (
        Operation("history.list", f"{_OPERATIONS}:list_runs", f"{_RENDER}:runs", "List the runs of this workspace."),
        Operation("history.show", f"{_OPERATIONS}:show", f"{_RENDER}:shown", "Show what happened in a run."),
        Operation(
            "history.diff",
            f"{_COMPARISONS}:diff_runs",
            f"{_DIFF_TEXT}:render_diff",
            "Compare two runs: what differs, never how long it took.",
            exit_code=f"{_DIFF}:exit_code",
        ),
        Operation(
            "history.timing",
            f"{_COMPARISONS}:time_runs",
            f"{_TIMING_TEXT}:render_timing",
            "Compare how long two runs took.",
        ),
        Operation(
            "history.summary", f"{_OPERATIONS}:summarise", f"{_RENDER}:summary", "Tell what a run came to, in short."
        ),
        Operation("history.pin", f"{_OPERATIONS}:pin_run", f"{_RENDER}:pinned", "Keep a run for good, under a name."),
        Operation("history.unpin", f"{_OPERATIONS}:unpin_run", f"{_RENDER}:pinned", "Take a run's name away."),
    )


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


@hookimpl(tryfirst=True)
def treescribe_run_finished(run: Run) -> None:
    """Complete the transcript, compare it with the one before, and say in a line what the run came to."""
    from treescribe_history import ending

    ending.finish(run)
