"""What treescribe says of itself goes to standard error, and costs nobody anything where nobody reads it."""

from __future__ import annotations

import sys
from contextlib import suppress


def say(*lines: str) -> None:
    """Show lines on standard error. Where there is none (``2>&-``), or its reader has gone, they are dropped."""
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError, RuntimeError):  # gone; closed by somebody; written to at this very moment
        for line in lines:
            print(line, file=sys.stderr)
