"""Reads what recorders wrote into a run's spool: one session for each pytest, told apart by its file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from treescribe.run import Run

from treescribe_pytest.session import Session


class PytestReader:
    """A `treescribe.spool.SpoolReader`. Records that are not what a recorder writes are passed over."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._sessions: dict[str, Session] = {}
        self._dead: list[Session] = []

    def record(self, source: str, record: dict[str, Any]) -> None:
        if source.endswith(ABANDONED) and source.removesuffix(ABANDONED) + ".jsonl" in self._sessions:
            return  # the same records under another name
        session = self._sessions.get(source)
        if session is None:
            session = Session.started(record, self._run)
            if session is not None:
                self._sessions[source] = session
            return
        session.record(record)

    def caught_up(self) -> None:
        """Tell which tests are running: those that have started and not finished in what was written so far."""
        for session in self._sessions.values():
            session.tell_running()

    def command_ended(self) -> None:
        """Note which pytests are gone; one that ends from here on may still write its end."""
        sessions = self._sessions.values()
        self._dead = [session for session in sessions if not session.over and not is_alive(session.pid)]

    def settle(self) -> None:
        """Close the sessions of pytests that died. One that runs on, in the background, stays open."""
        for session in self._dead:
            if not session.over:
                session.died()


ABANDONED = ".abandoned.jsonl"
"""How the name of a file ends whose recorder could not write its end."""


def is_alive(pid: int) -> bool:
    """Whether a process goes on. One that has ended and was not waited for yet (a zombie) does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return True  # a system without /proc, or gone this very moment
    return state not in ("Z", "X")
