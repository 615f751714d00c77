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
_decode = json.JSONDecoder().decode
POLL_SECONDS = 0.1
_PREFIX = "treescribe-spool-"
_OWNER = "owner"


class SpoolReader(Protocol):
    """Takes what the processes of one kind wrote."""

    def record(self, source: str, record: dict[str, Any]) -> None:
        """Take one record; `source` is the name of the file it stood in."""

    def caught_up(self) -> None:
        """Everything that was written so far was handed over: what has no end by now is going on."""

    def command_ended(self) -> None:
        """A command has ended. Which writers have gone may be noted: all that these wrote is handed over next."""

    def settle(self) -> None:
        """All that was written before `command_ended` was handed over: what is not there by now is missing."""


class Spool:
    """The reading side of a run's spool. Thread-safe; readers are called by one thread at a time.

    :param report: told, once, of a reader that raised; it is not called again.
    :param each_time: called after each look in the background.
    :raises OSError: where there is no temporary folder to be had.
    """

    def __init__(self, report: Callable[[str], None], each_time: Callable[[], None] = lambda: None) -> None:
        self._report = report
        self._each_time = each_time
        sweep()
        self.folder, self._owner = _owned_folder()
        self._readers: dict[str, SpoolReader] = {}
        self._offsets: dict[str, int] = {}
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, name: str, reader: SpoolReader) -> None:
        """Hand the records of files called ``<name>-….jsonl`` to `reader`. Waits for no look that is going on."""
        self._readers[name] = reader

    def start(self) -> None:
        """Begin to read on in the background. Where no thread can be had, everything is read by `settle`."""
        if self._thread is None:
            thread = threading.Thread(target=self._watch, name="treescribe-spool", daemon=True)
            with suppress(RuntimeError):
                thread.start()
                self._thread = thread

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
        """A command has ended: read to the end, then have the readers tell what is missing."""
        with self._lock:
            for name in tuple(self._readers):
                self._call(name, lambda reader: reader.command_ended())
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
            self._each_time()

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
        for line in data[:whole].decode(errors="replace").split("\n"):
            try:
                record = _decode(line)
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
            self._readers.pop(name, None)
            self._report(f"the spool's reader {name} failed: {type(error).__name__}: {error}")


def _owned_folder() -> tuple[Path, int]:
    """A new spool's folder and the descriptor that holds its lock; under its name only once it is locked.

    A sweep of another run takes what bears such a name, and no lock, for that of a run that died.
    """
    unnamed = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}"))
    owner = -1
    try:
        owner = locks.open_lock_file(unnamed / _OWNER)
        locks.try_lock(owner)
        folder = unnamed.with_name(unnamed.name[1:])
        unnamed.rename(folder)
    except OSError:
        if owner >= 0:
            locks.close_lock_file(owner)
        shutil.rmtree(unnamed, ignore_errors=True)
        raise
    return folder, owner


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
