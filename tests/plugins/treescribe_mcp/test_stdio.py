"""The server on standard input and output, as a client sees it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_clients import ERAS, SERVER, Connect, Served
from support import git
from treescribe.process_tree import is_running

pytestmark = pytest.mark.anyio


async def until(condition: Callable[[], Any], seconds: float = 30) -> None:
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.02)


@pytest.mark.parametrize("era", ERAS)
async def test_a_run_answers_with_its_verdict_and_what_changed(shop: Path, connect: Connect, era: str) -> None:
    async with connect(era=era) as server:
        first = await server.call("run", shop, targets=["test"])
        assert (first["ok"], first["run"], first["tests"]) == (True, 1, {"passed": 2})
        assert set(first) <= {"summary", "ok", "run", "workspace", "targets", "duration_ms", "tests"}
        (shop / "test_cart.py").write_text("def test_one(): pass\ndef test_total(): assert 9 == 10\n")
        second = await server.call("run", shop, targets=["test"])
    assert second["summary"] == "failed: 1 passed, 1 failed; 1 newly failing since #1"
    assert not second["ok"]
    assert second["failures"] == [{"test": "test_cart.py::test_total", "status": "failed", "message": "assert 9 == 10"}]
    assert second["changes"] == {"since": 1, "newly_failing": ["test_cart.py::test_total"]}
    assert second["more"] == 'history_show {run: 2, query: "test_total"} for traces and output'
    assert "2 of 2 tests, 1 failed: test_cart.py::test_total" in server.told


async def test_two_worktrees_of_one_repository_are_never_mixed_up(tmp_path: Path, shop: Path, connect: Connect) -> None:
    """The main checkout is green, the other one is red; whichever is asked for is answered about."""
    fork = tmp_path / "shop-fork"
    git(shop, "add", ".")
    git(shop, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one")
    git(shop, "worktree", "add", "-q", fork)
    (fork / "test_cart.py").write_text("def test_one(): pass\ndef test_total(): assert 9 == 10\n")
    answers: dict[tuple[Path, int], dict[str, Any]] = {}

    async def ask(server: Served, root: Path, number: int) -> None:
        answers[root, number] = await server.call("run", root, targets=["test"])

    async with connect() as server:
        for number in range(2):
            async with anyio.create_task_group() as group:
                for root in (shop, fork):
                    group.start_soon(ask, server, root, number)
        listed = {root: await server.call("history_list", root) for root in (shop, fork)}
    for (root, _), answer in answers.items():
        assert (answer["workspace"], answer["ok"]) == (str(root), root == shop)
    assert {root: sorted(row["run"] for row in answer["runs"]) for root, answer in listed.items()} == {
        shop: [1, 2],
        fork: [1, 2],
    }


async def test_options_reach_their_targets(shop: Path, connect: Connect) -> None:
    async with connect() as server:
        answer = await server.call(
            "run", shop, targets=["look", "test"], options={"test": {"only": "test_cart.py::test_one"}}
        )
        assert answer["targets"] == ["look", "test --only=test_cart.py::test_one"]
        assert answer["tests"] == {"passed": 1}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"targets": ["--help"]}, "targets[0] is no name of a target"),
        ({"targets": ["test --only=x"]}, "targets[0] is no name of a target"),
        ({"targets": [""]}, "targets[0] is no name of a target"),
        ({"targets": ["test"], "options": {"look": {}}}, "one of these names is not among targets"),
        ({"targets": ["test"], "options": {"test": {"a b": 1}}}, "no name of an option"),
        ({"targets": ["test"], "options": {"test": {"only": "a\0b"}}}, "NUL"),
        ({"targets": ["exec", "id"]}, "targets[0] is a command of treescribe"),
        ({"targets": ["look", "mcp"]}, "targets[1] is a command of treescribe"),
        ({"targets": ["look"], "options": {"look": {"dry": True}}}, "none of the targets has an option of that name"),
        ({"targets": ["look"], "options": {"look": {"search-root": "/"}}}, "none of the targets has an option"),
        ({"targets": ["look"], "options": {"look": {"f": "other.yaml"}}}, "--config: none of the targets"),
        ({"targets": ["nothing"]}, "No idea what 'nothing' is!"),
        ({"targets": ["history.list"]}, "an operation of treescribe, not a target"),
    ],
)
async def test_what_cannot_be_run_is_refused(
    shop: Path, connect: Connect, arguments: dict[str, Any], text: str
) -> None:
    async with connect() as server:
        assert text in await server.refused("run", directory=str(shop), **arguments)


async def test_check_runs_only_what_the_project_declares_harmless(shop: Path, connect: Connect) -> None:
    async with connect() as server:
        assert (await server.call("check", shop, targets=["look"]))["ok"]
        refusal = await server.refused("check", directory=str(shop), targets=["look", "test"])
        assert "not declared additive" in refusal
        assert "treescribe.effects" in refusal
        assert (await server.call("history_list", shop))["total"] == 1


async def test_targets_are_listed_with_their_options_and_effects(shop: Path, connect: Connect) -> None:
    async with connect() as server:
        answer = await server.call("targets", shop)
    told = {target["name"]: target for target in answer["targets"]}
    assert told["test"] == {
        "name": "test",
        "effect": "destructive",
        "help": "Run the tests.",
        "options": ["--only=str"],
    }
    assert told["look"]["effect"] == "read-only"


async def test_a_command_is_run_as_it_is_given_and_recorded(shop: Path, connect: Connect) -> None:
    async with connect() as server:
        answer = await server.call("exec", shop, command=["sh", "-c", 'echo $0 "$@"; exit 3', "a b", "c*"])
        assert (answer["ok"], answer["exit_code"], answer["output"]) == (False, 3, "a b c*\n" + answer["output"][7:])
        assert "recorded" in (await server.call("history_list", shop))["summary"]


async def test_a_directory_of_another_workspace_than_its_tasks_is_refused(shop: Path, connect: Connect) -> None:
    (shop / "web").mkdir()
    (shop / "web" / "bleep.yaml").write_text("{}")
    async with connect() as server:
        refusal = await server.refused("run", directory=str(shop / "web"), targets=["look"])
    assert f"a run of the workspace {shop}" in refusal


@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_call_ends_the_run_and_all_below_it(shop: Path, connect: Connect, era: str) -> None:
    async with connect(era=era) as server:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_once_started, shop, scope)
                await server.call("run", shop, targets=["stubborn"])
        child = int((shop / "child.pid").read_text())
        await until(lambda: not is_running(child))
        await until(lambda: not list((shop / ".treescribe/history/active").glob("*.jsonl")))
        (row,) = (await server.call("history_list", shop))["runs"]
        assert row["outcome"] == "cancelled"


async def _cancel_once_started(shop: Path, scope: anyio.CancelScope) -> None:
    await until((shop / "started").exists)
    scope.cancel()


async def test_a_run_that_takes_too_long_is_cancelled_and_answered(shop: Path, connect: Connect) -> None:
    async with connect() as server:
        answer = await server.call("run", shop, targets=["wait"], timeout=0.5)
    assert answer["summary"] == "cancelled: it timed out after 0.5 s"
    assert not answer["ok"]


@pytest.mark.parametrize("ended_by", [None, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
async def test_no_run_outlives_its_client_and_server(
    shop: Path, connect: Connect, ended_by: signal.Signals | None, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    command = ("sh", "-c", 'echo $$ > "$0"; exec "$@"', str(pid), *SERVER)
    with anyio.move_on_after(30):
        async with connect(command=command) as server, anyio.create_task_group() as group:
            group.start_soon(_ignore_errors, server, shop)
            await until((shop / "started").exists)
            if ended_by is not None:
                os.kill(int(pid.read_text()), ended_by)
                await until(lambda: not is_running(int(pid.read_text())))
            group.cancel_scope.cancel()
    child = int((shop / "child.pid").read_text())
    await until(lambda: not is_running(child))
    await until(lambda: not list((shop / ".treescribe/history/active").glob("*.jsonl")))
    (transcript,) = (shop / ".treescribe/history").glob("*.jsonl")
    assert '"outcome":"cancelled"' in transcript.read_text().splitlines()[-1]


async def _ignore_errors(server: Served, shop: Path) -> None:
    try:
        await server.call("run", shop, targets=["stubborn"])
    except Exception:
        return


async def test_a_run_whose_process_is_killed_is_told_as_such(shop: Path, connect: Connect) -> None:
    async with connect() as server, anyio.create_task_group() as group:

        async def kill() -> None:
            await until((shop / "started").exists)
            writer = (await server.call("history_show", shop, run="latest"))["run"]
            assert writer == 1
            (live,) = (shop / ".treescribe/history/active").glob("*.jsonl")
            pid = int(live.read_text().partition('"pid":')[2].partition(",")[0])
            os.kill(pid, signal.SIGKILL)

        group.start_soon(kill)
        answer = await server.call("run", shop, targets=["wait"])
        assert answer["summary"].startswith("interrupted")
        assert not answer["ok"]
    (shop / "go").touch()


async def test_a_child_gets_nothing_of_the_server(shop: Path, connect: Connect) -> None:
    secret = {"TREESCRIBE_MCP_TOKEN": "a-very-secret-token", "ORDINARY": "kept"}
    async with connect(env=secret) as server:
        assert (await server.call("run", shop, targets=["surroundings"]))["ok"]
    environment = dict(part.split("=", 1) for part in (shop / "environment").read_text().split("\0") if part)
    assert environment["ORDINARY"] == "kept"
    assert not [name for name in environment if name.startswith(("TREESCRIBE_MCP", "TREESCRIBE_FOLLOWER"))]
    assert "a-very-secret-token" not in (shop / "environment").read_text()
    assert (shop / "stdin").read_text() == ""
    assert "socket:" not in (shop / "descriptors").read_text()


async def test_what_children_and_operations_print_stays_out_of_the_protocol(shop: Path, connect: Connect) -> None:
    noisy = """print('{"jsonrpc": "2.0", "id": 1, "result": {}}', flush=True)"""
    (shop / "tasks.py").write_text(f"{noisy}\nfrom invoke import task\n@task\ndef hello(c): {noisy}\n")
    async with connect() as server:
        assert (await server.call("targets", shop))["summary"] == "1 target"
        assert (await server.call("run", shop, targets=["hello"]))["ok"]


async def test_a_run_where_nothing_can_be_written_is_answered_all_the_same(shop: Path, connect: Connect) -> None:
    (shop / ".treescribe").write_text("in the way")
    (shop / "test_cart.py").write_text("def test_total(): assert 9 == 10\n")
    async with connect() as server:
        answer = await server.call("run", shop, targets=["test"])
    assert (answer.get("run"), answer["ok"], answer["tests"]) == (None, False, {"failed": 1})
    assert answer["failures"][0]["test"] == "test_total"


async def test_tools_are_served_by_toolset_and_effect(connect: Connect) -> None:
    async with connect("--toolsets", "history", "--max-effect", "read-only") as server:
        names = {tool.name for tool in (await server.client.list_tools()).tools}
    assert names == {"history_list", "history_show", "history_diff", "history_timing", "history_summary"}


async def test_runs_wait_for_a_slot_of_the_machine_and_are_told_so(make_shop: Any, connect: Connect) -> None:
    one, other = make_shop("one"), make_shop("other")
    async with connect("--slots", "1") as server, anyio.create_task_group() as group:
        group.start_soon(_call, server, one, "wait")
        await until((one / "started").exists)
        group.start_soon(_call, server, other, "look", 0.8)
        await until(lambda: any("slots" in told for told in server.told))
        assert not (other / ".treescribe").exists()
        await anyio.sleep(1)  # longer than its timeout, which begins when it has its slot
        (one / "go").touch()
    async with connect() as server:
        assert (await server.call("history_list", other))["runs"][0]["outcome"] == "passed"


async def _call(server: Served, root: Path, target: str, timeout: float | None = None) -> None:
    await server.call("run", root, targets=[target], **({"timeout": timeout} if timeout else {}))
