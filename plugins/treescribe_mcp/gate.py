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
BODY_LIMIT = 1024 * 1024
BODY_SECONDS = 10.0
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
            body = await _body_of(receive)
            if isinstance(body, bytes):
                await self._application(scope, _with_body(body, receive), send)
            else:
                status, text = body
                await _plain(send, status, {"error": text}, [(b"connection", b"close")])

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


async def _body_of(receive: Receive) -> bytes | tuple[int, str]:
    """A request's body, within `BODY_LIMIT` and `BODY_SECONDS`; otherwise (status, text)."""
    body = bytearray()
    with anyio.move_on_after(BODY_SECONDS):
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > BODY_LIMIT:
                return 413, f"a body has at most {BODY_LIMIT} bytes"
            if not message.get("more_body"):
                return bytes(body)
    return 408, f"a body has to come within {BODY_SECONDS:g} s"


def _with_body(body: bytes, receive: Receive) -> Receive:
    """What reads a request whose body has been read already."""
    given = False

    async def receiving() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

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
