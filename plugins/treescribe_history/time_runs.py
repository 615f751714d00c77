"""The operation `history.timing`."""

from __future__ import annotations

from typing import Annotated

from treescribe.operation import Parameter
from treescribe.workspace import Workspace

from treescribe_history.pair import BASE_HELP, DIRECTORY_HELP, LIMIT_HELP, TARGET_HELP, pair_of
from treescribe_history.resolve import LATEST, PREVIOUS, RunReference
from treescribe_history.timing import TimingResult, timing


def time_runs(
    workspace: Workspace,
    base: Annotated[RunReference, Parameter(BASE_HELP, positional=True)] = PREVIOUS,
    target: Annotated[RunReference, Parameter(TARGET_HELP, positional=True)] = LATEST,
    base_directory: Annotated[str, Parameter(DIRECTORY_HELP, directory=True)] = "",
    limit: Annotated[int, Parameter(LIMIT_HELP)] = 50,
) -> TimingResult:
    """Compare how long two runs took, by test, suite, compile unit, task and command."""
    pair = pair_of(workspace, base, target, base_directory)
    return timing(pair.base, pair.target, limit=limit)
