"""Keeping treescribe's own frames out of the tracebacks that users see of their own exceptions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

_OWN = str(Path(__file__).parent)
_installed = False


@contextmanager
def hide_own_frames() -> Iterator[None]:
    """Have an exception that leaves the block, and is never caught, shown as it would be without treescribe."""
    try:
        yield
    except BaseException:
        _install()
        raise


def _install() -> None:
    global _installed
    if _installed:
        return
    _installed = True
    previous = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        seen: set[int] = set()
        chained: BaseException | None = error
        while chained is not None and id(chained) not in seen:
            seen.add(id(chained))
            chained.__traceback__ = without_own_frames(chained.__traceback__)
            chained = chained.__cause__ or chained.__context__
        previous(kind, error, error.__traceback__)

    sys.excepthook = excepthook


def without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return `trace` without the frames of this package."""
    if trace is None:
        return None
    below = without_own_frames(trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(_OWN) and below is not None:
        return below
    return TracebackType(below, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
