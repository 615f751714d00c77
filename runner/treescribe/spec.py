"""The contract between treescribe and its plugins: every hook, and the order of everything that happens.

A plugin is a module (or any object) named in the entry-point group ``treescribe`` of its distribution. It marks
the functions that implement hooks with `hookimpl`; a function takes those of the hook's arguments that it
names. Importing the module must be cheap: import heavy libraries inside the functions that need them.

A hook that raises never stops a run or another plugin: the failure is logged with the plugin's and the hook's
name, once, and stands in the transcript of the run it happened in as a `LogMessage`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from treescribe.backend import Backend
    from treescribe.environment import Variable
    from treescribe.events import CommandStarted, Event
    from treescribe.operation import Operation
    from treescribe.output_readers import OutputReader
    from treescribe.request import Outcome
    from treescribe.run import Run
    from treescribe.workspace import Workspace
    from treescribe.workspace_status import Status

PROJECT_NAME = "treescribe"

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


@hookspec
def treescribe_backends() -> Sequence[Backend] | None:
    """Return the backends that this plugin brings.

    Each has its targets run by ``treescribe BACKEND.TARGET`` in the workspaces where it is detected. Called once per
    process, where tasks are run or listed by ``treescribe``. The first plugin to bring a name keeps it.
    """


@hookspec
def treescribe_event_types() -> Sequence[type[Event]] | None:
    """Return event classes beyond the built-in catalogue.

    Called before the first transcript is read, once per process. A class whose ``type`` is taken already is
    left out, with a warning that names the plugin.
    """


@hookspec
def treescribe_operations() -> Sequence[Operation] | None:
    """Return the operations that this plugin brings, each an invoke task.

    Called once per process. The first plugin to bring a name keeps it; treescribe's own come first.
    """


@hookspec
def treescribe_run_started(run: Run) -> None:
    """A run begins. See `treescribe_event` for what has happened and what follows.

    ``run.id`` is None until the recorder, which comes first, has given it one; it stays None where nothing can
    be written. An implementation may emit events and may register readers of the run's spool (`Run.follow`).
    """


@hookspec
def treescribe_event(run: Run, event: Event) -> None:
    """Observe one event of a run. The central hook; this is the whole life of a run, in order:

    1. The surface (the `treescribe` program, plain ``inv``, ``treescribe exec``, a server) opens the workspace and
       makes a `RunRequest`.
    2. `Run.start`: the workspace's lock is taken, shared (a wait is told by `LockContention` and `LockAcquired`);
       then `treescribe_run_started`, the recorder first: it mints the run's id and opens the live transcript.
    3. `RunStarted` is emitted, after it everything that was emitted during 2.
    4. The backend runs the targets. Each task is `TaskStarted` … `TaskFinished`, nested. For each command,
       `treescribe_command_environment` is collected before the process starts; then `CommandStarted`,
       `treescribe_output_readers`, `Output`, whatever readers make of the output (diagnostics) and is read from the
       run's spool (tests of a pytest below it, events of a nested run), and `CommandFinished` after both were read to
       their end.
    5. `Run.finish`: the spool is read to its end, commands that still run are told as detached; then
       `treescribe_run_finishing`, the last chance to emit. All this, too, where a signal is about to end the process.
    6. `RunFinished` is emitted: the last event.
    7. `treescribe_run_finished`, the recorder first: it completes the transcript. Then the lock is released.

    Every event passes `Run.emit`, which stamps it with the time, masks secrets, and calls this hook; calls are in
    order and never overlap, whichever thread emitted. What an implementation emits from here comes after the event
    at hand. It must not block.

    :param run: the run that the event belongs to.
    :param event: the event as it is recorded.
    """


@hookspec
def treescribe_run_finishing(run: Run) -> None:
    """All commands of a run have ended; what is still to be told of it, such as reports on disk, is emitted here."""


@hookspec
def treescribe_run_finished(run: Run, outcome: Outcome) -> None:
    """A run has ended; `treescribe_event` was called with its `RunFinished`.

    Observers come after the recorder, so the transcript can be read. Nothing can be emitted any more.
    """


@hookspec(firstresult=True)
def treescribe_run_abandoned(workspace: Workspace, run_id: int, outcome: Outcome) -> bool | None:
    """A run's process had to be killed by who had asked for it; complete what is recorded of it, with this outcome.

    Called in another process than the run's. The first plugin that returns True has done it.
    """


@hookspec
def treescribe_workspace_status(workspace: Workspace) -> Status | None:
    """Return this plugin's part of the status of a workspace; None where it has nothing to tell.

    Called by the operation ``workspace.status``. Read only, and quick: it is asked often.
    """


@hookspec
def treescribe_command_environment(workspace: Workspace, run: Run) -> Sequence[Variable] | None:
    """Return variables for the environment of the run's child commands.

    Called once per run, before its first command starts. To a list that the user set a value is added, which needs
    the list's separator; without one the variable is set, whatever it was (see `Variable`).
    """


@hookspec
def treescribe_output_readers(run: Run, command: CommandStarted) -> Sequence[OutputReader] | None:
    """Return readers of what a command prints, such as one that knows a compiler's messages.

    Called for each command as its output is about to begin, not for disowned ones. The readers belong to this one
    command. The events that they return are emitted before its `CommandFinished`. Reading costs the command time
    where it prints much: look for something cheap first.
    """
