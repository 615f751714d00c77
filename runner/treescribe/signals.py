"""What happens to signals while a command runs in the foreground.

Ctrl-C reaches the command itself, which shares our process group; we wait for what it makes of it, and end what
is left of it at the second one. SIGTERM and SIGHUP, which reach only us, are passed on.
"""

from __future__ import annotations

import signal
import subprocess
from types import FrameType, TracebackType
from typing import Any, Self

from treescribe.process_tree import end_tree

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)


class Interruptions:
    """Takes SIGINT, SIGTERM and SIGHUP for the block. ``received`` lists what came."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._previous: dict[int, Any] = {}

    def pass_on_to(self, process: subprocess.Popen[bytes]) -> None:
        """Name the process; signals that came before are passed on."""
        self._process = process
        for number in self.received:
            if number in _PASSED_ON:
                process.send_signal(number)

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, *_PASSED_ON):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, and background jobs of a shell, ignore
                self._previous[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
        process = self._process
        if process is None or process.poll() is not None:
            return
        if number in _PASSED_ON:
            process.send_signal(number)
        elif self.received.count(signal.SIGINT) > 1:
            end_tree(process.pid)
