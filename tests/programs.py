"""Real programs, started as a shell would start them: by themselves, and recorded."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from support import NOBODY
from treescribe.codec import Codec
from treescribe.workspace import Workspace
from treescribe_history.store import Store
from treescribe_history.transcript import Transcript

SURFACES = ("exec", "treescribe", "inv")
"""What records: ``treescribe exec``, a task under ``treescribe``, and one under ``inv`` with treescribe's executor."""

TASKS = """
from invoke import task

@task
def do(c, script):
    c.run(script)
"""


class Ended(NamedTuple):
    """How a program ended, and what it printed."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def warnings(self) -> list[bytes]:
        """What treescribe complained of."""
        return [line for line in self.stderr.splitlines() if line.startswith(b"treescribe: ")]

    @property
    def closing_line(self) -> bytes:
        """The one line at the end of a run."""
        (line,) = (line for line in self.stderr.splitlines() if line.startswith(b"History: "))
        return line

    def without_treescribe(self) -> Ended:
        """The same without what treescribe said itself, where a traceback entered the program, and addresses."""
        lines = [
            re.sub(rb"0x[0-9a-f]{6,}", b"0x", line)
            for line in self.stderr.splitlines(keepends=True)
            if not line.startswith((b"treescribe: ", b"History: "))
        ]
        head, mark, rest = b"".join(lines).rpartition(b"in execute\n")
        return self._replace(stderr=mark + rest if b"Traceback" in head else b"".join(lines))


class Project(NamedTuple):
    """A folder with a ``tasks.py`` whose task ``do`` runs a script; `configuration` has ``inv`` record."""

    root: Path
    configuration: Path

    @classmethod
    def make(cls, root: Path, configuration: Path) -> Project:
        root.mkdir(parents=True, exist_ok=True)
        (root / "tasks.py").write_text(TASKS)
        configuration.write_text("tasks: {executor_class: treescribe.Executor}\ntreescribe: {summary: always}\n")
        return cls(root, configuration)

    def plain(self, surface: str, script: str) -> list[str]:
        """The command line that does what a surface does, with nothing of treescribe."""
        if surface == "exec":
            return ["sh", "-c", script]
        return [sys.executable, "-m", "invoke", "do", script]

    def recorded(self, surface: str, script: str) -> list[str]:
        """The command line that runs and records the script."""
        if surface == "exec":
            return [sys.executable, "-m", "treescribe", "exec", "--", *self.plain(surface, script)]
        if surface == "treescribe":
            return [sys.executable, "-m", "treescribe", "do", script]
        return [sys.executable, "-m", "invoke", "-f", str(self.configuration), "do", script]

    def start(
        self,
        command: list[str],
        *,
        env: Mapping[str, str | None] = {},
        cwd: Path | None = None,
        stdin: bytes = b"",
        before: Callable[[], None] | None = None,
    ) -> Ended:
        """Run a command in the project and wait for it.

        :param env: what is changed in the environment; None takes a variable away.
        :param before: called in the new process before the command is.
        """
        changed = {name: value for name, value in (os.environ | env).items() if value is not None}
        done = subprocess.run(
            command,
            cwd=cwd or self.root,
            env=changed,
            input=stdin,
            capture_output=True,
            timeout=60,
            preexec_fn=before,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def runs(self) -> list[Transcript]:
        """Every run that is kept, the oldest first."""
        store = Store(Workspace.open(self.root))
        return [store.read(stored, Codec()) for stored in reversed(store.runs())]


def quoted_python(code: str) -> str:
    """A line of shell that runs `code` in this Python, in place of the shell."""
    return f"exec {shlex.quote(sys.executable)} -c {shlex.quote(code)}"


@cache
def as_user(number: int = NOBODY) -> tuple[str, ...]:
    """What to put before a command so that it runs without the rights of root; it may still read everything.

    (Python and the library may stand where others have no access.)
    """
    if os.geteuid() != 0:
        return ()
    capabilities = "-all,+dac_read_search"
    prefix = (
        "setpriv",
        f"--reuid={number}",
        f"--regid={number}",
        "--clear-groups",
        f"--inh-caps={capabilities}",
        f"--ambient-caps={capabilities}",
    )
    if shutil.which("setpriv") is None or subprocess.run([*prefix, sys.executable, "-c", ""], check=False).returncode:
        pytest.skip("no other user can be made to run a program here")
    return prefix
