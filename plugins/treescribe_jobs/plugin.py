"""The jobs plugin's hooks and operations. Importing it is cheap: what they need is imported when they are called."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from treescribe.operation import Operation
from treescribe.spec import hookimpl

if TYPE_CHECKING:
    from treescribe.run import Run
    from treescribe.workspace import Workspace
    from treescribe.workspace_status import Status


@hookimpl
def treescribe_operations() -> Sequence[Operation]:
    """Start, look, list, stop."""
    return (
        _operation("job.start", "start", "render_started", "Start a run or a command that goes on by itself."),
        _operation("job.status", "status", "render_status", "Tell what has become of a job."),
        _operation("job.list", "list_jobs", "render_jobs", "List the jobs of this workspace."),
        _operation("job.stop", "stop", "render_status", "Stop a job, with everything that it started."),
    )


def _operation(name: str, function: str, render: str, text: str) -> Operation:
    return Operation(name, f"treescribe_jobs.operations:{function}", f"treescribe_jobs.telling:{render}", text)


@hookimpl
def treescribe_run_started(run: Run) -> None:
    """A job's run has its number: write it beside the job."""
    folder = _folder_of(run)
    if folder is not None and run.id is not None:
        from treescribe_jobs.job import Job

        job = Job(folder, int(folder.name))
        job.write("run.json", {"run": run.id})


@hookimpl
def treescribe_run_finished(run: Run) -> None:
    """A job's run has ended: what it came to is kept with the job, whatever becomes of the history."""
    folder = _folder_of(run)
    if folder is None or run.id is None:
        return
    from treescribe.host import host

    from treescribe_jobs.job import Job

    summary = host().operations()["history.summary"].call(run.workspace, run=str(run.id))
    Job(folder, int(folder.name)).write("answer.json", summary.model_dump(exclude_none=True))


@hookimpl
def treescribe_workspace_status(workspace: Workspace) -> Status | None:
    """The jobs that run."""
    from treescribe.workspace_status import Status

    from treescribe_jobs.job import State
    from treescribe_jobs.store import JobStore

    running = [job.id for job in JobStore(workspace).jobs() if job.state() is State.RUNNING]
    if not running:
        return None
    return Status("jobs", f"running: {', '.join(f'job #{number}' for number in running)}", {"running": running})


def _folder_of(run: Run) -> Path | None:
    """The folder of the job that a run is; None for other runs, and for those below a job's run."""
    told = os.environ.get("TREESCRIBE_JOB")
    if not told or run.parent is not None:
        return None
    folder = Path(told)
    return folder if folder.is_dir() and folder.parent == run.workspace.state / "jobs" else None
