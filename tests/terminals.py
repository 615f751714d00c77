"""A command on a terminal of its own, as a user's shell would start it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
from pathlib import Path

SECONDS = 30


class Terminal:
    """A pseudo-terminal of 33 lines and 77 columns, with a command that leads its session.

    :ivar output: what the command has printed so far.
    """

    def __init__(self, root: Path, *command: str) -> None:
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(root)
            os.execvp(command[0], command)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
        self.output = b""

    def read_until(self, text: bytes) -> None:
        """Wait until the command has printed `text`."""
        while text not in self.output:
            self.output += self._read()

    def type(self, text: bytes) -> None:
        """Type `text`; control characters do what they do on a terminal."""
        os.write(self._descriptor, text)

    def close(self) -> None:
        """Close the window."""
        os.close(self._descriptor)
        self._descriptor = -1

    def wait(self) -> int:
        """Wait for the command's end; negative where a signal ended it."""
        while self._descriptor >= 0:
            try:
                data = self._read()
            except OSError:
                data = b""
            if not data:
                self.close()
            self.output += data
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bytes:
        ready = select.select([self._descriptor], [], [], SECONDS)[0]
        assert ready, f"nothing more came after {self.output!r}"
        return os.read(self._descriptor, 4096)
