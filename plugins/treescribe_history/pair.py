"""The two runs that an operation compares, found and read."""

from __future__ import annotations

from typing import NamedTuple

from treescribe.host import host
from treescribe.workspace import Workspace, same_directory

from treescribe_history.resolve import LATEST, PREVIOUS, RunReference, ended_transcript, latest_ended, previous, resolve
from treescribe_history.store import Store
from treescribe_history.transcript import Transcript

BASE_HELP = "the run to compare with: its number, previous, or a pinned name"
TARGET_HELP = "the run that is looked at: its number, latest, or a pinned name"
DIRECTORY_HELP = "another worktree, that the base is a run of"
LIMIT_HELP = "how many entries of each section are listed at most; 0 lists all"
OFFSET_HELP = "how many entries of each section are passed over first"


class Pair(NamedTuple):
    """The two runs of a comparison."""

    base: Transcript
    target: Transcript


def pair_of(workspace: Workspace, base: RunReference, target: RunReference, base_directory: str) -> Pair:
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
