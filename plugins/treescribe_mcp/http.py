"""The server over HTTP: many clients, which name workspaces by the operator's ids."""

from __future__ import annotations

import ipaddress
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple

from anyio import to_thread
from pydantic import BaseModel, ConfigDict
from treescribe.effects import READ_ONLY, Effect
from treescribe.errors import InvalidInput, TreescribeError
from treescribe.host import host as plugin_host
from treescribe.programs import Programs, use_programs
from treescribe.workspace import Workspace

from treescribe_mcp.build import build
from treescribe_mcp.gate import BODY_LIMIT, Gate, Rules
from treescribe_mcp.options import Options
from treescribe_mcp.registry import Ids, make_registry
from treescribe_mcp.server import Tools, all_tools, make_server, selected
from treescribe_mcp.slots import Slots
from treescribe_mcp.tool import Call, Tool

PATH = "/mcp"
CONNECTIONS = 512
"""Open at a time; more are closed at once."""

FIRST_REQUEST_SECONDS = 10.0
"""A connection that has asked for nothing by then is closed."""

GRACEFUL_SECONDS = 3
"""How long requests may take for their end when the server is stopped; then their runs are cancelled."""

CHILD_VARIABLES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SHELL", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"}
)
"""What children of the HTTP server get of its environment, and variables that begin with ``LC_``."""


class Address(NamedTuple):
    """Where the server listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def main(options: Options) -> int:
    """Serve until a signal ends us.

    :raises TreescribeError: where a setting is missing or wrong.
    """
    address = read_address(options.http)
    rules = read_rules(address, options, os.environ)
    face = Ids(make_registry(options.root, options.workspaces))
    if options.ready and options.ready not in face.ids():
        raise InvalidInput(f"--ready {options.ready}: there is no workspace of this id.")
    _serve(address, application(face, rules, options))
    return 0


def application(face: Ids, rules: Rules, options: Options) -> Any:
    """The ASGI application."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    use_programs(Programs(options.program, child_environment(os.environ)))
    tools = [*all_tools(Slots(options.slots), allow_exec=options.allow_exec), _workspaces_tool(face)]
    served = Tools(selected(tools, options.toolsets, options.max_effect), face, build())
    manager = StreamableHTTPSessionManager(make_server(served), stateless=True, max_request_body_size=BODY_LIMIT)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    routes = [Route(PATH, endpoint=_Endpoint(manager.handle_request))]
    return Gate(Starlette(routes=routes, lifespan=lifespan), rules, _probe(face, options.ready))


class _Endpoint:
    """An ASGI application as starlette's routes take one: an object, not a function."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._handle(scope, receive, send)


def _probe(face: Ids, ready: str) -> Any:
    """One read-only question to the history of the workspace that the operator named."""

    def ask() -> bool:
        try:
            workspace = Workspace.open(face.directory(ready)) if ready else None
            if workspace is not None:
                plugin_host().operations()["history.list"].call(workspace, limit=1)
            else:
                face.ids()
        except (TreescribeError, OSError, KeyError):
            return False
        return True

    async def probe() -> bool:
        return await to_thread.run_sync(ask)

    return probe


class _NoArguments(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class _WorkspacesResult(BaseModel):
    summary: str
    workspaces: tuple[str, ...]


def _workspaces_tool(face: Ids) -> Tool:
    async def call(call: Call) -> dict[str, Any]:
        ids = await to_thread.run_sync(face.ids)
        return {"summary": f"{len(ids)} workspace{'' if len(ids) == 1 else 's'}", "workspaces": ids}

    effect = Effect(READ_ONLY, idempotent=True)
    text = "List the ids of the workspaces that can be acted in."
    return Tool("workspaces", "workspace", text, effect, _NoArguments, _WorkspacesResult, call, needs_workspace=False)


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that children get."""
    return {name: value for name, value in environment.items() if name in CHILD_VARIABLES or name.startswith("LC_")}


def read_address(text: str) -> Address:
    """``HOST:PORT``, an IPv6 host in brackets.

    :raises InvalidInput: where it is none.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise InvalidInput(f"--http {text}: HOST:PORT is expected, for example 127.0.0.1:8321.")
    return Address(host.strip("[]"), int(port))


def read_rules(address: Address, options: Options, environment: Mapping[str, str]) -> Rules:
    """Who may ask, by the operator's settings.

    :raises TreescribeError: where a setting is missing that a server cannot do without.
    """
    token = _token(environment)
    hosts = {name.strip().lower() for name in options.hosts.split(",") if name.strip()}
    if not hosts and not address.is_loopback:
        raise TreescribeError(
            f"the server would be reached at {address.host} by names that it does not know.",
            "Name them as they stand in the Host header: --hosts mcp.example.org,10.0.0.5:8321",
        )
    if address.is_loopback:
        names = ("127.0.0.1", "localhost", "[::1]")
        hosts |= {*names, *(f"{name}:{address.port}" for name in names)}
    own = {f"http://{name}" for name in hosts if _is_loopback_name(name)}
    origins = {name.strip() for name in options.origins.split(",")} - {"", "null"}
    return Rules(token, frozenset(hosts), frozenset(origins | own))


def _is_loopback_name(name: str) -> bool:
    return re.fullmatch(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", name) is not None


def _token(environment: Mapping[str, str]) -> str:
    file = environment.get("TREESCRIBE_MCP_TOKEN_FILE")
    try:
        token = open(file).read().strip() if file else environment.get("TREESCRIBE_MCP_TOKEN", "")
    except (OSError, UnicodeDecodeError) as error:
        raise TreescribeError(f"the file TREESCRIBE_MCP_TOKEN_FILE names cannot be read: {error}") from error
    if not token:
        raise TreescribeError(
            "the HTTP server needs a token that its clients show.",
            "Set TREESCRIBE_MCP_TOKEN, or TREESCRIBE_MCP_TOKEN_FILE to a file that holds it.",
        )
    if not token.isascii() or any(sign.isspace() for sign in token) or len(token) < 16:
        raise TreescribeError("the token must be 16 characters or more, of ASCII, without white space.")
    return token


def _serve(address: Address, app: Any) -> None:
    import uvicorn

    class _Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Signals stop the server, and that is no failure: uvicorn would raise them again in the end."""
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self.handle_exit)
            yield

    from treescribe_mcp.connections import bounded_protocol

    config = uvicorn.Config(
        app,
        host=address.host,
        port=address.port,
        http=bounded_protocol(CONNECTIONS, FIRST_REQUEST_SECONDS),
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        backlog=128,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    server = _Server(config)
    print(f"treescribe: serving MCP at http://{address.host}:{address.port}{PATH}", file=sys.stderr, flush=True)
    server.run()
