"""Python's garbage collector, out of the way of work that makes no garbage: importing, reading, comparing."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Have nothing collected during the block: it would look through all that was made so far, again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def leave_quickly() -> None:
    """Spare this process its last collection, at its exit: it looks through every module that was imported.

    Only for a process in which no task of a user ran: finalizers of what is garbage by then are not called.
    """
    atexit.register(gc.freeze)
