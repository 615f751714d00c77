"""The workspace's lock: shared by runs that may write compiled state, exclusive for what copies that state.

Two files: whoever wants the lock takes the gate first and keeps it while it waits. So a waiting exclusive holder
stops later runs from overtaking it, and is not starved. A run below a run does not take it again: it would wait
for its own ancestor behind a waiting exclusive holder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from treescribe import locks
from treescribe.errors import LockTimeout
from treescribe.events import Event, LockAcquired, LockContention
from treescribe.saying import say
from treescribe.spool import SPOOL_VARIABLE, is_live
from treescribe.workspace import Workspace, ensure_state, same_directory

TOLD_AFTER_SECONDS = 0.5

HELD_VARIABLE = "TREESCRIBE_LOCKED_WORKSPACES"
"""Names, in a child's environment, the roots whose lock its ancestors hold, joined by ``os.pathsep``."""


def held_by_ancestor(workspace: Workspace) -> bool:
    """Whether a process above this one holds the workspace's lock for us."""
    roots = os.environ.get(HELD_VARIABLE, "") if is_live(os.environ.get(SPOOL_VARIABLE, "")) else ""
    return any(same_directory(root, workspace.root) for root in roots.split(os.pathsep) if root)


class WorkspaceLock:
    """The lock of one workspace, taken once and released once; a context manager.

    :param shared: True for a run, False for what copies or replaces compiled state.
    :param timeout: seconds to wait at most; None waits for ever.
    :param waiting: called with (holder, seconds waited) while somebody else holds it, from half a second on: runs
        that share the lock and begin at once pass the gate one after another, and none of them waits for anybody.
    :raises LockTimeout: naming who holds it.
    :raises OSError: where the worktree cannot be written.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        shared: bool,
        holder: str,
        timeout: float | None = None,
        waiting: Callable[[str, float], None] | None = None,
    ) -> None:
        self._workspace = workspace
        self._shared = shared
        self._holder = holder
        self._timeout = timeout
        self._waiting = waiting
        self._descriptor: int | None = None
        self._begun = 0.0

    def acquire(self) -> None:
        if held_by_ancestor(self._workspace):
            return
        state = ensure_state(self._workspace)
        self._begun = time.monotonic()
        gate = locks.open_lock_file(state / "lock.gate")
        try:
            self._wait(gate, shared=False)
            descriptor = locks.open_lock_file(state / "lock")
            try:
                self._wait(descriptor, shared=self._shared)
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, self._holder.encode(errors="replace"), 0)
            except BaseException:
                locks.close_lock_file(descriptor)
                raise
        finally:
            locks.close_lock_file(gate)
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            locks.close_lock_file(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _wait(self, descriptor: int, *, shared: bool) -> None:
        timeout = None if self._timeout is None else max(0.0, self._begun + self._timeout - time.monotonic())
        taken = locks.wait_for_lock(descriptor, shared=shared, timeout=timeout, waiting=self._tell)
        if not taken:
            raise LockTimeout(
                f"the lock of {self._workspace.root} was not free within {self._timeout:g} s: "
                f"held by {self._held_by()}.",
                "Wait for that to end, or end it, and try again.",
            )

    def _tell(self, waited: float) -> None:
        if self._waiting is not None and waited >= TOLD_AFTER_SECONDS:
            self._waiting(self._held_by(), waited)

    def _held_by(self) -> str:
        try:
            return (self._workspace.state / "lock").read_text(errors="replace").strip() or "another process"
        except OSError:
            return "another process"


def lock_for_run(workspace: Workspace, targets: Sequence[str], emit: Callable[[Event], None]) -> WorkspaceLock | None:
    """Take a run's lock, telling of a wait; None where nothing can be written, which the recorder tells."""
    told: list[int] = []  # milliseconds waited, each time that it was told

    def waiting(holder: str, seconds: float) -> None:
        if not told:
            say(f"treescribe: waiting for {holder}, which holds {workspace.root}")
            emit(LockContention(lock="workspace", holder=holder, waiting_ms=int(seconds * 1000)))
        told.append(int(seconds * 1000))

    holder = f"process {os.getpid()} running {' '.join(targets)}"
    lock = WorkspaceLock(workspace, shared=True, holder=holder, waiting=waiting)
    try:
        lock.acquire()
    except (OSError, LockTimeout):
        return None
    if told:
        emit(LockAcquired(lock="workspace", waited_ms=told[-1]))
    return lock
