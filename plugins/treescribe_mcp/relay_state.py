"""What the relay decides: a state that takes what happened and the time, and returns what is to be done.

The client talks to one server at a time. A request belongs to the server that it was sent to, and is answered once:
by that server, or by an error of the relay's; never is it sent to a second one. Only subscriptions
(``subscriptions/listen``), which are no work, move on to a new server.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

HANDSHAKE_SECONDS = 30.0
"""A replacement that has not answered by then does not serve."""

DRAIN_SECONDS = 600.0
"""How long a server that was replaced may take for what it had been asked."""

CRASHES, CRASH_SECONDS = 3, 60.0
"""So many crashes in so many seconds, and no other server is started until the first of them is that long ago."""

ERROR_CODE = -32000
PARSE_ERROR = -32700
_OWN = "treescribe-relay:"
_SUBSCRIBE = "subscriptions/listen"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"


class ToClient(NamedTuple):
    """Write a line to the client."""

    line: bytes


class ToServer(NamedTuple):
    """Write a line to a server."""

    server: int
    line: bytes


class Start(NamedTuple):
    """Start a server, under this number."""

    server: int


class Stop(NamedTuple):
    """Have a server end: close its input, then insist."""

    server: int


class Say(NamedTuple):
    """Tell people, on standard error."""

    text: str


Action = ToClient | ToServer | Start | Stop | Say


class _Server:
    """A server process.

    :ivar since: when it was started, or replaced.
    :ivar ready: it has answered the handshake, or there is none to be answered.
    :ivar pending: the requests that it has not answered, by their ids as JSON.
    """

    def __init__(self, number: int, since: float) -> None:
        self.number = number
        self.since = since
        self.ready = False
        self.draining = False
        self.pending: dict[str, dict[str, Any]] = {}


class RelayState:
    """The relay between one client and its servers."""

    def __init__(self) -> None:
        self._servers: dict[int, _Server] = {}
        self._current: int | None = None
        self._replacement: int | None = None
        self._numbers = 0
        self._probes = 0
        self._crashes: list[float] = []
        self._handshake: dict[str, Any] | None = None  # the initialize request, or the first of a stateless client
        self._initialized: bytes | None = None
        self._waiting: list[bytes] = []  # from the client, for the server that is being started
        self._subscriptions: dict[str, dict[str, Any]] = {}
        self._acknowledged: set[str] = set()

    # -- what happens -----------------------------------------------------------------------------------

    def begin(self, now: float) -> list[Action]:
        """The relay starts."""
        return self._start_current(now)

    def client_said(self, line: bytes, now: float) -> list[Action]:
        """The client wrote a line."""
        message = _message(line)
        if message is None:
            return self._to_current(line, now)
        if "method" not in message:
            return self._answer_of_client(message)
        if "id" in message:
            if not _is_unicode(line, message):  # the SDK drops such a line, and its client would wait for ever
                return [ToClient(_error(message["id"], "a text in it is no valid Unicode", PARSE_ERROR))]
            return self._request(line, message, now)
        if message["method"] == "notifications/cancelled":
            return self._cancellation(line, message)
        if message["method"] == "notifications/initialized":
            self._initialized = line
        return self._to_current(line, now)

    def server_said(self, number: int, line: bytes, now: float) -> list[Action]:
        """A server wrote a line."""
        server = self._servers.get(number)
        if server is None:
            return []
        message = _message(line)
        if message is None:
            return [ToClient(line)]
        if "method" in message:
            return self._from_server(server, line, message)
        key = _key(message.get("id"))
        if key.startswith(f'"{_OWN}'):
            return self._probe_answered(server, message, now)
        request = server.pending.pop(key, None)
        if request is None:  # answered already, by us
            return self._drained(server)
        if self._is_moved_subscription(server, key):
            return self._drained(server)
        self._forget_subscription(key)
        return [ToClient(line), *self._drained(server)]

    def server_ended(self, number: int, now: float, how: str) -> list[Action]:
        """A server's process has ended, whoever wanted it.

        :param how: in words: its exit code or signal.
        """
        server = self._servers.pop(number, None)
        if server is None:
            return []
        lost = self._lost(server, f"the treescribe server ended ({how}) before it answered this; it was not sent again")
        if number == self._replacement:
            return [*lost, *self._replacement_failed(now, f"does not start ({how})")]
        if number != self._current:
            return lost
        self._current = None
        return [*lost, Say(f"the server ended ({how})"), *self._crashed(now)]

    def program_changed(self, now: float) -> list[Action]:
        """What is installed is another treescribe than the one that serves."""
        if self._current is None or self._replacement is not None:
            return []
        if self._handshake is None:  # nobody has asked for anything yet
            old, self._current = self._current, None
            return [Stop(old), *self._start_current(now)]
        self._replacement = self._new_server(now)
        return [Start(self._replacement), *self._probe(self._replacement)]

    def time_passes(self, now: float) -> list[Action]:
        """Called now and then."""
        actions: list[Action] = []
        for server in [one for one in self._servers.values() if not one.ready and not one.draining]:
            if now - server.since > HANDSHAKE_SECONDS:
                actions += self._given_up(server, now, "does not answer")
        for server in [one for one in self._servers.values() if one.draining]:
            if now - server.since > DRAIN_SECONDS:
                actions += self._lost(server, "the treescribe server was replaced, and this took more than ten minutes")
                actions += self._drained(server)
        return actions

    # -- from the client --------------------------------------------------------------------------------

    def _request(self, line: bytes, message: dict[str, Any], now: float) -> list[Action]:
        if self._handshake is None or message["method"] == "initialize":
            self._handshake = message
        if message["method"] == _SUBSCRIBE:
            self._subscriptions[_key(message["id"])] = message
        return self._to_current(line, now)

    def _to_current(self, line: bytes, now: float) -> list[Action]:
        started: list[Action] = []
        if self._current is None and self._replacement is None:
            started = self._start_current(now)
        if self._current is None and self._replacement is None:
            return [*started, *self._refused(line)]
        server = self._servers.get(self._current) if self._current is not None else None
        if server is None or not server.ready:
            self._waiting.append(line)
            return started
        return [*started, *self._send(server, line)]

    def _send(self, server: _Server, line: bytes) -> list[Action]:
        message = _message(line)
        if message is not None and "method" in message and "id" in message:
            server.pending[_key(message["id"])] = message
        return [ToServer(server.number, line)]

    def _refused(self, line: bytes) -> list[Action]:
        message = _message(line)
        if message is None or "id" not in message or "method" not in message:
            return []
        self._forget_subscription(_key(message["id"]))
        text = f"the treescribe server crashed {CRASHES} times within a minute; it is tried again a minute later"
        return [ToClient(_error(message["id"], text))]

    def _cancellation(self, line: bytes, message: dict[str, Any]) -> list[Action]:
        """To the server that works on it; one that waits is taken out of the queue."""
        key = _key((message.get("params") or {}).get("requestId"))
        self._forget_subscription(key)
        for server in self._servers.values():
            if key in server.pending:
                del server.pending[key]  # it is not answered any more
                return [ToServer(server.number, line), *self._drained(server)]
        self._waiting = [waiting for waiting in self._waiting if _key((_message(waiting) or {}).get("id")) != key]
        return []

    def _answer_of_client(self, message: dict[str, Any]) -> list[Action]:
        """To the server that asked: its number stands before its own id."""
        number, _, own = str(message.get("id")).partition(":")
        if not own or not number.isdigit() or int(number) not in self._servers:
            return []
        return [ToServer(int(number), _line({**message, "id": json.loads(own)}))]

    # -- from servers -----------------------------------------------------------------------------------

    def _from_server(self, server: _Server, line: bytes, message: dict[str, Any]) -> list[Action]:
        if "id" in message:  # two servers may choose the same
            return [ToClient(_line({**message, "id": f"{server.number}:{json.dumps(message['id'])}"}))]
        if message["method"] == _ACKNOWLEDGED:
            return self._acknowledged_once(line, message)
        return [ToClient(line)]

    def _acknowledged_once(self, line: bytes, message: dict[str, Any]) -> list[Action]:
        """The client was told that it is subscribed when the first server said so."""
        key = _key(((message.get("params") or {}).get("_meta") or {}).get(_SUBSCRIPTION_ID))
        if key in self._acknowledged:
            return []
        if key in self._subscriptions:
            self._acknowledged.add(key)
        return [ToClient(line)]

    def _forget_subscription(self, key: str) -> None:
        self._subscriptions.pop(key, None)
        self._acknowledged.discard(key)

    def _is_moved_subscription(self, server: _Server, key: str) -> bool:
        """Whether a subscription's end is told by a server that it has left."""
        return key in self._subscriptions and server.number != self._current

    def _probe_answered(self, server: _Server, message: dict[str, Any], now: float) -> list[Action]:
        server.pending.pop(_key(message.get("id")), None)
        if "error" in message and server.number == self._replacement:
            return self._given_up(server, now, "refuses its handshake")
        initialized: list[Action] = [ToServer(server.number, self._initialized)] if self._initialized else []
        server.ready = True
        if server.number == self._replacement:
            return [*initialized, *self._promote(server, now)]
        return [*initialized, *self._moved_subscriptions(server), *self._flush(server)]

    def _promote(self, server: _Server, now: float) -> list[Action]:
        """The replacement serves from here on; the client is told that the tools may be others."""
        old = self._servers.get(self._current) if self._current is not None else None
        self._current, self._replacement = server.number, None
        actions: list[Action] = [*self._moved_subscriptions(server), *self._flush(server), *self._tools_changed()]
        if old is not None:
            old.draining, old.since = True, now
            actions += self._drained(old)
        return [*actions, Say("treescribe was replaced: the new one serves")]

    def _tools_changed(self) -> list[Action]:
        method = "notifications/tools/list_changed"
        told: list[Action] = []
        for found in self._subscriptions.values():
            meta = {_SUBSCRIPTION_ID: found["id"]}
            told.append(ToClient(_line({"jsonrpc": "2.0", "method": method, "params": {"_meta": meta}})))
        if self._initialized is not None:
            told.append(ToClient(_line({"jsonrpc": "2.0", "method": method})))
        return told

    def _moved_subscriptions(self, server: _Server) -> list[Action]:
        """Subscriptions that another server had go on with this one, under the ids that the client gave them."""
        actions: list[Action] = []
        waiting = {_key((_message(line) or {}).get("id")) for line in self._waiting}
        for key, found in self._subscriptions.items():
            if key not in server.pending and key not in waiting:
                for other in self._servers.values():
                    other.pending.pop(key, None)
                server.pending[key] = found
                actions.append(ToServer(server.number, _line(found)))
        return actions

    def _drained(self, server: _Server) -> list[Action]:
        """Stop a server that was replaced once it has nothing left to answer."""
        if not server.draining or server.pending:
            return []
        del self._servers[server.number]
        return [Stop(server.number)]

    def _lost(self, server: _Server, text: str) -> list[Action]:
        """Errors for what a server will not answer any more; subscriptions go on elsewhere."""
        lost = [found for key, found in server.pending.items() if key not in self._subscriptions]
        server.pending.clear()
        return [ToClient(_error(found["id"], text)) for found in lost if not str(found["id"]).startswith(_OWN)]

    def _given_up(self, server: _Server, now: float, why: str) -> list[Action]:
        """Stop a server that did not shake hands."""
        del self._servers[server.number]
        stopped: list[Action] = [*self._lost(server, f"the treescribe server {why}"), Stop(server.number)]
        if server.number == self._replacement:
            return [*stopped, *self._replacement_failed(now, why)]
        self._current = None
        return [*stopped, Say(f"the server {why}"), *self._crashed(now)]

    def _replacement_failed(self, now: float, why: str) -> list[Action]:
        """The old server goes on; where that has crashed meanwhile, another one is started."""
        self._replacement = None
        if self._current is not None:
            return [Say(f"the replaced treescribe {why}; the old server goes on")]
        return [Say(f"the replaced treescribe {why}"), *self._crashed(now)]

    def _crashed(self, now: float) -> list[Action]:
        """Nobody serves: start another one, unless a replacement is on its way already."""
        self._crashes = [*(moment for moment in self._crashes if now - moment < CRASH_SECONDS), now]
        return self._start_current(now) if self._replacement is None else []

    # -- starting ---------------------------------------------------------------------------------------

    def _start_current(self, now: float) -> list[Action]:
        recent = [moment for moment in self._crashes if now - moment < CRASH_SECONDS]
        if len(recent) >= CRASHES:
            waiting, self._waiting = self._waiting, []
            return [action for line in waiting for action in self._refused(line)]
        self._current = self._new_server(now)
        probe = self._probe(self._current)
        server = self._servers[self._current]
        server.ready = not probe
        return [Start(self._current), *probe, *(self._flush(server) if server.ready else [])]

    def _new_server(self, now: float) -> int:
        self._numbers += 1
        self._servers[self._numbers] = _Server(self._numbers, now)
        return self._numbers

    def _probe(self, number: int) -> list[Action]:
        """The handshake, as the client made it with an earlier server; nothing where it has made none."""
        if self._handshake is None or _key(self._handshake["id"]) in self._waiting_ids():
            return []
        self._probes += 1
        own = f"{_OWN}{self._probes}"
        if self._handshake["method"] == "initialize":
            probe = {**self._handshake, "id": own}
        else:
            meta = (self._handshake.get("params") or {}).get("_meta") or {}
            probe = {"jsonrpc": "2.0", "id": own, "method": "server/discover", "params": {"_meta": meta}}
        self._servers[number].pending[_key(own)] = probe
        return [ToServer(number, _line(probe))]

    def _waiting_ids(self) -> set[str]:
        return {_key((_message(line) or {}).get("id")) for line in self._waiting}

    def _flush(self, server: _Server) -> list[Action]:
        waiting, self._waiting = self._waiting, []
        return [action for line in waiting for action in self._send(server, line)]


def _message(line: bytes) -> dict[str, Any] | None:
    """A line as a JSON-RPC message; None for what is none, which passes as it is."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _key(value: Any) -> str:
    """An id as a key: 1 and "1" are two."""
    return json.dumps(value)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass") + b"\n"


def _is_unicode(line: bytes, message: dict[str, Any]) -> bool:
    """Whether a message's texts are Unicode: an escape may stand for half a character."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return True
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(number: Any, text: str, code: int = ERROR_CODE) -> bytes:
    return _line({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}})
