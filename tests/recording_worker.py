"""A program for tests: processes that record and read runs as they are told, see `recording_processes`.

It imports what they need once and forks a worker for every path of a socket that it reads; a worker answers, line
by line, what it is asked there, and tells in notes what happens meanwhile.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import treescribe
import treescribe_history
import treescribe_history.ending
import treescribe_history.plugin
from history_processes import PRELUDE
from treescribe.errors import TreescribeError
from treescribe.events import TestFinished
from treescribe.host import Host, host
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.settings import Settings
from treescribe.workspace import Workspace
from treescribe.workspace_lock import WorkspaceLock
from treescribe_history.diff_runs import diff_runs
from treescribe_history.listing import list_runs
from treescribe_history.pinning import pin_run, unpin_run
from treescribe_history.showing import show

EVERYTHING = 1 << 30
"""A limit that no test reaches."""

_SOURCES = tuple(f"{Path(str(module.__file__)).parent}{os.sep}" for module in (treescribe, treescribe_history))


class Fuse:
    """Kills this process, as kill -9 does, at a line of the project's own code.

    :param within: the function that it counts the lines of; empty for all.
    :ivar left: how many lines are run until then, from when it is lit.
    """

    def __init__(self, lines: int, within: str = "") -> None:
        self.left = lines
        self._within = within

    def light(self) -> None:
        sys.settrace(self._trace)

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_SOURCES):
            return None
        if event == "line" and self._within in ("", frame.f_code.co_name):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return self._trace


class Notes(io.TextIOBase):
    """What is written here is told as a note."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self._tell = tell

    def write(self, text: str) -> int:
        if text.strip():
            self._tell(text.strip())
        return len(text)


class Worker:
    """What a worker can be asked: its public methods. Their answers are JSON."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._sending = threading.Lock()
        self._host = Host([])
        self._host.register(treescribe_history.plugin, "history")
        self._runs: dict[int, Run] = {}
        self._alone: WorkspaceLock | None = None
        sys.stderr = Notes(self._note)

    def serve(self) -> None:
        for line in self._channel.makefile("r"):
            command, values = json.loads(line)
            try:
                self._say(answer=getattr(self, command)(**values))
            except TreescribeError as error:
                self._say(refused=[type(error).__name__, error.message])
            except BaseException:
                self._say(failed=traceback.format_exc())

    def _say(self, **what: Any) -> None:
        with self._sending:
            self._channel.sendall(json.dumps(what).encode() + b"\n")

    def _note(self, note: Any) -> None:
        self._say(note=note)

    def _new(self, root: str, targets: list[str], keep: int, size: int) -> Run:
        settings = Settings(summary="never", history_keep=keep, history_bytes=size)
        request = RunRequest("invoke", tuple(targets))
        return Run(Workspace.open(root), request, host=self._host, settings=settings)

    # -- recording --------------------------------------------------------------------------------------

    def start(
        self, root: str, targets: list[str], keep: int = EVERYTHING, size: int = EVERYTHING, diary: str = ""
    ) -> int | None:
        run = self._new(root, targets, keep, size)
        run.start()
        if diary:
            _write_down(diary, targets[0])
        if run.id is not None:
            self._runs[run.id] = run
        return run.id

    def emit(self, run: int, tests: list[list[str]]) -> None:
        for name, status, message in tests:
            self._runs[run].emit(TestFinished(suite="s", test=name, status=status, message=message))

    def finish(self, run: int) -> None:
        self._runs.pop(run).finish(Outcome("passed", 0))

    def run_below(self, root: str, run: int) -> int:
        """A run within the run, in a process of its own; its id."""
        code = PRELUDE + "run = begin()\nprint(run.id, flush=True)\nrun.finish(Outcome('passed', 0))"
        environment = self._runs[run].environment(os.environ)
        command = [sys.executable, "-c", code, root]
        return int(subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60).stdout)

    def record_until_killed(
        self,
        root: str,
        label: str,
        tests: int,
        phase: str = "",
        lines: int = 0,
        within: str = "",
        keep: int = EVERYTHING,
    ) -> None:
        """Record run after run and tell each step when it is done; the fuse is lit where `phase` begins."""
        fuse = Fuse(lines, within)
        for number in count():
            if number > 20 and phase:
                raise AssertionError("the fuse went out")
            run = self._new(root, [f"{label}.{number}"], keep, EVERYTHING)
            for step in _steps(run, tests, self._note):
                if step == phase:
                    fuse.light()

    def lines_of_phases(self, root: str, tests: int, within: str = "", keep: int = EVERYTHING) -> dict[str, int]:
        """How many lines a run needs for each of its phases, and for all of them."""
        fuse = Fuse(EVERYTHING, within)
        fuse.light()
        lines: dict[str, int] = {}
        last = ""
        for step in _steps(self._new(root, ["measured"], keep, EVERYTHING), tests, _nobody):
            lines[last] = EVERYTHING - fuse.left - sum(lines.values())
            last = step
        lines[last] = EVERYTHING - fuse.left - sum(lines.values())
        sys.settrace(None)
        return lines | {"all": sum(lines.values())}

    def record_at_once(
        self, root: str, gate: str, label: str, threads: int, runs: int, tests: int, keep: int = EVERYTHING
    ) -> list[tuple[int | None, str]]:
        """Record `runs` in each of several threads, from when the gate is open; the id and the target of each."""
        done: list[tuple[int | None, str]] = []

        def record(thread: int) -> None:
            for number in range(runs):
                target = f"{label}.{thread}.{number}"
                run = self._new(root, [target], keep, EVERYTHING)
                run.start()
                done.append((run.id, target))
                for test in range(tests):
                    run.emit(TestFinished(suite=target, test=str(test), status="passed", message="x" * 200))
                run.finish(Outcome("passed", 0))

        self._note("ready")
        with open(gate) as file:
            fcntl.flock(file, fcntl.LOCK_SH)
        those = [threading.Thread(target=record, args=(thread,)) for thread in range(threads)]
        for thread in those:
            thread.start()
        for thread in those:
            thread.join()
        return done

    # -- reading and pinning ----------------------------------------------------------------------------

    def listed(self, root: str) -> list[Any]:
        rows = list_runs(Workspace.open(root), limit=0).runs
        return [[row.run, row.outcome, row.tests, row.pinned or ()] for row in rows]

    def shown(self, root: str, run: str) -> list[Any]:
        result = show(Workspace.open(root), run)
        return [result.run, result.state, {item.name.removeprefix("s::"): item.status for item in result.items}]

    def differences(self, root: str, base: str, target: str) -> dict[str, Any]:
        tests = diff_runs(Workspace.open(root), base, target, limit=0).tests
        return {part.name: [entry.test for entry in getattr(tests, part.name)] for part in fields(tests)}

    def pin(self, root: str, run: str, name: str) -> dict[str, int]:
        return pin_run(Workspace.open(root), run, name).pins

    def unpin(self, root: str, name: str) -> dict[str, int]:
        return unpin_run(Workspace.open(root), name).pins

    # -- the workspace's lock ---------------------------------------------------------------------------

    def hold_alone(self, root: str, diary: str) -> None:
        """Take the workspace's lock as what copies compiled state does."""
        told: list[str] = []

        def waiting(holder: str, seconds: float) -> None:
            if not told:
                told.append(holder)
                self._note("waiting")

        self._alone = WorkspaceLock(Workspace.open(root), shared=False, holder="the copy", waiting=waiting)
        self._alone.acquire()
        _write_down(diary, "alone")

    def let_go(self, diary: str) -> None:
        assert self._alone is not None
        _write_down(diary, "no longer alone")
        self._alone.release()


