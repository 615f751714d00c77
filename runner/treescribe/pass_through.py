"""Passing a command's output on to our own, byte for byte, while the run takes its copy."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import selectors
import signal
import termios
import time
import tty
from collections.abc import Callable, Container, Iterator
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
        self.problem = ""

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
        """Hand `data` on. Where nobody takes it any more, the command is to notice as it would without us.

        That a reader has gone is no fault; that a disk is full is one, and `problem` says so.
        """
        view = memoryview(data)
        while view and not self.reader_gone:
            try:
                view = view[os.write(self.target, view) :]
            except BlockingIOError:
                select_writable(self.target)
            except OSError as error:
                self.reader_gone = True
                if error.errno not in (errno.EPIPE, errno.EIO):
                    self.problem = f"{_NAMES[self.target]} cannot be written: {error.strerror}"


_NAMES = {1: "standard output", 2: "standard error"}
_STOPPED_WITHIN_SECONDS = 0.2
_LITTLE = 4096
_GATHERING_SECONDS = 0.003
"""How long output may gather after a little has come: to be woken by each dot of a test runner costs it, too."""


class PassThrough:
    """The output of one command: two streams, or one where ours are the same file, so that their order is kept.

    :param closed: the standard streams that we were started without; the command goes without them too.
    :ivar stdout, stderr: None where it is closed.
    """

    def __init__(self, run: Run, command: int, closed: Container[int] = ()) -> None:
        self.stdout = None if 1 in closed else Channel(1)
        together = self.stdout is not None and _is_same_file(1, 2)
        self.stderr = None if 2 in closed else self.stdout if together else Channel(2)
        named = (("stderr", self.stderr), ("stdout", self.stdout))
        self._feeds = {channel: run.capture(command, name).feed for name, channel in named if channel is not None}

    @property
    def problem(self) -> str:
        """Why what the command printed could not be handed on; empty where it could, or nobody wanted it."""
        return next((channel.problem for channel in self._feeds if channel.problem), "")

    def close_child_ends(self) -> None:
        """Let go of what the child has for itself by now, so that the end of its output can be seen."""
        for channel in self._feeds:
            os.close(channel.child)

    def copy_until_end(self, times_stopped: Callable[[], int] = lambda: 0) -> bool:
        """Copy until every process that holds the streams has closed them; whether that end was reached.

        :param times_stopped: how often we were told to stop: once, and what is there is copied first; twice, and it is
            not.
        """
        with _resizing(tuple(self._feeds)), selectors.DefaultSelector() as selector:
            for channel in self._feeds:
                selector.register(channel.source, selectors.EVENT_READ, channel)
            while selector.get_map():
                ready = selector.select(_STOPPED_WITHIN_SECONDS)
                if times_stopped() > bool(ready):
                    return False
                copied = 0
                for key, _ in ready:
                    size = self._copy_once(key.data)
                    copied += size
                    if not size:
                        selector.unregister(key.fileobj)
                        os.close(key.data.source)
                if 0 < copied < _LITTLE:
                    time.sleep(_GATHERING_SECONDS)
        return True

    def _copy_once(self, channel: Channel) -> int:
        """How many bytes were copied; 0 where no more can be."""
        data = channel.read()
        if data:
            channel.write(data)
            self._feeds[channel](data)
        return 0 if channel.reader_gone else len(data)


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


def occupy_closed_streams() -> frozenset[int]:
    """Keep files of ours from taking the places of standard streams that are closed; return which are.

    What stands there instead is closed again in any program that is started.
    """
    closed = frozenset(number for number in (0, 1, 2) if not _is_open(number))
    for _ in closed:
        os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)  # takes the lowest free number
    return closed


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


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
