"""The plugin's hooks: reports on disk are read at a run's end, ``go test -json`` as it prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treescribe import hookimpl

if TYPE_CHECKING:
    from treescribe.events import CommandStarted, Event
    from treescribe.output_readers import OutputReader
    from treescribe.run import Run


@hookimpl
def treescribe_run_started(run: Run) -> None:
    """Note which reports there are before anything is run."""
    if run.settings.junit or run.settings.sarif:
        from treescribe_reports import written

        written.begin(run)


@hookimpl
def treescribe_event(run: Run, event: Event) -> None:
    """Note which reports are taken into account already."""
    if event.type == "ReportRead":
        from treescribe_reports import written

        written.note_read(run, event)


@hookimpl
def treescribe_run_finishing(run: Run) -> None:
    """Read the reports that the run has written."""
    if run.settings.junit or run.settings.sarif:
        from treescribe_reports import written

        written.read(run)


@hookimpl
def treescribe_output_readers(run: Run, command: CommandStarted) -> Sequence[OutputReader]:
    """Look for what ``go test -json`` prints."""
    from treescribe.output_readers import MadeWhenNeeded

    def reader() -> OutputReader:
        from treescribe_reports.go_test import GoTestReader

        return GoTestReader(command, run.workspace)

    return [MadeWhenNeeded(reader)]
