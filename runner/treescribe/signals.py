"""What happens to signals during a run: what would have happened without us, after the transcript was finished.

Three parts: `undisturbed`, the blocks of our own code in which signals wait; `EndingSignals`, for a run of tasks,
whose process is to die of a signal as plain ``inv`` does; `PassedOnSignals`, for ``treescribe exec``, which stands
before its command as a shell would.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

_KEYBOARD = (signal.SIGINT, signal.SIGQUIT)
_ENDING = (*_KEYBOARD, signal.SIGTERM, signal.SIGHUP)


class _Undisturbed:
    """``with undisturbed:`` holds signals back that come to the main thread, until the outermost block is left.

    Locks are held and files are half-written inside; whatever a signal does, it does to a run that is whole.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._waiting: list[Callable[[], None]] = []
        os.register_at_fork(after_in_child=self._reset)

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        while self._waiting and self._depth == 0:
            self._waiting.pop(0)()

    def then(self, call: Callable[[], None]) -> None:
        """Call it outside of these blocks: at once, or when the outermost is left. Called by handlers of signals.

        A second one does not wait: whoever sends it may have seen that the first one does.
        """
        if self._depth == 0 or self._waiting:
            call()
        else:
            self._waiting.append(call)

    def _reset(self) -> None:
        """In a fork: the block belongs to a thread of the parent's."""
        self._depth = 0
        self._waiting.clear()


undisturbed = _Undisturbed()


_taken: list[_TakenSignals] = []


def _give_back_in_fork() -> None:
    """A fork has none of the run: signals do in it what they would without us."""
    for taken in reversed(_taken):
        taken.give_back()
    _taken.clear()


os.register_at_fork(after_in_child=_give_back_in_fork)


class _TakenSignals:
    """Takes signals for a block; none outside of the main thread, which alone may.

    What is ignored (by ``nohup``, or for background jobs of a shell) stays ignored.
    """

    numbers: tuple[int, ...] = _ENDING

    def __init__(self) -> None:
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self.numbers:
                previous = signal.getsignal(number)
                if self._is_taken(number, previous):
                    self._previous[number] = previous
                    signal.signal(number, self._take)
            _taken.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self in _taken:
            self.give_back()
            _taken.remove(self)

    def give_back(self) -> None:
        """Put the handlers back that were there, where nobody has put others since."""
        for number, previous in self._previous.items():
            if signal.getsignal(number) == self._take:
                signal.signal(number, previous)

    def _is_taken(self, number: int, previous: Any) -> bool:
        raise NotImplementedError

    def _take(self, number: int, frame: FrameType | None) -> None:
        raise NotImplementedError


class EndingSignals(_TakenSignals):
    """For a run of tasks: Ctrl-C raises; the others end the process as they would, after `before_death`.

    A handler of the project's own stays.

    :param before_death: called with the signal's number.
    :ivar interrupted: whether Ctrl-C came.
    """

    def __init__(self, before_death: Callable[[int], None]) -> None:
        super().__init__()
        self.interrupted = False
        self._before_death = before_death

    def _is_taken(self, number: int, previous: Any) -> bool:
        return callable(previous) if number == signal.SIGINT else previous is signal.SIG_DFL

    def _take(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT:
            self.interrupted = True
            previous = self._previous[number]
            undisturbed.then(lambda: previous(number, frame))
        else:
            undisturbed.then(lambda: self._die(number))

    def _die(self, number: int) -> None:
        signal.signal(number, signal.SIG_DFL)
        try:
            self._before_death(number)
        finally:
            os.kill(os.getpid(), number)


class PassedOnSignals(_TakenSignals):
    """For one command in the foreground.

    What the keyboard sends (Ctrl-C, Ctrl-\\) reaches the command itself, which shares our process group; we wait for
    what it makes of it, however often. Other signals, which reach only us, are passed on. Until `hold` is called
    no command is there to wait for, and signals do what they do to any program.

    :ivar received: the signals that came since then, of those that end programs.
    :ivar after_its_end: those that came when the command had ended already; it may have been of the same Ctrl-C.
    """

    numbers = (*_ENDING, signal.SIGUSR1, signal.SIGUSR2)

    def __init__(self) -> None:
        super().__init__()
        self.received: list[int] = []
        self.after_its_end: list[int] = []
        self._held = False
        self._command: subprocess.Popen[bytes] | None = None

    def hold(self) -> None:
        """A command is about to be started: signals wait for it."""
        self._held = True

    def pass_on_to(self, command: subprocess.Popen[bytes]) -> None:
        """Name the command; signals that it did not get are passed on."""
        self._command = command
        for number in self.received:
            self._pass_on(number)

    def _is_taken(self, number: int, previous: Any) -> bool:
        return previous is not signal.SIG_IGN

    def _take(self, number: int, frame: FrameType | None) -> None:
        if not self._held:
            undisturbed.then(lambda: self._as_ever(number))
            return
        if number in _ENDING:
            self.received.append(number)
        self._pass_on(number)

    def _pass_on(self, number: int) -> None:
        if self._command is None:
            return
        if self._command.poll() is not None:
            self.after_its_end.append(number)
        elif number not in _KEYBOARD:
            self._command.send_signal(number)

    def _as_ever(self, number: int) -> None:
        signal.signal(number, self._previous[number])
        signal.raise_signal(number)
