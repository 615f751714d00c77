"""The clock: the one place that reads the time, so that a test can hand in another."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What a run needs to know of time."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch; may step backwards."""

    def elapsed_ms(self) -> int:
        """Milliseconds since some fixed moment; never steps."""


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def elapsed_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000
