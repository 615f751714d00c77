"""Real servers, real clients: the SDK's own, over pipes and over a loopback port."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_clients import SERVER, TASKS, Connect, Served
from support import git


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def make_shop(tmp_path: Path) -> Callable[..., Path]:
    """Makes a git worktree with tasks and two tests, of which the second fails unless the total is ten."""

    def make(name: str = "shop", colour: str = "red", total: int = 10) -> Path:
        root = tmp_path / name
        root.mkdir()
        git(root, "init", "-q")
        (root / "tasks.py").write_text(TASKS)
        (root / "colour.txt").write_text(f"{colour}\n")
        (root / "test_cart.py").write_text(f"def test_one(): pass\ndef test_total(): assert {total} == 10\n")
        configuration = {"python": sys.executable, "treescribe": {"effects": {"look": "read-only"}}}
        (root / "invoke.json").write_text(json.dumps(configuration))
        return root

    return make


@pytest.fixture
def shop(make_shop: Callable[..., Path]) -> Path:
    return make_shop()


@pytest.fixture
def connect(tmp_path: Path) -> Connect:
    """Starts a server on pipes and connects to it."""

    @asynccontextmanager
    async def connect(
        *options: str, era: str = "2026-07-28", env: Mapping[str, str] = {}, command: Sequence[str] = SERVER
    ) -> AsyncIterator[Served]:
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), **env}
        program, *words = (*command, *options)
        with (tmp_path / "stderr").open("a") as errors:
            parameters = StdioServerParameters(command=program, args=words, env=environment, cwd="/")
            async with Client(stdio_client(parameters, errlog=errors), mode=era) as client:
                yield Served(client)

    return connect
