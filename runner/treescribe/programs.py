"""Which treescribe works in a workspace for somebody who serves many: the configured one, its virtualenv's, else ours.

And what its process gets of our environment. A server replaces the `programs` of its process by its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from treescribe.errors import TreescribeError
from treescribe.follower import PROTOCOL
from treescribe.request import CLIENT_VARIABLE
from treescribe.workspace import Workspace

VIRTUALENVS = (".venv", "venv")
SERVER_SETTINGS = "TREESCRIBE_MCP_"
_OF_A_RUN = frozenset({"TREESCRIBE_RUN", "TREESCRIBE_SPOOL", "TREESCRIBE_COMMAND", "TREESCRIBE_HELD", CLIENT_VARIABLE})
"""Of a run below which this process was started: what it starts for others is no part of that one."""

_VERSION = re.compile(r"treescribe (?P<version>\S+)(?: \(.*?run protocol (?P<protocol>\d+)\))?")
_ASKED_SECONDS = 20.0


class Program(NamedTuple):
    """A treescribe, as the first words of a command line.

    :ivar virtualenv: of the workspace; None where it has none.
    """

    words: tuple[str, ...]
    virtualenv: Path | None


class Programs:
    """Finds the treescribe of a workspace, and refuses one that this process does not understand.

    :param configured: a path, relative to the workspace's root or absolute, that outranks what would be found.
    :param environment: what children get, before what a workspace adds.
    """

    def __init__(self, configured: str, environment: Mapping[str, str]) -> None:
        self._configured = configured
        self._environment = dict(environment)
        self._problems: dict[tuple[str, int, int], str] = {}

    def of(self, workspace: Workspace) -> Program:
        """The workspace's program. It is asked for its version, once for each that is installed there.

        :raises TreescribeError: where there is none, or it speaks another protocol than this one; with both versions.
        """
        root = workspace.root
        virtualenv = next((root / name for name in VIRTUALENVS if (root / name / "bin" / "python").exists()), None)
        path = virtualenv / "bin" / "treescribe" if virtualenv else None
        if self._configured:
            path = root / self._configured
            if not os.access(path, os.X_OK):
                raise TreescribeError(f"the configured program {self._configured} is not there.", "See --program.")
        if path is None or not path.exists():
            return Program((sys.executable, "-m", "treescribe"), virtualenv)
        self._check(path, workspace)
        return Program((str(path),), virtualenv)

    def environment(self, program: Program, client: str) -> dict[str, str]:
        """The environment of a child; the workspace's virtualenv is active in it, as its user would have it."""
        environment = {**self._environment, CLIENT_VARIABLE: client}
        if program.virtualenv is not None:
            folder = str(program.virtualenv / "bin")
            environment["VIRTUAL_ENV"] = str(program.virtualenv)
            environment["PATH"] = os.pathsep.join([folder, environment.get("PATH", os.defpath)])
            environment.pop("PYTHONHOME", None)
        return environment

    def _check(self, path: Path, workspace: Workspace) -> None:
        status = path.stat()
        key = (str(path), status.st_mtime_ns, status.st_size)
        if key not in self._problems:
            self._problems[key] = self._problem(path, workspace)
        if self._problems[key]:
            raise TreescribeError(
                self._problems[key],
                "Install the same treescribe there, or start the server from that one.",
            )

    def _problem(self, path: Path, workspace: Workspace) -> str:
        """Why the program cannot be used; empty where it can."""
        command = [str(path), "--version"]
        try:
            done = subprocess.run(
                command,
                cwd=workspace.root,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_ASKED_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{path} cannot be run: {error}"
        told = _VERSION.search(done.stdout.decode(errors="replace"))
        if told is None:
            return f"{path} is no treescribe: it tells no version"
        if told["protocol"] != str(PROTOCOL):
            return (
                f"the workspace's treescribe is {told['version']} (run protocol {told['protocol'] or 'none'}), "
                f"this one is {version('treescribe')} (run protocol {PROTOCOL})"
            )
        return ""


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without a server's own settings, and without what belongs to a run that it was started below."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(SERVER_SETTINGS) and name not in _OF_A_RUN
    }


_programs: Programs | None = None


def programs() -> Programs:
    """The programs of this process: with its own environment, unless a server has put others in their place."""
    global _programs
    if _programs is None:
        _programs = Programs("", without_settings(os.environ))
    return _programs


def use_programs(these: Programs) -> None:
    """Have this process use other programs: those of a server's settings."""
    global _programs
    _programs = these
