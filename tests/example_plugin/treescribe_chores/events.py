"""What is told of chores, and compared."""

from __future__ import annotations

from dataclasses import dataclass

from treescribe import Event, Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoreFinished(Event):
    """A chore ended. ``status`` is passed or failed; chores that take longer differ in nothing that is compared."""

    chore: str
    status: str
    duration_ms: int = 0

    def fact(self) -> Fact:
        """How it came out, by its name."""
        return Fact("chore", (self.chore,), (("status", self.status),))
