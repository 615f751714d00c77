"""The processes below a process, and how to end them all.

Found by walking parents, not by process group: the child of a pseudo-terminal and a daemon have groups of their own.
What has lost its parent (a daemon's second fork) is found by a mark in the environment that it was started with,
where the system shows that (Linux).
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MARK_VARIABLE = "TREESCRIBE_COMMAND"

_PASSES = 50  # of looking; a process that cannot be stopped (it waits for a disk) is not waited for longer
_LOOK_SECONDS = 0.02


class _Process(NamedTuple):
    parent: int
    state: str

    @property
    def rests(self) -> bool:
        """Whether it is stopped or dead: it starts no other."""
        return self.state in "TtZX"


def new_mark() -> str:
    """A mark that no other command has."""
    return os.urandom(8).hex()


def marked(environment: Mapping[str, str], mark: str) -> dict[str, str]:
    """The environment of a command that is found by its mark, and by those of the commands that it runs below."""
    return {**environment, MARK_VARIABLE: f"{environment.get(MARK_VARIABLE, '')}.{mark}".lstrip(".")}


def end_tree(pid: int, signal_number: int = signal.SIGKILL, *, mark: str = "") -> None:
    """Send a signal to `pid` and to everything below it, once; processes that are gone are passed over.

    All are stopped before any is ended: the children of one that has ended hang below another process, where they
    are not found.

    :param mark: of the command that `pid` was started as; what bears it and has lost its parent is ended as well.
    """
    _end(_stopped_tree([pid], mark), signal_number)


def end_marked(mark: str, grace: float) -> None:
    """End whatever bears a mark, as `end_below` ends what is below a process."""
    _end(_stopped_tree([], mark), signal.SIGTERM)
    until = time.monotonic() + grace
    while time.monotonic() < until and _marked_processes(mark, _processes()):
        time.sleep(_LOOK_SECONDS)
    _end(_stopped_tree([], mark), signal.SIGKILL)


def _end(tree: list[int], signal_number: int) -> None:
    _send(tree, signal_number)
    if signal_number != signal.SIGKILL:
        _send(tree, signal.SIGCONT)


def end_below(pid: int, grace: float, *, mark: str = "") -> None:
    """End everything below `pid`, and not `pid` itself: asked to first, and killed after `grace` seconds.

    :param mark: of everything that `pid` starts; what bears it and has lost its parent is ended as well.
    """
    if grace > 0:
        _end(_alive_below(pid, mark), signal.SIGTERM)
        until = time.monotonic() + grace
        while time.monotonic() < until and _alive_below(pid, mark):
            time.sleep(_LOOK_SECONDS)
    for child in _alive_below(pid, mark):
        end_tree(child)


def _alive_below(pid: int, mark: str) -> list[int]:
    processes = _processes()
    found = dict.fromkeys([*_below([pid], processes), *_marked_processes(mark, processes)])
    return [process for process in found if process != pid and processes[process].state not in "ZX"]


def _stopped_tree(pids: Sequence[int], mark: str) -> list[int]:
    """Stop `pids`, everything below them and whatever bears the mark, and return them.

    A signal takes a moment to arrive, and so does a look at all processes: what is started meanwhile is found by
    looking once more after all of them were seen at rest.
    """
    tree: list[int] = []
    at_rest = False
    for _ in range(_PASSES):
        processes = _processes()
        roots = (*pids, *_marked_processes(mark, processes))
        fresh = [process for process in (*roots, *_below(roots, processes)) if process not in tree]
        if at_rest and not fresh:
            break
        _send(fresh, signal.SIGSTOP)
        tree += fresh
        at_rest = all(processes[process].rests for process in tree if process in processes)
    return tree


def _marked_processes(mark: str, processes: Iterable[int]) -> list[int]:
    """Those that were started with the mark in their environment."""
    return [pid for pid in processes if mark and mark.encode() in _mark_of(pid)]


def _mark_of(pid: int) -> bytes:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return b""
    name = MARK_VARIABLE.encode() + b"="
    return next((variable for variable in variables if variable.startswith(name)), b"")


def is_running(pid: int) -> bool:
    """Whether a process is there and not dead; a zombie is."""
    process = _processes().get(pid)
    return process is not None and process.state not in "ZX"


def _below(roots: Sequence[int], processes: dict[int, _Process]) -> list[int]:
    children = defaultdict(list)
    for child, process in processes.items():
        children[process.parent].append(child)
    found: list[int] = []
    waiting = [*roots]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found.extend(below)
        waiting.extend(below)
    return found


def _send(processes: list[int], signal_number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal_number)


def _processes() -> dict[int, _Process]:
    """Every process that can be seen."""
    return _processes_from_proc() if Path("/proc/self/stat").exists() else _processes_from_ps()


def _processes_from_ps() -> dict[int, _Process]:
    command = ["ps", "-axo", "pid=,ppid=,state="]
    listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    rows = (line.split() for line in listing.splitlines())
    return {int(row[0]): _Process(int(row[1]), row[2][0]) for row in rows if len(row) == 3}


def _processes_from_proc() -> dict[int, _Process]:
    processes = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                stat = Path(entry.path, "stat").read_text(errors="replace")
                state, parent = stat.rpartition(")")[2].split()[:2]
                processes[int(entry.name)] = _Process(int(parent), state)
    return processes
