"""The runs of one workspace on disk: which there are, where they stand, and the lock of those who change them.

.treescribe/history/12.jsonl            a finished run
.treescribe/history/12.digest.json      what history.list needs of it, derived (see `digest`)
.treescribe/history/active/13.jsonl     a run that is going on: its writer holds the file's lock
.treescribe/history/counter             the last id that was given
.treescribe/history/pins.json           names of runs that are kept for good
.treescribe/history/lock                held, for moments, by whoever changes any of these
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from treescribe import locks
from treescribe.errors import RunUnavailable
from treescribe.workspace import Workspace, ensure_state

from treescribe_history.recently_read import read_recently
from treescribe_history.transcript import ACTIVE, Header, Transcript, read_header

if TYPE_CHECKING:
    from treescribe.codec import Codec

SUFFIX = ".jsonl"
TEMPORARY_PREFIX = ".writing-"
"""Of files that are being written. All are written under the store's lock, so whoever holds it may sweep them."""


class StoredRun(NamedTuple):
    """A run that has a file. ``active``: among the live ones; its process may have died."""

    id: int
    path: Path
    active: bool


class Store:
    """The history of one workspace. It holds nothing but paths: every call looks at the disk."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.folder = workspace.state / "history"
        self.active = self.folder / ACTIVE

    # -- reading ----------------------------------------------------------------------------------------

    def runs(self) -> list[StoredRun]:
        """Every run that has a file, the newest first.

        :raises RunUnavailable: where the folder cannot be read.
        """
        # a run that finishes between the two looks is moved from the first folder to the second: seen twice, never lost
        live = {number: StoredRun(number, path, True) for number, path in self._files(self.active)}
        finished = {number: StoredRun(number, path, False) for number, path in self._files(self.folder)}
        return sorted((live | finished).values(), reverse=True)

    def find(self, number: int) -> StoredRun | None:
        """The run of this id; None where it has no file."""
        return next((stored for stored in self.runs() if stored.id == number), None)

    def read(self, stored: StoredRun, codec: Codec) -> Transcript:
        """Read a run, also where it finishes meanwhile; raises RunUnavailable."""
        try:
            try:
                return read_recently(stored.path, codec)
            except FileNotFoundError:
                return read_recently(self.folder / stored.path.name, codec)
        except OSError as error:
            raise self._unreadable(stored, error) from error

    def header(self, stored: StoredRun) -> Header:
        """Read only a run's header, also where it finishes meanwhile; raises RunUnavailable."""
        try:
            try:
                return read_header(stored.path)
            except FileNotFoundError:
                return read_header(self.folder / stored.path.name)
        except OSError as error:
            raise self._unreadable(stored, error) from error

    def companions(self) -> Iterator[os.DirEntry[str]]:
        """The files that belong to finished runs: their transcripts and whatever is called ``<id>.…`` beside them."""
        with os.scandir(self.folder) as entries:
            yield from (entry for entry in entries if _is_number(entry.name.partition(".")[0]) and entry.is_file())

    def _files(self, folder: Path) -> Iterator[tuple[int, Path]]:
        try:
            names = os.listdir(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunUnavailable(
                f"the history of {self.workspace.root} cannot be read: {folder}: {error.strerror}"
            ) from error
        for name in names:
            stem, suffix = os.path.splitext(name)
            if suffix == SUFFIX and _is_number(stem):
                yield int(stem), folder / name

    def _unreadable(self, stored: StoredRun, error: OSError) -> RunUnavailable:
        return RunUnavailable(
            f"run #{stored.id} of {self.workspace.root} cannot be read: {error.strerror}.",
            "It may have been evicted a moment ago. See: treescribe history.list",
        )

    # -- writing ----------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Create the folders; raises OSError where nothing can be written."""
        ensure_state(self.workspace)
        self.active.mkdir(parents=True, exist_ok=True)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the store's lock for a block, against threads and processes; for moments only."""
        return locks.exclusive(self.folder / "lock")

    def replace(self, path: Path, data: bytes) -> None:
        """Write a small file in one step. The caller holds the lock."""
        handle, temporary = new_file(path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def sweep(self) -> None:
        """Remove temporary files that a process left when it died. The caller holds the lock."""
        for folder in (self.folder, self.active):
            for name in os.listdir(folder):
                if name.startswith(TEMPORARY_PREFIX):
                    with suppress(OSError):
                        os.unlink(folder / name)


def new_file(folder: Path) -> tuple[int, Path]:
    """Create a file under a name that no other has: (descriptor, path). Who may read it, the umask says."""
    path = folder / f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), path


def _is_number(text: str) -> bool:
    """Whether `text` is an id as it stands in file names: ASCII digits, no leading zero."""
    return text.isascii() and text.isdigit() and text[0] != "0" and len(text) < 19
