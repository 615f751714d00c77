"""Backends: how the targets of a workspace are run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from treescribe.events import Event
    from treescribe.request import Outcome, RunRequest
    from treescribe.workspace import Workspace


class Target(NamedTuple):
    """Something that a backend can run by name."""

    name: str
    help: str = ""


class Backend(Protocol):
    """What brings a build tool to treescribe."""

    name: str

    def detect(self, workspace: Workspace) -> bool:
        """Whether this backend's tool is used in the workspace. Reads marker files only."""

    def targets(self, workspace: Workspace) -> Sequence[Target]:
        """What can be run there."""

    def run(self, workspace: Workspace, request: RunRequest, emit: Callable[[Event], None]) -> Outcome:
        """Run the request's targets, emitting events as they happen."""
