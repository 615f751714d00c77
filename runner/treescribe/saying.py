"""What treescribe says of itself goes to standard error, and costs nobody anything where nobody reads it."""

from __future__ import annotations

import os
import sys


def say(*lines: str) -> None:
    """Show lines on standard error. Where there is none (``2>&-``), or its reader has gone, they are dropped."""
    if sys.stderr is None:
        return
    try:
        for line in lines:
            print(line, file=sys.stderr)
    except OSError:  # its reader has gone: what is left in the buffer would change our exit code in the end
        sys.stderr = open(os.devnull, "w")
    except (ValueError, RuntimeError):
        pass  # closed by somebody, or written to at this very moment
