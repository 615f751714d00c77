"""The operations: start a job, ask for one or for all, stop one."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from treescribe.clock import SystemClock
from treescribe.commands import command_of
from treescribe.errors import InvalidInput, TreescribeError
from treescribe.operation import Parameter
from treescribe.process_tree import end_marked, marked, new_mark
from treescribe.programs import programs
from treescribe.workspace import Workspace

from treescribe_jobs.job import Job, State
from treescribe_jobs.processes import Life, life_of
from treescribe_jobs.store import JobStore
from treescribe_jobs.telling import JobsResult, JobStarted, JobStatus, info_of, sentence, workspace_text

JOB_VARIABLE = "TREESCRIBE_JOB"
"""The folder of the job that a run is; see `plugin`."""

RUNNER = Path(__file__).with_name("job_runner.py")
GRACE_SECONDS = 5.0
LOOK_SECONDS = 0.05
TAIL_LINES = 20
PAGE_BYTES = 8 * 1024
LONGEST_WAIT = 600.0


def start(
    workspace: Workspace,
    targets: Annotated[list[str], Parameter("what to run, by name; one flag for each")] = [],  # noqa: B006
    command: Annotated[str, Parameter("or a command for the shell", command=True)] = "",
    name: Annotated[str, Parameter("what to call it in lists")] = "",
) -> JobStarted:
    """Start a run of targets, or a command, that goes on by itself; ask for it with job.status.

    It outlives whoever started it: the terminal, the server, the client.
    """
    if bool(targets) == bool(command):
        raise InvalidInput("a job is a run of targets or a command: give one of the two.")
    if any(target.startswith("-") or not target for target in targets):
        raise InvalidInput("targets are names; an option cannot be one.")
    if any(command_of(target) is not None for target in targets):
        raise InvalidInput("targets are names of targets; one of these is a command of treescribe.")
    store = JobStore(workspace)
    store.sweep(SystemClock().now_ms())
    words = list(targets) if targets else ["exec", "--", "sh", "-c", command]
    what = shlex.join(targets) if targets else command
    try:
        job = store.new()
        _launch(workspace, job, words, what, name)
    except OSError as error:
        raise TreescribeError(f"no job can be started in {workspace.root}: {error.strerror}.") from error
    return JobStarted(
        summary=f"job #{job.id} started: {what}", workspace=workspace_text(workspace), job=job.id, what=what
    )


def status(
    workspace: Workspace,
    job: Annotated[int, Parameter("its number", positional=True)],
    wait: Annotated[float, Parameter("wait up to so many seconds for its end")] = 0.0,
    tail: Annotated[int, Parameter("how many lines of the end of its output are shown")] = TAIL_LINES,
    offset: Annotated[int, Parameter("show its output from this byte on instead")] = -1,
) -> JobStatus:
    """Tell what has become of a job, what its run came to, and what it printed."""
    found = JobStore(workspace).find(job)
    until = time.monotonic() + min(wait, LONGEST_WAIT)
    while found.state() is State.RUNNING and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    info = info_of(found)
    text, begin, end, size = _page(found, offset) if offset >= 0 else _tail(found, tail)
    return JobStatus(
        summary=sentence(info),
        workspace=workspace_text(workspace),
        job=info,
        answer=found.answer,
        log=text,
        offset=begin,
        next_offset=end,
        size=size,
    )


def list_jobs(workspace: Workspace) -> JobsResult:
    """List the jobs of this workspace, the latest first. What ended a day ago is no longer kept."""
    store = JobStore(workspace)
    with suppress(OSError):
        store.sweep(SystemClock().now_ms())
    infos = tuple(info_of(job) for job in store.jobs())
    running = sum(info.state == State.RUNNING for info in infos)
    summary = f"{len(infos)} job{'' if len(infos) == 1 else 's'}, {running} running" if infos else "no jobs"
    return JobsResult(summary=summary, workspace=workspace_text(workspace), jobs=infos, total=len(infos))


def stop(
    workspace: Workspace,
    job: Annotated[int, Parameter("its number", positional=True)],
    grace: Annotated[float, Parameter("seconds that it has for its end before it is killed")] = GRACE_SECONDS,
) -> JobStatus:
    """Stop a job, with everything that it started."""
    found = JobStore(workspace).find(job)
    state = found.state()
    if state is State.UNDECIDABLE:
        raise TreescribeError(
            f"job #{job} cannot be seen from here: its process is another container's.", "Stop it from there."
        )
    if state is State.RUNNING:
        (found.folder / "stop").touch()
        _end(found, grace)
    return status(workspace, job)


def _launch(workspace: Workspace, job: Job, words: list[str], what: str, name: str) -> None:
    """Start the runner, and wait until it has written down what it started."""
    program = programs().of(workspace)
    mark = new_mark()
    environment = marked(programs().environment(program, f"job:{job.id}"), mark) | {JOB_VARIABLE: str(job.folder)}
    job.write(
        "record.json",
        {
            "id": job.id,
            "name": name,
            "what": what,
            "words": [*program.words, *words],
            "directory": str(workspace.root),
            "mark": mark,
            "started_at": SystemClock().now_ms(),
        },
    )
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    runner = [sys.executable, "-I", str(RUNNER), str(job.folder), str(writing)]
    try:
        with open(job.folder / "runner.log", "ab") as log:
            process = subprocess.Popen(
                runner,
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writing,),
                start_new_session=True,
            )
        os.close(writing)
        process.wait()
        os.read(reading, 1)
    finally:
        os.close(reading)


def _end(job: Job, grace: float) -> None:
    """Terminate the job's group, and kill it where it does not end; then what bears its mark; then say so."""
    record = job.record
    child = record.get("child", {})
    _signal(child, signal.SIGTERM)
    _wait(job, grace)
    _signal(child, signal.SIGKILL)
    end_marked(str(record.get("mark", "")), 0.0)
    _wait(job, grace)
    if job.end() is None:  # the runner was killed, too
        now = SystemClock().now_ms()
        took = max(0, now - int(record.get("started_at", now)))
        told = {"exit_code": None, "signal": int(signal.SIGKILL), "stopped": True, "ended_at": now, "duration_ms": took}
        job.write("exit.json", told)


