"""What the relay decides, against a world that is told in a test; then against one that hypothesis makes up."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from treescribe_mcp.relay_state import (
    CRASH_SECONDS,
    DRAIN_SECONDS,
    ERROR_CODE,
    HANDSHAKE_SECONDS,
    Action,
    RelayState,
    Say,
    Start,
    Stop,
    ToClient,
    ToServer,
)

INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def call(number: Any, method: str = "tools/call") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META}}


def answer(number: Any, told: str = "done") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": {"told": told}}


class World:
    """The relay, and what it has done so far, by whom it went to."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.state = RelayState()
        self.running: list[int] = []
        self.client: list[dict[str, Any]] = []
        self.servers: dict[int, list[dict[str, Any]]] = {}
        self.notices: list[str] = []
        self.raw: list[bytes] = []
        self.sent_to: dict[Any, int] = {}
        self.do(self.state.begin(self.now))

    def do(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, Start):
                self.running.append(action.server)
                self.servers[action.server] = []
            elif isinstance(action, Stop):
                self.running.remove(action.server)
            elif isinstance(action, ToClient):
                self.raw.append(action.line)
                self.client.append(json.loads(action.line))
            elif isinstance(action, ToServer):
                assert action.server in self.running, "nothing is written to a server that is gone"
                self.raw.append(action.line)
                message = json.loads(action.line)
                self.servers[action.server].append(message)
                if message.get("method") == "tools/call":
                    assert message["id"] not in self.sent_to, "it was sent to a server before"
                    self.sent_to[message["id"]] = action.server
            elif isinstance(action, Say):
                self.notices.append(action.text)

    def says(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            self.do(self.state.client_said(line(message), self.now))

    def server_says(self, server: int, *messages: dict[str, Any]) -> None:
        for message in messages:
            self.do(self.state.server_said(server, line(message), self.now))

    def crash(self, server: int) -> None:
        self.running.remove(server)
        self.do(self.state.server_ended(server, self.now, "signal 9"))

    def replaced(self) -> None:
        self.do(self.state.program_changed(self.now))

    def later(self, seconds: float) -> None:
        self.now += seconds
        self.do(self.state.time_passes(self.now))

    def asked(self, server: int) -> list[Any]:
        """The ids of the requests that a server was sent, the relay's own left out."""
        ids = [message["id"] for message in self.servers[server] if "method" in message and "id" in message]
        return [number for number in ids if not str(number).startswith("treescribe-relay")]

    def probe(self, server: int) -> dict[str, Any]:
        """The relay's own handshake with a server."""
        (found,) = [m for m in self.servers[server] if str(m.get("id")).startswith("treescribe-relay")]
        return found

    def answers(self) -> list[Any]:
        """The ids of what the client was answered."""
        return [message["id"] for message in self.client if "method" not in message]


@pytest.fixture
def world() -> World:
    """One server, that a client has shaken hands with."""
    made = World()
    made.says(INITIALIZE)
    made.server_says(1, answer(0))
    made.says(INITIALIZED)
    return made


def test_requests_go_to_the_server_and_its_answers_to_the_client(world: World) -> None:
    world.says(call(1), call(2))
    world.server_says(1, answer(2), answer(1))
    assert world.asked(1) == [0, 1, 2]
    assert world.answers() == [0, 2, 1]


def test_lines_pass_as_they_are(world: World) -> None:
    odd = b'{"jsonrpc":"2.0",  "id":7,"method":"made/up","params":{"a":[1,2.50]}}\n'
    for raw in (odd, b"no json at all\n", b'[{"batch": 1}]\n'):
        assert ToServer(1, raw) in world.state.client_said(raw, world.now)
        assert ToClient(raw) in world.state.server_said(1, raw.replace(b'"id":7,', b""), world.now) or raw == odd
    assert ToClient(b"printed by somebody\n") in world.state.server_said(1, b"printed by somebody\n", world.now)


def test_a_request_with_half_a_character_is_answered_by_the_relay(world: World) -> None:
    """The server would drop it, and the client wait for ever."""
    whole, half = (
        rb'{"id": 1, "method": "a", "params": {"x": "\ud83d\ude00"}}',
        rb'{"id": 2, "method": "a", "p": "\uD83D"}',
    )
    assert world.state.client_said(whole, world.now) == [ToServer(1, whole)]
    (told,) = world.state.client_said(half, world.now)
    assert isinstance(told, ToClient)
    assert json.loads(told.line)["error"]["code"] == -32700


def test_an_answer_nobody_asked_for_is_dropped(world: World) -> None:
    world.server_says(1, answer(99))
    assert world.answers() == [0]


def test_a_crash_is_told_at_once_and_nothing_is_sent_again(world: World) -> None:
    world.says(call(1))
    world.crash(1)
    (told,) = [message for message in world.client if message.get("id") == 1]
    assert told["error"]["code"] == ERROR_CODE
    assert "was not sent again" in told["error"]["message"]
    assert world.running == [2]
    assert world.probe(2) == INITIALIZE | {"id": world.probe(2)["id"]}
    world.says(call(2))
    assert world.asked(2) == [], "it waits for the handshake"
    world.server_says(2, answer(world.probe(2)["id"]))
    assert INITIALIZED in world.servers[2]
    assert world.asked(2) == [2]
    world.server_says(2, answer(2))
    assert world.answers() == [0, 1, 2]


def test_a_stateless_client_is_asked_for_with_its_own_meta() -> None:
    world = World()
    world.says(call(1))
    world.crash(1)
    probe = world.probe(2)
    assert (probe["method"], probe["params"]["_meta"]) == ("server/discover", META)


def test_a_crash_before_anybody_has_asked_needs_no_handshake() -> None:
    world = World()
    world.crash(1)
    world.says(INITIALIZE)
    assert world.servers[2] == [INITIALIZE]


def test_what_waits_for_a_server_that_crashes_as_it_starts_is_answered_by_the_next(world: World) -> None:
    world.crash(1)
    world.says(call(1))
    world.crash(2)
    world.server_says(3, answer(world.probe(3)["id"]))
    assert world.asked(3) == [1]
    assert 1 not in world.answers()


def test_after_three_crashes_in_a_minute_every_call_is_answered_with_an_error(world: World) -> None:
    for server in (1, 2, 3):
        world.crash(server)
    assert world.running == []
    world.says(call(1))
    assert "crashed 3 times" in world.client[-1]["error"]["message"]
    world.says({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    world.later(CRASH_SECONDS + 1)
    world.says(call(2))
    assert world.running == [4]
    world.server_says(4, answer(world.probe(4)["id"]))
    assert world.asked(4) == [2]


def test_crashes_far_apart_do_not_count_together(world: World) -> None:
    for server in range(1, 7):
        world.later(CRASH_SECONDS / 2 + 1)
        world.crash(server)
        assert world.running == [server + 1]
        world.server_says(server + 1, answer(world.probe(server + 1)["id"]))


def test_a_replacement_serves_once_it_has_answered_and_the_old_one_ends_what_it_was_asked(world: World) -> None:
    world.says(call(1))
    world.replaced()
    world.says(call(2))
    assert world.running == [1, 2]
    assert world.asked(1) == [0, 1, 2], "until then the old one serves"
    world.server_says(2, answer(world.probe(2)["id"]))
    assert world.client[-1] == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    world.says(call(3))
    world.server_says(1, answer(1))
    assert world.running == [1, 2]
    world.server_says(1, answer(2))
    assert world.running == [2], "it has nothing left to answer"
    world.server_says(2, answer(3))
    assert world.asked(2) == [3]
    assert world.answers() == [0, 1, 2, 3]
    assert len(world.notices) == 1


def test_a_replaced_server_has_ten_minutes(world: World) -> None:
    world.says(call(1))
    world.replaced()
    world.server_says(2, answer(world.probe(2)["id"]))
    world.later(DRAIN_SECONDS - 1)
    assert world.running == [1, 2]
    world.later(2)
    assert world.running == [2]
    assert "more than ten minutes" in world.client[-1]["error"]["message"]


@pytest.mark.parametrize("how", ["ends", "refuses", "is silent"])
def test_a_replacement_that_does_not_shake_hands_leaves_the_old_one_serving(world: World, how: str) -> None:
    world.replaced()
    if how == "ends":
        world.crash(2)
    elif how == "refuses":
        world.server_says(2, {"jsonrpc": "2.0", "id": world.probe(2)["id"], "error": {"code": -1, "message": "no"}})
    else:
        world.later(HANDSHAKE_SECONDS + 1)
    assert world.running == [1]
    assert len(world.notices) == 1
    world.says(call(1))
    world.server_says(1, answer(1))
    assert world.answers() == [0, 1]


def test_the_server_crashes_while_its_replacement_starts(world: World) -> None:
    world.says(call(1))
    world.replaced()
    world.crash(1)
    assert world.running == [2]
    world.says(call(2))
    world.server_says(2, answer(world.probe(2)["id"]))
    assert world.asked(2) == [2]
    assert world.answers() == [0, 1]


def test_both_the_server_and_its_replacement_crash(world: World) -> None:
    world.replaced()
    world.crash(1)
    world.says(call(1))
    world.crash(2)
    assert world.running == [3]
    world.server_says(3, answer(world.probe(3)["id"]))
    assert world.asked(3) == [1]


def test_a_server_that_does_not_shake_hands_after_a_crash_is_given_up(world: World) -> None:
    world.crash(1)
    world.says(call(1))
    world.later(HANDSHAKE_SECONDS + 1)
    assert world.running == [3]
    world.server_says(3, answer(world.probe(3)["id"]))
    assert world.asked(3) == [1]


def test_a_replacement_before_anybody_asked_just_takes_the_place() -> None:
    world = World()
    world.replaced()
    assert world.running == [2]
    world.says(INITIALIZE)
    assert world.servers[2] == [INITIALIZE]


def test_a_cancellation_reaches_the_server_that_works_on_it(world: World) -> None:
    world.says(call(1))
    world.replaced()
    world.server_says(2, answer(world.probe(2)["id"]))
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    world.says(cancelled)
    assert cancelled in world.servers[1]
    assert cancelled not in world.servers[2]


def test_a_cancellation_of_what_waits_takes_it_back(world: World) -> None:
    world.crash(1)
    world.says(call(1), {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    world.server_says(2, answer(world.probe(2)["id"]))
    assert world.asked(2) == []


def test_what_two_servers_ask_the_client_is_told_apart(world: World) -> None:
    world.says(call(1))
    world.replaced()
    world.server_says(2, answer(world.probe(2)["id"]))
    for server, number in ((1, 5), (2, 5), (2, "5"), (1, "a:b")):
        world.server_says(server, {"jsonrpc": "2.0", "id": number, "method": "ping"})
    ids = [message["id"] for message in world.client if message.get("method") == "ping"]
    assert len(set(ids)) == 4
    for number in ids:
        world.says({"jsonrpc": "2.0", "id": number, "result": {}})
    assert [m["id"] for m in world.servers[1] if "result" in m] == [5, "a:b"]
    assert [m["id"] for m in world.servers[2] if "result" in m] == [5, "5"]
    world.says({"jsonrpc": "2.0", "id": "9:1", "result": {}}, {"jsonrpc": "2.0", "id": 77, "result": {}})


# -- subscriptions ---------------------------------------------------------------------------------------------

LISTEN = call("listen-1", "subscriptions/listen")
ACKNOWLEDGED = {
    "jsonrpc": "2.0",
    "method": "notifications/subscriptions/acknowledged",
    "params": {"_meta": {SUBSCRIPTION: "listen-1"}},
}
CHANGED = {
    "jsonrpc": "2.0",
    "method": "notifications/tools/list_changed",
    "params": {"_meta": {SUBSCRIPTION: "listen-1"}},
}


def test_a_subscription_moves_on_to_the_new_server_and_is_acknowledged_once() -> None:
    world = World()
    world.says(LISTEN)
    world.server_says(1, ACKNOWLEDGED)
    world.replaced()
    world.server_says(2, answer(world.probe(2)["id"]))
    assert LISTEN in world.servers[2]
    world.server_says(2, ACKNOWLEDGED)
    assert world.client.count(ACKNOWLEDGED) == 1
    assert CHANGED in world.client
    assert world.running == [2], "a subscription is no work that the old server would have to end"
    world.server_says(2, CHANGED)
    assert world.client.count(CHANGED) == 2
    assert world.answers() == []


def test_a_subscription_goes_on_after_a_crash() -> None:
    world = World()
    world.says(LISTEN)
    world.server_says(1, ACKNOWLEDGED)
    world.crash(1)
    assert world.answers() == []
    world.server_says(2, answer(world.probe(2)["id"]))
    assert LISTEN in world.servers[2]
    world.server_says(2, ACKNOWLEDGED)
    assert world.client == [ACKNOWLEDGED]
    world.server_says(2, answer("listen-1"))
    assert world.answers() == ["listen-1"]


def test_a_subscription_that_was_cancelled_does_not_move_on() -> None:
    world = World()
    world.says(LISTEN)
    world.server_says(1, ACKNOWLEDGED)
    world.says({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "listen-1"}})
    world.replaced()
    world.server_says(2, answer(world.probe(2)["id"]))
    assert LISTEN not in world.servers[2]


# -- whatever happens ------------------------------------------------------------------------------------------


class Relayed(RuleBasedStateMachine):
    """A client, servers that answer, crash and are replaced, and the time. The model counts; it decides nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.numbers = 0
        self.sent: set[int] = set()

    @rule()
    def client_asks(self) -> None:
        self.numbers += 1
        self.sent.add(self.numbers)
        self.world.says(call(self.numbers))

    @precondition(lambda self: self.world.running)
    @rule(data=st.data())
    def server_answers(self, data: st.DataObject) -> None:
        """The handshake first, then any of what it was asked and has not answered."""
        server = data.draw(st.sampled_from(self.world.running))
        open_ids = [m["id"] for m in self.world.servers[server] if "method" in m and "id" in m]
        if open_ids:
            number = open_ids[0] if str(open_ids[0]).startswith("treescribe") else data.draw(st.sampled_from(open_ids))
            self.world.servers[server] = [m for m in self.world.servers[server] if m.get("id") != number]
            self.world.server_says(server, answer(number))

    @precondition(lambda self: self.world.running)
    @rule(data=st.data())
    def server_crashes(self, data: st.DataObject) -> None:
        self.world.crash(data.draw(st.sampled_from(self.world.running)))

    @rule()
    def program_is_replaced(self) -> None:
        self.world.replaced()

    @rule(seconds=st.sampled_from([1.0, 20.0, 61.0, 700.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.later(seconds)

    @invariant()
    def nothing_is_answered_twice(self) -> None:
        answered = Counter(self.world.answers())
        assert all(count == 1 for count in answered.values()), answered
        assert set(answered) <= self.sent

    @invariant()
    def at_most_one_serves_and_few_are_left_over(self) -> None:
        assert len(self.world.running) == len(set(self.world.running))

    def teardown(self) -> None:
        """Let everybody answer: then every request has its answer."""
        for _ in range(50):
            if set(self.world.answers()) >= self.sent:
                break
            self.world.later(CRASH_SECONDS + 1)
            for server in list(self.world.running):
                for message in list(self.world.servers[server]):
                    if "method" in message and "id" in message and server in self.world.running:
                        self.world.servers[server].remove(message)
                        self.world.server_says(server, answer(message["id"]))
        assert set(self.world.answers()) == self.sent


TestWhateverHappens = Relayed.TestCase
TestWhateverHappens.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
