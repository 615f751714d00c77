"""What is told of a job: the results of the operations, and how people are shown them."""

from __future__ import annotations

import signal as signals
from typing import Any

from treescribe.clock import SystemClock
from treescribe.frozen import Frozen, frozen
from treescribe.result import Result
from treescribe.terminal import Style, columns
from treescribe.workspace import Workspace

from treescribe_jobs.job import Job, State


@frozen
class JobInfo(Frozen):
    """A job in short.

    :ivar what: the targets or the command.
    :ivar state: running, ended, lost (its processes are gone, and how they ended is not known) or undecidable.
    :ivar duration_ms: how long it took, or has taken so far.
    :ivar run: the number of the run that it is, where one was recorded.
    """

    job: int
    name: str | None = None
    what: str
    state: str
    exit_code: int | None = None
    signal: int | None = None
    stopped: bool | None = None
    error: str | None = None
    started_at: int
    duration_ms: int | None = None
    run: int | None = None


@frozen
class JobStarted(Result):
    """A job that was started."""

    summary: str
    workspace: str
    job: int
    what: str


@frozen
class JobStatus(Result):
    """A job, what its run came to, and a part of what it printed.

    :ivar answer: the summary of its run, once it has ended.
    :ivar log: text from ``offset`` on; ``next_offset`` is where to go on, ``size`` how many bytes there are.
    """

    summary: str
    workspace: str
    job: JobInfo
    answer: dict[str, Any] | None = None
    log: str
    offset: int
    next_offset: int
    size: int


@frozen
class JobsResult(Result):
    """The jobs of a workspace, the latest first."""

    summary: str
    workspace: str
    jobs: tuple[JobInfo, ...]
    total: int


def info_of(job: Job) -> JobInfo:
    """What is known of a job."""
    state, end, record = job.state(), job.end(), job.record
    started = int(record.get("started_at", 0))
    so_far = max(0, SystemClock().now_ms() - started) if state is State.RUNNING else None
    return JobInfo(
        job=job.id,
        name=record.get("name") or None,
        what=str(record.get("what", "")),
        state=str(state),
        exit_code=end.exit_code if end else None,
        signal=end.signal if end else None,
        stopped=True if end and end.stopped else None,
        error=(end.error or None) if end else None,
        started_at=started,
        duration_ms=end.duration_ms if end else so_far,
        run=job.run,
    )


def sentence(info: JobInfo) -> str:
    """What became of a job, in a few words."""
    if info.state != State.ENDED:
        told = {State.LOST: "lost: its processes are gone, and how they ended is not known"}
        how = told.get(State(info.state), str(info.state))
    elif info.stopped:
        how = "stopped"
    elif info.error:
        how = f"failed: {info.error}"
    elif info.signal is not None:
        how = f"ended by {signals.Signals(info.signal).name}"
    else:
        how = "passed" if info.exit_code == 0 else f"failed with exit code {info.exit_code}"
    return f"job #{info.job} {how}"


def render_started(result: JobStarted, style: Style) -> str:
    """The number, and what to do with it."""
    return f"{result.summary}\ntreescribe job.status {result.job} --wait=60 · treescribe job.stop {result.job}"


def render_status(result: JobStatus, style: Style) -> str:
    """A sentence, what its run came to, and the end of what it printed."""
    head = style.paint(result.summary, "bad" if result.job.exit_code or result.job.state == State.LOST else "strong")
    answer = [str(result.answer["summary"])] if result.answer else []
    more = [f"… {result.offset} bytes before this: treescribe job.status {result.job.job} --offset=0"]
    return "\n".join([head, *answer, *(more if result.offset else []), *result.log.splitlines()])


def render_jobs(result: JobsResult, style: Style) -> str:
    """A table: number, state, how long, what."""
    if not result.jobs:
        return result.summary
    rows: list[tuple[str, ...]] = [("#", "state", "took", "what")]
    for job in result.jobs:
        took = f"{job.duration_ms / 1000:.1f} s" if job.duration_ms is not None else ""
        rows.append((str(job.job), sentence(job).partition(" ")[2].partition(" ")[2], took, job.name or job.what))
    header, *lines = columns(rows)
    return "\n".join([style.paint(header, "dim"), *lines, f"{result.summary} · treescribe job.status JOB"])


def workspace_text(workspace: Workspace) -> str:
    """The workspace as results name it."""
    return str(workspace.root)
