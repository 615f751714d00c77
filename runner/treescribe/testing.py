"""What tests of a plugin stand on: ``pytest_plugins = ["treescribe.testing"]`` in their ``conftest.py``.

`recorded_run` starts treescribe as a user does, in a git worktree of the test's own (`treescribe_workspace`), with
every plugin that is installed. `observed_run` is a run in this process, with plugins that are at hand and no others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from treescribe.codec import to_record
from treescribe.events import CommandStatus, Event
from treescribe.facts import Fact
from treescribe.foreign import fact_of
from treescribe.host import Host, host
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.spec import hookimpl
from treescribe.workspace import STATE_FOLDER, Workspace

E = TypeVar("E", bound=Event)

PATIENCE_SECONDS = 120
_NOT_OURS = ("TREESCRIBE_", "INVOKE_", "GIT_", "PYTEST_")


class Events(list[Event]):
    """The events of a run, in order."""

    def types(self) -> list[str]:
        """The type of each."""
        return [event.type for event in self]

    def of(self, cls: type[E], **fields: object) -> list[E]:
        """Those of a class whose fields have these values."""
        found = [event for event in self if isinstance(event, cls)]
        return [event for event in found if all(getattr(event, name) == value for name, value in fields.items())]

    def one(self, cls: type[E], **fields: object) -> E:
        """The only one of a class whose fields have these values.

        :raises AssertionError: where there is none, or more than one; it tells which there are of the class.
        """
        found = self.of(cls, **fields)
        if len(found) != 1:
            wanted = ", ".join(f"{name}={value!r}" for name, value in fields.items())
            raise AssertionError(f"{len(found)} events are {cls.type}({wanted}), not 1.\n{self._told(cls)}")
        return found[0]

    def facts(self, kind: str = "") -> list[Fact]:
        """The facts of these events, in order; those of one kind, where it is given."""
        facts = [fact for event in self if (fact := fact_of(event)) is not None]
        return [fact for fact in facts if kind in ("", fact.kind)]

    def _told(self, cls: type[Event]) -> str:
        found = self.of(cls)
        if not found:
            return f"There is no {cls.type} among: {', '.join(self.types()) or 'nothing'}"
        return "\n".join([f"Every {cls.type}:", *(f"  {json.dumps(to_record(event), default=str)}" for event in found)])


class Witness:
    """A plugin that remembers the hooks of a run that were called, and the events."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.events = Events()

    @hookimpl
    def treescribe_run_started(self) -> None:
        self.calls.append("run_started")

    @hookimpl
    def treescribe_event(self, event: Event) -> None:
        self.calls.append(event.type)
        self.events.append(event)

    @hookimpl
    def treescribe_run_finished(self) -> None:
        self.calls.append("run_finished")


class ObservedRun:
    """A run in this process that has begun and runs nothing by itself: a test says what happens in it.

    What a plugin raises is told as a `LogMessage`, as in any run.

    :ivar run: the run, as hooks are given it.
    :ivar events: what was emitted so far.
    """

    def __init__(self, workspace: Workspace, plugins: Iterable[object]) -> None:
        witness = Witness()
        self.events = witness.events
        request = RunRequest(backend="invoke", targets=("test",))
        self.run = Run(workspace, request, host=host_of(witness, *plugins), environment={})
        self.run.start()

    def command(self, line: str, *, stdout: str = "", stderr: str = "", exit_code: int = 0) -> None:
        """Tell of a command that was run at the workspace's root, printed something and ended."""
        self.run.environment({})
        number = self.run.command_started(line, cwd=str(self.run.workspace.root))
        for stream, text in (("stdout", stdout), ("stderr", stderr)):
            self.run.capture(number, stream).feed(text.encode())
        self.run.command_finished(number, CommandStatus.EXITED, exit_code=exit_code)

    def finish(self, exit_code: int = 0) -> Events:
        """End the run, unless it has ended; returns all its events."""
        self.run.finish(Outcome.of_exit_code(exit_code))
        return self.events


