"""Passing a command's output on to our own, byte for byte, while the run takes its copy."""

from __future__ import annotations

import fcntl
import os
import pty
import selectors
import signal
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from treescribe.run import Run

CHUNK = 1 << 16


class Channel:
    """One output stream: what the child writes to, what we read from, where it goes.

    A pipe, or a terminal where ours is one: so that the command prints there what it prints without us. The terminal
    hands on every byte as it is; it is not the command's controlling terminal, which stays the user's own.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.terminal = _is_terminal(target)
        if self.terminal:
            self.source, self.child = pty.openpty()
            tty.setraw(self.child)
            self.resize()
        else:
            self.source, self.child = os.pipe()
        self.reader_gone = False

    def resize(self) -> None:
        """Give the command's terminal the size of ours."""
        with suppress(OSError):
            size = fcntl.ioctl(self.target, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self.source, termios.TIOCSWINSZ, size)

    def read(self) -> bytes:
        """The next bytes; empty at the end."""
        try:
            return os.read(self.source, CHUNK)
        except OSError:  # a pseudo-terminal whose other side is closed
            return b""

    def write(self, data: bytes) -> None:
        """Hand `data` on. Where nobody reads any more, the command is to notice as it would without us."""
        view = memoryview(data)
        while view and not self.reader_gone:
            try:
                view = view[os.write(self.target, view) :]
            except BlockingIOError:
                select_writable(self.target)
            except OSError:
                self.reader_gone = True


class PassThrough:
    """The output of one command: two streams, or one where ours are the same file, so that their order is kept."""

    def __init__(self, run: Run, command: int) -> None:
        self.stdout = Channel(1)
        self.stderr = self.stdout if _is_same_file(1, 2) else Channel(2)
        self._feeds = {self.stderr: run.capture(command, "stderr").feed} if self.stderr is not self.stdout else {}
        self._feeds[self.stdout] = run.capture(command, "stdout").feed

    def close_child_ends(self) -> None:
        """Let go of what the child has for itself by now, so that the end of its output can be seen."""
        for channel in self._feeds:
            os.close(channel.child)

    def copy_until_end(self) -> None:
        """Copy until every process that holds the streams has closed them."""
        with _resizing(tuple(self._feeds)), selectors.DefaultSelector() as selector:
            for channel in self._feeds:
                selector.register(channel.source, selectors.EVENT_READ, channel)
            while selector.get_map():
                for key, _ in selector.select():
                    if not self._copy_once(key.data):
                        selector.unregister(key.fileobj)
                        os.close(key.data.source)

    def _copy_once(self, channel: Channel) -> bool:
        """Whether there may be more to copy."""
        data = channel.read()
        if data:
            channel.write(data)
            self._feeds[channel](data)
        return bool(data) and not channel.reader_gone


@contextmanager
def _resizing(channels: tuple[Channel, ...]) -> Iterator[None]:
    terminals = [channel for channel in channels if channel.terminal]
    if not terminals:
        yield
        return

    def resize(number: int, frame: FrameType | None) -> None:
        for channel in terminals:
            channel.resize()

    previous = signal.signal(signal.SIGWINCH, resize)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, previous)


def select_writable(descriptor: int) -> None:
    """Wait until a descriptor that somebody made non-blocking takes more."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_WRITE)
        selector.select()


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _is_same_file(one: int, other: int) -> bool:
    try:
        return os.path.samestat(os.fstat(one), os.fstat(other))
    except OSError:
        return False
