"""Run: the choke point that every event of a run passes, and the beginning and end of every run."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from weakref import WeakSet

from treescribe.clock import Clock, SystemClock
from treescribe.effects import READ_ONLY
from treescribe.environment import Variable, with_variables
from treescribe.events import (
    CommandFinished,
    CommandStarted,
    CommandStatus,
    Event,
    LogMessage,
    RunFinished,
    RunStarted,
)
from treescribe.follower import follower
from treescribe.foreign import ForeignEventError, check, is_foreign
from treescribe.frozen import with_field
from treescribe.host import Host
from treescribe.masking import Masker
from treescribe.nested import PARENT_VARIABLE, Forwarder, NestedRuns, Parent, parent_of_this_process
from treescribe.output import OutputCapture
from treescribe.output_readers import CommandReaders
from treescribe.reduce import Reducer, Verdict
from treescribe.request import Outcome, RunRequest
from treescribe.saying import say
from treescribe.settings import Settings
from treescribe.signals import undisturbed
from treescribe.spool import SPOOL_VARIABLE, Spool, SpoolReader
from treescribe.workspace import Workspace
from treescribe.workspace_lock import HELD_VARIABLE, WorkspaceLock, lock_for_run


class Run:
    """One run of some targets in one workspace.

    Thread-safe. `start` and `finish` are called once each, by whoever runs the backend; everything between goes
    through `emit`.

    :ivar id: the number that the recorder gave it; None where the run is not recorded.
    :ivar closing_lines: what plugins have to say to the user at the very end; the surface shows them on stderr.
    """

    def __init__(
        self,
        workspace: Workspace,
        request: RunRequest,
        *,
        host: Host,
        settings: Settings | None = None,
        clock: Clock | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.workspace = workspace
        self.settings = settings or Settings()
        self.clock = clock or SystemClock()
        self.masker = Masker(environment, self.settings.redact)
        self.request = replace(request, targets=tuple(self.masker.text(target) for target in request.targets))
        self.id: int | None = None
        self.parent: Parent | None = parent_of_this_process(environment)
        self.started_at = 0
        self.closing_lines: list[str] = []
        self._host = host
        self._lock = threading.RLock()
        self._reducer = Reducer()
        self._pending: list[Event] | None = []  # emitted before RunStarted
        self._open: dict[int, tuple[CommandStarted, int]] = {}
        self._captures: dict[int, list[OutputCapture]] = {}
        self._command_readers: dict[int, CommandReaders | None] = {}
        self._numbers = count(1)
        self._spool: Spool | None = None
        self._readers: list[tuple[str, SpoolReader]] = []
        self._variables: tuple[Variable, ...] | None = None
        self._begun = 0
        self._finished = False
        self._queue: list[Event] = []
        self._reported: set[str] = set()
        self._delivering = False
        self._workspace_lock: WorkspaceLock | None = None
        self._follower = follower()
        self._forwarder = Forwarder(environment, self.parent, str(workspace.root))
        _going_on.add(self)

    # -- beginning and end ------------------------------------------------------------------------------

    def start(self) -> None:
        """Take the workspace's lock, let the recorder and the other plugins begin, and emit `RunStarted`."""
        if self._follower is not None:
            self._follower.admit(self)
        self._begun = self.clock.elapsed_ms()
        self.started_at = self.clock.now_ms()
        if self.request.effect != READ_ONLY:  # waiting for it can be interrupted; what follows cannot
            self._workspace_lock = lock_for_run(self.workspace, self.request.targets, self.emit)
        with undisturbed:
            self.follow("run", NestedRuns(self, self._host.codec))
            self._host.hook.treescribe_run_started(run=self)
            with self._lock:
                if self._follower is not None:
                    self._follower.begin(self)
                early, self._pending = self._pending or [], None
                self.emit(RunStarted(targets=self.request.targets))
                for event in early:
                    self._pass(event)

    def finish(self, outcome: Outcome) -> None:
        """Read the spool to its end, detach what still runs, emit `RunFinished`, and let go of everything.

        Of a run that has not begun (it was still waiting for the lock) there is nothing to tell.
        """
        with undisturbed:
            if not self._finished and self._pending is None:
                self._finish(outcome)
            if self._workspace_lock is not None:
                self._workspace_lock.release()

    def _finish(self, outcome: Outcome) -> None:
        if self._follower is not None:
            outcome = self._follower.outcome(outcome)
        if self._spool is not None:
            self._spool.settle()
            self._spool.close()
        for number in tuple(self._open):
            self.command_finished(number, CommandStatus.DETACHED, settle=False)
        self._host.hook.treescribe_run_finishing(run=self)
        finished = RunFinished(
            outcome=outcome.outcome,
            exit_code=outcome.exit_code,
            error=outcome.error,
            duration_ms=self.clock.elapsed_ms() - self._begun,
        )
        self._pass(self.masker.event(finished), last=True)
        self._host.hook.treescribe_run_finished(run=self, outcome=outcome)
        self._forwarder.close()
        if self._follower is not None:
            self._follower.end()

    def leave_to_parent(self) -> None:
        """In a process forked from the run's own: the run goes on there, and nothing here is part of it."""
        self._finished = True
        self._lock = threading.RLock()
        self._spool = None
        self._variables = self._variables or ()
        self._workspace_lock = None
        self._follower = None

    @property
    def verdict(self) -> Verdict:
        """What the run came to so far."""
        with self._lock:
            return self._reducer.verdict()

    # -- events -----------------------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        """Mask `event`, stamp it, and hand it to every observer, in order. Events after the last one are dropped."""
        self._pass(self.masker.event(event))

    def _pass(self, event: Event, *, last: bool = False) -> None:
        with undisturbed, self._lock:
            if self._finished:
                return
            if self._pending is not None:
                self._pending.append(event)
                return
            if event.at == 0:
                event = with_field(event, "at", self.clock.now_ms())
            if is_foreign(event) and not self._is_keepable(event):
                return
            self._queue.append(event)
            self._finished = last
            if self._delivering:  # an observer emitted: its event comes after the one at hand
                return
            self._delivering = True
            try:
                while self._queue:
                    self._deliver(self._queue.pop(0))
            finally:
                self._delivering = False

    def _is_keepable(self, event: Event) -> bool:
        """Whether a third party's event can be recorded; what is wrong with it is reported, once for each type."""
        try:
            check(event, self._host.codec().types)
        except ForeignEventError as error:
            if event.type not in self._reported:
                self._reported.add(event.type)
                say(f"treescribe: {error}")
                self.report(str(error))
            return error.keepable
        return True

    def _deliver(self, event: Event) -> None:
        self._reducer.add(event)
        self._forwarder.send(event)
        if self._follower is not None:
            self._follower.send(event)
        self._host.hook.treescribe_event(run=self, event=event)

    def report(self, message: str, level: str = "warning", source: str = "treescribe") -> None:
        """Put a message about the run itself into its transcript."""
        self.emit(LogMessage(level=level, source=source, message=message))

    def report_once(self, about: str, message: str) -> None:
        """`report`, but only the first message about one thing."""
        with self._lock:
            if about not in self._reported:
                self._reported.add(about)
                self.report(message)

    # -- commands ---------------------------------------------------------------------------------------

    def next_number(self) -> int:
        """A number for a task or a command, unique within the run."""
        return next(self._numbers)

    def command_started(
        self, line: str, *, cwd: str = "", task: int | None = None, pty: bool = False, mode: str = "attached"
    ) -> int:
        """Emit `CommandStarted`; the number it returns names the command until `command_finished`."""
        number = self.next_number()
        started = CommandStarted(command=number, task=task, line=line, cwd=cwd, pty=pty, mode=mode)
        with undisturbed:
            with self._lock:
                self._open[number] = (started, self.clock.elapsed_ms())
            self.emit(started)
        return number

    def command_finished(
        self,
        number: int,
        status: str,
        *,
        exit_code: int | None = None,
        signal: int | None = None,
        error: str = "",
        settle: bool = True,
    ) -> None:
        """Read the spool to its end and emit `CommandFinished`, once for each command."""
        with undisturbed:
            if settle and self._spool is not None:
                self._spool.settle()
            with self._lock:
                entry = self._open.pop(number, None)
                captures = self._captures.pop(number, ())
                readers = self._command_readers.pop(number, None)
            if entry is None:
                return
            for capture in captures:
                capture.finish()
            if readers is not None:
                readers.finish()
            started, begun = entry
            self.emit(
                CommandFinished(
                    command=number,
                    line=started.line,
                    status=status,
                    exit_code=exit_code,
                    signal=signal,
                    error=error,
                    duration_ms=self.clock.elapsed_ms() - begun,
                )
            )

    def capture(self, command: int, stream: str) -> OutputCapture:
        """What takes the bytes of one stream of a command, until the command has finished."""
        readers = self._readers_of(command)
        capture = OutputCapture(
            self._pass,
            command=command,
            stream=stream,
            masker=self.masker,
            limits=self.settings.output,
            clock=self.clock,
            also=readers.stream(stream) if readers is not None else None,
        )
        with self._lock:
            self._captures.setdefault(command, []).append(capture)
        return capture

    def _readers_of(self, command: int) -> CommandReaders | None:
        """What plugins want to read of a command; None where they want nothing, or it has ended."""
        with self._lock:
            if command in self._open and command not in self._command_readers:
                started, _ = self._open[command]
                brought = self._host.hook.treescribe_output_readers(run=self, command=started)
                readers = [reader for answer in reversed(brought) for reader in answer]
                self._command_readers[command] = CommandReaders(readers, self.emit, self.report) if readers else None
            return self._command_readers.get(command)

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a child command whose own would be `base`."""
        with undisturbed, self._lock:
            if self._variables is None:
                self._variables = self._collect_variables()
        self.masker.learn(base)
        return with_variables(base, self._variables)

    def follow(self, name: str, reader: SpoolReader) -> None:
        """Have the spool's files called ``<name>-….jsonl`` read by `reader`."""
        self._readers.append((name, reader))
        if self._spool is not None:
            self._spool.follow(name, reader)

    def _tell_waiting_output(self) -> None:
        """Emit what commands have printed and no more has come after: a run that is killed has told of it."""
        with self._lock:
            captures = [capture for captures in self._captures.values() for capture in captures]
        for capture in captures:
            capture.flush_waiting()

    def _collect_variables(self) -> tuple[Variable, ...]:
        try:
            self._spool = Spool(self.report, each_time=self._tell_waiting_output)
        except OSError as error:
            self.report(f"no temporary folder for what processes below this run report: {error}")
            return ()
        for name, reader in self._readers:
            self._spool.follow(name, reader)
        self._spool.start()
        root = str(self.workspace.root)
        own = [
            Variable(SPOOL_VARIABLE, str(self._spool.folder)),
            Variable(PARENT_VARIABLE, Parent(self.id, root).text()),
        ]
        if self._workspace_lock is not None:  # a read-only run has not taken it, so one below has to
            own.append(Variable(HELD_VARIABLE, root, os.pathsep))
        brought = self._host.hook.treescribe_command_environment(workspace=self.workspace, run=self)
        return (*own, *(variable for answer in reversed(brought) for variable in answer))


_going_on: WeakSet[Run] = WeakSet()
"""The runs of this process."""


def _leave_runs_to_parent() -> None:
    for run in _going_on:
        run.leave_to_parent()


os.register_at_fork(after_in_child=_leave_runs_to_parent)
