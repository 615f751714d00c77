"""Targets of backends beside the tasks: ``treescribe BACKEND.TARGET`` is a run of that backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from invoke.collection import Collection

from treescribe.backend import Backend, Target
from treescribe.errors import InvalidInput, TreescribeError
from treescribe.events import RunOutcome
from treescribe.executor import effect_of_targets, end_by_signal, outcome_of_exception, tell_end
from treescribe.follower import follower
from treescribe.host import Host, host
from treescribe.observed_tasks import error_text
from treescribe.operation_tasks import OwnTask, place_for
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.saying import say
from treescribe.settings import Settings, load_settings
from treescribe.signals import EndingSignals
from treescribe.workspace import Workspace

FAILED = 2
"""The exit code where a backend itself fails."""


class BackendTask(OwnTask):
    """A target of a backend, under its name on the command line."""

    def __init__(self, backend: Backend, target: Target) -> None:
        def body(context: Any) -> None:
            raise InvalidInput(f"{backend.name}.{target.name} is run by the command line only.")

        body.__doc__ = target.help
        super().__init__(body, name=target.name)
        self.backend = backend
        self.target = target.name


def add_targets(own: Collection, backends: Iterable[Backend], workspace: Workspace) -> None:
    """Add the targets of the backends that are used in the workspace; a name that is taken stays what it is."""
    for backend in backends:
        try:
            targets = backend.targets(workspace) if backend.detect(workspace) else ()
            tasks = [(BackendTask(backend, target), f"{backend.name}.{target.name}") for target in targets]
        except Exception as error:  # noqa: BLE001 - a plugin's fault must not keep the others from being used
            say(f"treescribe: the targets of the backend {backend.name} cannot be had: {error_text(error)}")
            continue
        for task, name in tasks:
            if name not in own.task_names:
                place, leaf = place_for(own, name)
                place.add_task(task, name=leaf)


def run_targets(tasks: Sequence[Any], directory: str, *, dry: bool) -> int:
    """Run targets of one backend as one run; returns the exit code.

    :raises InvalidInput: where something else is asked for beside them.
    :raises TreescribeError: where the backend fails.
    """
    backend = tasks[0].backend if isinstance(tasks[0], BackendTask) else None
    if backend is None or any(getattr(task, "backend", None) is not backend for task in tasks):
        raise InvalidInput("targets of a backend are run by themselves.", "Give one command for each backend.")
    if dry:
        raise InvalidInput(f"the backend {backend.name} has no dry runs.")
    run = _planned(backend.name, tuple(task.target for task in tasks), Workspace.open(directory))
    try:
        with EndingSignals(lambda number: end_by_signal(run, number)):
            outcome = _recorded(run, backend.run)
    finally:
        tell_end(run)
    return outcome.exit_code if outcome.exit_code is not None else 1


def _planned(backend: str, targets: tuple[str, ...], workspace: Workspace) -> Run:
    """The run, not begun; where a setting cannot be used, one that nobody observes."""
    try:
        settings, plugins = load_settings(workspace.root), host()
    except InvalidInput as error:
        if (following := follower()) is not None:
            raise following.refused(f"this run would not be recorded: {error}") from error
        say(f"treescribe: this run is not recorded: {error}")
        settings, plugins = Settings(), Host(())
    effect = effect_of_targets([f"{backend}.{target}" for target in targets], settings)
    return Run(workspace, RunRequest(backend, targets, effect=effect), host=plugins, settings=settings)


def _recorded(run: Run, body: Callable[[Run], Outcome]) -> Outcome:
    try:
        run.start()
        outcome = body(run)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"an Outcome is expected, not {type(outcome).__name__}")
    except Exception as error:
        reason = error_text(error)
        run.finish(Outcome(RunOutcome.ERROR, FAILED, reason))
        if isinstance(error, TreescribeError):
            raise
        raise TreescribeError(f"the backend {run.request.backend} failed: {reason}") from error
    except BaseException as error:
        run.finish(outcome_of_exception(error))
        raise
    run.finish(outcome)
    return outcome
