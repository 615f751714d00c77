"""What tests share: git, other processes, a clock that is set by hand."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from treescribe.host import ENTRY_POINT_GROUP, Host
from treescribe.nested import PARENT_VARIABLE, Parent
from treescribe.request import RunRequest
from treescribe.run import Run
from treescribe.spool import SPOOL_VARIABLE, Spool
from treescribe.workspace import Workspace

NOBODY = 65534

OWN_SPOOL = Spool(lambda problem: None)
atexit.register(OWN_SPOOL.close)
"""The spool of a run that goes on for as long as the tests do."""


def below(parent: Parent, **variables: str) -> dict[str, str]:
    """The environment of a process below a run that goes on."""
    return {PARENT_VARIABLE: parent.text(), SPOOL_VARIABLE: str(OWN_SPOOL.folder), **variables}


def git(root: Path, *words: str | Path) -> str:
    """Run git in `root`; returns what it printed."""
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout


def python(code: str, *words: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `code` in a Python of its own and wait for it to succeed."""
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, **options)


@contextmanager
def python_in_background(code: str, *words: str | Path) -> Iterator[subprocess.Popen[str]]:
    """`code` in a Python of its own, which has said its first line by the time that the block begins."""
    command = [sys.executable, "-c", code, *map(str, words)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process
        finally:
            process.kill()


def eventually(condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait until `condition` holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.005)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Without the rights of root, which may read and write whatever the mode says."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


class SetClock:
    """A clock that stands where it is put."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.now = now_ms
        self.elapsed = 0

    def now_ms(self) -> int:
        return self.now

    def elapsed_ms(self) -> int:
        return self.elapsed

    def advance(self, ms: int) -> None:
        self.now += ms
        self.elapsed += ms


def host_with(*plugins: object, points: Iterable[EntryPoint] = (), environment: Mapping[str, str] = {}) -> Host:
    """A host of these plugins and no others."""
    host = Host(points, environment)
    for number, plugin in enumerate(plugins):
        host.register(plugin, f"plugin-{number}")
    return host


def new_run(workspace: Workspace, *plugins: object, **options: Any) -> Run:
    """A run of the target ``build``, not started, that these plugins observe."""
    request = options.pop("request", RunRequest(backend="invoke", targets=("build",)))
    return Run(workspace, request, host=options.pop("host", None) or host_with(*plugins), **options)


def entry_point(name: str, value: str) -> EntryPoint:
    """An entry point of no distribution, as a third party's would be named."""
    return EntryPoint(name=name, value=value, group=ENTRY_POINT_GROUP)
