"""The files of a workspace's jobs: ``.treescribe/jobs/<id>/``. See the README beside this for each of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress

from treescribe import locks
from treescribe.errors import TreescribeError
from treescribe.workspace import Workspace, ensure_state

from treescribe_jobs.job import Job

SWEPT_AFTER_MS = 24 * 60 * 60 * 1000
"""How long the files of a job stay after its end."""


class JobStore:
    """The jobs of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.folder = workspace.state / "jobs"

    def jobs(self) -> list[Job]:
        """Every job, the latest first."""
        return [Job(self.folder / str(number), number) for number in sorted(self._numbers(), reverse=True)]

    def find(self, number: int) -> Job:
        """A job by its number.

        :raises TreescribeError: where there is none, saying which there are.
        """
        job = Job(self.folder / str(number), number)
        if (job.folder / "record.json").is_file():
            return job
        known = ", ".join(f"#{one.id}" for one in self.jobs()[:10])
        raise TreescribeError(
            f"there is no job #{number} in {self.workspace.root}.",
            f"There are: {known}" if known else "There are none. Start one with: treescribe job.start",
        )

    def new(self) -> Job:
        """A folder for a job, under a number that was never given before.

        :raises OSError: where nothing can be written.
        """
        ensure_state(self.workspace)
        self.folder.mkdir(exist_ok=True)
        with locks.exclusive(self.folder / "lock"):
            number = max([self._last(), *self._numbers()], default=0) + 1
            counter = self.folder / "last.part"
            counter.write_text(str(number))
            counter.replace(self.folder / "last")
        folder = self.folder / str(number)
        folder.mkdir(mode=0o700)
        return Job(folder, number)

    def sweep(self, now_ms: int) -> None:
        """Remove what ended a day ago; never what runs, or may run. A time that was stepped back keeps files longer."""
        for job in self.jobs():
            ended = job.ended_at()
            if ended is not None and now_ms - ended > SWEPT_AFTER_MS:
                shutil.rmtree(job.folder, ignore_errors=True)

    def _last(self) -> int:
        with suppress(OSError, ValueError):
            return int((self.folder / "last").read_text())
        return 0

    def _numbers(self) -> Iterator[int]:
        with suppress(FileNotFoundError):
            for name in os.listdir(self.folder):
                if name.isascii() and name.isdigit() and name[0] != "0":
                    yield int(name)
