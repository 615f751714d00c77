"""Recording what an invoke executor executes, mixed over whichever executor class a project uses.

``tasks: {executor_class: treescribe.Executor}`` in a project's invoke configuration has plain ``inv`` record too.
"""

from __future__ import annotations

import atexit
import os
from typing import Any

from invoke.exceptions import Exit, Failure, UnexpectedExit
from invoke.executor import Executor as InvokeExecutor
from invoke.parser.context import ParserContext
from invoke.tasks import Call

from treescribe.effects import DESTRUCTIVE, strongest
from treescribe.errors import TreescribeError
from treescribe.events import RunOutcome
from treescribe.follower import follower
from treescribe.host import host
from treescribe.observed_commands import observing_commands
from treescribe.observed_tasks import TaskObserver, as_text, error_text
from treescribe.operation_tasks import OwnTask
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.saying import say
from treescribe.settings import Settings
from treescribe.signals import EndingSignals
from treescribe.tracebacks import trim
from treescribe.workspace import Workspace


class Recording(InvokeExecutor):
    """An executor whose outermost `execute` is a run. Operations of treescribe are not part of runs."""

    surface = "inv"
    _current: Run | None = None

    def execute(self, *tasks: Any) -> Any:
        """Execute as the class below does, recording it. Exceptions, results and output are invoke's."""
        if Recording._current is not None:
            return super().execute(*tasks)
        run = self._planned(tasks)
        if run is None:
            return super().execute(*tasks)
        Recording._current = run
        atexit.register(tell_end, run)
        try:
            with EndingSignals(lambda number: end_by_signal(run, number)) as signals:
                return self._execute_recorded(run, tasks, signals)
        except BaseException as error:
            trim(error)
            raise
        finally:
            Recording._current = None

    def _execute_recorded(self, run: Run, tasks: tuple[Any, ...], signals: EndingSignals) -> Any:
        try:
            run.start()
            result = self._execute_observed(run, tasks)
        except BaseException as error:
            outcome = outcome_of_exception(error)
            if signals.interrupted and outcome.exit_code != 0:
                outcome = Outcome(RunOutcome.CANCELLED, outcome.exit_code)
            run.finish(outcome)
            raise
        run.finish(Outcome(RunOutcome.PASSED, 0))
        return result

    def _execute_observed(self, run: Run, tasks: tuple[Any, ...]) -> Any:
        observer = TaskObserver(run, self.collection, self.normalize(tasks))
        with observer.observing(ignored=OwnTask), observing_commands(run):
            return super().execute(*tasks)

    def _planned(self, tasks: tuple[Any, ...]) -> Run | None:
        """The run, not begun; None where nothing is to be recorded, which is said unless it is meant."""
        targets = [call for call in self._calls(tasks) if not isinstance(call.task, OwnTask)]
        if not targets or self.config.run.dry:  # nothing is run, and a dry run is nothing to compare with
            return None
        try:
            workspace = Workspace.open(os.path.abspath(self.collection.loaded_from or os.getcwd()))
            settings = Settings.read(self.config.get("treescribe"))
        except (TreescribeError, OSError) as error:
            if (following := follower()) is not None:
                raise following.refused(f"this run would not be recorded: {error}") from error
            say(f"treescribe: this run is not recorded: {error}")
            return None
        request = RunRequest(
            backend="invoke",
            targets=tuple(self._target_texts(tasks)),
            effect=effect_of_targets([call.called_as or call.task.name for call in targets], settings),
            surface=self.surface,
        )
        return Run(workspace, request, host=host(), settings=settings)

    def _calls(self, tasks: tuple[Any, ...]) -> list[Call]:
        try:
            calls: list[Call] = self.normalize(tasks)
            return calls
        except Exception:  # noqa: BLE001 - whatever is wrong, the executor below says it in invoke's own words
            return []

    def _target_texts(self, tasks: tuple[Any, ...]) -> list[str]:
        if not tasks:
            return [str(self.collection.default)]
        return [target_text(task) for task in tasks if not isinstance(self._calls((task,))[0].task, OwnTask)]


class Executor(Recording):
    """What a project names as ``executor_class`` to have plain ``inv`` record."""


def recording(configured: type[InvokeExecutor], surface: str) -> type[InvokeExecutor]:
    """Return `configured` with recording mixed over it."""
    bases = (configured,) if issubclass(configured, Recording) else (Recording, configured)
    return type("RecordingExecutor", bases, {"surface": surface})


def target_text(task: Any) -> str:
    """A requested task as it would be typed: its name and what was given to it."""
    if isinstance(task, str):
        return task
    if isinstance(task, ParserContext):
        name, given = (
            task.name or "",
            {arg.name: arg.value for arg in task.args.values() if arg.value not in (arg.default, None, [])},
        )
    else:
        name, given = task
    words = [
        f"--{key.replace('_', '-')}" + ("" if value is True else f"={as_text(value)}") for key, value in given.items()
    ]
    return " ".join([name, *words])


def outcome_of_exception(error: BaseException) -> Outcome:
    """How a run ends that an exception leaves, with the exit code that invoke gives it."""
    if isinstance(error, KeyboardInterrupt):
        return Outcome(RunOutcome.CANCELLED, 1)
    if isinstance(error, UnexpectedExit):
        return Outcome(RunOutcome.FAILED, error.result.exited & 0xFF)
    if isinstance(error, Exit):
        return Outcome(RunOutcome.FAILED if error.code else RunOutcome.PASSED, error.code, error.message or "")
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
        return Outcome(
            RunOutcome.FAILED if code else RunOutcome.PASSED, code & 0xFF, "" if code == error.code else str(error)
        )
    outcome = RunOutcome.FAILED if isinstance(error, Failure) else RunOutcome.ERROR
    return Outcome(outcome, 1, error_text(error))


def tell_end(run: Run) -> None:
    """Show the closing lines of a run, once."""
    say(*run.closing_lines)
    run.closing_lines.clear()


def end_by_signal(run: Run, number: int) -> None:
    """Finish a run whose process is about to die of a signal, and tell its end."""
    run.finish(Outcome.of_signal(number))
    tell_end(run)


def effect_of_targets(targets: list[str], settings: Settings) -> str:
    """The effect that a project's settings give to a run of these targets."""
    return strongest(settings.effects.get(target, DESTRUCTIVE) for target in targets)
