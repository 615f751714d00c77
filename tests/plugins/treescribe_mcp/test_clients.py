"""Clients that others wrote, against real servers: the MCP Inspector, fastmcp, and the official conformance suite."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from mcp_clients import SERVER, TOKEN, HttpServer, http_server, make_shop_in

pytestmark = [pytest.mark.index, pytest.mark.xdist_group("mcp clients")]

PACKAGES = ("node@22", "@modelcontextprotocol/conformance@0.2.0-alpha.12", "@modelcontextprotocol/inspector@2.12.0")
README = Path(__file__).parents[3] / "plugins" / "treescribe_mcp" / "README.md"


class Node(NamedTuple):
    """A folder with npm packages and a node that is new enough for them."""

    folder: Path

    def run(self, script: str, *words: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        modules = self.folder / "node_modules"
        command = [str(modules / ".bin" / "node"), str(modules / script), *words]
        environment = {**os.environ, "PATH": f"{modules / '.bin'}:{os.environ['PATH']}"}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=timeout
        )

    def conformance(self, *words: str) -> str:
        done = self.run("@modelcontextprotocol/conformance/dist/index.js", *words)
        return re.sub(r"\x1b\[\d*m", "", done.stdout + done.stderr)

    def inspect(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run("@modelcontextprotocol/inspector/clients/launcher/build/index.js", "--cli", *words)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text("{}")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *PACKAGES], cwd=folder, check=True)
    return Node(folder)


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shops")
    make_shop_in(folder, "shop-a")
    return folder


# -- the official conformance suite ----------------------------------------------------------------------------


@contextmanager
def free_port() -> Iterator[int]:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    yield port


@contextmanager
def shows_the_token(server: HttpServer, port: int) -> Iterator[None]:
    """Listens on a port; what comes is passed on to the server with its token, for which the suite has no option."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        except asyncio.IncompleteReadError:
            writer.close()
            return
        added = [f"Authorization: Bearer {TOKEN}".encode(), b"Connection: close"]
        kept = [line for line in head[1:] if not line.lower().startswith(b"connection:")]
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", server.port)
        server_writer.write(b"\r\n".join([head[0], *added, *kept]))
        await asyncio.gather(pump(reader, server_writer), pump(server_reader, writer))

    loop = asyncio.new_event_loop()
    listening = loop.run_until_complete(asyncio.start_server(pass_on, "127.0.0.1", port))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(listening.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_asyncgens())
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def left_out() -> dict[str, str]:
    """The scenarios that the plugin's README leaves out, and why."""
    return dict(
        re.findall(r"^\| `([\w-]+)` \| (.+?) \|$", README.read_text().partition("## Conformance")[2], re.MULTILINE)
    )


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_conformance_suite_passes_but_for_what_the_readme_leaves_out(
    node: Node, shops: Path, tmp_path: Path, revision: str
) -> None:
    """Which scenarios there are, the suite says: one that is new is either passed or has to be told of."""
    with (
        free_port() as port,
        http_server(tmp_path, "--root", str(shops), "--hosts", f"127.0.0.1:{port}") as server,
        shows_the_token(server, port),
    ):
        url = f"http://127.0.0.1:{port}/mcp"
        words = ("--requirements", revision, "--timeout", "15000", "--output-dir", str(tmp_path / "told"))
        told = node.conformance("server", "--url", url, *words)
    marks = dict(reversed(mark) for mark in re.findall(r"^([✓✗]) ([\w-]+): \d+ passed", told, re.MULTILINE))
    passed = {name for name, mark in marks.items() if mark == "✓"}
    assert {"tools-list", "dns-rebinding-protection", "server-sse-multiple-streams"} <= passed, told
    excused = left_out()
    assert sorted(set(marks) - passed - set(excused)) == [], told
    for checks in (tmp_path / "told").glob("server-server-stateless-*/checks.json"):
        failed = [check["errorMessage"] for check in json.loads(checks.read_text()) if check["status"] == "FAILURE"]
        assert len(failed) == 4
        assert all(message.startswith("Not testable: server does not list the diagnostic tool") for message in failed)


def test_the_readme_leaves_out_only_scenarios_that_there_are(node: Node) -> None:
    listed = node.conformance("list")
    assert [name for name in left_out() if f"- {name} [" not in listed] == []


# -- the MCP Inspector -----------------------------------------------------------------------------------------


def test_the_inspector_lists_and_calls_over_pipes(node: Node, shops: Path) -> None:
    done = node.inspect(*SERVER, "--method", "tools/list", "--strict")
    assert (done.returncode, done.stderr) == (0, ""), "it finds no tool that some client could not take"
    listed = json.loads(done.stdout)
    assert "history_diff" in {tool["name"] for tool in listed["tools"]}
    words = ("--method", "tools/call", "--tool-name", "targets", "--tool-arg", f"directory={shops / 'shop-a'}")
    called = json.loads(node.inspect(*SERVER, *words).stdout)
    assert "test" in {target["name"] for target in called["structuredContent"]["targets"]}


def test_the_inspector_lists_and_calls_over_http(node: Node, shops: Path, tmp_path: Path) -> None:
    with http_server(tmp_path, "--root", str(shops)) as server:
        words = ("--method", "tools/call", "--tool-name", "workspaces", "--header", f"Authorization: Bearer {TOKEN}")
        called = json.loads(node.inspect(f"{server.url}/mcp", *words).stdout)
    assert called["structuredContent"]["workspaces"] == ["shop-a"]


# -- fastmcp ---------------------------------------------------------------------------------------------------

FASTMCP = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def main(program, *words):
    *words, shop = words
    async with Client(StdioTransport(program, list(words))) as client:
        names = sorted(tool.name for tool in await client.list_tools())
        run = await client.call_tool("run", {"directory": shop, "targets": ["test"]})
        refused = await client.call_tool("run", {"directory": shop, "target": "test"}, raise_on_error=False)
    print(json.dumps({"names": names, "run": run.structured_content, "refused": refused.content[0].text}))

asyncio.run(main(*sys.argv[1:]))
"""


def test_fastmcps_client_runs_and_is_refused(tmp_path: Path) -> None:
    shop = make_shop_in(tmp_path)
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin" / "pip", "-q", "--disable-pip-version-check", "install", "fastmcp"], check=True)
    command = [str(venv / "bin" / "python"), "-c", FASTMCP, *SERVER, str(shop)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert "history_show" in told["names"]
    assert (told["run"]["ok"], told["run"]["tests"]) == (True, {"passed": 2})
    assert told["refused"].startswith("unknown argument target; known there: directory, targets, options, timeout")
