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

_PASSES = 10  # what is started while the tree is being stopped is found in a later pass


def descendants(pid: int) -> list[int]:
    """Return the processes below `pid`, parents before children."""
    children = defaultdict(list)
    for child, parent in _parents().items():
        children[parent].append(child)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found.extend(below)
        waiting.extend(below)
    return found


def end_tree(pid: int, signal_number: int = signal.SIGKILL) -> None:
    """Send a signal to `pid` and to everything below it, once; processes that are gone are passed over.

    All are stopped before any is ended: the children of one that has ended hang below another process.
    """
    tree: list[int] = []
    for _ in range(_PASSES):
        fresh = [process for process in (pid, *descendants(pid)) if process not in tree]
        if not fresh:
            break
        _send(fresh, signal.SIGSTOP)
        tree += fresh
    _send(tree, signal_number)
    if signal_number != signal.SIGKILL:
        _send(tree, signal.SIGCONT)


def _send(processes: list[int], signal_number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal_number)


def _parents() -> dict[int, int]:
    """The parent of every process that can be seen."""
    if Path("/proc/self/stat").exists():
        return _parents_from_proc()
    listing = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
    rows = (line.split() for line in listing.splitlines())
    return {int(row[0]): int(row[1]) for row in rows if len(row) == 2}


def _parents_from_proc() -> dict[int, int]:
    parents = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                stat = Path(entry.path, "stat").read_text(errors="replace")
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return parents