class RecordedRun(NamedTuple):
    """What a command line of treescribe came to, and the transcript that it left.

    :ivar id: the run's number; None where nothing was recorded.
    :ivar events: as the transcript has them, read with the types of every plugin that is installed.
    """

    workspace: Workspace
    exit_code: int
    stdout: str
    stderr: str
    id: int | None
    events: Events

    @property
    def facts(self) -> list[Fact]:
        """What the run established."""
        return self.events.facts()

    def diff(self, later: RecordedRun) -> dict[str, Any]:
        """What came out differently in a later run: the result of ``history.diff``."""
        difference: dict[str, Any] = operation(self.workspace.root, "history.diff", str(self.id), str(later.id))
        return difference


def host_of(*plugins: object) -> Host:
    """A host of these plugins and no others.

    :raises ValueError: where one of them cannot be used, saying why.
    """
    made = Host((), {})
    for number, plugin in enumerate(plugins):
        made.register(plugin, f"plugin-{number}")
    return made


def treescribe(directory: Path, *words: str, env: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
    """Run a command line of treescribe in a directory, with an environment that nothing around the test is in.

    :param env: variables that it is given besides.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_OURS)}
    return subprocess.run(
        [sys.executable, "-m", "treescribe", *words],
        cwd=directory,
        env={**inherited, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def operation(directory: Path, name: str, *words: str) -> Any:
    """Run an operation on the command line with ``--json``, and return its result.

    :raises AssertionError: where it fails, with what it said.
    """
    done = treescribe(directory, name, *words, "--json")
    if done.returncode:
        raise AssertionError(f"treescribe {name} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def record(directory: Path, *words: str, env: Mapping[str, str] = {}) -> RecordedRun:
    """Run a command line of treescribe in a directory and read the transcript that it left."""
    workspace = Workspace.open(directory)
    before = set(_transcripts(workspace))
    done = treescribe(directory, *words, env=env)
    left = sorted(set(_transcripts(workspace)) - before)  # of a run below this one, too: its number is higher
    events = read_events(_transcripts(workspace)[left[0]]) if left else Events()
    return RecordedRun(workspace, done.returncode, done.stdout, done.stderr, left[0] if left else None, events)


def read_events(transcript: Path) -> Events:
    """The events of a transcript, read with the types of every plugin that is installed.

    :raises AssertionError: where a line is no event.
    """
    _, *lines = transcript.read_bytes().splitlines()
    events, damages = host().codec().from_lines(lines)
    if damages:
        raise AssertionError(f"{transcript} cannot be read: {damages}")
    return Events(events)


def _transcripts(workspace: Workspace) -> dict[int, Path]:
    found = (workspace.root / STATE_FOLDER / "history").glob("*.jsonl")
    return {int(path.stem): path for path in found if path.stem.isdecimal()}


@pytest.fixture
def treescribe_workspace(tmp_path: Path) -> Workspace:
    """The workspace at the root of an empty git worktree. For tasks, write its ``tasks.py``."""
    root = tmp_path / "workspace"
    root.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_DIR")}
    subprocess.run(["git", "init", "-q", root], check=True, env=environment)
    return Workspace.open(root)


@pytest.fixture
def recorded_run(treescribe_workspace: Workspace) -> Callable[..., RecordedRun]:
    """Runs treescribe in `treescribe_workspace` and reads what was recorded: see `record`.

    ``recorded_run("exec", "--", "make", "-k")`` records a command, ``recorded_run("build", "--verbose")`` a task.
    """

    def recorded_run(*words: str, env: Mapping[str, str] = {}) -> RecordedRun:
        return record(treescribe_workspace.root, *words, env=env)

    return recorded_run


@pytest.fixture
def observed_run(treescribe_workspace: Workspace) -> Iterator[Callable[..., ObservedRun]]:
    """Begins an `ObservedRun` in `treescribe_workspace` with the plugins that it is given; it ends with the test."""
    begun: list[ObservedRun] = []

    def observed_run(*plugins: object) -> ObservedRun:
        begun.append(ObservedRun(treescribe_workspace, plugins))
        return begun[-1]

    yield observed_run
    for run in begun:
        run.finish()
