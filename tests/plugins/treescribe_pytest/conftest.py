"""A project of its own, and its pytest run twice: below a run of treescribe, and without one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple, TypeVar

import pytest
import treescribe_pytest.plugin
from treescribe.environment import with_variables
from treescribe.events import Event, SuiteFinished, TestFinished
from treescribe.host import Host
from treescribe.reduce import Verdict
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.spec import hookimpl
from treescribe.workspace import Workspace

E = TypeVar("E", bound=Event)
PATIENCE = 60.0


class Events:
    """Takes the events of a run, and waits for one."""

    def __init__(self) -> None:
        self.seen: list[Event] = []
        self._changed = threading.Condition()

    @hookimpl
    def treescribe_event(self, event: Event) -> None:
        with self._changed:
            self.seen.append(event)
            self._changed.notify_all()

    def wait_for(self, wanted: Callable[[Event], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: any(map(wanted, self.seen)), PATIENCE), self.seen


class Printed(NamedTuple):
    """What a pytest ended with and printed, without what differs from run to run."""

    exit_code: int
    stdout: str
    stderr: str

    @classmethod
    def of(cls, exit_code: int, stdout: bytes, stderr: bytes) -> Printed:
        return cls(exit_code, _without_times(stdout.decode()), _without_times(stderr.decode()))


def _without_times(text: str) -> str:
    text = re.sub(r"0x[0-9a-f]{6,}", "0x…", re.sub(r"\b\d+\.\d+s\b( \(\d+:\d\d:\d\d\))?", "…s", text))
    return re.sub(r"^=+ (.*) =+$", r"= \1 =", text, flags=re.MULTILINE)  # the rule is as long as the time is short


class Recorded(NamedTuple):
    """What a recorded pytest came to."""

    printed: Printed
    events: list[Event]
    verdict: Verdict

    @property
    def exit_code(self) -> int:
        return self.printed.exit_code

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def statuses(self) -> dict[str, str]:
        """Status by ``suite::test``."""
        return {f"{e.suite}::{e.test}": e.status for e in self.of(TestFinished)}

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return sorted((e.suite, e.outcome) for e in self.of(SuiteFinished))

    def test(self, name: str) -> TestFinished:
        (found,) = (e for e in self.of(TestFinished) if e.test == name)
        return found

    def suite(self, name: str) -> SuiteFinished:
        (found,) = (e for e in self.of(SuiteFinished) if e.suite == name)
        return found


class Live(NamedTuple):
    """A recorded command that is running."""

    process: subprocess.Popen[bytes]
    events: Events


class Project:
    """A git worktree with a pytest project in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()
        subprocess.run(["git", "init", "-q", root], check=True)
        self.write("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n")

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return path

    def pytest(self, *arguments: str, **more: str) -> Recorded:
        """Run pytest in the project, recorded; `more` is added to its environment."""
        return self.command([sys.executable, "-m", "pytest", *arguments], environment=more)

    def command(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] = {},
        root: Path | None = None,
        cwd: Path | None = None,
    ) -> Recorded:
        live, finish = self._start(command, environment, root or self.root, cwd or self.root)
        return finish(live)

    def interrupted(self, *arguments: str, by: Callable[[Live], None]) -> Recorded:
        """Run pytest, recorded, and do something to it while it runs."""
        live, finish = self._start([sys.executable, "-m", "pytest", *arguments], {}, self.root, self.root)
        by(live)
        return finish(live)

    def plain(self, *arguments: str, **more: str) -> Printed:
        """Run pytest in the project without treescribe."""
        return self.plain_command([sys.executable, "-m", "pytest", *arguments], environment=more)

    def plain_command(self, command: Sequence[str], *, environment: Mapping[str, str] = {}) -> Printed:
        done = subprocess.run(
            command, cwd=self.root, env=clean_environment() | dict(environment), capture_output=True, timeout=PATIENCE
        )
        return Printed.of(done.returncode, done.stdout, done.stderr)

    def both(self, *arguments: str, **more: str) -> tuple[Recorded, Printed]:
        return self.pytest(*arguments, **more), self.plain(*arguments, **more)

    def _start(
        self, command: Sequence[str], environment: Mapping[str, str], root: Path, cwd: Path
    ) -> tuple[Live, Callable[[Live], Recorded]]:
        host = Host([], {})
        events = Events()
        host.register(treescribe_pytest.plugin, "pytest")
        host.register(events, "events")
        run = Run(Workspace.open(root), RunRequest("command", tuple(command)), host=host, environment={})
        run.start()
        number = run.command_started(" ".join(command))
        variables = run.environment(clean_environment() | dict(environment))
        process = subprocess.Popen(command, cwd=cwd, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def finish(live: Live) -> Recorded:
            stdout, stderr = live.process.communicate(timeout=PATIENCE)
            run.command_finished(number, "exited", exit_code=live.process.returncode)
            run.finish(Outcome.of_exit_code(live.process.returncode))
            printed = Printed.of(live.process.returncode, stdout, stderr)
            return Recorded(printed, events.seen, run.verdict)

        return Live(process, events), finish


def clean_environment() -> dict[str, str]:
    """This process's environment as a user's shell would have it, but for ``PYTEST_CURRENT_TEST``."""
    dropped = re.compile(r"PYTEST_(?!CURRENT_TEST)|TREESCRIBE_|PYTHON|PIP_EXCLUDE|COV_|COLUMNS|_?TOX|NOX_")
    return {name: value for name, value in os.environ.items() if not dropped.match(name)}


def plugin_variables(base: Mapping[str, str]) -> dict[str, str]:
    """`base` with what the plugin adds to it."""
    return with_variables(base, treescribe_pytest.plugin.treescribe_command_environment())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "shop")


@pytest.fixture
def events() -> Events:
    return Events()
