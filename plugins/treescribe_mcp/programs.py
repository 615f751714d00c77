"""Which treescribe a workspace's runs are made by: the configured one, its virtualenv's, else the server's own."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import anyio
from treescribe.errors import TreescribeError
from treescribe.follower import PROTOCOL
from treescribe.workspace import Workspace

from treescribe_mcp.build import version

VIRTUALENVS = (".venv", "venv")
_VERSION = re.compile(r"treescribe (?P<version>\S+)(?: \(.*?run protocol (?P<protocol>\d+)\))?")
_ASKED_SECONDS = 20.0


class Program(NamedTuple):
    """A treescribe, as the first words of a command line.

    :ivar virtualenv: of the workspace; None where it has none.
    """

    words: tuple[str, ...]
    virtualenv: Path | None


class Programs:
    """Finds the treescribe of a workspace, and refuses one that this server does not understand.

    :param configured: a path, relative to the workspace's root or absolute, that outranks what would be found.
    :param environment: what children get, before what a workspace adds.
    """

    def __init__(self, configured: str, environment: Mapping[str, str]) -> None:
        self._configured = configured
        self._environment = dict(environment)
        self._protocols: dict[tuple[str, int, int], str] = {}

    async def of(self, workspace: Workspace) -> Program:
        """The workspace's program.

        :raises TreescribeError: where there is none, or it is of another protocol than the server's.
        """
        root = workspace.root
        virtualenv = next((root / name for name in VIRTUALENVS if (root / name / "bin" / "python").exists()), None)
        if self._configured:
            path = root / self._configured
            if not os.access(path, os.X_OK):
                raise TreescribeError(f"the configured program {self._configured} is not there.", "See --program.")
        else:
            path = virtualenv / "bin" / "treescribe" if virtualenv else root
            if virtualenv is None or not path.exists():
                return Program((sys.executable, "-m", "treescribe"), virtualenv)
        await self._check(path, workspace)
        return Program((str(path),), virtualenv)

    def environment(self, program: Program, client: str) -> dict[str, str]:
        """The environment of a child; the workspace's virtualenv is active in it, as its user would have it."""
        environment = {**self._environment, "TREESCRIBE_CLIENT": client}
        if program.virtualenv is not None:
            folder = str(program.virtualenv / "bin")
            environment["VIRTUAL_ENV"] = str(program.virtualenv)
            environment["PATH"] = os.pathsep.join([folder, environment.get("PATH", os.defpath)])
            environment.pop("PYTHONHOME", None)
        return environment

    async def _check(self, path: Path, workspace: Workspace) -> None:
        """Ask a program for its version, once for each that is installed there."""
        status = path.stat()
        key = (str(path), status.st_mtime_ns, status.st_size)
        if key not in self._protocols:
            self._protocols[key] = await self._problem(path, workspace)
        if self._protocols[key]:
            raise TreescribeError(
                self._protocols[key], "Install the same treescribe there as the server's, or start the server from it."
            )

    async def _problem(self, path: Path, workspace: Workspace) -> str:
        """Why the program cannot be used; empty where it can."""
        try:
            with anyio.fail_after(_ASKED_SECONDS):
                done = await anyio.run_process(
                    [str(path), "--version"], check=False, cwd=workspace.root, env=self._environment, stdin=-3
                )
        except (OSError, TimeoutError) as error:
            return f"{path} cannot be run: {error or 'it does not end'}"
        told = _VERSION.search(done.stdout.decode(errors="replace"))
        if told is None:
            return f"{path} is no treescribe: it tells no version"
        if told["protocol"] != str(PROTOCOL):
            return (
                f"the workspace's treescribe is {told['version']} (run protocol {told['protocol'] or 'none'}), "
                f"this server is {version()} (run protocol {PROTOCOL})"
            )
        return ""
