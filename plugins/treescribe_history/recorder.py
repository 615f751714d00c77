"""The recorder: writes each run of this process to its own file, and never breaks one.

Whatever keeps a run from being recorded (a full disk, a read-only tree, a state folder that somebody deletes) is
told once on stderr; the run goes on, and its id is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from treescribe.codec import to_line
from treescribe.errors import TreescribeError
from treescribe.saying import say

from treescribe_history.digest import Digest, make_digest, save_digest
from treescribe_history.fingerprint import Fingerprint
from treescribe_history.ids import mint
from treescribe_history.live import LiveTranscript, describe_writer
from treescribe_history.recovery import recover
from treescribe_history.retention import Limits, evict
from treescribe_history.store import Store
from treescribe_history.transcript import Header

if TYPE_CHECKING:
    from pathlib import Path

    from treescribe.events import Event
    from treescribe.run import Run


@dataclass
class Recording:
    """One run that is being recorded."""

    header: Header
    live: LiveTranscript
    fingerprint: Fingerprint = field(default_factory=Fingerprint)


_recordings: dict[Run, Recording] = {}
"""The recordings of this process. A run's own calls never overlap; those of several runs have nothing in common."""


def start(run: Run) -> None:
    """Give the run its id and open its file. Files that dead processes left in the workspace are finished first."""
    store = Store(run.workspace)
    try:
        store.prepare()
        with store.locked():
            store.sweep()
            recover(store)
            header = _header(run, mint(store))
            live = LiveTranscript.create(store, header)
    except (OSError, TreescribeError) as error:
        _warn(run, error)
    else:
        _recordings[run] = Recording(header, live)
        run.id = header.run


def record(run: Run, event: Event) -> None:
    """Write an event of the run."""
    recording = _recordings.get(run)
    if recording is None:
        return
    try:
        recording.live.write(to_line(event))
    except OSError as error:
        _give_up(run, error)
    else:
        recording.fingerprint.add(event)


def finish(run: Run) -> tuple[Header, Path, Digest] | None:
    """Complete the run's file; return what stands in it, or None where the run is not recorded."""
    recording = _recordings.get(run)
    if recording is None:
        return None
    try:
        path = recording.live.finish()
    except TimeoutError as error:  # it is whole; the next run moves it to the finished ones
        _recordings.pop(run).live.close()
        _warn(run, error, "is left to be put away by the next one")
        return None
    except OSError as error:
        _give_up(run, error)
        return None
    del _recordings[run]
    return recording.header, path, make_digest(recording.header, run.verdict, recording.fingerprint.text())


def tidy(run: Run, path: Path, digest: Digest) -> None:
    """Keep the digest of a finished run, and remove the runs that exceed the limits."""
    store = Store(run.workspace)
    limits = Limits(run.settings.history_keep, run.settings.history_bytes)
    try:
        with store.locked():
            if path.exists():  # the end of another run may have evicted this one while it was compared
                save_digest(store, path, digest)
            evict(store, limits, just_finished=digest.run)
    except (OSError, TreescribeError) as error:
        say(f"treescribe: old runs of {run.workspace.root} stay where they are: {error}")


def _header(run: Run, number: int) -> Header:
    request = run.request
    return Header(
        run=number,
        workspace=str(run.workspace.root),
        backend=request.backend,
        variant=request.variant,
        mode=request.mode,
        targets=request.targets,
        client=request.client,
        started_at=run.started_at,
        parent=run.parent._asdict() if run.parent else None,
        writer=describe_writer(),
    )


def _give_up(run: Run, error: OSError) -> None:
    _recordings.pop(run).live.abandon()
    run.id = None
    _warn(run, error)


def _warn(run: Run, error: OSError | TreescribeError, what: str = "is not recorded") -> None:
    reason = str(error)
    if isinstance(error, OSError) and error.strerror:
        in_the_way = isinstance(error, (NotADirectoryError, FileExistsError)) and error.filename
        reason = f"{error.filename}: {error.strerror}" if in_the_way else error.strerror
    say(f"treescribe: this run {what} in {run.workspace.root}: {reason}")
