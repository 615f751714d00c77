"""Two projects from the package index, with their own test suites, recorded as their developers would.

pluggy has parametrised pytest functions, idna has unittest classes. (Not every project's source distribution holds
its tests; these two do.)
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from sdists import unpack

pytestmark = pytest.mark.index

SUMMARY = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
PYTEST = "python -m pytest -q -rfE -p no:cacheprovider --junitxml={junit}"


class Sdist(NamedTuple):
    """A source distribution, and a line of it that can be broken."""

    name: str
    version: str
    file: str
    right: str
    wrong: str


SDISTS = [
    Sdist(
        "pluggy",
        "1.7.0",
        "src/pluggy/_manager.py",
        "            return True\n        return False",
        "            return False\n        return False",
    ),
    Sdist("idna", "3.10", "idna/core.py", "len(label) > 63", "len(label) > 62"),
]


class Project:
    """An unpacked source distribution in a git worktree, with a virtualenv in which it is installed and tested."""

    def __init__(self, folder: Path, sdist: Sdist) -> None:
        self.sdist = sdist
        self.root = unpack(sdist.name, sdist.version, folder)
        self.venv = folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(self.venv)], check=True)
        pip = [str(self.venv / "bin" / "pip"), "--quiet", "--disable-pip-version-check"]
        install = [*pip, "install", "pytest", "-e", str(self.root)]
        subprocess.run(install, check=True)
        self.junit = folder / "junit.xml"

    def with_tasks(self) -> None:
        text = f"from invoke import task\n\n@task\ndef test(c):\n    c.run({PYTEST.format(junit=self.junit)!r})\n"
        (self.root / "tasks.py").write_text(text)
        (self.root / "invoke.yaml").write_text("tasks:\n  executor_class: treescribe.Executor\n")

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.venv / 'bin'}:{os.environ['PATH']}"
        # an edit of the same size within the same second would be hidden by Python's own cache of compiled modules
        environment = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(words, cwd=self.root, env=environment, capture_output=True, text=True, timeout=300)

    def treescribe(self, *words: str) -> Any:
        done = self.run(sys.executable, "-m", "treescribe", *words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def break_a_line(self) -> None:
        path = self.root / self.sdist.file
        text = path.read_text()
        assert self.sdist.right in text
        path.write_text(text.replace(self.sdist.right, self.sdist.wrong, 1))

    def mend_it(self) -> None:
        path = self.root / self.sdist.file
        path.write_text(path.read_text().replace(self.sdist.wrong, self.sdist.right, 1))

    def junit_counts(self) -> dict[str, int]:
        """Passed, failed, error and skipped as pytest's own JUnit file counts them; zeros left out."""
        suite = ElementTree.parse(self.junit).getroot().find("testsuite")
        assert suite is not None
        failed, error, skipped = (int(suite.attrib[name]) for name in ("failures", "errors", "skipped"))
        passed = int(suite.attrib["tests"]) - failed - error - skipped
        counts = {"passed": passed, "failed": failed, "error": error, "skipped": skipped}
        return {status: count for status, count in counts.items() if count}


@pytest.fixture(scope="module", params=SDISTS, ids=lambda sdist: sdist.name)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp(request.param.name), request.param)


def through_inv(project: Project) -> list[str]:
    project.with_tasks()
    return [sys.executable, "-m", "invoke", "test"]


def through_exec(project: Project) -> list[str]:
    for name in ("tasks.py", "invoke.yaml"):
        (project.root / name).unlink(missing_ok=True)
    return [sys.executable, "-m", "treescribe", "exec", "--", *PYTEST.format(junit=project.junit).split()]


@pytest.mark.parametrize("way", [through_inv, through_exec])
def test_counts_are_pytests_own_and_the_diff_names_what_pytest_names(project: Project, way: Any) -> None:
    command = way(project)
    assert project.run(*command).returncode == 0
    first = project.treescribe("history.summary")
    assert first["tests"] == project.junit_counts()

    project.break_a_line()
    try:
        broken = project.run(*command)
    finally:
        project.mend_it()
    assert broken.returncode == 1, broken.stdout
    second = project.treescribe("history.summary")
    assert second["tests"] == project.junit_counts()
    named_by_pytest = SUMMARY.findall(broken.stdout)
    diff = project.treescribe("history.diff", str(first["run"]), str(second["run"]))
    named_by_diff = [f"{test['suite']}::{test['test']}" for test in diff["tests"]["newly_failing"]]
    assert sorted(named_by_diff) == sorted(named_by_pytest) != []
    assert set(diff["tests"]) == {"newly_failing"}

    assert project.run(*command).returncode == 0
    third = project.treescribe("history.summary")
    assert project.treescribe("history.diff", str(first["run"]), str(third["run"]))["identical"] is True