def _steps(run: Run, tests: int, tell: Callable[[Any], None]) -> Iterator[str]:
    """Record a run of so many tests; names of its phases, each when it is about to begin."""
    yield "start"
    run.start()
    tell(["started", run.id])
    yield "emit"
    for test in range(tests):
        run.emit(TestFinished(suite="s", test=str(test), status="passed", message="y" * 100))
        tell(["emitted", run.id])
    yield "finish"
    run.finish(Outcome("passed", 0))
    tell(["finished", run.id])


def _nobody(note: Any) -> None:
    """Told something, does nothing."""


def _write_down(diary: str, what: str) -> None:
    with open(diary, "a") as file:
        file.write(f"{what}\n")


def main() -> None:
    """Do what is read, line by line: fork a worker, kill one, wait for the death of one. At the end kill them all."""
    host().codec()  # imported before a worker needs it
    workers: set[int] = set()
    for line in sys.stdin:
        what, word = line.split()
        if what == "fork":
            workers.add(number := _fork(word))
            print(number, flush=True)
        else:
            workers.remove(number := int(word))
            print(_end(number, kill=what == "kill"), flush=True)
    for number in workers:
        _end(number, kill=True)


def _fork(path: str) -> int:
    number = os.fork()
    if number == 0:
        try:
            channel = socket.socket(socket.AF_UNIX)
            channel.connect(path)
            Worker(channel).serve()
        finally:
            os._exit(0)
    return number


def _end(number: int, *, kill: bool) -> int:
    """Wait for a worker; the signal that ended it."""
    if kill:
        os.kill(number, signal.SIGKILL)
    return os.WTERMSIG(os.waitpid(number, 0)[1])


if __name__ == "__main__":
    main()
