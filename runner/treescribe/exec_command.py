"""``treescribe exec -- COMMAND …``: record one command in any git worktree, without invoke and without ``tasks.py``.

The command gets its arguments as they were given, our standard input, and, where ours is a terminal, a terminal to
print to. It stays in our process group and session. Its bytes pass through as they are.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Container, Sequence

from treescribe.errors import InvalidInput, TreescribeError
from treescribe.events import CommandStatus, RunOutcome
from treescribe.follower import follower
from treescribe.host import host
from treescribe.pass_through import PassThrough, occupy_closed_streams
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.saying import say
from treescribe.settings import load_settings
from treescribe.signals import PassedOnSignals
from treescribe.terminal import show_any_text
from treescribe.workspace import Workspace, current_directory

USAGE = """\
Usage: treescribe exec -- COMMAND [ARGUMENT …]

Record one command in the git worktree around the current directory: what it printed, its tests where it runs
pytest, and how it ended. The command's arguments are taken as they are; its exit code is the exit code.

  treescribe exec -- pytest -q
  treescribe history.diff            what changed since the run before
"""

_NO_ROOM = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
NOT_FOUND, NOT_EXECUTABLE, USAGE_ERROR, INTERRUPTED = 127, 126, 2, 130


def main(words: list[str]) -> int:
    """Run the command line after ``exec``; returns the exit code."""
    closed = occupy_closed_streams()
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:  # then no exit code could be had
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if words[:1] in (["--help"], ["-h"]):
        show_any_text(sys.stdout)
        print(USAGE, end="")
        return 0
    command = words[1:] if words[:1] == ["--"] else words
    if not command or (command is words and command[0].startswith("-")):
        say(f"treescribe: exec needs a command after --\n{USAGE.rstrip()}")
        return USAGE_ERROR
    try:
        workspace = Workspace.open(current_directory())
    except TreescribeError as error:
        say(f"treescribe: {error}")
        return USAGE_ERROR
    try:
        settings = load_settings(workspace.root)
    except InvalidInput as error:
        if (following := follower()) is not None:
            say(f"treescribe: {following.refused(f'this command would not be recorded: {error}')}")
            return USAGE_ERROR
        say(f"treescribe: this command is not recorded: {error}")
        return _become(command)
    request = RunRequest(backend="command", targets=(_target(command, workspace),))
    run = Run(workspace, request, host=host(), settings=settings)
    with PassedOnSignals() as signals:
        try:
            run.start()
        except InvalidInput as error:
            say(f"treescribe: {error}")
            return USAGE_ERROR
        except KeyboardInterrupt:  # while it waited for the workspace's lock
            return INTERRUPTED
        signals.hold()
        try:
            outcome = execute(run, command, signals, closed)
        except _NoRoom as error:
            run.finish(Outcome(RunOutcome.ERROR, None, f"the command went on unrecorded: {error}"))
            if run.id is not None:  # otherwise that has been said
                say(f"treescribe: this command goes on unrecorded: {error}")
        else:
            run.finish(outcome)
            say(*run.closing_lines)
            return outcome.exit_code if outcome.exit_code is not None else 1
    return _become(command)


class _NoRoom(Exception):
    """Neither a process nor a file can be had beside ours: the command can only take our place."""


def run_command(run: Run, command: Sequence[str], *, cwd: str | os.PathLike[str] | None = None) -> Outcome:
    """Run a command as a step of a backend's run: its output passes through, and it is recorded as by ``exec``.

    :param cwd: the directory to run it in; the root of the run's workspace unless told.
    :returns: how it ended, with its exit code; 127 where there is no such program.
    """
    with PassedOnSignals() as signals:
        signals.hold()
        try:
            return execute(run, list(command), signals, cwd=os.fspath(cwd or run.workspace.root))
        except _NoRoom as error:
            return Outcome(RunOutcome.ERROR, 1, f"{command[0]} cannot be started: {error}")


def execute(
    run: Run, command: list[str], signals: PassedOnSignals, closed: Container[int] = (), cwd: str | None = None
) -> Outcome:
    """Run `command` as part of `run`, passing its output on.

    :param closed: the standard streams that it goes without.
    :param cwd: the directory to run it in; the current one unless told.
    """
    environment = run.environment(os.environ)
    number = run.command_started(shlex.join(command), cwd=cwd or current_directory())
    try:
        passing = PassThrough(run, number, closed)
    except OSError as error:
        raise _NoRoom(error.strerror) from error
    try:
        process = _start(command, environment, passing, cwd)
    except OSError as error:
        passing.close_child_ends()
        if error.errno in _NO_ROOM:
            raise _NoRoom(error.strerror) from error
        passing.copy_until_end()
        return _not_started(run, number, command[0], error)
    signals.pass_on_to(process)
    passing.close_child_ends()
    whole = passing.copy_until_end(times_stopped=lambda: len(signals.after_its_end))
    code = process.wait()
    if code < 0:
        run.command_finished(number, CommandStatus.SIGNALLED, signal=-code)
    else:
        run.command_finished(number, CommandStatus.EXITED, exit_code=code)
    exit_code = 128 - code if code < 0 else code
    if not whole:  # what it left behind still held its output
        return Outcome.of_signal(signals.after_its_end[0])
    if exit_code and signals.received:
        return Outcome(RunOutcome.CANCELLED, exit_code, f"{signal.Signals(signals.received[0]).name} came")
    if passing.problem:
        say(f"treescribe: {passing.problem}")
        return Outcome(RunOutcome.FAILED, exit_code or 1, passing.problem)
    return Outcome.of_exit_code(exit_code)


def _start(
    command: list[str], environment: dict[str, str], passing: PassThrough, cwd: str | None
) -> subprocess.Popen[bytes]:
    """Start the command with every descriptor that it would inherit from a shell, ours excepted."""

    def start(words: list[str]) -> subprocess.Popen[bytes]:
        out, err = (channel.child if channel is not None else None for channel in (passing.stdout, passing.stderr))
        return subprocess.Popen(words, env=environment, cwd=cwd, stdout=out, stderr=err, close_fds=False)

    try:
        return start(command)
    except OSError as error:
        script = shutil.which(command[0])
        if error.errno != errno.ENOEXEC or script is None:
            raise
        return start(["/bin/sh", script, *command[1:]])  # no interpreter line: what a shell and execvp make of it


def _become(command: list[str]) -> int:
    """Run the command in place of this process; returns only where it cannot be started."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and the command would inherit that
    try:
        os.execvp(command[0], command)
    except OSError as error:
        say(f"treescribe: {_reason(command[0], error)}")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE


def _target(command: list[str], workspace: Workspace) -> str:
    """The command as the run's target: from another folder it is another one."""
    folder = os.path.relpath(os.path.realpath(current_directory()), os.path.realpath(workspace.root))
    line = shlex.join(command)
    return line if folder == "." else f"{line} (in {folder})"


def _reason(program: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{program}: command not found"
    return f"{program}: {error.strerror}"


def _not_started(run: Run, number: int, program: str, error: OSError) -> Outcome:
    reason = _reason(program, error)
    say(f"treescribe: {reason}")
    code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    run.command_finished(number, CommandStatus.ERROR, exit_code=code, error=reason)
    return Outcome(RunOutcome.FAILED, code, reason)
