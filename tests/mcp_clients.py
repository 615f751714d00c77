"""Clients of the MCP server, and a project for them to work on."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from support import eventually, git

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


def make_shop_in(folder: Path, name: str = "shop", colour: str = "red", total: int = 10) -> Path:
    """Make a git worktree with tasks and two tests, of which the second fails unless the total is ten."""
    root = folder / name
    root.mkdir()
    git(root, "init", "-q")
    (root / "tasks.py").write_text(TASKS)
    (root / "colour.txt").write_text(f"{colour}\n")
    (root / "test_cart.py").write_text(f"def test_one(): pass\ndef test_total(): assert {total} == 10\n")
    configuration = {"python": sys.executable, "treescribe": {"effects": {"look": "read-only"}}}
    (root / "invoke.json").write_text(json.dumps(configuration))
    return root


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


TOKEN = "0123456789abcdef-token"


class HttpServer(NamedTuple):
    """A server over HTTP, in a process of its own.

    :ivar errors: the file with its standard error: the access log.
    """

    process: subprocess.Popen[bytes]
    port: int
    errors: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def connect(self, era: str = "2026-07-28", token: str = TOKEN) -> AsyncIterator[Served]:
        """A client that shows the token."""
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http), mode=era) as client,
        ):
            yield Served(client)

    def log(self) -> list[dict[str, Any]]:
        """What the access log says."""
        return [json.loads(line) for line in self.errors.read_text().splitlines() if line.startswith("{")]


@contextmanager
def http_server(folder: Path, *options: str, env: Mapping[str, str] = {}, check: bool = True) -> Iterator[HttpServer]:
    """A server over HTTP that answers by the time that the block begins.

    :param folder: for its files.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    errors = folder / "http.log"
    environment = {**os.environ, "TREESCRIBE_MCP_TOKEN": TOKEN, "XDG_RUNTIME_DIR": str(folder), **env}
    with errors.open("ab") as log:
        command = [*SERVER, "--http", f"127.0.0.1:{port}", *options]
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=log, cwd="/")
    try:
        eventually(lambda: process.poll() is not None or _answers(port))
        yield HttpServer(process, port, errors)
    finally:
        process.terminate()
        process.wait(60)


def _answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/health").status_code == 200
    except httpx2.HTTPError:
        return False
