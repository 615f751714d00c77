"""Backends: how the targets of a workspace are run.

A plugin brings one through the hook `treescribe_backends`. Where it is detected, its targets are run and recorded by
``treescribe BACKEND.TARGET``, and listed beside the tasks and operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from treescribe.request import Outcome
    from treescribe.run import Run
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
        """What can be run there. Asked for lists, and where a target of this backend is named."""

    def run(self, run: Run) -> Outcome:
        """Run the targets that `run.request` names, in order, in `run.workspace`.

        The run has started, and is finished with what is returned. Processes are started with
        `treescribe.run_command`, which passes their output on and records them; `run.emit` takes any other event.
        """
