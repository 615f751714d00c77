"""Runs whose process died: the next writer makes finished transcripts of them, with every whole line they had."""

from __future__ import annotations

import os
from contextlib import suppress

from treescribe import locks
from treescribe.codec import Codec, to_line
from treescribe.errors import RunUnavailable

from treescribe_history.store import Store, StoredRun
from treescribe_history.transcript import read_transcript


def recover(store: Store) -> list[int]:
    """Finish the live files that no writer holds; return their ids. The caller holds the store's lock."""
    left = [stored for stored in store.runs() if stored.active]
    return [stored.id for stored in left if _finish_if_free(store, stored)]


def _finish_if_free(store: Store, stored: StoredRun) -> bool:
    """Finish the file of a run if its lock is free. A file that cannot be understood is moved as it is."""
    try:
        descriptor = locks.own_descriptor(os.open(stored.path, os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return False  # gone, or not ours to write
    try:
        if not locks.try_lock(descriptor):
            return False
        with suppress(RunUnavailable):
            _complete(stored, descriptor)
        os.fsync(descriptor)
        os.rename(stored.path, store.folder / stored.path.name)
    except OSError:
        return False  # the next writer may have more luck; readers show it as interrupted all the same
    finally:
        locks.close_lock_file(descriptor)
    return True


def _complete(stored: StoredRun, descriptor: int) -> None:
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
