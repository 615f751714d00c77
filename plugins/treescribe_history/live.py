"""A transcript that is being written: locked for as long as its writer lives, whole lines at every moment."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from treescribe import locks

from treescribe_history.store import SUFFIX, Store, new_file
from treescribe_history.transcript import Header


class LiveTranscript:
    """The live file of one run. Lines are written by one thread at a time; every method may raise OSError."""

    def __init__(self, store: Store, number: int, descriptor: int) -> None:
        self.store = store
        self.id = number
        self._descriptor = descriptor

    @classmethod
    def create(cls, store: Store, header: Header) -> LiveTranscript:
        """Create the live file of the run in `header`. The caller holds the store's lock.

        The file appears under its name with its lock held and its header whole: nobody ever meets an unlocked one.
        """
        handle, temporary = new_file(store.active)
        try:
            handle = locks.own_descriptor(handle)
            if not locks.try_lock(handle):
                raise OSError("the new file is locked by another process")
            _write(handle, header.to_line())
            os.rename(temporary, store.active / f"{header.run}{SUFFIX}")
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            locks.close_lock_file(handle)
            raise
        return cls(store, header.run, handle)

    @property
    def path(self) -> Path:
        """Where the file stands while it is live."""
        return self.store.active / f"{self.id}{SUFFIX}"

    def write(self, line: bytes) -> None:
        """Append a line, in one call to the system where that takes it whole."""
        self._check_descriptor()
        _write(self._descriptor, line)

    def _check_descriptor(self) -> None:
        if not locks.is_ours(self._descriptor):
            raise OSError(errno.EBADF, "its file was closed by the run's own code")

    def finish(self) -> Path:
        """Complete the file: make sure it is on disk, and move it to the finished ones. Returns where it stands.

        :raises OSError: also where somebody removed the file, or has put another in its place.
        """
        self._check_descriptor()
        os.fsync(self._descriptor)
        finished = self.store.folder / self.path.name
        with self.store.locked():
            if not self._is_there():
                raise FileNotFoundError("it was removed while the run went on")
            os.rename(self.path, finished)
        self.close()
        return finished

    def abandon(self) -> None:
        """Remove the file: a run that could not be recorded whole is not recorded."""
        with suppress(OSError):
            if self._is_there():
                os.unlink(self.path)
        self.close()

    def close(self) -> None:
        """Let go of the file and its lock."""
        locks.close_lock_file(self._descriptor)

    def _is_there(self) -> bool:
        """Whether the file still has its name: the whole state folder may have been deleted, and begun anew."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False


def _write(descriptor: int, line: bytes) -> None:
    while line:
        line = line[os.write(descriptor, line) :]


def describe_writer() -> dict[str, Any]:
    """Describe this process, for people: whether a writer lives is asked of its lock, which containers see too."""
    writer: dict[str, Any] = {"treescribe": _version(), "pid": os.getpid(), "host": os.uname().nodename}
    with suppress(OSError, ValueError):
        stat = Path("/proc/self/stat").read_text()
        writer["started"] = int(stat.rpartition(")")[2].split()[19])  # clock ticks since boot
        writer["boot"] = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return writer


def _version() -> str:
    try:
        return metadata.version("treescribe")
    except metadata.PackageNotFoundError:
        return "unknown"
