"""Whole processes timed in turns (A, B, A, B …), so that whatever else the machine does meets each alike."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from resource import struct_rusage

LONGEST_SECONDS = 300
"""After this long a process is ended, and the benchmark with it."""

_KIBIBYTES = 1 if sys.platform == "darwin" else 1024  # the unit of ru_maxrss
_FROM_OUTSIDE = ("TREESCRIBE_", "PYTEST_", "INVOKE_", "PYTHON", "COVERAGE_")


class Program(NamedTuple):
    """A command line and the folder that it runs in; nobody reads what it prints."""

    words: tuple[str, ...]
    folder: Path


class Sample(NamedTuple):
    """One run of a program.

    :ivar seconds: by the clock on the wall.
    :ivar processor_seconds: of the process and of all that it has waited for.
    :ivar peak: bytes resident, of the largest one of these processes; no less than the benchmark's own, which every
        process begins as a copy of.
    """

    seconds: float
    processor_seconds: float
    peak: int


class Ratio(NamedTuple):
    """Ours to the reference's, over the rounds."""

    median: float
    low: float
    high: float


class FailedProgram(Exception):
    """A program ended otherwise than it is to: its time would say nothing."""


def in_turns(*programs: Program, rounds: int) -> list[list[Sample]]:
    """Run the programs in turns, and return the samples of each; one round before the first is not counted."""
    for program in programs:
        run(program)
    turns = [[run(program) for program in programs] for _ in range(rounds)]
    return [list(samples) for samples in zip(*turns, strict=True)]


def run(program: Program, expected: int = 0) -> Sample:
    """Run a program to its end.

    :param expected: the exit code that it is to end with.
    :raises FailedProgram: with what it printed to standard error.
    """
    with tempfile.TemporaryFile() as errors:
        begun = time.perf_counter()
        process = subprocess.Popen(
            program.words,
            cwd=program.folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        usage = _wait(process)
        seconds = time.perf_counter() - begun
        if process.returncode != expected:
            errors.seek(0)
            said = errors.read().decode(errors="replace")
            raise FailedProgram(f"{' '.join(program.words)}: exit code {process.returncode}\n{said}")
    return Sample(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _KIBIBYTES)


def _wait(process: subprocess.Popen[bytes]) -> struct_rusage:
    """Wait for a process and return what it used. Where it takes too long, or we are stopped, its session ends."""
    limit = threading.Timer(LONGEST_SECONDS, _end_session, [process.pid])
    limit.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        _end_session(process.pid)
        raise
    finally:
        limit.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def _end_session(pid: int) -> None:
    os.killpg(pid, signal.SIGKILL)


def environment() -> dict[str, str]:
    """The environment of every program: this Python's programs first on the path, and no settings from outside."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_FROM_OUTSIDE)}
    return kept | {"PATH": f"{scripts()}{os.pathsep}{os.environ['PATH']}"}


def scripts() -> Path:
    """The folder of the programs that are installed beside this Python."""
    return Path(sys.executable).parent


def ratio(ours: Iterable[float], reference: Iterable[float]) -> Ratio:
    """Ours to the reference's, each round by itself."""
    found = sorted(one / other for one, other in zip(ours, reference, strict=True))
    return Ratio(statistics.median(found), found[0], found[-1])


def seconds_of(samples: Sequence[Sample]) -> list[float]:
    """The samples' seconds."""
    return [sample.seconds for sample in samples]


def processor_seconds_of(samples: Sequence[Sample]) -> list[float]:
    """The samples' seconds of processor time."""
    return [sample.processor_seconds for sample in samples]


def peak_of(samples: Sequence[Sample]) -> int:
    """The largest peak of the samples."""
    return max(sample.peak for sample in samples)
