"""What is asked of a run, and what it came to: the two values that a surface and a backend share."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from typing import NamedTuple

from treescribe.effects import DESTRUCTIVE
from treescribe.events import RunOutcome

CLIENT_VARIABLE = "TREESCRIBE_CLIENT"


@dataclass(frozen=True)
class RunRequest:
    """What is to be run.

    :ivar backend: the backend's name.
    :ivar targets: what was asked for, as text; runs with equal backend and targets are compared with each other.
    :ivar client: who asked: cli, mcp, job, or what the client calls itself.
    :ivar effect: of the targets; read-only ones do not take the workspace's lock.
    :ivar surface: ``treescribe`` or ``inv``: decides whether the line at the end is shown.
    """

    backend: str
    targets: tuple[str, ...]
    client: str = field(default_factory=lambda: os.environ.get(CLIENT_VARIABLE) or "cli")
    variant: str = ""
    mode: str = "run"
    effect: str = DESTRUCTIVE
    surface: str = "treescribe"


class Outcome(NamedTuple):
    """How a run ended: a `RunOutcome`, the exit code of its process, and the reason where nothing else gives it."""

    outcome: str
    exit_code: int | None
    error: str = ""

    @classmethod
    def of_exit_code(cls, exit_code: int) -> Outcome:
        """The outcome of a run whose process ends with `exit_code`."""
        return cls(RunOutcome.PASSED if exit_code == 0 else RunOutcome.FAILED, exit_code)

    @classmethod
    def cancelled(cls, exit_code: int | None, reason: str) -> Outcome:
        """The outcome of a run that somebody ended who had asked for it."""
        return cls(RunOutcome.CANCELLED, exit_code, reason)

    @classmethod
    def of_signal(cls, number: int) -> Outcome:
        """The outcome of a run that a signal ended; 128 and its number is what a shell calls the exit code."""
        return cls(RunOutcome.CANCELLED, 128 + number, f"ended by {signal.Signals(number).name}")
