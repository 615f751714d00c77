"""The spool: how processes below a run hand it what they know.

A folder in which each process writes a file of its own, ``<reader>-<anything>.jsonl``, appending whole lines of
JSON. The run reads on as the files grow and hands each record to the reader of that name.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from treescribe import locks

SPOOL_VARIABLE = "TREESCRIBE_SPOOL"
POLL_SECONDS = 0.1
_PREFIX = "treescribe-spool-"
_OWNER = "owner"


class SpoolReader(Protocol):
    """Takes what the processes of one kind wrote."""

    def record(self, source: str, record: dict[str, Any]) -> None:
        """Take one record; `source` is the name of the file it stood in."""

    def caught_up(self) -> None:
        """Everything that was written so far was handed over: what has no end by now is going on."""

    def settle(self) -> None:
        """A command has ended and everything written by then was handed over: what cannot come any more is missing."""


class Spool:
    """The reading side of a run's spool. Thread-safe; readers are called by one thread at a time.

    :param report: told, once, of a reader that raised; it is not called again.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        sweep()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._owner = locks.open_lock_file(self.folder / _OWNER)
        locks.try_lock(self._owner)
        self._readers: dict[str, SpoolReader] = {}
        self._offsets: dict[str, int] = {}
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, name: str, reader: SpoolReader) -> None:
        """Hand the records of files called ``<name>-….jsonl`` to `reader`."""
        with self._lock:
            self._readers[name] = reader

    def start(self) -> None:
        """Begin to read on in the background."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="treescribe-spool", daemon=True)
            self._thread.start()

    def read(self) -> None:
        """Hand over every whole line that was written so far."""
        with self._lock:
            try:
                names = sorted(entry.name for entry in os.scandir(self.folder) if entry.name.endswith(".jsonl"))
            except OSError:
                return
            for name in names:
                self._read_file(name)
            for name in tuple(self._readers):
                self._call(name, lambda reader: reader.caught_up())

    def settle(self) -> None:
        """Read to the end, then tell the readers that a command has ended."""
        with self._lock:
            self.read()
            for name in tuple(self._readers):
                self._call(name, lambda reader: reader.settle())

    def close(self) -> None:
        """Stop reading and remove the folder."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        shutil.rmtree(self.folder, ignore_errors=True)
        locks.close_lock_file(self._owner)

    def _watch(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            self.read()

    def _read_file(self, name: str) -> None:
        reader_name = name.partition("-")[0]
        if reader_name not in self._readers:
            return
        try:
            with open(self.folder / name, "rb") as file:
                file.seek(self._offsets.get(name, 0))
                data = file.read()
        except OSError:
            return
        whole = data.rfind(b"\n") + 1
        self._offsets[name] = self._offsets.get(name, 0) + whole
        for line in data[:whole].splitlines():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue  # a line torn by a process that died and another that went on
            if isinstance(record, dict):
                self._call(reader_name, partial(_hand_over, name, record))

    def _call(self, name: str, call: Callable[[SpoolReader], None]) -> None:
        reader = self._readers.get(name)
        if reader is None:
            return
        try:
            call(reader)
        except Exception as error:  # noqa: BLE001 - a reader that raises never stops the run or the other readers
            del self._readers[name]
            self._report(f"the spool's reader {name} failed: {type(error).__name__}: {error}")


def is_live(folder: str | os.PathLike[str]) -> bool:
    """Whether the run that reads a spool goes on: it holds the lock of a file there for as long as it lives."""
    try:
        descriptor = locks.open_lock_file(Path(folder) / _OWNER, create=False)
    except OSError:
        return False
    try:
        return not locks.try_lock(descriptor, shared=True)
    except OSError:
        return False
    finally:
        locks.close_lock_file(descriptor)


def sweep() -> None:
    """Remove the spools of runs that died: what processes wrote there was never masked."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid() and (folder / _OWNER).exists() and not is_live(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _hand_over(source: str, record: dict[str, Any], reader: SpoolReader) -> None:
    reader.record(source, record)
