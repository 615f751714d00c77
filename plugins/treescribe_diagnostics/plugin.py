"""The plugin: a reader for each command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treescribe import hookimpl

if TYPE_CHECKING:
    from treescribe.events import CommandStarted
    from treescribe.output_readers import OutputReader
    from treescribe.run import Run


@hookimpl
def treescribe_output_readers(run: Run, command: CommandStarted) -> Sequence[OutputReader]:
    """Look for messages of compilers and the like in whatever a command prints."""
    from treescribe.output_readers import MadeWhenNeeded

    def reader() -> OutputReader:
        from treescribe_diagnostics.reader import DiagnosticsReader

        return DiagnosticsReader(run.workspace, command, run.report)

    return [MadeWhenNeeded(reader)]
