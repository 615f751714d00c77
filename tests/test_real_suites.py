"""The test suites of structlog, attrs and filelock, plain, on two workers and below tox: what is recorded is counted
like pytest's own JUnit file.

They bring what small projects do not: asyncio and hypothesis tests, random order, xfail and strict warnings, tests
that start processes, thousands of parameters.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from sdists import unpack

pytestmark = pytest.mark.index

TOX = [sys.executable, "-m", "tox", "-q"]
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
INI = """
[tox]
env_list = suite
[testenv]
package = wheel
dependency_groups = {group}
deps = pytest-xdist
commands = python {pytest} {{posargs}}
"""


class Suite(NamedTuple):
    name: str
    version: str
    group: str
    """The dependency group of its tests."""


SUITES = [
    Suite("structlog", "26.1.0", "tests"),
    Suite("attrs", "26.1.0", "tests"),
    Suite("filelock", "3.20.4", "test"),
]


class Project:
    """The project's worktree, with a tox environment in which it is installed with what its tests need."""

    def __init__(self, folder: Path, suite: Suite) -> None:
        self.root = unpack(suite.name, suite.version, folder)
        self.junit = folder / "junit.xml"
        ini = folder / "tox.ini"
        ini.write_text(INI.format(group=suite.group, pytest=" ".join(PYTEST)))
        self.tox = [*TOX, "-c", str(ini), "--root", str(self.root)]
        self.python = str(self.root / ".tox" / "suite" / "bin" / "python")
        done = self.run(*self.tox, "--notest")
        assert done.returncode == 0, done.stdout + done.stderr

    def recorded(self, command: Sequence[str]) -> Any:
        """The summary of the run of `command`. (As root, or where locks differ, a test of filelock's may fail.)"""
        self.junit.unlink(missing_ok=True)
        treescribe = [sys.executable, "-m", "treescribe"]
        done = self.run(*treescribe, "exec", "--", *command, f"--junitxml={self.junit}")
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return json.loads(self.run(*treescribe, "history.summary", "--json").stdout)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        # a tox below another one would take the other's folders for its own
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TOX_"))}
        return subprocess.run(words, cwd=self.root, env=environment, capture_output=True, text=True, timeout=300)

    def junit_counts(self) -> Counter[str]:
        """Passed, failed, error and skipped as pytest's own JUnit file counts them."""
        cases = ElementTree.parse(self.junit).getroot().iter("testcase")
        statuses = {"failure": "failed", "error": "error", "skipped": "skipped"}
        return Counter(next((statuses[e.tag] for e in case if e.tag in statuses), "passed") for case in cases)


def plain(project: Project) -> list[str]:
    return [project.python, *PYTEST]


def on_two_workers(project: Project) -> list[str]:
    return [project.python, *PYTEST, "-n", "2"]


def below_tox(project: Project) -> list[str]:
    return [*project.tox, "--"]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_recorded_counts_are_those_of_the_junit_file(suite: Suite, tmp_path: Path) -> None:
    project = Project(tmp_path, suite)
    for way in (plain, on_two_workers, below_tox):
        summary = project.recorded(way(project))
        assert summary["tests"] == project.junit_counts(), way.__name__
        assert sum(summary["tests"].values()) > 100
