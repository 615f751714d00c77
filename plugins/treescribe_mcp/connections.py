"""Connections of the HTTP server: so many at a time, and none that asks for nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def bounded_protocol(most: int, first_request_seconds: float) -> type[H11Protocol]:
    """uvicorn's protocol, with at most so many connections, each of which has so long for its first request."""
    open_now: set[Any] = set()

    class Bounded(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            if len(open_now) >= most:
                transport.abort()
                self._refused = True
                return
            self._refused = False
            open_now.add(self)
            super().connection_made(transport)
            self._first = asyncio.get_running_loop().call_later(first_request_seconds, self._none_came)

        def _none_came(self) -> None:
            if self.cycle is None:
                self.transport.close()

        def data_received(self, data: bytes) -> None:
            if not self._refused:
                super().data_received(data)

        def eof_received(self) -> None:
            if not self._refused:
                super().eof_received()

        def connection_lost(self, exc: Exception | None) -> None:
            if self._refused:
                return
            self._first.cancel()
            open_now.discard(self)
            super().connection_lost(exc)

    return Bounded