def _signal(child: dict[str, int], number: int) -> None:
    """Signal the group of a job's process, if it still is that process."""
    if life_of(child) is Life.ALIVE:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child["pid"], number)


def _wait(job: Job, seconds: float) -> None:
    until = time.monotonic() + seconds
    while job.state() is State.RUNNING and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)


def _tail(job: Job, lines: int) -> tuple[str, int, int, int]:
    """(text, its offset, where it ends, size): the last lines, of the last `PAGE_BYTES`."""
    size = _size(job)
    begin = max(0, size - PAGE_BYTES)
    data = _read(job, begin, size - begin)
    kept = data.splitlines(keepends=True)[-lines:] if lines > 0 else []
    length = sum(len(line) for line in kept)
    return b"".join(kept).decode(errors="replace"), size - length, size, size


def _page(job: Job, offset: int) -> tuple[str, int, int, int]:
    """(text, its offset, where it ends, size): up to `PAGE_BYTES` from an offset on, whole lines if there are any."""
    size = _size(job)
    offset = min(offset, size)
    data = _read(job, offset, PAGE_BYTES)
    if offset + len(data) < size and b"\n" in data:
        data = data[: data.rindex(b"\n") + 1]
    return data.decode(errors="replace"), offset, offset + len(data), size


def _read(job: Job, offset: int, length: int) -> bytes:
    try:
        with job.log.open("rb") as file:
            file.seek(offset)
            return file.read(length)
    except FileNotFoundError:
        return b""


def _size(job: Job) -> int:
    try:
        return job.log.stat().st_size
    except FileNotFoundError:
        return 0
