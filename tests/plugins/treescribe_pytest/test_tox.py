"""The tests in the envs of a tox are recorded, each env as a project of its own; tox does what it does without us."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from treescribe.events import SuiteFinished, TestFinished

if TYPE_CHECKING:
    from pathlib import Path

    from plugins.treescribe_pytest.conftest import Printed, Project, Recorded

TOX = [sys.executable, "-m", "tox"]
SITE_PACKAGES = "{python} -c 'import pytest'"

TESTS = """\
    import os
    import pytest

    def test_passes(): pass
    def test_fails_in_two(): assert os.environ["TOX_ENV_NAME"] != "two"
    @pytest.mark.skipif(os.environ["TOX_ENV_NAME"] == "one", reason="not in one")
    def test_skipped_in_one(): pass
"""

INI = f"""\
    [tox]
    env_list = one, two
    no_package = true

    [testenv]
    pass_env = HOME
    set_env =
        PYTHONPATH = {{toxinidir}}/src
    allowlist_externals = *
    commands = {sys.executable} -m pytest --junit-xml={{envname}}.xml {{posargs}}

    [testenv:two]
    pass_env = CART
    set_env =
"""

TOML = f"""\
    env_list = ["one", "two"]
    no_package = true

    [env_run_base]
    pass_env = ["HOME"]
    set_env = {{ PYTHONPATH = "{{tox_root}}/src" }}
    allowlist_externals = ["*"]
    commands = [["{sys.executable}", "-m", "pytest", "--junit-xml={{env_name}}.xml"]]

    [env.two]
    pass_env = ["CART"]
    set_env = {{}}
"""

PYPROJECT = TOML.replace("    env_list", "    [tool.tox]\n    env_list").replace("[env", "[tool.tox.env")


def junit(path: Path) -> dict[str, int]:
    (suite,) = ET.parse(path).getroot().iter("testsuite")
    return {name: int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")}


def counts(recorded: Recorded, project: str) -> dict[str, int]:
    statuses = Counter(event.status for event in recorded.of(TestFinished) if event.project == project)
    return {
        "tests": statuses.total(),
        "failures": statuses["failed"],
        "errors": statuses["error"],
        "skipped": statuses["skipped"],
    }


def projects(recorded: Recorded) -> set[str]:
    return {event.project for event in recorded.of(TestFinished)}


def told(recorded: Recorded) -> dict[str, tuple[str, str]]:
    """Outcome and message of each project's suite that stands for a whole env."""
    return {e.project: (e.outcome, e.message) for e in recorded.of(SuiteFinished) if e.suite == "tox"}


def without_times(printed: Printed) -> tuple[int, str, str]:
    """What tox printed, without times and process numbers."""
    text = re.sub(r"\d+(\.\d+)?( seconds|(?=[\]+]))", "…", printed.stdout)
    text = re.sub(r"pid=\d+", "pid=…", text)
    return printed.exit_code, re.sub(r"generated xml file.*", "", text), printed.stderr


@pytest.mark.parametrize("parallel", [(), ("-p", "2")], ids=["one by one", "parallel"])
@pytest.mark.parametrize(
    ("name", "text"),
    [("tox.ini", INI), ("tox.toml", TOML), ("pyproject.toml", PYPROJECT)],
    ids=lambda value: value[:14],
)
def test_every_env_is_a_project_with_the_counts_of_its_junit_xml(
    project: Project, name: str, text: str, parallel: Sequence[str]
) -> None:
    project.write("test_cart.py", TESTS)
    project.write(name, text)
    recorded = project.command([*TOX, *parallel])
    assert recorded.exit_code != 0
    assert projects(recorded) == {"one", "two"}, recorded.printed
    for env in ("one", "two"):
        assert counts(recorded, env) == junit(project.root / f"{env}.xml")
    assert {(e.project, e.test) for e in recorded.verdict.failures} == {("two", "test_fails_in_two")}
