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


_LAST_STANDARD_STREAM = 2
_open_in_this_process: dict[int, tuple[int, int]] = {}


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
    """Take charge of an open file, and return the number that it has from here on.

    It is closed in processes forked from this one, so that they do not keep its lock; and it is not one of the
    standard streams, where these were closed and somebody may write to them all the same.
    """
    if descriptor <= _LAST_STANDARD_STREAM:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _LAST_STANDARD_STREAM + 1)
        os.close(descriptor)
        descriptor = moved
    _open_in_this_process[descriptor] = _identity(descriptor)
    return descriptor


def is_ours(descriptor: int) -> bool:
    """Whether a number is still the file that it was: code that we run beside may close what it did not open."""
    try:
        return _open_in_this_process.get(descriptor) == _identity(descriptor)
    except OSError:
        return False


def close_lock_file(descriptor: int) -> None:
    """Let go of the lock and close the file."""
    ours = is_ours(descriptor)
    _open_in_this_process.pop(descriptor, None)  # before its number can be that of another thread's file
    if ours:
        os.close(descriptor)


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


LONGEST_SECONDS = 30.0
"""How long a lock that everybody holds for moments only may stay with one holder: that one was stopped, or is stuck."""


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock on `path` for the block; for short, sure-to-end work only.

    :raises TimeoutError: where somebody holds it for more than `LONGEST_SECONDS`. However many wait before us, as long
        as it passes from one to the other we wait.
    """
    descriptor = open_lock_file(path)
    seen, since = os.fstat(descriptor).st_mtime_ns, 0.0

    def look(waited: float) -> None:
        nonlocal seen, since
        taken = os.fstat(descriptor).st_mtime_ns
        if taken != seen:
            seen, since = taken, waited
        elif waited - since > LONGEST_SECONDS:
            raise TimeoutError(errno.ETIMEDOUT, f"another process holds its lock for {LONGEST_SECONDS:g} s", str(path))

    try:
        wait_for_lock(descriptor, waiting=look)
        os.utime(descriptor)  # by which those who wait see that it passes on
        yield
    finally:
        close_lock_file(descriptor)
