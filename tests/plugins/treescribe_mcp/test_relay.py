"""The relay as a process: what is installed is replaced, servers are killed, and the client goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
import treescribe
import treescribe_mcp
from mcp.shared.exceptions import MCPError
from mcp_clients import ERAS, SERVER, Connect, Served
from treescribe.process_tree import is_running

pytestmark = [pytest.mark.anyio, pytest.mark.once]


async def until(condition: Callable[[], Any], seconds: float = 60) -> None:
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.02)


class Installed(NamedTuple):
    """A treescribe of a test's own, that it may replace, and the relay that was started from it."""

    folder: Path
    pid_file: Path

    @property
    def env(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.folder)}

    @property
    def command(self) -> tuple[str, ...]:
        return ("sh", "-c", 'echo $$ > "$0"; exec "$@"', str(self.pid_file), *SERVER)

    @property
    def relay(self) -> int:
        return int(self.pid_file.read_text())

    def servers(self) -> list[int]:
        """The server processes below the relay."""
        listed = Path(f"/proc/{self.relay}/task/{self.relay}/children").read_text().split()
        return [int(pid) for pid in listed if is_running(int(pid))]


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    folder = tmp_path / "site"
    here, plugins = Path(treescribe.__file__).parent, Path(treescribe_mcp.__file__).parent.parent
    packages = [here, *(path for path in plugins.iterdir() if path.name.startswith("treescribe_") and path.is_dir())]
    for package in packages:
        if not package.name.endswith(".dist-info"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(package, folder / package.name, ignore=ignored, dirs_exist_ok=True)
    return Installed(folder, tmp_path / "relay.pid")


async def build_of(server: Served) -> str:
    """Which server answers, as errors tell it."""
    return (await server.refused("plugins", unknown=1)).partition("(treescribe ")[2].rstrip(")")


async def replaced(server: Served, old: str) -> str:
    """Wait until another server than the old one answers."""
    with anyio.fail_after(60):
        while (build := await build_of(server)) == old:
            await anyio.sleep(0.05)
    return build


@pytest.mark.parametrize("era", ERAS)
async def test_a_run_is_answered_by_the_old_server_and_the_next_call_by_the_new(
    shop: Path, installed: Installed, connect: Connect, era: str
) -> None:
    async with connect(era=era, env=installed.env, command=installed.command) as server:
        old = await build_of(server)
        answers: list[dict[str, Any]] = []

        async def run() -> None:
            answers.append(await server.call("run", shop, targets=["wait"]))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await until((shop / "started").exists)
            with (installed.folder / "treescribe_mcp" / "answers.py").open("a") as file:
                file.write("# another one\n")
            assert await replaced(server, old) != old
            assert answers == []
            assert len(installed.servers()) == 2
            (shop / "go").touch()
        assert (answers[0]["ok"], answers[0]["run"]) == (True, 1)
        await until(lambda: len(installed.servers()) == 1)
        assert (await server.call("history_list", shop))["total"] == 1


async def test_a_replacement_that_cannot_start_leaves_the_old_one_serving(
    shop: Path, installed: Installed, connect: Connect, tmp_path: Path
) -> None:
    async with connect(env=installed.env, command=installed.command) as server:
        old = await build_of(server)
        (installed.folder / "treescribe_mcp" / "stdio.py").write_text("this is not Python\n")
        await until(lambda: "does not start" in (tmp_path / "stderr").read_text())
        assert await build_of(server) == old
        assert (await server.call("run", shop, targets=["look"]))["ok"]
    assert (tmp_path / "stderr").read_text().count("does not start") == 1


@pytest.mark.parametrize("era", ERAS)
async def test_what_a_killed_server_had_not_answered_is_an_error_and_the_next_call_works(
    shop: Path, installed: Installed, connect: Connect, era: str
) -> None:
    async with connect(era=era, command=installed.command) as server:
        told: list[str] = []

        async def run() -> None:
            with pytest.raises(MCPError) as caught:
                await server.call("run", shop, targets=["wait"])
            told.append(str(caught.value))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await until((shop / "started").exists)
            (pid,) = installed.servers()
            os.kill(pid, signal.SIGKILL)
        assert "was not sent again" in told[0]
        assert (await server.call("run", shop, targets=["look"]))["ok"]
        await until(lambda: not list((shop / ".treescribe/history/active").glob("*.jsonl")))
        outcomes = [row["outcome"] for row in (await server.call("history_list", shop))["runs"]]
        assert outcomes == ["passed", "cancelled"]


async def test_after_three_kills_the_client_is_still_answered(
    shop: Path, installed: Installed, connect: Connect
) -> None:
    async with connect(command=installed.command) as server:
        await server.call("history_list", shop)
        killed: set[int] = set()
        for _ in range(3):
            await until(lambda: set(installed.servers()) - killed)
            (pid,) = set(installed.servers()) - killed
            killed.add(pid)
            os.kill(pid, signal.SIGKILL)
            await until(lambda pid=pid: not is_running(pid))  # type: ignore[misc]
        for _ in range(3):
            with pytest.raises(MCPError, match="crashed 3 times within a minute"), anyio.fail_after(30):
                await server.call("history_list", shop)
        assert installed.servers() == []


async def test_the_relay_leaves_nothing_behind(shop: Path, installed: Installed, connect: Connect) -> None:
    with suppress(Exception):
        async with connect(command=installed.command) as server:
            await server.call("history_list", shop)
            relay, (pid,) = installed.relay, installed.servers()
            os.kill(relay, signal.SIGTERM)
            await until(lambda: not is_running(relay))
    assert not is_running(pid)


def test_the_relay_imports_little() -> None:
    """What it imports itself, on its way to its loop."""
    code = """
import sys
from treescribe_mcp import relay
relay.Relay.run = lambda self: print(*sys.modules) or 0
from treescribe_mcp.command import main
main([])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert not loaded & {"mcp", "pydantic", "asyncio", "anyio", "invoke", "pluggy", "treescribe.host"}
