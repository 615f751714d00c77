"""The hooks. Importing this module is cheap: what they need is imported when they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from treescribe import Operation, hookimpl

if TYPE_CHECKING:
    from treescribe import Backend, Event, OutputReader
    from treescribe.events import CommandStarted


@hookimpl
def treescribe_backends() -> Sequence[Backend]:
    """``treescribe chores.NAME`` runs a chore."""
    from treescribe_chores.backend import Chores

    return [Chores()]


@hookimpl
def treescribe_event_types() -> Sequence[type[Event]]:
    """The events of this plugin, so that they can be read back."""
    from treescribe_chores.events import ChoreFinished

    return [ChoreFinished]


@hookimpl
def treescribe_operations() -> Sequence[Operation]:
    """``treescribe chores.list``; its functions are named, and imported where they are called."""
    return [
        Operation(
            "chores.list",
            function="treescribe_chores.listing:list_chores",
            render="treescribe_chores.listing:render",
            help="List the chores of this worktree.",
        )
    ]


@hookimpl
def treescribe_output_readers(command: CommandStarted) -> Sequence[OutputReader]:
    """Messages that any command prints, beside those that treescribe reads itself."""
    from treescribe_chores.diagnostics import MessageReader

    return [MessageReader(command.cwd)]
