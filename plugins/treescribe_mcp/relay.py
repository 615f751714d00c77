"""The relay: a small process between the client and the server, which starts the server, and starts it again.

The client never notices that what is installed was replaced, or that a server crashed, but by an answer that says so.
Lines are passed on as they are; what is decided stands in `relay_state`.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any

from treescribe_mcp.build import fingerprint
from treescribe_mcp.relay_state import Action, RelayState, Say, Start, Stop, ToClient, ToServer

LOOK_SECONDS = 1.0
"""How often is looked for a replacement. What is found has to be the same twice: an installation takes time."""

ENDING_SECONDS = 20.0
"""How long a server has to end its runs."""

Happened = Callable[[], list[Action]]


class _Writer:
    """Writes lines in a thread of its own: a reader that is slow must not keep us from reading."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stream = stream
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def write(self, line: bytes) -> None:
        self._lines.put(line)

    def close(self, seconds: float) -> None:
        """Write what is left, and close the stream."""
        self._lines.put(None)
        self._thread.join(seconds)

    def _work(self) -> None:
        with suppress(OSError, ValueError):
            while (line := self._lines.get()) is not None:
                self._stream.write(line)
                self._stream.flush()
        with suppress(OSError):
            self._stream.close()


class _Server:
    """A server process, with a thread that reads what it says."""

    def __init__(self, number: int, process: subprocess.Popen[bytes], happened: Callable[[Any], None]) -> None:
        self.process = process
        assert self.process.stdin is not None
        self.writer = _Writer(self.process.stdin)
        threading.Thread(target=self._read, args=(number, happened), daemon=True).start()

    def _read(self, number: int, happened: Callable[[Any], None]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            happened(("said", number, line))
        happened(("ended", number, _how(self.process.wait())))

    def end(self) -> None:
        """Have it end: its input closed, then SIGTERM, then SIGKILL."""
        self.writer.close(1.0)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDING_SECONDS)
            return
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(ENDING_SECONDS)
            return
        self.process.kill()


class Relay:
    """One client's relay, on this process's standard input and output.

    :param command: that starts a server.
    :param first: one that was started already.
    :param installed: the mark of what is installed.
    """

    def __init__(
        self, command: Sequence[str], first: subprocess.Popen[bytes], installed: Callable[[], str] = fingerprint
    ) -> None:
        self._command = command
        self._first: subprocess.Popen[bytes] | None = first
        self._installed = installed
        self._happened: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._state = RelayState()
        self._servers: dict[int, _Server] = {}
        self._client = _Writer(os.fdopen(os.dup(1), "wb"))
        self._mark = self._seen = installed()

    def run(self) -> int:
        """Relay until the client goes or a signal comes; returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self._happened.put(("gone",)))
        threading.Thread(target=self._read_client, daemon=True).start()
        self._do(self._state.begin(time.monotonic()))
        looked = time.monotonic()
        while True:
            try:
                what = self._happened.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                what = ("time",)
            if what[0] == "gone":
                break
            self._do(self._actions(what))
            if time.monotonic() - looked >= LOOK_SECONDS:
                looked = time.monotonic()
                self._do([*self._look(), *self._state.time_passes(looked)])
        self._end()
        return 0

    def _actions(self, what: tuple[Any, ...]) -> list[Action]:
        now = time.monotonic()
        if what[0] == "client":
            return self._state.client_said(what[1], now)
        if what[0] == "said":
            return self._state.server_said(what[1], what[2], now)
        if what[0] == "ended":
            self._servers.pop(what[1], None)
            return self._state.server_ended(what[1], now, what[2])
        return []

    def _look(self) -> list[Action]:
        """Whether another treescribe is installed than serves, and stays so for a moment."""
        try:
            seen = self._installed()
        except OSError:  # in the middle of an installation
            return []
        stable, self._seen = seen == self._seen, seen
        if not stable or seen == self._mark:
            return []
        self._mark = seen
        return self._state.program_changed(time.monotonic())

    def _do(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, ToClient):
                self._client.write(action.line)
            elif isinstance(action, ToServer):
                if action.server in self._servers:
                    self._servers[action.server].writer.write(action.line)
            elif isinstance(action, Start):
                self._start(action.server)
            elif isinstance(action, Stop):
                if action.server in self._servers:
                    threading.Thread(target=self._servers.pop(action.server).end).start()
            elif isinstance(action, Say):
                print(f"treescribe mcp: {action.text}", file=sys.stderr)

    def _start(self, number: int) -> None:
        try:
            process = self._first or subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._first = None
            self._servers[number] = _Server(number, process, self._happened.put)
        except OSError as error:
            self._happened.put(("ended", number, f"cannot be started: {error.strerror}"))

    def _read_client(self) -> None:
        with os.fdopen(os.dup(0), "rb") as stream:
            for line in stream:
                self._happened.put(("client", line if line.endswith(b"\n") else line + b"\n"))
        self._happened.put(("gone",))

    def _end(self) -> None:
        endings = [threading.Thread(target=server.end) for server in self._servers.values()]
        for ending in endings:
            ending.start()
        for ending in endings:
            ending.join()
        self._client.close(1.0)


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
