"""The process of a job. Standard library only; started by its path, with the job's folder and a descriptor.

It lets go of whoever started it, holds the lock of the folder for as long as it lives, starts what the job is, and
writes down how that ended. The descriptor is closed once the record is written: then the job may be looked at.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from typing import Any


def main(folder: str, descriptor: int) -> None:
    """Be the process of the job in `folder`; `descriptor` is closed once it has begun."""
    if os.fork():
        os._exit(0)  # nobody has to wait for the job's process but init
    lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.set_inheritable(descriptor, False)
    with open(os.path.join(folder, "record.json")) as file:
        record = json.load(file)
    begun = time.monotonic()
    try:
        child = start(folder, record)
    except OSError as error:
        end(folder, begun, exit_code=127, error=f"{record['words'][0]}: {error.strerror}")
        os.close(descriptor)
        return
    record["runner"], record["child"] = describe(os.getpid()), describe(child.pid)
    write(folder, "record.json", record)
    os.close(descriptor)
    code = child.wait()
    if code < 0:
        end(folder, begun, signal=-code)
    else:
        end(folder, begun, exit_code=code)


def start(folder: str, record: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start what the job is, in a session and group of its own."""
    with open(os.path.join(folder, "output.log"), "ab") as output:
        return subprocess.Popen(
            record["words"],
            cwd=record["directory"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def end(folder: str, begun: float, exit_code: int | None = None, signal: int | None = None, error: str = "") -> None:
    """Write down how it ended."""
    write(
        folder,
        "exit.json",
        {
            "exit_code": exit_code,
            "signal": signal,
            "error": error,
            "stopped": os.path.exists(os.path.join(folder, "stop")),
            "ended_at": int(time.time() * 1000),
            "duration_ms": int((time.monotonic() - begun) * 1000),
        },
    )


def describe(pid: int) -> dict[str, Any]:
    """What tells this process from a later one with its number, where the system shows that."""
    told: dict[str, Any] = {"pid": pid}
    try:
        with open(f"/proc/{pid}/stat") as file:
            told["started"] = int(file.read().rpartition(")")[2].split()[19])
        with open("/proc/sys/kernel/random/boot_id") as file:
            told["boot"] = file.read().strip()
        told["namespace"] = os.readlink("/proc/self/ns/pid")
    except (OSError, ValueError, IndexError):
        pass
    return told


def write(folder: str, name: str, value: dict[str, Any]) -> None:
    """Write a file in one step."""
    temporary = os.path.join(folder, name + ".part")
    with open(temporary, "w") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, os.path.join(folder, name))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
