"""The file that one recorder writes: whole lines of JSON, appended to a file of its own in the spool."""

from __future__ import annotations

import json
import os
from typing import Any


class Journal:
    """Appends records to ``<folder>/<reader>-<pid>-<random>.jsonl``. Raises what the system raises.

    What it needs of the system is bound here, once: a test may replace ``os.write`` or the whole file system
    (pyfakefs) while its own report is written.
    """

    def __init__(self, folder: str, reader: str) -> None:
        self._encode = json.JSONEncoder(separators=(",", ":")).encode
        self._open, self._write, self._fstat, self._getpid = os.open, os.write, os.fstat, os.getpid
        self.pid = os.getpid()
        self._rename = os.rename
        self.path = os.path.join(folder, f"{reader}-{self.pid}-{os.urandom(4).hex()}.jsonl")
        self._descriptor = -1
        self._identity = (-1, -1)
        self._torn = False

    def begin(self) -> None:
        """Create the file."""
        self._reopen(os.O_CREAT | os.O_EXCL)

    def write(self, record: dict[str, Any]) -> None:
        """Append one record."""
        self.append(self._encode(record))

    def append(self, text: str) -> None:
        """Append one record, as JSON, with one call, in the process that began the file and in no fork of it."""
        if self._getpid() != self.pid:
            return
        line = text.encode("ascii") + b"\n"
        if not self._is_ours():
            self._reopen(0)
        if self._torn:
            line = b"\n" + line
        self._torn = True
        if self._write(self._descriptor, line) != len(line):
            raise OSError("the record was cut short")
        self._torn = False

    def close(self) -> None:
        """Give up the descriptor: nothing more is to be written."""
        if self._is_ours():
            os.close(self._descriptor)

    def abandon(self) -> None:
        """Give the file another name, which needs no room: what tells an end that could not be written from a death."""
        if self._getpid() == self.pid:
            self._rename(self.path, self.path[: -len(".jsonl")] + ".abandoned.jsonl")

    def _is_ours(self) -> bool:
        """Whether the descriptor is still our file: a test may have closed it, and another file may have its number."""
        try:
            status = self._fstat(self._descriptor)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def _reopen(self, flags: int) -> None:
        self._descriptor = self._open(self.path, os.O_WRONLY | os.O_APPEND | flags, 0o600)
        status = self._fstat(self._descriptor)
        self._identity = (status.st_dev, status.st_ino)
