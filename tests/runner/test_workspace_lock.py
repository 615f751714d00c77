"""The workspace's lock: shared by runs, exclusive for what copies compiled state."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support import OWN_SPOOL, git, python, python_in_background, unprivileged
from treescribe import locks, workspace_lock
from treescribe.errors import LockTimeout
from treescribe.spool import SPOOL_VARIABLE
from treescribe.workspace import Workspace, ensure_state
from treescribe.workspace_lock import HELD_VARIABLE, WorkspaceLock, held_by_ancestor

HOLD = """
import sys
from treescribe.workspace import Workspace
from treescribe.spool import SPOOL_VARIABLE
from treescribe.workspace_lock import WorkspaceLock
with WorkspaceLock(Workspace.open(sys.argv[1]), shared=sys.argv[2] == "shared", holder=sys.argv[3]):
    print("held", flush=True)
    sys.stdin.readline()
"""


def lock(workspace: Workspace, *, shared: bool, timeout: float | None = 0, **options: Any) -> WorkspaceLock:
    return WorkspaceLock(
        workspace, shared=shared, holder=options.pop("holder", "this test"), timeout=timeout, **options
    )


def test_runs_share_it(workspace: Workspace) -> None:
    with lock(workspace, shared=True), lock(workspace, shared=True):
        pass
    with python_in_background(HOLD, workspace.root, "shared", "other"), lock(workspace, shared=True):
        pass


@pytest.mark.parametrize(("held", "wanted"), [(True, False), (False, True), (False, False)])
def test_an_exclusive_holder_is_alone(workspace: Workspace, held: bool, wanted: bool) -> None:
    with lock(workspace, shared=held), pytest.raises(LockTimeout), lock(workspace, shared=wanted):
        pass
    kind = "shared" if held else "exclusive"
    with (
        python_in_background(HOLD, workspace.root, kind, "other"),
        pytest.raises(LockTimeout),
        lock(workspace, shared=wanted),
    ):
        pass
    with lock(workspace, shared=wanted):
        pass


def test_workspaces_do_not_disturb_each_other(workspace: Workspace) -> None:
    git(workspace.root, "worktree", "add", "-q", "../fork")
    fork = Workspace.open(workspace.root.parent / "fork")
    with lock(workspace, shared=False), lock(fork, shared=False):
        pass


@pytest.mark.parametrize("name", ["process 7 running build test", "café running déployer"])
def test_a_timeout_names_who_holds_it(workspace: Workspace, name: str) -> None:
    with python_in_background(HOLD, workspace.root, "shared", name):
        with pytest.raises(LockTimeout) as caught:
            lock(workspace, shared=False, timeout=0.05).acquire()
        assert caught.value.message == f"the lock of {workspace.root} was not free within 0.05 s: held by {name}."
        assert caught.value.hint == "Wait for that to end, or end it, and try again."


def test_waiting_is_told_with_the_holder(workspace: Workspace) -> None:
    told: list[tuple[str, float]] = []
    first = lock(workspace, shared=False, holder="the first")
    first.acquire()

    def waiting(holder: str, seconds: float) -> None:
        told.append((holder, seconds))
        first.release()

    with lock(workspace, shared=True, timeout=None, waiting=waiting):
        assert [holder for holder, _ in told] == ["the first"]


def test_passing_one_another_at_the_gate_is_no_waiting(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    gate = locks.open_lock_file(ensure_state(workspace) / "lock.gate")
    assert locks.try_lock(gate)
    monkeypatch.setattr(time, "sleep", lambda seconds: locks.close_lock_file(gate))
    with lock(workspace, shared=True, timeout=None, waiting=lambda holder, _: told.append(holder)):
        pass
    assert told == []


def test_a_lock_dies_with_its_process(workspace: Workspace) -> None:
    with python_in_background(HOLD, workspace.root, "exclusive", "other") as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with lock(workspace, shared=False, timeout=10):
            pass


def test_a_waiting_exclusive_holder_is_not_starved_by_newcomers(workspace: Workspace) -> None:
    order: list[str] = []
    waits = threading.Event()
    first = lock(workspace, shared=True)
    first.acquire()

    def take_alone() -> None:
        with lock(workspace, shared=False, timeout=None, waiting=lambda *_: waits.set()):
            order.append("exclusive")

    def take_shared(waits: threading.Event) -> None:
        with lock(workspace, shared=True, timeout=None, waiting=lambda *_: waits.set()):
            order.append("shared")

    alone = threading.Thread(target=take_alone)
    alone.start()
    assert waits.wait(30)
    newcomers = []
    for _ in range(8):
        newcomer_waits = threading.Event()
        newcomers.append(threading.Thread(target=take_shared, args=(newcomer_waits,)))
        newcomers[-1].start()
        assert newcomer_waits.wait(30), "it overtook the one that waits"
    assert order == []
    first.release()
    for thread in (alone, *newcomers):
        thread.join(30)
    assert order == ["exclusive", *["shared"] * 8]


def test_one_that_gave_up_waiting_is_in_nobodys_way(workspace: Workspace) -> None:
    with lock(workspace, shared=True):
        with pytest.raises(LockTimeout):
            lock(workspace, shared=False, timeout=0.05).acquire()
        with lock(workspace, shared=True):
            pass


def test_the_timeout_holds_for_both_steps_together(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind one that waits, which itself gives up, what is left of the time is waited for, not all of it again."""
    monkeypatch.setattr(workspace_lock, "TOLD_AFTER_SECONDS", 0)
    told: list[float] = []
    with lock(workspace, shared=True):
        waits = threading.Event()

        def wait_and_give_up() -> None:
            with pytest.raises(LockTimeout):
                lock(workspace, shared=False, timeout=0.3, waiting=lambda *_: waits.set()).acquire()

        before = threading.Thread(target=wait_and_give_up)
        before.start()
        assert waits.wait(30)
        with pytest.raises(LockTimeout):
            lock(workspace, shared=False, timeout=0.5, waiting=lambda _, seconds: told.append(seconds)).acquire()
        before.join()
    restarts = [index for index in range(1, len(told)) if told[index] < told[index - 1]]
    assert len(restarts) == 1, "first for the gate, then for the lock"
    assert told[restarts[0] - 1] + told[-1] < 0.5


