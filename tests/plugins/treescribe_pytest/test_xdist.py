"""Under pytest-xdist the controller reports."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from treescribe.events import SuiteStarted, TestFinished

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Project

pytest.importorskip("xdist")

TESTS = """\
    import pytest

    @pytest.mark.parametrize("number", range(6))
    def test_number(number):
        assert number != 4

    @pytest.fixture
    def breaks_late():
        yield
        raise RuntimeError("cannot close")

    def test_teardown_breaks(breaks_late): pass
    @pytest.mark.skip(reason="not on Tuesdays")
    def test_skipped(): pass
"""


@pytest.mark.parametrize("mode", ["load", "loadfile", "worksteal"])
def test_facts_are_those_of_a_run_in_one_process(project: Project, mode: str) -> None:
    for name in "abc":
        project.write(f"tests/test_{name}.py", TESTS)
    alone = project.pytest()
    shared = project.pytest("-n", "2", "--dist", mode)
    assert shared.exit_code == alone.exit_code == 1
    assert {e.fact() for e in shared.of(TestFinished)} == {e.fact() for e in alone.of(TestFinished)}
    assert len(shared.of(TestFinished)) == len(alone.of(TestFinished)) == 24
    assert shared.outcomes == alone.outcomes
    assert sorted((e.suite, e.tests) for e in shared.of(SuiteStarted)) == [
        (f"tests/test_{name}.py", 8) for name in "abc"
    ]


def test_a_crashed_worker_is_a_failure_of_the_test_it_ran(project: Project) -> None:
    project.write("test_a.py", "import os\ndef test_dies():\n    os._exit(1)\ndef test_lives(): pass\n")
    project.write("test_b.py", "def test_1(): pass\ndef test_2(): pass\n")
    recorded = project.pytest("-n", "2")
    assert recorded.exit_code == 1
    assert recorded.statuses == {
        "test_a.py::test_dies": "error",
        "test_a.py::test_lives": "passed",
        "test_b.py::test_1": "passed",
        "test_b.py::test_2": "passed",
    }
    assert "crashed while running 'test_a.py::test_dies'" in recorded.test("test_dies").message
    assert recorded.outcomes == [("test_a.py", "executed"), ("test_b.py", "executed")]


def test_every_worker_of_dist_each_tells_every_test(project: Project) -> None:
    project.write("test_a.py", "import os\ndef test_one(): pass\ndef test_two():\n    assert 0\n")
    recorded = project.pytest("--dist", "each", "--tx", "2*popen")
    assert Counter((e.test, e.status) for e in recorded.of(TestFinished)) == {
        ("test_one", "passed"): 2,
        ("test_two", "failed"): 2,
    }


def test_stopping_at_the_first_failure_keeps_the_failure_and_cancels_nothing(project: Project) -> None:
    project.write("test_a.py", "def test_bad():\n    assert 9 == 10\n")
    project.write("test_b.py", "import pytest\n@pytest.mark.parametrize('n', range(50))\ndef test_one(n): pass\n")
    recorded = project.pytest("-n", "2", "-x")
    assert recorded.exit_code == 2
    assert recorded.test("test_bad").status == "failed"
    assert {event.status for event in recorded.of(TestFinished)} <= {"failed", "passed"}
    assert "pytest" not in dict(recorded.outcomes)


def test_a_collection_error_is_told_once(project: Project) -> None:
    project.write("test_a.py", "import no_such_module\n")
    project.write("test_b.py", "import pytest\npytest.skip('no', allow_module_level=True)\n")
    project.write("test_c.py", "def test_one(): pass\n")
    recorded = project.pytest("-n", "2")
    assert recorded.exit_code != 0
    assert recorded.suite("test_a.py").outcome == "errored"
    assert recorded.statuses["test_b.py::test_b.py"] == "skipped"


def test_an_internal_error_of_a_worker_is_never_green(project: Project) -> None:
    project.write("test_a.py", "def test_one(): pass\n")
    project.write(
        "conftest.py",
        "import os\ndef pytest_runtest_protocol():\n"
        "    if 'PYTEST_XDIST_WORKER' in os.environ:\n        raise RuntimeError('broken hook')\n",
    )
    recorded = project.pytest("-n", "1")
    assert recorded.suite("pytest").outcome == "errored"
    assert not recorded.verdict.ok


def test_output_is_that_of_plain_xdist(project: Project) -> None:
    project.write("test_a.py", "def test_one(): pass\n")
    recorded, plain = project.both("-n", "1", "-v")
    assert recorded.printed == plain
