"""The operation ``chores.list``."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict
from treescribe import InvalidInput, Parameter, Workspace
from treescribe.terminal import Style

from treescribe_chores.backend import FILE, Chores, chores_of


class Chore(BaseModel):
    """A chore and its command line."""

    model_config = ConfigDict(frozen=True)

    name: str
    line: str


class ChoresResult(BaseModel):
    """The chores of a worktree, in the order of its file."""

    model_config = ConfigDict(frozen=True)

    chores: tuple[Chore, ...]


def list_chores(
    workspace: Workspace,
    word: Annotated[str, Parameter("Only chores whose command line has this in it.", positional=True)] = "",
) -> ChoresResult:
    """List the chores of this worktree, with their command lines."""
    if not Chores().detect(workspace):
        raise InvalidInput(f"{workspace.root} has no {FILE}.", "Write one, with a line for each chore: name: command")
    found = [Chore(name=name, line=line) for name, line in chores_of(workspace).items() if word in line]
    return ChoresResult(chores=tuple(found))


def render(result: ChoresResult, style: Style) -> str:
    """A line for each chore."""
    return "\n".join(f"{style.paint(chore.name, 'strong')}  {chore.line}" for chore in result.chores)
