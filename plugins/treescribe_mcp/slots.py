"""So many runs at a time on one machine, whichever server they were asked of."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from treescribe import locks

_LOOK_SECONDS = 0.05
_TELL_SECONDS = 5.0


class Slots:
    """Places for runs: a file each, locked by who has it.

    :param folder: that all servers of a user share; one below the temporary folder unless told.
    """

    def __init__(self, number: int, folder: Path | None = None) -> None:
        self.number = number
        self._folder = folder or _shared_folder()

    @asynccontextmanager
    async def one(self, waiting: Callable[[float], Awaitable[None]]) -> AsyncIterator[None]:
        """Have a slot for the block.

        :param waiting: told the seconds waited so far, every few seconds, where none is free.
        """
        descriptor = self._take()
        if descriptor is None:
            descriptor = await self._wait(waiting)
        try:
            yield
        finally:
            locks.close_lock_file(descriptor)

    async def _wait(self, waiting: Callable[[float], Awaitable[None]]) -> int:
        begun = anyio.current_time()
        told = begun - _TELL_SECONDS
        while True:
            if anyio.current_time() - told >= _TELL_SECONDS:
                told = anyio.current_time()
                await waiting(told - begun)
            await anyio.sleep(_LOOK_SECONDS)
            descriptor = self._take()
            if descriptor is not None:
                return descriptor

    def _take(self) -> int | None:
        """A descriptor that holds a free slot; None where all are taken."""
        for number in range(self.number):
            descriptor = locks.open_lock_file(self._folder / f"{number}.lock")
            if locks.try_lock(descriptor):
                return descriptor
            locks.close_lock_file(descriptor)
        return None


def _shared_folder() -> Path:
    """A folder of this user's own, which is gone when the machine starts anew."""
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    folder = Path(base, f"treescribe-slots-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else")
    return folder
