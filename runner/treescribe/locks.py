"""Locks of the operating system on files: exclusive or shared, held by an open file, gone with its process.

Each lock is `flock` on a descriptor of its own, so it holds between threads as well as between processes, on
a file that stays where it is. (A lock-file library is not used: it has to open the file itself and knows
exclusive locks only, while a live transcript is locked through the descriptor that writes it, and a workspace's
lock is shared by runs.)
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

POLL_SECONDS = 0.02


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Take the lock on an open file if nobody else holds it; whether it was taken."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise
    return True


def wait_for_lock(
    descriptor: int,
    *,
    shared: bool = False,
    timeout: float | None = None,
    waiting: Callable[[float], None] | None = None,
) -> bool:
    """Take the lock on an open file, waiting for it.

    :param timeout: seconds to wait at most; None waits for ever.
    :param waiting: called with the seconds waited so far, each time the lock was found held.
    :returns: whether it was taken.
    """
    begun = time.monotonic()
    while not try_lock(descriptor, shared=shared):
        waited = time.monotonic() - begun
        if timeout is not None and waited >= timeout:
            return False
        if waiting is not None:
            waiting(waited)
        time.sleep(POLL_SECONDS)
    return True


_open_in_this_process: set[int] = set()


def _drop_in_forked_child() -> None:
    """A fork shares the lock with its parent and would hold it on; what it inherits is closed there."""
    for descriptor in _open_in_this_process:
        with suppress(OSError):
            os.close(descriptor)
    _open_in_this_process.clear()


os.register_at_fork(after_in_child=_drop_in_forked_child)


def open_lock_file(path: Path, *, create: bool = True) -> int:
    """Open (and create, unless told not to) a file to be locked; close it with `close_lock_file`."""
    flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
    return own_descriptor(descriptor)


def own_descriptor(descriptor: int) -> int:
    """Have `descriptor` closed in processes forked from this one, so that they do not keep its lock."""
    _open_in_this_process.add(descriptor)
    return descriptor


def close_lock_file(descriptor: int) -> None:
    """Let go of the lock and close the file."""
    if descriptor in _open_in_this_process:
        _open_in_this_process.discard(descriptor)
        os.close(descriptor)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock on `path` for the block; for short, sure-to-end work only: it waits for ever."""
    descriptor = open_lock_file(path)
    try:
        wait_for_lock(descriptor)
        yield
    finally:
        close_lock_file(descriptor)
