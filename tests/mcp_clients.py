"""Clients of the MCP server, and a project for them to work on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from mcp.client.client import Client

ERAS = ["legacy", "2026-07-28"]
SERVER = (sys.executable, "-m", "treescribe", "mcp")

TASKS = '''
import os, time
from invoke import task

@task
def test(c, only=""):
    """Run the tests."""
    c.run(f"{c.config.python} -m pytest -q -p no:cacheprovider {only}")

@task
def look(c):
    """Change nothing."""
    c.run("cat colour.txt")

@task
def empty(c):
    pass

@task
def wait(c):
    """Wait until the file `go` is there."""
    c.run("touch started; while ! test -e go; do sleep 0.02; done")

@task
def stubborn(c):
    """Be deaf to SIGTERM, and have a child that is in a session of its own."""
    c.run("trap '' TERM; setsid sleep 600 & echo $! > child.pid; touch started; while :; do sleep 0.05; done")

@task
def surroundings(c, to=""):
    """Write down what a child gets."""
    c.run("env -0 > environment; cat > stdin; ls -l /proc/self/fd > descriptors")
'''


class Served:
    """A client's connection to a server."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.told: list[str] = []

    async def call(self, name: str, directory: Path | None = None, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool that is expected to have one."""
        if directory is not None:
            arguments["directory"] = str(directory)
        result = await self.client.call_tool(name, arguments, progress_callback=self._progress)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        answer: dict[str, Any] = result.structured_content
        assert next(iter(answer)) == "summary"
        return answer

    async def refused(self, name: str, **arguments: Any) -> str:
        """The text of a call that is expected to be refused."""
        result = await self.client.call_tool(name, arguments)
        assert result.is_error, result.structured_content
        (content,) = result.content
        assert content.type == "text"
        assert result.structured_content is None
        return content.text

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append(message or "")


Connect = Callable[..., AbstractAsyncContextManager[Served]]
