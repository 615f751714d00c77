"""The processes below a process, and how to end them all.

Found by walking parents, not by process group: the child of a pseudo-terminal and a daemon have groups of their own.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PASSES = 50  # of looking; a process that cannot be stopped (it waits for a disk) is not waited for longer


class _Process(NamedTuple):
    parent: int
    state: str

    @property
    def rests(self) -> bool:
        """Whether it is stopped or dead: it starts no other."""
        return self.state in "TtZX"


def descendants(pid: int) -> list[int]:
    """Return the processes below `pid`, parents before children."""
    return _below(pid, _processes())


def end_tree(pid: int, signal_number: int = signal.SIGKILL) -> None:
    """Send a signal to `pid` and to everything below it, once; processes that are gone are passed over.

    All are stopped before any is ended: the children of one that has ended hang below another process, where they
    are not found.
    """
    tree = _stopped_tree(pid)
    _send(tree, signal_number)
    if signal_number != signal.SIGKILL:
        _send(tree, signal.SIGCONT)


def _stopped_tree(pid: int) -> list[int]:
    """Stop `pid` and everything below it, and return them.

    A signal takes a moment to arrive, and so does a look at all processes: what is started meanwhile is found by
    looking once more after all of them were seen at rest.
    """
    tree: list[int] = []
    at_rest = False
    for _ in range(_PASSES):
        processes = _processes()
        fresh = [process for process in (pid, *_below(pid, processes)) if process not in tree]
        if at_rest and not fresh:
            break
        _send(fresh, signal.SIGSTOP)
        tree += fresh
        at_rest = all(processes[process].rests for process in tree if process in processes)
    return tree


def _below(pid: int, processes: dict[int, _Process]) -> list[int]:
    children = defaultdict(list)
    for child, process in processes.items():
        children[process.parent].append(child)
    found: list[int] = []
    waiting = [pid]
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
