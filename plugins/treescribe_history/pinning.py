"""The operations that give runs names and take them away."""

from __future__ import annotations

from typing import Annotated

from treescribe.frozen import frozen
from treescribe.operation import Parameter
from treescribe.result import Result
from treescribe.terminal import Style
from treescribe.workspace import Workspace

from treescribe_history.pins import check_name, pin, read_pins, unpin
from treescribe_history.resolve import RUN_HELP, RunReference, ended, resolve
from treescribe_history.store import Store


@frozen
class PinResult(Result):
    """A name that a run was given, or that was taken away; ``pins`` are those there are after it."""

    workspace: str
    name: str
    run: int
    pinned: bool
    pins: dict[str, int]


def pin_run(
    workspace: Workspace,
    run: Annotated[RunReference, Parameter(RUN_HELP, positional=True)],
    name: Annotated[str, Parameter("letters, digits and . _ - /, for example: main", positional=True)],
) -> PinResult:
    """Keep a run for good, under a name that serves wherever a run does."""
    check_name(name)
    store = Store(workspace)
    stored = ended(store, resolve(store, run))
    pin(store, stored, name)
    return PinResult(workspace=str(workspace.root), name=name, run=stored.id, pinned=True, pins=read_pins(store))


def unpin_run(
    workspace: Workspace,
    name: Annotated[str, Parameter("the pinned name", positional=True)],
) -> PinResult:
    """Take a name away from its run, which retention may then remove."""
    store = Store(workspace)
    number = unpin(store, name)
    return PinResult(workspace=str(workspace.root), name=name, run=number, pinned=False, pins=read_pins(store))


def render(result: PinResult, style: Style) -> str:
    """What a name stands for, or stood for."""
    if result.pinned:
        return f"#{result.run} is kept as {result.name}."
    others = [name for name, run in result.pins.items() if run == result.run]
    kept = f"It is still kept as {', '.join(others)}." if others else "It is kept as long as any other run."
    return f"{result.name} no longer stands for #{result.run}. {kept}"
