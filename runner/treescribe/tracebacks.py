"""Keeping treescribe's own frames out of the tracebacks of users' exceptions, caught ones too."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

_OWN = str(Path(__file__).parent) + os.sep


def trim(error: BaseException) -> None:
    """Take the frames of this package out of an exception's traceback, before it is raised on with a bare ``raise``."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    if not any(_is_own(frame) for frame in frames):
        return
    below: TracebackType | None = None
    for frame in reversed(frames):
        if not _is_own(frame):
            below = TracebackType(below, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__traceback__ = below


def _is_own(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(_OWN)