def test_letting_go_twice_is_no_error(workspace: Workspace) -> None:
    held = lock(workspace, shared=False)
    held.acquire()
    held.release()
    held.release()


def test_where_nothing_can_be_written_it_says_so(read_only_workspace: Workspace) -> None:
    with unprivileged(), pytest.raises(PermissionError):
        lock(read_only_workspace, shared=True).acquire()


# -- runs within runs -----------------------------------------------------------------------------------------


def test_what_an_ancestor_holds_is_not_waited_for(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    with lock(workspace, shared=False):
        assert not held_by_ancestor(workspace)
        monkeypatch.setenv(SPOOL_VARIABLE, str(OWN_SPOOL.folder))
        monkeypatch.setenv(HELD_VARIABLE, os.pathsep.join(["/elsewhere", str(workspace.root)]))
        assert held_by_ancestor(workspace)
        with lock(workspace, shared=True):
            pass
    code = """if True:
        import sys
        from treescribe.workspace import Workspace
        from treescribe.workspace_lock import held_by_ancestor
        print(held_by_ancestor(Workspace.open(sys.argv[1])))
    """
    assert python(code, workspace.root).stdout == "True\n"


def test_an_ancestors_lock_is_known_by_the_directory_not_by_its_spelling(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(workspace.root)
    monkeypatch.setenv(SPOOL_VARIABLE, str(OWN_SPOOL.folder))
    monkeypatch.setenv(HELD_VARIABLE, str(tmp_path / "link"))
    assert held_by_ancestor(workspace)


@pytest.mark.parametrize("roots", ["", os.pathsep, "/elsewhere"])
def test_what_an_ancestor_does_not_hold_is_taken(
    workspace: Workspace, roots: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HELD_VARIABLE, roots)
    assert not held_by_ancestor(workspace)
    with lock(workspace, shared=False), pytest.raises(LockTimeout):
        lock(workspace, shared=True).acquire()


def test_a_forked_child_does_not_keep_it(workspace: Workspace) -> None:
    code = """if True:
        import os, sys
        from treescribe.workspace import Workspace
        from treescribe.spool import SPOOL_VARIABLE
from treescribe.workspace_lock import WorkspaceLock
        held = WorkspaceLock(Workspace.open(sys.argv[1]), shared=False, holder="x")
        held.acquire()
        if os.fork() == 0:
            sys.stdin.readline()
            os._exit(0)
        held.release()
        print("let go", flush=True)
        os.wait()
    """
    with python_in_background(code, workspace.root), lock(workspace, shared=False, timeout=30):
        pass
