"""The operations that compare two runs: the runs are found here, and compared by `diff` and `timing`."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from treescribe.host import host
from treescribe.operation import Parameter
from treescribe.workspace import Workspace, same_directory

from treescribe_history.diff import diff
from treescribe_history.diff_models import DiffResult
from treescribe_history.resolve import LATEST, PREVIOUS, RunReference, ended_transcript, latest_ended, previous, resolve
from treescribe_history.store import Store
from treescribe_history.timing import TimingResult, timing
from treescribe_history.transcript import Transcript

_BASE = "the run to compare with: its number, previous, or a pinned name"
_TARGET = "the run that is looked at: its number, latest, or a pinned name"
_DIRECTORY = "another worktree, that the base is a run of"
_LIMIT = "how many entries of each section are listed at most; 0 lists all"
_OFFSET = "how many entries of each section are passed over first"


def diff_runs(
    workspace: Workspace,
    base: Annotated[RunReference, Parameter(_BASE, positional=True)] = PREVIOUS,
    target: Annotated[RunReference, Parameter(_TARGET, positional=True)] = LATEST,
    base_directory: Annotated[str, Parameter(_DIRECTORY, directory=True)] = "",
    exit_code: Annotated[bool, Parameter("end with exit code 1 where there are differences")] = False,
    limit: Annotated[int, Parameter(_LIMIT)] = 50,
    offset: Annotated[int, Parameter(_OFFSET)] = 0,
) -> DiffResult:
    """Compare two runs: tests, suites, compile units, diagnostics, tasks and commands, not how long they took."""
    pair = _pair(workspace, base, target, base_directory)
    return diff(pair.base, pair.target, limit=limit, offset=offset)


def time_runs(
    workspace: Workspace,
    base: Annotated[RunReference, Parameter(_BASE, positional=True)] = PREVIOUS,
    target: Annotated[RunReference, Parameter(_TARGET, positional=True)] = LATEST,
    base_directory: Annotated[str, Parameter(_DIRECTORY, directory=True)] = "",
    limit: Annotated[int, Parameter(_LIMIT)] = 50,
) -> TimingResult:
    """Compare how long two runs took, by test, suite, compile unit, task and command."""
    pair = _pair(workspace, base, target, base_directory)
    return timing(pair.base, pair.target, limit=limit)


class Pair(NamedTuple):
    """The two runs of a comparison."""

    base: Transcript
    target: Transcript


def _pair(workspace: Workspace, base: RunReference, target: RunReference, base_directory: str) -> Pair:
    """Read both runs; ``previous`` is the predecessor of the target, in another worktree the last one alike."""
    codec = host().codec()
    store = Store(workspace)
    found = latest_ended(store) if target == LATEST else resolve(store, target)
    after = ended_transcript(store, found, codec)
    other = Store(Workspace.open(base_directory)) if base_directory else store
    if base == PREVIOUS:
        stored = previous(other, after.header, same_store=same_directory(other.workspace.root, workspace.root))
    else:
        stored = latest_ended(other) if base == LATEST else resolve(other, base)
    return Pair(ended_transcript(other, stored, codec), after)
