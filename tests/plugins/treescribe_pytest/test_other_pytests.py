"""Other versions of Python and pytest, each in a virtualenv of its own with nothing of ours in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from treescribe.events import TestFinished

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Project

VERSIONS = [
    ("3.8", "7.0.1"),
    ("3.8", "7"),
    ("3.9", "8.0.0"),
    ("3.10", "8"),
    ("3.12", "8"),
    ("3.13", "9"),
    ("3.8", "6.2.5"),
]

TESTS = """\
    import unittest
    import pytest

    def test_passes(): pass
    def test_fails(): assert 9 == 10
    @pytest.fixture
    def broken(): raise RuntimeError("no")
    @pytest.fixture
    def breaks_late():
        yield
        raise RuntimeError("late")
    def test_setup_breaks(broken): pass
    def test_teardown_breaks(breaks_late): pass
    @pytest.mark.skip(reason="not on Tuesdays")
    def test_skipped(): pass
    @pytest.mark.xfail(reason="issue 7")
    def test_xfails(): assert 0
    @pytest.mark.xfail(reason="issue 8")
    def test_xpasses(): pass
    @pytest.mark.parametrize("value", ["a::b"])
    def test_value(value): pass
    class TestOld(unittest.TestCase):
        def test_fails(self): self.fail("no")
"""

TOLD = {
    "test_passes": ("passed", ""),
    "test_fails": ("failed", "assert 9 == 10"),
    "test_setup_breaks": ("error", "RuntimeError: no"),
    "test_teardown_breaks": ("error", "error at teardown: RuntimeError: late"),
    "test_skipped": ("skipped", "not on Tuesdays"),
    "test_xfails": ("skipped", "xfail: issue 7"),
    "test_xpasses": ("passed", "xpass: issue 8"),
    "test_value[a::b]": ("passed", ""),
    "TestOld::test_fails": ("failed", "AssertionError: no"),
}


def interpreter(version: str) -> str | None:
    """A Python of this version: one on the path, or one of pyenv's, which its shims do not start unasked."""
    found = shutil.which(f"python{version}")
    if found is None:
        return None
    pyenv = sorted(Path(found).parent.parent.glob(f"versions/{version}.*/bin/python"))
    return str(pyenv[-1]) if pyenv else found


def virtualenv(folder: Path, version: str, *requirements: str) -> Path:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_EXCLUDE"))}
    subprocess.run([python, "-m", "venv", folder], check=True, env=environment)
    subprocess.run([folder / "bin/python", "-m", "pip", "-q", "install", *requirements], check=True, env=environment)
    return folder / "bin/python"


@pytest.mark.index
@pytest.mark.parametrize(("python", "version"), VERSIONS)
def test_any_pytest_from_seven_on_is_recorded_and_left_as_it_is(
    project: Project, tmp_path: Path, python: str, version: str
) -> None:
    release = version if version.count(".") == 2 else f"{version}.*"
    command = [str(virtualenv(tmp_path / "venv", python, f"pytest=={release}")), "-m", "pytest"]
    project.write("tests/test_cart.py", TESTS)
    recorded = project.command(command)
    assert recorded.printed == project.plain_command(command)
    assert {event.test: (event.status, event.message) for event in recorded.of(TestFinished)} == TOLD
    assert recorded.outcomes == [("tests/test_cart.py", "executed")]


@pytest.mark.index
def test_an_old_pip_lists_what_it_lists_without_us(project: Project, tmp_path: Path) -> None:
    python = str(virtualenv(tmp_path / "venv", "3.8", "pip==20.3", "pytest==7.0.1"))
    for arguments in (["freeze"], ["list"]):
        command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
        assert project.command(command).printed == project.plain_command(command)


