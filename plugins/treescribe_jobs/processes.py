"""Whether a process is the one that was written down, and whether it lives. Nothing is said or signalled before."""

from __future__ import annotations

import os
import subprocess
from enum import StrEnum
from pathlib import Path
from typing import Any


class Life(StrEnum):
    """What is known of a process: it lives, it is dead, or it cannot be seen from here."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


def life_of(told: dict[str, Any]) -> Life:
    """Whether the process that was described (see ``describe`` in `job_runner`) lives.

    A zombie is dead. A process with its number that started at another time, or since the machine did, is another one.
    One that may not be signalled lives. From another namespace of processes than it was described in, nothing is known.
    """
    pid = told.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return Life.DEAD
    if "started" not in told:
        return _life_by_ps(pid)
    if told.get("boot") != _read("/proc/sys/kernel/random/boot_id"):
        return Life.DEAD
    if told.get("namespace") != _namespace():
        return Life.UNKNOWN
    stat = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    if len(stat) < 20 or stat[0] in "ZX" or int(stat[19]) != told["started"]:
        return Life.DEAD
    return Life.ALIVE


def _life_by_ps(pid: int) -> Life:
    """On systems without ``/proc``, where a number that was given again cannot be told."""
    listed = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return Life.DEAD if listed.strip()[:1] in ("", "Z") else Life.ALIVE


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
