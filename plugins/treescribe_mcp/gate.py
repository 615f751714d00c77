"""What stands before the HTTP server: who may ask, from where, how much and how long; and what is logged of it."""

from __future__ import annotations

import hmac
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import anyio

HEALTH, READY = "/health", "/ready"
BODY_SECONDS = 30.0
"""How long a client may take to send a request's body."""

_SHOWN_PATHS = frozenset({"/mcp", HEALTH, READY})

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class Rules:
    """Who may ask.

    :ivar token: the bearer's; compared in constant time.
    :ivar hosts: values of the Host header that are this server's names.
    :ivar origins: pages that may ask; others are refused, and ``null`` always.
    """

    token: str
    hosts: frozenset[str]
    origins: frozenset[str]


class Gate:
    """Lets a request through to the application, or answers it: an ASGI application.

    :param probe: whether the server can work; for ``/ready``.
    """

    def __init__(self, application: Application, rules: Rules, probe: Callable[[], Awaitable[bool]]) -> None:
        self._application = application
        self._rules = rules
        self._probe = probe

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        begun, status = time.monotonic(), 0

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._answer(scope, receive, sending)
        finally:
            _log(scope, status, time.monotonic() - begun)

    async def _answer(self, scope: Any, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == HEALTH:
            await _plain(send, 200, {"alive": True})
        elif path == READY:
            ready = await self._probe()
            await _plain(send, 200 if ready else 503, {"ready": ready})
        elif refused := self._refused(scope):
            status, text, headers = refused
            await _plain(send, status, {"error": text}, headers)
        else:
            await self._application(scope, _in_time(receive), send)

    def _refused(self, scope: Any) -> tuple[int, str, list[tuple[bytes, bytes]]] | None:
        """(status, text, headers) where the request is not let through."""
        host, origin, authorization = (_values(scope, name) for name in (b"host", b"origin", b"authorization"))
        if len(host) != 1 or host[0].lower() not in self._rules.hosts:
            return 421, "this server does not go by that name", []
        if origin and (len(origin) != 1 or origin[0] not in self._rules.origins):
            return 403, "pages of that origin may not ask", []
        if len(authorization) != 1 or not self._is_token(authorization[0]):
            return 401, "a bearer token is needed", [(b"www-authenticate", b"Bearer")]
        return None

    def _is_token(self, value: str) -> bool:
        kind, _, token = value.partition(" ")
        given = token.strip().encode("latin-1", "replace")
        return hmac.compare_digest(given, self._rules.token.encode()) and kind.lower() == "bearer"


def _values(scope: Any, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _in_time(receive: Receive) -> Receive:
    """A body has to come within `BODY_SECONDS`; after that the client is as good as gone."""
    until: float | None = None

    async def receiving() -> Any:
        nonlocal until
        if until is None:
            until = anyio.current_time() + BODY_SECONDS
        with anyio.move_on_at(until) if until != float("inf") else anyio.CancelScope():
            message = await receive()
            if not message.get("more_body"):
                until = float("inf")
            return message
        return {"type": "http.disconnect"}

    return receiving


async def _plain(send: Send, status: int, answer: dict[str, Any], headers: Iterable[tuple[bytes, bytes]] = ()) -> None:
    body = json.dumps(answer).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


def _log(scope: Any, status: int, seconds: float) -> None:
    """One line for each request: no query, no header, no body."""
    client = scope.get("client")
    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "client": client[0] if client else None,
        "method": scope["method"],
        "path": scope["path"] if scope["path"] in _SHOWN_PATHS else "other",
        "status": status,
        "ms": round(seconds * 1000),
    }
    print(json.dumps(line), file=sys.stderr, flush=True)
