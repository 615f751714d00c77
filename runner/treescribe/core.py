"""The built-in plugin: treescribe's own operations, registered the way a third party's are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treescribe.operation import Operation
from treescribe.spec import hookimpl

if TYPE_CHECKING:
    from treescribe.workspace import Workspace
    from treescribe.workspace_status import Status


@hookimpl
def treescribe_operations() -> list[Operation]:
    """``plugins``, ``targets``, ``workspace.status`` and ``init``."""
    return [
        Operation(
            "plugins",
            function="treescribe.plugins_operation:plugins",
            render="treescribe.plugins_operation:render",
            help="The plugins that were found, and what is wrong with those that were left out.",
            needs_workspace=False,
        ),
        Operation(
            "targets",
            function="treescribe.targets_operation:targets",
            render="treescribe.targets_operation:render",
            help="What can be run here, with options and effects.",
            loads_tasks=True,
        ),
        Operation(
            "workspace.status",
            function="treescribe.workspace_status:workspace_status",
            render="treescribe.workspace_status:render",
            help="What is going on in this workspace.",
        ),
        Operation(
            "init",
            function="treescribe.initialise:init",
            render="treescribe.initialise:render",
            help="Have plain inv record in this project too.",
        ),
    ]


@hookimpl
def treescribe_workspace_status(workspace: Workspace) -> Status | None:
    """What git says of it."""
    from treescribe.workspace_status import git_status

    return git_status(workspace)
