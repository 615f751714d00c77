"""The server over HTTP: who is let in, what ids name, and many clients at a time."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import pytest
from mcp_clients import ERAS, SERVER, TOKEN, HttpServer, http_server, make_shop_in
from support import eventually

pytestmark = pytest.mark.once

Make = Callable[..., Path]
FORMS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def request(method: str, params: dict[str, Any] | None = None, version: str = "2026-07-28") -> dict[str, Any]:
    """A stateless request, and what a client of this revision has to tell with it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": meta}}


def headers_for(message: dict[str, Any]) -> dict[str, str]:
    named = {"Mcp-Name": message["params"]["name"]} if "name" in message["params"] else {}
    return {**FORMS, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": message["method"], **named}


class Shops(NamedTuple):
    """A folder with two shops, of which the second has a failing test, and a server of them."""

    folder: Path
    server: HttpServer


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shops]:
    folder = tmp_path_factory.mktemp("shops")
    make_shop_in(folder, "shop-a", total=10)
    make_shop_in(folder, "shop-b", total=9)
    (folder / "plain").mkdir()
    (folder / "elsewhere").symlink_to("/tmp")
    (folder / "twin").symlink_to(folder / "shop-a")
    with http_server(folder, "--root", str(folder), "--ready", "shop-a") as served:
        yield Shops(folder, served)


@pytest.fixture
def server(shops: Shops) -> HttpServer:
    return shops.server


LIST = request("tools/list")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (BEARER, 200),
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": "Bearer ÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿ".encode("latin-1")}, 401),
        ({**BEARER, "Host": "evil.example.org"}, 421),
        ({**BEARER, "Host": "127.0.0.1.evil.example.org"}, 421),
        ({**BEARER, "Host": ""}, 421),
        ({**BEARER, "Host": "localhost"}, 200),
        ({**BEARER, "Origin": "null"}, 403),
        ({**BEARER, "Origin": "http://evil.example.org"}, 403),
        ({**BEARER, "Origin": ""}, 403),
        ({**BEARER, "Content-Type": "text/plain"}, 400),
    ],
)
def test_who_is_let_in(server: HttpServer, headers: dict[str, Any], status: int) -> None:
    answer = httpx2.post(f"{server.url}/mcp", json=LIST, headers={**headers_for(LIST), **headers})
    assert answer.status_code == status
    assert TOKEN not in answer.text
    assert TOKEN not in server.errors.read_text()


def test_a_token_in_the_query_is_none_and_is_not_logged(server: HttpServer) -> None:
    answer = httpx2.post(f"{server.url}/mcp?token={TOKEN}&access_token={TOKEN}", json=LIST, headers=headers_for(LIST))
    assert answer.status_code == 401
    assert TOKEN not in server.errors.read_text()


def test_two_authorizations_are_none(server: HttpServer) -> None:
    headers = [*headers_for(LIST).items(), *BEARER.items(), *BEARER.items()]
    assert httpx2.post(f"{server.url}/mcp", json=LIST, headers=headers).status_code == 401


def test_an_allowed_origin_and_name_are_let_in(tmp_path: Path, make_shop: Make) -> None:
    make_shop("shop-a")
    options = ("--root", str(tmp_path), "--hosts", "mcp.example.org", "--origins", "https://ide.example.org")
    with http_server(tmp_path, *options) as server:
        headers = {**headers_for(LIST), **BEARER, "Host": "MCP.example.org", "Origin": "https://ide.example.org"}
        assert httpx2.post(f"{server.url}/mcp", json=LIST, headers=headers).status_code == 200


