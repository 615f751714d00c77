"""Runs whose process died: the next writer makes finished transcripts of them, with every whole line they had."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace

from treescribe import locks
from treescribe.codec import Codec, to_line
from treescribe.errors import RunUnavailable
from treescribe.events import RunFinished
from treescribe.request import Outcome

from treescribe_history.store import Store, StoredRun
from treescribe_history.transcript import DIED, read_transcript


def recover(store: Store) -> list[int]:
    """Finish the live files that no writer holds; return their ids. The caller holds the store's lock."""
    left = [stored for stored in store.runs() if stored.active]
    return [stored.id for stored in left if _finish_if_free(store, stored)]


def finish_abandoned(store: Store, number: int, outcome: Outcome) -> bool:
    """Finish the live file of a run whose process somebody killed; whether there was one to finish.

    :param outcome: how the run ended, and why.
    """
    with suppress(OSError), store.locked():
        stored = store.find(number)
        return stored is not None and stored.active and _finish_if_free(store, stored, outcome)
    return False


def _finish_if_free(store: Store, stored: StoredRun, outcome: Outcome = DIED) -> bool:
    """Finish the file of a run if its lock is free. A file that cannot be understood is moved as it is."""
    try:
        descriptor = locks.own_descriptor(os.open(stored.path, os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False  # gone, or not ours to write
    try:
        if not locks.try_lock(descriptor):
            return False
        with suppress(RunUnavailable):
            _complete(stored, descriptor, outcome)
        os.fsync(descriptor)
        os.rename(stored.path, store.folder / stored.path.name)
    except OSError:
        return False  # the next writer may have more luck; readers show it as interrupted all the same
    finally:
        locks.close_lock_file(descriptor)
    return True


def _complete(stored: StoredRun, descriptor: int, outcome: Outcome) -> None:
    """Mend the file's end to what readers of it see there already: no torn line, and what `closing_events` says."""
    codec = Codec()
    transcript = read_transcript(stored.path, codec, written_to=False)
    size, whole = os.fstat(descriptor).st_size, _whole_length(descriptor)
    torn = os.pread(descriptor, size - whole, whole)
    os.lseek(descriptor, 0, os.SEEK_END)
    if torn and codec.is_whole(torn):
        os.write(descriptor, b"\n")
    elif torn:
        os.ftruncate(descriptor, whole)
        os.lseek(descriptor, whole, os.SEEK_SET)
    for event in transcript.closing:
        if isinstance(event, RunFinished):
            event = replace(event, outcome=outcome.outcome, exit_code=outcome.exit_code, error=outcome.error)
        os.write(descriptor, to_line(event))


def _whole_length(descriptor: int) -> int:
    """Up to where the file consists of whole lines."""
    end = os.fstat(descriptor).st_size
    block = 1 << 16
    while end > 0:
        start = max(0, end - block)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
