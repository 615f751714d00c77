"""One job: what stands in its files, and the state that follows from them."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from treescribe import locks

from treescribe_jobs.processes import Life, life_of


class State(StrEnum):
    """What has become of a job.

    ``undecidable``: its runner is dead, and its own process cannot be seen from here (another container's).
    """

    RUNNING = "running"
    ENDED = "ended"
    LOST = "lost"
    UNDECIDABLE = "undecidable"


class End(NamedTuple):
    """How a job ended: with an exit code or by a signal, and whether it was stopped."""

    exit_code: int | None
    signal: int | None
    stopped: bool
    ended_at: int
    duration_ms: int
    error: str = ""


class Job:
    """A job's folder.

    :ivar id: its number in the workspace.
    """

    def __init__(self, folder: Path, number: int) -> None:
        self.folder = folder
        self.id = number

    @property
    def record(self) -> dict[str, Any]:
        """What the job is; empty where it cannot be read."""
        return _read(self.folder / "record.json") or {}

    @property
    def answer(self) -> dict[str, Any] | None:
        """The summary of the run that the job is, once that has ended."""
        return _read(self.folder / "answer.json")

    @property
    def run(self) -> int | None:
        """The number of the run that it is; None where none has begun, or it was not recorded."""
        return (_read(self.folder / "run.json") or {}).get("run")

    @property
    def log(self) -> Path:
        """What it printed."""
        return self.folder / "output.log"

    def end(self) -> End | None:
        """How it ended; None where that is not written down."""
        told = _read(self.folder / "exit.json")
        return End(**{name: told[name] for name in End._fields if name in told}) if told is not None else None

    def state(self) -> State:
        """What has become of it.

        The runner holds a lock for as long as it lives, which containers that share the folder see too. How the job
        ended is read again after the runner was found dead: that is the last thing it writes.
        """
        if self.end() is not None:
            return State.ENDED
        if self._runner_lives():
            return State.RUNNING
        if self.end() is not None:
            return State.ENDED
        child = life_of(self.record.get("child", {}))
        return {Life.ALIVE: State.RUNNING, Life.DEAD: State.LOST, Life.UNKNOWN: State.UNDECIDABLE}[child]

    def ended_at(self) -> int | None:
        """When it ended, in milliseconds since the epoch; of a lost one, when it last printed; None: not ended."""
        end = self.end()
        if end is not None:
            return end.ended_at
        if self.state() is not State.LOST:
            return None
        newest = max((self.folder / name).stat().st_mtime for name in os.listdir(self.folder))
        return int(newest * 1000)

    def write(self, name: str, value: dict[str, Any]) -> None:
        """Write one of its files, in one step."""
        temporary = self.folder / f"{name}.{os.getpid()}.part"
        temporary.write_text(json.dumps(value))
        temporary.replace(self.folder / name)

    def _runner_lives(self) -> bool:
        try:
            descriptor = locks.open_lock_file(self.folder / "lock", create=False)
        except FileNotFoundError:
            return False
        try:
            return not locks.try_lock(descriptor, shared=True)
        finally:
            locks.close_lock_file(descriptor)


def _read(path: Path) -> dict[str, Any] | None:
    """A small file of a job; None where it is not there, or not whole."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