def call(server: HttpServer, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    message = request("tools/call", {"name": name, "arguments": arguments})
    answer = httpx2.post(f"{server.url}/mcp", json=message, headers={**headers_for(message), **BEARER}, timeout=60)
    body = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        body = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: {")][-1]
    result: dict[str, Any] = json.loads(body)["result"]
    return result


@pytest.mark.parametrize(
    "workspace",
    [
        "../shop-a",
        "shop-a/../shop-b",
        "./shop-a",
        "shop-a/",
        "SHOP-A",
        "shop_a",
        "shop-a\0",
        "shop-a\n",
        "",
        ".",
        "..",
        "plain",
        "elsewhere",
        "shop-a/.git",
        "/etc",
    ],
)
def test_nothing_but_an_exact_id_names_a_workspace(shops: Shops, workspace: str) -> None:
    result = call(shops.server, "history_list", {"workspace_id": workspace})
    assert result["isError"]
    text = result["content"][0]["text"]
    assert text.startswith("there is no workspace of this id.")
    assert str(shops.folder) not in text


def test_a_path_is_no_argument_over_http(shops: Shops) -> None:
    server, shop = shops.server, str(shops.folder / "shop-a")
    for arguments in ({"directory": shop}, {"workspace_id": "shop-a", "directory": shop}, {"workspace_id": shop}):
        assert call(server, "history_list", arguments)["isError"]
    refused = call(server, "history_diff", {"workspace_id": "shop-a", "base_directory": shop})
    assert "it is base_workspace_id here" in refused["content"][0]["text"]


def test_links_and_plain_folders_in_the_root_are_no_workspaces(server: HttpServer) -> None:
    assert call(server, "workspaces", {})["structuredContent"]["workspaces"] == ["shop-a", "shop-b"]


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_each_answer_is_about_its_workspace_and_tells_no_path(shops: Shops, era: str) -> None:
    async with shops.server.connect(era) as client:
        answers = {}
        for name in ("shop-a", "shop-b"):
            answers[name] = await client.call("run", workspace_id=name, targets=["test"])
            answers[name + " status"] = await client.call("workspace_status", workspace_id=name)
            answers[name + " shown"] = await client.call("history_show", workspace_id=name, output=True)
        refusal = await client.refused("history_show", workspace_id="shop-a", run=99)
    assert (answers["shop-a"]["ok"], answers["shop-b"]["ok"]) == (True, False)
    assert answers["shop-a"]["workspace"] == "shop-a"
    assert answers["shop-b status"]["parts"]["history"]["last"]["outcome"] == "failed"
    assert str(shops.folder) not in json.dumps(answers) + refusal


@pytest.mark.anyio
async def test_a_diff_across_workspaces_names_the_base_by_its_id(server: HttpServer) -> None:
    async with server.connect() as client:
        for name in ("shop-a", "shop-b"):
            await client.call("run", workspace_id=name, targets=["test"])
        diff = await client.call("history_diff", workspace_id="shop-b", base=1, target=1, base_workspace_id="shop-a")
    assert diff["cross_workspace"]
    assert diff["base"] == {"run": 1, "workspace": "shop-a"}


def test_exec_is_served_only_where_it_is_switched_on(server: HttpServer, tmp_path: Path, make_shop: Make) -> None:
    shop = make_shop("shop-a")
    message = request("tools/call", {"name": "exec", "arguments": {"workspace_id": "shop-a", "command": ["true"]}})
    answer = httpx2.post(f"{server.url}/mcp", json=message, headers={**headers_for(message), **BEARER})
    assert "there is no such tool" in answer.text
    job = call(server, "job_start", {"workspace_id": "shop-a", "command": "true"})
    assert "unknown argument command" in job["content"][0]["text"]
    job = call(server, "job_start", {"workspace_id": "shop-a", "targets": ["exec", "true"]})
    assert "is a command of treescribe" in job["content"][0]["text"]
    with http_server(tmp_path, "--workspaces", f"one={shop}", "--allow-exec") as other:
        assert call(other, "exec", {"workspace_id": "one", "command": ["true"]})["structuredContent"]["ok"]
        started = call(other, "job_start", {"workspace_id": "one", "command": "true"})["structuredContent"]
        told = call(other, "job_status", {"workspace_id": "one", "job": started["job"], "wait": 60})
        assert told["structuredContent"]["job"]["exit_code"] == 0


def test_a_body_beyond_the_limit_is_refused(server: HttpServer) -> None:
    message = request("tools/call", {"name": "history_list", "arguments": {"workspace_id": "x" * 2_000_000}})
    answer = httpx2.post(f"{server.url}/mcp", json=message, headers={**headers_for(message), **BEARER})
    assert answer.status_code == 413

    def chunks() -> Iterator[bytes]:
        for _ in range(40):
            yield b"x" * 65536

    answer = httpx2.post(f"{server.url}/mcp", content=chunks(), headers={**headers_for(message), **BEARER})
    assert answer.status_code == 413


def test_a_slow_body_keeps_nobody_waiting_and_is_given_up(server: HttpServer) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers_for(LIST).items())
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as slow:
        slow.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        assert httpx2.get(f"{server.url}/ready").status_code == 200
        assert slow.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_a_connection_that_asks_for_nothing_is_closed(server: HttpServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as idle:
        idle.sendall(b"POST /mcp HT")
        assert idle.recv(4096) == b""


def test_ten_thousand_open_connections_are_bounded(tmp_path: Path, make_shop: Make) -> None:
    """Those beyond the limit are closed at once; those that ask for nothing are closed after a while."""
    shop = make_shop("shop-a")
    with http_server(tmp_path, "--workspaces", f"one={shop}") as server:
        before, most = descriptors(server.process.pid), 0
        held: list[socket.socket] = []
        for number in range(10_000):
            held.append(socket.create_connection(("127.0.0.1", server.port), timeout=30))
            if len(held) > 900:  # as many as a process of ours may have open
                held.pop(0).close()
            if number % 100 == 0:
                most = max(most, descriptors(server.process.pid))
        assert before + 500 < most < before + 1000
        for connection in held:
            connection.close()
        eventually(lambda: _is_healthy(server))


def _is_healthy(server: HttpServer) -> bool:
    try:
        return httpx2.get(f"{server.url}/health", timeout=5).status_code == 200
    except httpx2.HTTPError:
        return False


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_health_and_readiness_tell_nothing_else(tmp_path: Path, make_shop: Make) -> None:
    shop = make_shop("shop-a")
    with http_server(tmp_path, "--root", str(tmp_path), "--ready", "shop-a") as server:
        assert httpx2.get(f"{server.url}/health").json() == {"alive": True}
        assert httpx2.get(f"{server.url}/ready").json() == {"ready": True}
        shop.rename(tmp_path / "moved")
        answer = httpx2.get(f"{server.url}/ready")
        assert (answer.status_code, answer.json()) == (503, {"ready": False})
        assert httpx2.get(f"{server.url}/health").status_code == 200


def test_the_access_log_has_a_line_for_each_request(server: HttpServer) -> None:
    httpx2.post(f"{server.url}/mcp", json=LIST, headers={**headers_for(LIST), **BEARER})
    httpx2.get(f"{server.url}/{TOKEN}")
    eventually(lambda: {"other", "/mcp"} <= {line["path"] for line in server.log()})
    first = next(line for line in reversed(server.log()) if line["path"] == "/mcp")
    second = next(line for line in reversed(server.log()) if line["path"] == "other")
    assert (first["method"], first["path"], first["status"]) == ("POST", "/mcp", 200)
    assert (second["path"], second["status"]) == ("other", 401)
    assert TOKEN not in server.errors.read_text()


@pytest.mark.parametrize(
    ("options", "env", "told"),
    [
        (("--http", "127.0.0.1:0"), {"TREESCRIBE_MCP_TOKEN": TOKEN}, "a root folder or a map, one of the two"),
        (("--http", "127.0.0.1:0", "--root", "/tmp"), {}, "needs a token"),
        (("--http", "127.0.0.1:0", "--root", "/tmp"), {"TREESCRIBE_MCP_TOKEN": "short"}, "16 characters"),
        (("--http", "127.0.0.1:0", "--root", "/tmp"), {"TREESCRIBE_MCP_TOKEN_FILE": "/no/file"}, "cannot be read"),
        (("--http", "0.0.0.0:0", "--root", "/tmp"), {"TREESCRIBE_MCP_TOKEN": TOKEN}, "--hosts"),
        (("--http", "nowhere", "--root", "/tmp"), {"TREESCRIBE_MCP_TOKEN": TOKEN}, "HOST:PORT"),
        (("--http", "127.0.0.1:0", "--root", "/no/folder"), {"TREESCRIBE_MCP_TOKEN": TOKEN}, "no directory"),
        (
            ("--http", "127.0.0.1:0", "--root", "/tmp", "--workspaces", "a=/tmp"),
            {"TREESCRIBE_MCP_TOKEN": TOKEN},
            "one of the two",
        ),
        (
            ("--http", "127.0.0.1:0", "--workspaces", "a=relative"),
            {"TREESCRIBE_MCP_TOKEN": TOKEN},
            "Give an absolute path",
        ),
        (("--http", "127.0.0.1:0", "--root", "/tmp", "--ready", "x"), {"TREESCRIBE_MCP_TOKEN": TOKEN}, "no workspace"),
    ],
)
def test_it_refuses_to_start_without_its_settings(options: tuple[str, ...], env: dict[str, str], told: str) -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith("TREESCRIBE_")}
    done = subprocess.run([*SERVER, *options], env={**bare, **env}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_child_gets_an_allow_list_of_variables(tmp_path: Path, make_shop: Make) -> None:
    shop = make_shop("shop-a")
    env = {"SECRET_OF_THE_OPERATOR": "x", "LC_ALL": "C.UTF-8", "TREESCRIBE_MCP_ROOT": str(tmp_path)}
    with http_server(tmp_path, env=env) as server:
        assert call(server, "run", {"workspace_id": "shop-a", "targets": ["surroundings"]})["structuredContent"]["ok"]
    told = (shop / "environment").read_text()
    names = {part.partition("=")[0] for part in told.split("\0")}
    assert "LC_ALL" in names
    assert "PATH" in names
    assert not names & {"SECRET_OF_THE_OPERATOR", "TREESCRIBE_MCP_TOKEN", "TREESCRIBE_MCP_ROOT"}
    assert TOKEN not in told


def test_a_signal_stops_it_and_ends_its_runs(tmp_path: Path, make_shop: Make) -> None:
    shop = make_shop("shop-a")
    with http_server(tmp_path, "--root", str(tmp_path)) as server:
        message = request("tools/call", {"name": "run", "arguments": {"workspace_id": "shop-a", "targets": ["wait"]}})
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            body = json.dumps(message).encode()
            head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
            head += "".join(f"{name}: {value}\r\n" for name, value in {**headers_for(message), **BEARER}.items())
            client.sendall(head.encode() + b"\r\n" + body)
            eventually((shop / "started").exists)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(60) == 0
    (transcript,) = (shop / ".treescribe/history").glob("*.jsonl")
    assert '"outcome":"cancelled"' in transcript.read_text().splitlines()[-1]


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_goes_cancels_its_run(tmp_path: Path, make_shop: Make, era: str) -> None:
    shop = make_shop("shop-a")
    arguments = {"name": "run", "arguments": {"workspace_id": "shop-a", "targets": ["wait"]}}
    with http_server(tmp_path, "--root", str(tmp_path)) as server:
        message = request("tools/call", arguments)
        told = headers_for(message)
        if era == "legacy":
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
            told = {**FORMS, "MCP-Protocol-Version": "2025-11-25"}
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            body = json.dumps(message).encode()
            head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
            head += "".join(f"{name}: {value}\r\n" for name, value in {**told, **BEARER}.items())
            client.sendall(head.encode() + b"\r\n" + body)
            eventually((shop / "started").exists)
        eventually(lambda: list((shop / ".treescribe/history").glob("*.jsonl")))
    (transcript,) = (shop / ".treescribe/history").glob("*.jsonl")
    assert '"outcome":"cancelled"' in transcript.read_text().splitlines()[-1]


@pytest.mark.anyio
async def test_fifty_clients_and_eight_runs_at_a_time(tmp_path: Path, make_shop: Make) -> None:
    names = [f"shop-{number}" for number in range(8)]
    for name in names:
        make_shop(name)
    with http_server(tmp_path, "--root", str(tmp_path)) as server:
        numbers: dict[str, list[int]] = {name: [] for name in names}

        async def run(name: str) -> None:
            async with server.connect() as client:
                for _ in range(2):
                    answer = await client.call("run", workspace_id=name, targets=["test"])
                    assert (answer["ok"], answer["workspace"]) == (True, name)
                    numbers[name].append(answer["run"])

        async def ask(number: int) -> None:
            name = names[number % len(names)]
            async with server.connect(ERAS[number % 2]) as client:
                for _ in range(20):
                    assert (await client.call("history_list", workspace_id=name))["workspace"] == name

        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(run, name)
        assert all(found == [1, 2] for found in numbers.values())
        await everybody(ask)
        first = memory(server.process.pid)
        await everybody(ask)
        assert memory(server.process.pid) < first * 1.1 + 2_000_000


async def everybody(ask: Callable[[int], Any]) -> None:
    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(ask, number)


def memory(pid: int) -> int:
    """Bytes that a process has in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")
