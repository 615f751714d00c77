"""A tool: what an MCP client sees of something that can be done, and what does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel
from treescribe.effects import Effect
from treescribe.workspace import Workspace


class Reports(Protocol):
    """Takes news of a call that goes on; they reach the client as progress notifications, where it wants them."""

    async def __call__(self, message: str, progress: float, total: float | None = None) -> None: ...


@dataclass(frozen=True)
class Call:
    """One call of a tool.

    :ivar arguments: validated, an instance of the tool's model.
    :ivar directory: which the client named, for tools that act in a workspace; empty for others.
    :ivar workspace: around that directory.
    :ivar client: what the client calls itself.
    """

    arguments: BaseModel
    directory: str
    workspace: Workspace | None
    client: str
    report: Reports

    @property
    def place(self) -> Workspace:
        """The workspace, of a tool that acts in one."""
        if self.workspace is None:
            raise TypeError("this tool works without a workspace")
        return self.workspace


@dataclass(frozen=True)
class Tool:
    """What can be called.

    :ivar name: with underscores, as MCP clients expect.
    :ivar toolset: ``run`` for running, else the first part of the operation's name: what ``--toolsets`` selects.
    :ivar description: what it does, for a model to read.
    :ivar arguments: the pydantic model of its arguments, the workspace excepted.
    :ivar result: the class of its structured result: a pydantic model, or a `treescribe.result.Result`.
    :ivar directories: the arguments, beside the workspace, that are directories.
    :ivar ceiling: bytes that its answer has at most, as JSON.
    :ivar rest: how to get what was cut off.
    """

    name: str
    toolset: str
    description: str
    effect: Effect
    arguments: type[BaseModel]
    result: type[Any]
    call: Callable[[Call], Awaitable[dict[str, Any]]]
    needs_workspace: bool = True
    directories: frozenset[str] = field(default_factory=frozenset)
    ceiling: int = 16 * 1024
    rest: str = ""
