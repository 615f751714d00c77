"""The MCP server beside an empty one of the same SDK: the first list, a comparison of two runs, a run of nothing."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from history_operations import TESTS
from pairs import Program, environment, ratio, run
from projects import break_tests, history_of, new_project, throw_away_folder
from rows import Row, show

LIST_BUDGET, DIFF_BUDGET, RUN_BUDGET = 1.15, 1.5, 1.1
STARTS, CALLS, RUNS = 11, 101, 21

OURS = ("treescribe", "mcp")
EMPTY = """
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(name="empty", input_schema={"type": "object"})

async def listed(context, params):
    return types.ListToolsResult(tools=[TOOL])

async def call(context, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="")], structured_content={})

async def main():
    server = Server("empty", on_list_tools=listed, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Connection:
    """A server process and its pipes; a line is a message."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            words, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/"
        )
        self._number = 0

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": {**params, "_meta": _META}}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._number:
                result: dict[str, Any] = answer["result"]
                assert not result.get("isError"), result
                return result
        raise RuntimeError("the server ended")


def rows() -> Iterator[Row]:
    """The first list of a new server, a comparison by one that runs, and a run through one."""
    with throw_away_folder() as folder:
        empty = folder / "empty.py"
        empty.write_text(EMPTY)
        yield _first_list((sys.executable, str(empty)))
        yield _diff(_two_runs(folder / "project"), (sys.executable, str(empty)))
        yield _empty_task(folder / "tasks")


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _row(what: str, ours: list[float], reference: list[float], budget: float) -> Row:
    mine, theirs = (f"{statistics.median(found) * 1000:.1f} ms" for found in (ours, reference))
    return Row(what, mine, theirs, ratio(ours, reference), budget)


def _first_list(empty: tuple[str, ...]) -> Row:
    ours: list[float] = []
    reference: list[float] = []
    for number in range(STARTS + 1):
        for words, samples in ((OURS, ours), (empty, reference)):
            begun = time.perf_counter()
            with Connection(*words) as server:
                server.ask("tools/list")
                seconds = time.perf_counter() - begun
            if number:
                samples.append(seconds)
    return _row("start and first tools/list / those of an empty server", ours, reference, LIST_BUDGET)


def _two_runs(folder: Path) -> Path:
    project = new_project(folder, tests=TESTS)
    recorded = Program(("treescribe", "test"), project)
    run(recorded)
    break_tests(project, range(10))
    run(recorded, expected=1)
    return project


def _diff(project: Path, empty: tuple[str, ...]) -> Row:
    files = history_of(project)
    arguments = {"directory": str(project), "base": 1, "target": 2}

    def read() -> None:
        for file in files:
            for line in file.read_bytes().splitlines():
                json.loads(line)

    with ExitStack() as stack:
        ours, reference = (stack.enter_context(Connection(*words)) for words in (OURS, empty))

        def compare() -> None:
            ours.ask("tools/call", name="history_diff", arguments=arguments)

        def call_and_read() -> None:
            reference.ask("tools/call", name="empty", arguments={})
            read()

        samples = [(_seconds(compare), _seconds(call_and_read)) for _ in range(CALLS + 5)][5:]
    mine, theirs = (list(found) for found in zip(*samples, strict=True))
    what = f"history_diff of runs of {TESTS} tests / an empty call, json.loads"
    return _row(what, mine, theirs, DIFF_BUDGET)


def _empty_task(folder: Path) -> Row:
    project = new_project(folder)
    (project / "tasks.py").write_text("from invoke import task\n\n@task\ndef nothing(c):\n    pass\n")
    arguments = {"directory": str(project), "targets": ["nothing"]}
    program = Program(("treescribe", "nothing"), project)
    with Connection(*OURS) as server:

        def over_mcp() -> None:
            server.ask("tools/call", name="run", arguments=arguments)

        samples = [(_seconds(over_mcp), run(program).seconds) for _ in range(RUNS + 2)][2:]
    ours, reference = (list(found) for found in zip(*samples, strict=True))
    return _row("run of an empty task over MCP / the same command", ours, reference, RUN_BUDGET)


if __name__ == "__main__":
    show(rows())
