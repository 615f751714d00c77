"""A pytest that a test of a recorded pytest starts is that test's own business."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from treescribe.events import TestFinished

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Project

BY_SUBPROCESS = """\
    import pathlib, subprocess, sys

    def test_outer(tmp_path):
        (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
        done = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, capture_output=True)
        assert done.returncode == 1
"""
BY_PYTESTER = """\
    pytest_plugins = ["pytester"]

    def test_outer(pytester):
        pytester.makepyfile("def test_inner(): assert 0")
        pytester.RUN().assert_outcomes(failed=1)
"""
BY_MAIN = """\
    import pytest

    def test_outer(tmp_path):
        (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
        assert pytest.main([str(tmp_path), "-q", f"--rootdir={tmp_path}"]) == 1
"""
BY_FIXTURE = """\
    import subprocess, sys, pytest

    @pytest.fixture(scope="session")
    def inner(tmp_path_factory):
        folder = tmp_path_factory.mktemp("inner")
        (folder / "test_inner.py").write_text("def test_inner(): assert 0")
        yield subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=folder, capture_output=True).returncode
        subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=folder, capture_output=True)

    def test_outer(inner):
        assert inner == 1
"""


@pytest.mark.parametrize(
    "text",
    [
        BY_SUBPROCESS,
        BY_PYTESTER.replace("RUN", "runpytest_inprocess"),
        BY_PYTESTER.replace("RUN", "runpytest_subprocess"),
        BY_MAIN,
        BY_FIXTURE,
    ],
    ids=["subprocess", "pytester in the process", "pytester in a subprocess", "pytest.main", "fixture"],
)
@pytest.mark.parametrize("workers", [[], ["-n", "1"]], ids=["alone", "xdist"])
@pytest.mark.parametrize("more", [{}, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}], ids=["autoload", "no autoload"])
def test_it_adds_no_event_and_the_test_stays_green(
    project: Project, text: str, workers: list[str], more: dict[str, str]
) -> None:
    project.write("test_a.py", text)
    if workers and more:
        workers = ["-p", "xdist", *workers]
    recorded = project.pytest(*workers, **more)
    assert recorded.exit_code == 0, recorded.printed
    assert [event.test for event in recorded.of(TestFinished)] == ["test_outer"]
    assert recorded.outcomes == [("test_a.py", "executed")]
    assert recorded.verdict.ok


def test_the_inner_pytest_prints_what_it_prints_without_us(project: Project) -> None:
    project.write(
        "test_a.py",
        """\
        pytest_plugins = ["pytester"]

        def test_outer(pytester):
            pytester.makepyfile("def test_inner(): assert 0")
            pytester.runpytest_inprocess("-v", "-rA")
            pytester.runpytest_subprocess("-W", "error")
            assert 0
        """,
    )
    recorded, plain = project.both("--basetemp=../base", "-s")
    assert recorded.printed.stdout == plain.stdout
    assert recorded.printed == plain


def test_a_run_that_a_test_starts_records_its_own_pytest(project: Project) -> None:
    """Nothing but another baseline tells the two apart: the tests of this very file rely on it."""
    project.write("test_a.py", "import os\ndef test_one(): assert os.environ['TREESCRIBE_PYTEST_CURRENT_TEST']\n")
    assert project.pytest().statuses == {"test_a.py::test_one": "passed"}
