"""A run's process: started in the workspace, followed through a socket that it inherits, ended with all below it."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import ByteReceiveStream, Process, UNIXSocketStream
from treescribe.environment import FOLLOWER_VARIABLE
from treescribe.errors import TreescribeError
from treescribe.events import Event
from treescribe.follower import GRACE_SECONDS
from treescribe.host import host
from treescribe.process_tree import end_marked, marked, new_mark
from treescribe.programs import Program, programs
from treescribe.request import Outcome
from treescribe.workspace import Workspace

from treescribe_mcp.tool import Call

ENDING_SECONDS = 3 * GRACE_SECONDS
"""How long a cancelled run has until it is killed with everything below it."""

_TAIL = 16 * 1024
_LINE = 32 * 1024 * 1024


@dataclass
class ChildRun:
    """What became of a run's process.

    :ivar begun: the run's first word; None where no run began.
    :ivar refused: why there was none, where the process says so.
    :ivar printed: the end of what the process printed, for where it says nothing else.
    """

    begun: dict[str, Any] | None = None
    refused: tuple[str, str] | None = None
    printed: bytearray = field(default_factory=bytearray)
    exit_code: int | None = None
    timed_out: bool = False

    def tail(self, lines: int) -> str:
        """The last lines that the process printed."""
        text = self.printed.decode(errors="replace").strip()
        return "\n".join(text.splitlines()[-lines:])


async def follow_run(
    call: Call,
    words: Sequence[str],
    *,
    directory: str,
    max_effect: str,
    timeout: float | None,
    saw: Callable[[Event], Awaitable[None]],
) -> ChildRun:
    """Run ``treescribe WORDS`` in a directory and follow it to its end.

    Cancelling this ends the process and all below it, and what is recorded of the run is finished, before it returns.

    :param timeout: seconds; then the run is cancelled, which `ChildRun.timed_out` tells.
    """
    program = await to_thread.run_sync(programs().of, call.place)
    child = ChildRun()
    ours, its = socket.socketpair()
    record = {"descriptor": its.fileno(), "root": str(call.place.root), "max_effect": max_effect}
    environment = {**programs().environment(program, call.client), FOLLOWER_VARIABLE: json.dumps(record)}
    mark = new_mark()
    with its:
        process = await _start(program, words, directory, marked(environment, mark), its)
    connection = await UNIXSocketStream.from_socket(ours)
    async with _ending(process, mark, connection, call.place, child), anyio.create_task_group() as reading:
        reading.start_soon(_keep_tail, process.stdout, child)
        with anyio.move_on_after(timeout) as limit:
            await _read_events(connection, child, saw)
            child.exit_code = await process.wait()
        if limit.cancelled_caught:
            child.timed_out = True
            await _cancel(connection, f"it timed out after {timeout:g} s")
            with anyio.move_on_after(ENDING_SECONDS):
                await _read_events(connection, child, saw)
                child.exit_code = await process.wait()
        reading.cancel_scope.cancel()
    return child


async def operation_in_child(call: Call, words: Sequence[str]) -> dict[str, Any]:
    """Have an operation done by a process of its own, since it loads what the project's owner wrote."""
    program = await to_thread.run_sync(programs().of, call.place)
    mark = new_mark()
    environment = marked(programs().environment(program, call.client), mark)
    process = await anyio.open_process(
        [*program.words, *words],
        cwd=call.place.root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = bytearray(), bytearray()
    child = ChildRun()
    async with _ending(process, mark, None, call.place, child):
        async with anyio.create_task_group() as reading:
            reading.start_soon(_read_all, process.stdout, out)
            reading.start_soon(_read_all, process.stderr, err)
        child.exit_code = await process.wait()
    if child.exit_code:
        said = err.decode(errors="replace").strip() or "it said nothing"
        raise TreescribeError(said.removeprefix("treescribe: "))
    line = next((line for line in reversed(out.splitlines()) if line.startswith(b"{")), b"")
    try:
        answer: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise TreescribeError(f"treescribe {words[0]} printed no JSON in {call.place.root}.") from error
    return answer


async def _start(
    program: Program, words: Sequence[str], directory: str, environment: dict[str, str], its: socket.socket
) -> Process:
    try:
        return await anyio.open_process(
            [*program.words, *words],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(its.fileno(),),
            start_new_session=True,  # clients kill their server's process group; the run has to see to its own end
        )
    except OSError as error:
        raise TreescribeError(f"{program.words[0]} cannot be started: {error.strerror}.") from error


async def _read_events(connection: UNIXSocketStream, child: ChildRun, saw: Callable[[Event], Awaitable[None]]) -> None:
    """Read what the run tells until its end."""
    codec = host().codec()
    async for line in _lines(connection):
        record = json.loads(line)
        if "type" in record:
            await saw(codec.from_record(record))
        elif "refused" in record:
            child.refused = (record["refused"], record.get("hint", ""))
        else:
            child.begun = record


async def _lines(connection: UNIXSocketStream) -> AsyncIterator[bytes]:
    pending = bytearray()
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            pending += await connection.receive()
            *whole, rest = pending.split(b"\n")
            pending = bytearray(rest)
            for line in whole:
                yield bytes(line)
            if len(pending) > _LINE:
                return


async def _keep_tail(stream: ByteReceiveStream | None, child: ChildRun) -> None:
    assert stream is not None
    async for chunk in stream:
        child.printed += chunk
        del child.printed[:-_TAIL]


async def _read_all(stream: ByteReceiveStream | None, into: bytearray) -> None:
    assert stream is not None
    async for chunk in stream:
        into += chunk


async def _cancel(connection: UNIXSocketStream, why: str) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await connection.send(json.dumps({"cancel": why}).encode() + b"\n")


@asynccontextmanager
async def _ending(
    process: Process, mark: str, connection: UNIXSocketStream | None, workspace: Workspace, child: ChildRun
) -> AsyncIterator[None]:
    """Leave nothing of a process behind, however the block ends."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            killed = process.returncode is None and await _had_to_be_killed(process, connection)
            ended_early = child.timed_out or child.exit_code is None or child.exit_code < 0
            if connection is not None:
                await connection.aclose()
            if ended_early:  # otherwise what a run leaves running was meant to stay
                await to_thread.run_sync(end_marked, mark, GRACE_SECONDS)
            await process.aclose()
            if killed and child.begun and child.begun.get("run") is not None:
                outcome = Outcome.cancelled(None, "it had to be killed")
                await to_thread.run_sync(_finish_record, workspace, child.begun["run"], outcome)


async def _had_to_be_killed(process: Process, connection: UNIXSocketStream | None) -> bool:
    """Have a process end itself; whether it did not and was killed."""
    if connection is not None:
        await _cancel(connection, "who asked for it cancelled it")
    else:
        process.terminate()
    with anyio.move_on_after(ENDING_SECONDS):
        await process.wait()
    if process.returncode is not None:
        return False
    process.kill()
    await process.wait()
    return True


def _finish_record(workspace: Workspace, run: int, outcome: Outcome) -> None:
    host().hook.treescribe_run_abandoned(workspace=workspace, run_id=run, outcome=outcome)
