"""Real servers, real clients: the SDK's own, over pipes and over a loopback port."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_clients import SERVER, Connect, Served, make_shop_in


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def make_shop(tmp_path: Path) -> Callable[..., Path]:
    """`mcp_clients.make_shop` in this test's own folder."""
    return partial(make_shop_in, tmp_path)


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