@pytest.mark.index
def test_plugins_that_rerun_or_list_plugins_do_not_trip_over_the_recorder(project: Project, tmp_path: Path) -> None:
    requirements = ["pytest", "pytest-rerunfailures", "pytest-metadata", "pytest-html", "pytest-forked", "pyfakefs"]
    command = [str(virtualenv(tmp_path / "venv", "3.12", *requirements)), "-m", "pytest", "--reruns", "2"]
    project.write(
        "test_a.py",
        """\
        import os
        import pytest

        def test_flaky(tries=[]):
            tries.append(1)
            assert len(tries) == 3

        def test_always(): assert 0

        def test_fake_files(fs):
            assert not os.path.exists("/etc/passwd")

        @pytest.fixture(scope="module")
        def all_fake():
            from pyfakefs.fake_filesystem_unittest import Patcher
            with Patcher() as patcher:
                yield patcher.fs

        def test_fake_files_of_a_module(all_fake): pass
        def test_fake_files_again(all_fake): pass
        """,
    )
    recorded = project.command(command)
    assert recorded.printed == project.plain_command(command)
    assert [(event.test, event.status) for event in recorded.of(TestFinished)] == [
        ("test_flaky", "passed"),
        ("test_always", "failed"),
        ("test_fake_files", "passed"),
        ("test_fake_files_of_a_module", "passed"),
        ("test_fake_files_again", "passed"),
    ]
    assert recorded.outcomes == [("test_a.py", "executed")]
    flaky, always, *_ = recorded.of(TestFinished)
    assert flaky.message == "flaky: assert 2 == 3"
    assert "def test_flaky" in flaky.trace
    assert always.message == "assert 0"


@pytest.mark.index
@pytest.mark.parametrize(
    "options",
    [
        ["--cov=shop", "--cov-report="],
        ["--cov=shop", "--cov-report=", "-n", "2"],
        ["--import-mode=importlib"],
        ["--import-mode=append"],
        ["--retries", "1"],
    ],
    ids=" ".join,
)
def test_plugins_and_options_that_reach_deep_record_the_same(
    project: Project, tmp_path: Path, options: list[str]
) -> None:
    requirements = ["pytest", "pytest-cov", "pytest-xdist", "pytest-retry"]
    python = str(virtualenv(tmp_path / "venv", "3.12", *requirements))
    project.write("shop.py", "def total(): return 9\n")
    project.write("conftest.py", "import sys, os\nsys.path.append(os.path.dirname(__file__))\n")
    project.write(
        "test_a.py", "from shop import total\ndef test_one(): assert total() == 9\ndef test_two(): assert 0\n"
    )
    recorded = project.command([python, "-m", "pytest", *options])
    assert recorded.exit_code == 1
    assert recorded.statuses == {"test_a.py::test_one": "passed", "test_a.py::test_two": "failed"}


@pytest.mark.index
def test_tests_below_coverage_and_uv_are_recorded(project: Project, tmp_path: Path) -> None:
    python = virtualenv(tmp_path / "venv", "3.12", "pytest", "coverage", "uv")
    project.write("test_a.py", "def test_one(): pass\ndef test_two(): assert 0\n")
    below_uv = ["uv", "run", "--no-project", "--python", str(python), "python", "-m", "pytest"]
    for words in (["coverage", "run", "-m", "pytest"], below_uv):
        recorded = project.command([str(python.parent / words[0]), *words[1:]])
        assert recorded.statuses == {"test_a.py::test_one": "passed", "test_a.py::test_two": "failed"}, words


@pytest.mark.index
def test_a_forked_test_that_dies_is_an_error(project: Project, tmp_path: Path) -> None:
    command = [str(virtualenv(tmp_path / "venv", "3.12", "pytest==8.*", "pytest-forked")), "-m", "pytest", "--forked"]
    project.write("test_a.py", "import os\ndef test_one(): pass\ndef test_dies(): os.kill(os.getpid(), 9)\n")
    recorded = project.command(command)
    assert recorded.exit_code == 1
    assert recorded.statuses == {"test_a.py::test_one": "passed", "test_a.py::test_dies": "error"}


def test_every_module_of_the_recorder_is_read_by_the_oldest_python_it_is_for() -> None:
    python = interpreter("3.8") or sys.executable
    from treescribe_pytest.plugin import RECORDER_FOLDER

    code = (
        "import ast, pathlib, sys; [ast.parse(p.read_text('utf-8')) for p in pathlib.Path(sys.argv[1]).rglob('*.py')]"
    )
    subprocess.run([python, "-c", code, RECORDER_FOLDER], check=True)
