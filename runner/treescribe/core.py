"""The built-in plugin: treescribe's own operations, registered the way a third party's are."""

from __future__ import annotations

from treescribe.operation import Operation
from treescribe.spec import hookimpl


@hookimpl
def treescribe_operations() -> list[Operation]:
    """``plugins`` and ``init``."""
    return [
        Operation(
            "plugins",
            function="treescribe.plugins_operation:plugins",
            render="treescribe.plugins_operation:render",
            help="The plugins that were found, and what is wrong with those that were left out.",
            needs_workspace=False,
        ),
        Operation(
            "init",
            function="treescribe.initialise:init",
            render="treescribe.initialise:render",
            help="Have plain inv record in this project too.",
        ),
    ]
