"""treescribe keeps every run of the `invoke` task runner as a value.

What a plugin's author imports: `hookimpl`, the event base class and its facts, `Operation` and `Parameter`,
`Workspace`, `RunRequest` and `Outcome`, `Target` and `run_command`. Names are loaded when they are used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from treescribe.collector import collector_paused

if TYPE_CHECKING:
    from treescribe.backend import Backend, Target
    from treescribe.environment import Variable
    from treescribe.errors import InvalidInput, TreescribeError
    from treescribe.events import Event
    from treescribe.exec_command import run_command
    from treescribe.executor import Executor
    from treescribe.facts import Fact, WorkspacePath
    from treescribe.operation import Operation, Parameter
    from treescribe.output_readers import OutputReader, plain_text
    from treescribe.request import Outcome, RunRequest
    from treescribe.run import Run
    from treescribe.spec import hookimpl
    from treescribe.workspace import Workspace
    from treescribe.workspace_status import Status

_HOMES = {
    "Backend": "backend",
    "Event": "events",
    "Executor": "executor",
    "Fact": "facts",
    "InvalidInput": "errors",
    "Operation": "operation",
    "Outcome": "request",
    "OutputReader": "output_readers",
    "Parameter": "operation",
    "Run": "run",
    "RunRequest": "request",
    "Status": "workspace_status",
    "Target": "backend",
    "TreescribeError": "errors",
    "Variable": "environment",
    "Workspace": "workspace",
    "WorkspacePath": "facts",
    "hookimpl": "spec",
    "plain_text": "output_readers",
    "run_command": "exec_command",
}

__all__ = [
    "Backend",
    "Event",
    "Executor",
    "Fact",
    "InvalidInput",
    "Operation",
    "Outcome",
    "OutputReader",
    "Parameter",
    "Run",
    "RunRequest",
    "Status",
    "Target",
    "TreescribeError",
    "Variable",
    "Workspace",
    "WorkspacePath",
    "hookimpl",
    "plain_text",
    "run_command",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        with collector_paused():
            return getattr(import_module(f"treescribe.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'treescribe' has no attribute {name!r}")
