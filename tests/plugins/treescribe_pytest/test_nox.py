"""The tests in the sessions of a nox are recorded, each session as a project of its own."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from treescribe.events import TestFinished

if TYPE_CHECKING:
    from pathlib import Path

    from plugins.treescribe_pytest.conftest import Project

NOX = [sys.executable, "-m", "nox"]

TESTS = """\
    import os
    import pytest

    def test_passes(): pass
    def test_fails_in_two(): assert os.environ["NOX_CURRENT_SESSION"] != "two"
"""

NOXFILE = f"""\
    import nox

    @nox.session
    def one(session):
        session.run({sys.executable!r}, "-m", "pytest", "--junit-xml=one.xml", external=True)

    @nox.session(venv_backend="none")
    def two(session):
        session.run({sys.executable!r}, "-m", "pytest", "--junit-xml=two.xml", env={{"CART": "1"}})

    @nox.session(venv_backend="none")
    @nox.parametrize("size", [1, 2])
    def sized(session, size):
        session.run({sys.executable!r}, "-m", "pytest")
"""


def junit(path: Path) -> tuple[int, int]:
    (suite,) = ET.parse(path).getroot().iter("testsuite")
    return int(suite.get("tests", "0")), int(suite.get("failures", "0"))


@pytest.fixture
def cart(project: Project) -> Project:
    project.write("test_cart.py", TESTS)
    project.write("noxfile.py", NOXFILE)
    return project


def test_every_session_is_a_project_with_the_counts_of_its_junit_xml(cart: Project) -> None:
    recorded = cart.command([*NOX, "-s", "one", "two"])
    tests = Counter(event.project for event in recorded.of(TestFinished))
    failures = Counter(event.project for event in recorded.verdict.failures)
    assert set(tests) == {"one", "two"}, recorded.printed
    for name in tests:
        assert (tests[name], failures[name]) == junit(cart.root / f"{name}.xml")
    assert failures == {"two": 1}


def test_sessions_of_other_parameters_are_other_projects(cart: Project) -> None:
    recorded = cart.command([*NOX, "-s", "sized"])
    assert {event.project for event in recorded.of(TestFinished)} == {"sized(size=1)", "sized(size=2)"}


def test_the_session_that_a_run_was_started_in_names_no_project(cart: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOX_CURRENT_SESSION", "outer")
    outer = {"NOX_CURRENT_SESSION": "outer"}
    plain = cart.command([sys.executable, "-m", "pytest"], environment=outer)
    assert {event.project for event in plain.of(TestFinished)} == {""}
    nox = cart.command([*NOX, "-s", "two"], environment=outer)
    assert {event.project for event in nox.of(TestFinished)} == {"two"}
