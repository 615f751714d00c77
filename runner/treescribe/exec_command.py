"""``treescribe exec -- COMMAND …``: record one command in any git worktree, without invoke and without ``tasks.py``.

The command gets its arguments as they were given, our standard input, and, where ours is a terminal, a terminal to
print to. It stays in our process group and session. Its bytes pass through as they are.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import suppress

from treescribe.errors import TreescribeError
from treescribe.events import CommandStatus, RunOutcome
from treescribe.host import host
from treescribe.pass_through import PassThrough
from treescribe.run import Outcome, Run, RunRequest
from treescribe.settings import load_settings
from treescribe.signals import Interruptions
from treescribe.workspace import Workspace

USAGE = """\
Usage: treescribe exec -- COMMAND [ARGUMENT …]

Record one command in the git worktree around the current directory: what it printed, its tests where it runs
pytest, and how it ended. The command's arguments are taken as they are; its exit code is the exit code.

  treescribe exec -- pytest -q
  treescribe history.diff            what changed since the run before
"""

NOT_FOUND, NOT_EXECUTABLE, USAGE_ERROR = 127, 126, 2


def main(words: list[str]) -> int:
    """Run the command line after ``exec``; returns the exit code."""
    if words[:1] in (["--help"], ["-h"]):
        print(USAGE, end="")
        return 0
    command = words[1:] if words[:1] == ["--"] else words
    if not command or (command is words and command[0].startswith("-")):
        print(f"treescribe: exec needs a command after --\n{USAGE}", file=sys.stderr, end="")
        return USAGE_ERROR
    try:
        workspace = Workspace.open(os.getcwd())
        settings = load_settings(workspace.root)
    except (TreescribeError, OSError) as error:
        print(f"treescribe: {error}", file=sys.stderr)
        return USAGE_ERROR
    request = RunRequest(backend="command", targets=(shlex.join(command),))
    run = Run(workspace, request, host=host(), settings=settings)
    run.start()
    outcome = execute(run, command)
    run.finish(outcome)
    for line in run.closing_lines:
        print(line, file=sys.stderr)
    return outcome.exit_code if outcome.exit_code is not None else 1


def execute(run: Run, command: list[str]) -> Outcome:
    """Run `command` as part of `run`, passing its output on."""
    environment = run.environment(os.environ)
    number = run.command_started(shlex.join(command), cwd=os.getcwd())
    passing = PassThrough(run, number)
    try:
        with Interruptions() as interruptions:
            process = subprocess.Popen(
                command, env=environment, stdout=passing.stdout.child, stderr=passing.stderr.child
            )
            interruptions.pass_on_to(process)
            passing.close_child_ends()
            passing.copy_until_end()
            code = process.wait()
    except OSError as error:
        passing.close_child_ends()
        passing.copy_until_end()
        return _not_started(run, number, command[0], error)
    if code < 0:
        run.command_finished(number, CommandStatus.SIGNALLED, signal=-code)
    else:
        run.command_finished(number, CommandStatus.EXITED, exit_code=code)
    exit_code = 128 - code if code < 0 else code
    if interruptions.received:
        return Outcome(RunOutcome.CANCELLED, exit_code)
    return Outcome(RunOutcome.FAILED if code else RunOutcome.PASSED, exit_code)


def _not_started(run: Run, number: int, program: str, error: OSError) -> Outcome:
    missing = isinstance(error, FileNotFoundError)
    reason = f"{program}: command not found" if missing else f"{program}: {error.strerror}"
    with suppress(OSError):
        print(f"treescribe: {reason}", file=sys.stderr)
    code = NOT_FOUND if missing else NOT_EXECUTABLE
    run.command_finished(number, CommandStatus.ERROR, exit_code=code, error=reason)
    return Outcome(RunOutcome.FAILED, code, reason)
