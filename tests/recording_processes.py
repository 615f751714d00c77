"""Processes that record and read runs as a test tells them, and that can be killed at any moment."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS = 60
"""How long an answer is waited for."""


class Refused(Exception):
    """What a worker was asked cannot be had: the name of the error's class, and its message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class Recorder:
    """One worker, see `recording_worker`.

    :ivar notes: what it told besides its answers and nobody has taken.
    """

    def __init__(self, nursery: Nursery, number: int, channel: socket.socket) -> None:
        self.number = number
        self.notes: list[Any] = []
        self._nursery = nursery
        self._channel = channel
        self._lines = channel.makefile("rb")

    def ask(self, command: str, **values: Any) -> Any:
        self.send(command, **values)
        return self.answer()

    def send(self, command: str, **values: Any) -> None:
        self._channel.sendall(json.dumps([command, values]).encode() + b"\n")

    def answer(self) -> Any:
        """Its answer; raises Refused where it is a `TreescribeError`."""
        while True:
            said = self._said()
            assert said is not None, "it has died"
            if "note" in said:
                self.notes.append(said["note"])
                continue
            if "refused" in said:
                raise Refused(*said["refused"])
            assert "failed" not in said, said["failed"]
            return said["answer"]

    def note(self) -> Any:
        """The next thing that it tells."""
        said = self._said()
        assert said is not None and "note" in said, f"a note is expected, not {said}"
        return said["note"]

    def kill(self) -> list[Any]:
        """Kill it as kill -9 does; what it told until then."""
        assert self._nursery.ask("kill", str(self.number)) == 9
        return self._last_notes()

    def death(self) -> list[Any]:
        """Wait until it has been killed; what it told until then."""
        told = self._last_notes()
        assert self._nursery.ask("wait", str(self.number)) == 9
        return told

    def close(self) -> None:
        """Hang up."""
        self._lines.close()
        self._channel.close()

    def _last_notes(self) -> list[Any]:
        told = self.notes
        while (said := self._said()) is not None:
            assert "note" in said, said
            told.append(said["note"])
        self.close()
        return told

    def _said(self) -> dict[str, Any] | None:
        try:
            line = self._lines.readline()
        except ConnectionResetError:  # killed before it had read what it was asked
            return None
        if not line.endswith(b"\n"):
            return None
        said: dict[str, Any] = json.loads(line)
        return said


class Nursery:
    """Makes workers, within milliseconds: they are forked by a process that has imported what they need."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._path = folder / "socket"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen()
        self._listener.settimeout(SECONDS)
        self._recorders: list[Recorder] = []

    def recorder(self) -> Recorder:
        number = self.ask("fork", str(self._path))
        channel, _ = self._listener.accept()
        channel.settimeout(SECONDS)
        recorder = Recorder(self, number, channel)
        self._recorders.append(recorder)
        return recorder

    def ask(self, what: str, word: str) -> int:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{what} {word}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """Kill the workers that there are."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(SECONDS)
        for recorder in self._recorders:
            recorder.close()
        self._listener.close()


@contextmanager
def nursery() -> Iterator[Nursery]:
    """A nursery, and nothing left of it afterwards."""
    program = Path(__file__).with_name("recording_worker.py")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, str(program)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process,
    ):
        made = Nursery(process, Path(folder))
        try:
            yield made
        finally:
            made.close()
