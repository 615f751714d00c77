"""A run that somebody follows: the run's first word, its events and its end go to a socket that this process inherited.

A server that was asked for a run starts ``treescribe …`` with one end of a pair of sockets and ``TREESCRIBE_FOLLOWER``:
a JSON object with the socket's ``descriptor``, the ``root`` of the workspace that is meant, and the ``max_effect`` that
the targets may have. What comes back are JSON lines: ``{"run": …}`` as the run begins, each event as it stands in
the transcript, or ``{"refused": …}``. The follower may send ``{"cancel": "why"}``; its end of the socket closed says
the same, so that no run outlives who asked for it.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from treescribe.codec import to_line
from treescribe.effects import within
from treescribe.environment import FOLLOWER_VARIABLE
from treescribe.errors import InvalidInput
from treescribe.request import Outcome
from treescribe.workspace import same_directory

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from socket import socket

    from treescribe.events import Event
    from treescribe.run import Run

PROTOCOL = 1
"""The version of what is told here; changed with every change that an older server would not understand."""

GRACE_SECONDS = 5.0
"""How long a cancelled run has for its end, and then its commands for theirs."""


class Follower:
    """Who follows the run of this process."""

    def __init__(self, connection: socket, root: str, max_effect: str, mark: str) -> None:
        self._socket: socket | None = connection
        self._root = root
        self._max_effect = max_effect
        self._mark = mark
        self._cancelled: str | None = None
        self._ended = threading.Event()

    def admit(self, run: Run) -> None:
        """Refuse what is not meant, before anything of the run happens.

        :raises InvalidInput: where it is another workspace's run, or one of a stronger effect.
        """
        root, request = run.workspace.root, run.request
        if not same_directory(root, self._root):
            raise self.refused(
                f"{' '.join(request.targets)} is a run of the workspace {root}, not of {self._root}.",
                "Name that workspace as the directory.",
            )
        if not within(request.effect, self._max_effect):
            raise self.refused(
                f"{' '.join(request.targets)}: not declared {self._max_effect}.",
                "The project declares what its targets do under treescribe.effects in its invoke configuration.",
            )

    def refused(self, message: str, hint: str = "") -> InvalidInput:
        """Tell the follower that there will be no run; returns the error to raise."""
        self._send(json.dumps({"refused": message, "hint": hint}).encode() + b"\n")
        return InvalidInput(message, hint)

    def begin(self, run: Run) -> None:
        """Tell the run's number, and listen for the word to end it."""
        first = {
            "run": run.id,
            "workspace": str(run.workspace.root),
            "targets": run.request.targets,
            "backend": run.request.backend,
        }
        self._send(json.dumps(first).encode() + b"\n")
        threading.Thread(target=self._listen, args=(self._socket,), daemon=True).start()

    def send(self, event: Event) -> None:
        """Send an event as it is recorded."""
        try:
            line = to_line(event)
        except (TypeError, ValueError):  # a third party's event that is no JSON: the recorder says so
            return
        self._send(line)

    def outcome(self, outcome: Outcome) -> Outcome:
        """How the run ended: cancelled, where its follower ended it."""
        if self._cancelled is None or outcome.exit_code == 0:
            return outcome
        return Outcome.cancelled(outcome.exit_code, self._cancelled)

    def end(self) -> None:
        """The run is over: nothing of it is left running where it was cancelled."""
        from socket import SHUT_RDWR

        from treescribe.process_tree import end_below

        self._ended.set()
        if self._cancelled is not None:
            end_below(os.getpid(), GRACE_SECONDS, mark=self._mark)
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(SHUT_RDWR)  # and the thread that listens has its end
            self._socket = None

    def _send(self, line: bytes) -> None:
        if self._socket is None:
            return
        try:
            self._socket.sendall(line)
        except OSError:
            self._socket = None

    def _listen(self, connection: socket | None) -> None:
        from treescribe.process_tree import end_below

        if connection is None:
            return
        why = "who asked for it has gone"
        with suppress(OSError, ValueError, KeyError, TypeError):
            line = connection.makefile("rb").readline()
            why = str(json.loads(line)["cancel"]) if line else why
        if self._ended.is_set():
            return
        self._cancelled = why
        os.kill(os.getpid(), signal.SIGTERM)
        if not self._ended.wait(GRACE_SECONDS):  # a command that does not end, or a task that lets no signal through
            end_below(os.getpid(), 0, mark=self._mark)
            if not self._ended.wait(GRACE_SECONDS):
                os._exit(128 + signal.SIGTERM)


_of_this_process: Follower | None = None


def take_follower(environment: MutableMapping[str, str]) -> None:
    """Take the follower out of the environment that this process was started with, so that no child has it."""
    from socket import socket

    from treescribe.process_tree import marked, new_mark

    global _of_this_process
    told = environment.pop(FOLLOWER_VARIABLE, None)
    if told is None:
        return
    record: dict[str, Any] = json.loads(told)
    connection = socket(fileno=record["descriptor"])
    connection.set_inheritable(False)
    mark = new_mark()
    environment.update(marked(environment, mark))
    _of_this_process = Follower(connection, record["root"], record["max_effect"], mark)


def follower() -> Follower | None:
    """Who follows the run of this process; the first run that begins is the one that is followed."""
    return _of_this_process


def _not_in_forks() -> None:
    global _of_this_process
    _of_this_process = None


os.register_at_fork(after_in_child=_not_in_forks)
