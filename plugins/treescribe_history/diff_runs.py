"""The operation `history.diff`."""

from __future__ import annotations

from typing import Annotated

from treescribe.operation import Parameter
from treescribe.workspace import Workspace

from treescribe_history.diff import diff
from treescribe_history.diff_models import DiffResult
from treescribe_history.pair import BASE_HELP, DIRECTORY_HELP, LIMIT_HELP, OFFSET_HELP, TARGET_HELP, pair_of
from treescribe_history.resolve import LATEST, PREVIOUS, RunReference


def diff_runs(
    workspace: Workspace,
    base: Annotated[RunReference, Parameter(BASE_HELP, positional=True)] = PREVIOUS,
    target: Annotated[RunReference, Parameter(TARGET_HELP, positional=True)] = LATEST,
    base_directory: Annotated[str, Parameter(DIRECTORY_HELP, directory=True)] = "",
    exit_code: Annotated[
        bool, Parameter("end with exit code 1 where there are differences", command_line=True)
    ] = False,
    limit: Annotated[int, Parameter(LIMIT_HELP)] = 50,
    offset: Annotated[int, Parameter(OFFSET_HELP)] = 0,
) -> DiffResult:
    """Compare two runs: tests, suites, compile units, diagnostics, tasks and commands, not how long they took."""
    pair = pair_of(workspace, base, target, base_directory)
    return diff(pair.base, pair.target, limit=limit, offset=offset)
