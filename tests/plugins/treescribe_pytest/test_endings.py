"""How a session ends: its exit code, errors that belong to no test, interruption and death."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from treescribe.events import SuiteStarted, TestFinished, TestStarted

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Live, Project

PASSES = "def test_one():\n    pass\n"
FAILS = "def test_bad():\n    assert 0\n"


def test_an_ordinary_session_adds_no_suite_of_its_own(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("test_b.py", FAILS)
    recorded = project.pytest()
    assert recorded.exit_code == 1
    assert recorded.outcomes == [("test_a.py", "executed"), ("test_b.py", "executed")]
    assert not recorded.verdict.ok


def test_passing_tests_are_green(project: Project) -> None:
    project.write("test_a.py", PASSES)
    recorded = project.pytest()
    assert (recorded.exit_code, recorded.verdict.ok) == (0, True)


# ---- collection errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def test_one(:\n", "SyntaxError: invalid syntax"),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("from os import nothing\n", "ImportError: cannot import name 'nothing' from 'os'"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
    ],
)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside other files"])
def test_a_file_that_cannot_be_collected_is_a_suite_that_errored(
    project: Project, text: str, message: str, beside: bool
) -> None:
    project.write("tests/test_a.py", text)
    if beside:
        project.write("tests/test_b.py", PASSES)
    recorded = project.pytest()
    assert recorded.exit_code == 2
    assert recorded.outcomes == [("tests/test_a.py", "errored")]
    suite = recorded.suite("tests/test_a.py")
    assert suite.message.startswith(message)
    assert message in suite.trace
    assert recorded.verdict.suites == (suite,)


def test_other_files_run_where_pytest_is_told_to_go_on(project: Project) -> None:
    project.write("test_a.py", "import no_such_module\n")
    project.write("test_b.py", PASSES)
    recorded = project.pytest("--continue-on-collection-errors")
    assert recorded.exit_code == 1
    assert recorded.outcomes == [("test_a.py", "errored"), ("test_b.py", "executed")]


def test_a_class_that_cannot_be_collected_is_told_beside_its_file(project: Project) -> None:
    project.write(
        "test_a.py",
        """\
        import pytest
        def test_one(): pass
        class TestCart:
            @pytest.mark.parametrize("nothing", [1])
            def test_bad(self): pass
        """,
    )
    recorded = project.pytest("--continue-on-collection-errors")
    assert recorded.outcomes == [("test_a.py", "executed"), ("test_a.py::TestCart", "errored")]


# ---- exit codes ---------------------------------------------------------------------------------------


def test_an_internal_error_is_a_suite_that_errored(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write(
        "conftest.py",
        "def pytest_runtest_logreport(report):\n    raise RuntimeError('broken hook')\n",
    )
    recorded = project.pytest()
    assert recorded.exit_code == 3
    suite = recorded.suite("pytest")
    assert (suite.outcome, suite.message) == ("errored", "RuntimeError: broken hook")
    assert "broken hook" in suite.trace
    assert recorded.statuses == {"test_a.py::test_one": "error"}
    assert recorded.test("test_one").message == "pytest failed while this test ran"


def test_an_internal_error_of_collecting_is_told_too(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("conftest.py", "def pytest_collection_modifyitems():\n    raise RuntimeError('broken hook')\n")
    recorded = project.pytest()
    assert recorded.exit_code == 3
    assert recorded.outcomes == [("pytest", "errored")]


def test_a_path_that_does_not_exist_is_a_usage_error_with_its_text(project: Project) -> None:
    recorded = project.pytest("nowhere.py")
    assert recorded.exit_code == 4
    suite = recorded.suite("pytest")
    assert (suite.outcome, suite.message) == ("errored", "file or directory not found: nowhere.py")


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["-p", "no_such_plugin"], ["-c", "nowhere.ini"]])
def test_usage_errors_before_any_session_are_left_to_the_exit_code(project: Project, arguments: list[str]) -> None:
    project.write("test_a.py", PASSES)
    recorded, plain = project.both(*arguments)
    assert recorded.printed == plain
    assert recorded.exit_code in (1, 4)
    assert recorded.outcomes == []
    assert not recorded.verdict.ok


@pytest.mark.parametrize("text", ["", PASSES], ids=["no tests", "all deselected"])
def test_a_session_without_tests_is_empty(project: Project, text: str) -> None:
    project.write("test_a.py", text)
    recorded = project.pytest("-k", "nothing_of_this_name")
    assert recorded.exit_code == 5
    assert recorded.outcomes == [("pytest", "empty")]


@pytest.mark.parametrize("option", ["-x", "--maxfail=1"])
def test_stopping_at_the_first_failure_is_no_error_of_its_own(project: Project, option: str) -> None:
    project.write("test_a.py", FAILS + "def test_never():\n    pass\n")
    project.write("test_b.py", PASSES)
    recorded = project.pytest(option)
    assert recorded.exit_code == 1
    assert recorded.statuses == {"test_a.py::test_bad": "failed"}
    assert recorded.outcomes == [("test_a.py", "executed")]


def test_stopping_at_a_collection_error_is_no_error_of_its_own(project: Project) -> None:
    project.write("test_a.py", "1 / 0")
    project.write("test_b.py", "1 / 0")
    recorded = project.pytest("-x")
    assert recorded.exit_code in (1, 2)
    assert recorded.outcomes == [("test_a.py", "errored")]


def test_pytest_exit_cancels_the_session_and_the_test_that_called_it(project: Project) -> None:
    project.write("test_a.py", PASSES + "import pytest\ndef test_leaves():\n    pytest.exit('no database', 7)\n")
    recorded = project.pytest()
    assert recorded.exit_code == 7
    assert recorded.statuses == {"test_a.py::test_one": "passed", "test_a.py::test_leaves": "cancelled"}
    assert (recorded.suite("pytest").outcome, recorded.suite("pytest").message) == ("cancelled", "no database")


def test_a_session_that_a_plugin_stops_without_a_failure_is_cancelled(project: Project) -> None:
    project.write("test_a.py", PASSES + "def test_two(): pass\n")
    project.write(
        "conftest.py",
        "def pytest_runtest_logfinish(nodeid):\n    session.shouldstop = 'time is up'\n"
        "def pytest_sessionstart(session):\n    globals()['session'] = session\n",
    )
    recorded = project.pytest()
    assert recorded.exit_code == 2
    assert (recorded.suite("pytest").outcome, recorded.suite("pytest").message) == ("cancelled", "time is up")


def test_an_exit_code_that_a_plugin_chose_is_left_to_the_command(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("conftest.py", "def pytest_sessionfinish(session):\n    session.exitstatus = 9\n")
    recorded = project.pytest()
    assert recorded.exit_code == 9
    assert recorded.outcomes == [("test_a.py", "executed")]
    assert not recorded.verdict.ok


# ---- interruption and death ---------------------------------------------------------------------------

BLOCKS = PASSES + "import signal\ndef test_long():\n    while True:\n        signal.pause()\ndef test_never(): pass\n"


def send(number: int) -> Callable[[Live], None]:
    def by(live: Live) -> None:
        live.events.wait_for(lambda event: isinstance(event, TestStarted) and event.test == "test_long")
        live.process.send_signal(number)

    return by


def test_ctrl_c_cancels_the_session_and_the_test_that_ran(project: Project) -> None:
    project.write("test_a.py", BLOCKS)
    recorded = project.interrupted(by=send(signal.SIGINT))
    assert recorded.exit_code == 2
    assert recorded.statuses == {"test_a.py::test_one": "passed", "test_a.py::test_long": "cancelled"}
    assert recorded.outcomes == [("pytest", "cancelled"), ("test_a.py", "executed")]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_killed_pytest_errs_and_so_does_the_test_that_ran(project: Project, number: signal.Signals) -> None:
    project.write("test_a.py", BLOCKS)
    recorded = project.interrupted("-p", "no:faulthandler", by=send(number))
    assert recorded.exit_code == -number
    assert recorded.statuses == {"test_a.py::test_one": "passed", "test_a.py::test_long": "error"}
    assert recorded.test("test_long").message == "pytest died while this test ran"
    assert recorded.test("test_long").path == str(project.root / "test_a.py")
    suite = recorded.suite("pytest")
    assert (suite.outcome, suite.message) == ("errored", "pytest ended without finishing")


@pytest.mark.parametrize("code", [0, 3])
def test_a_test_that_ends_the_process_is_never_green(project: Project, code: int) -> None:
    project.write("test_a.py", PASSES + f"import os\ndef test_leaves():\n    os._exit({code})\n")
    recorded = project.pytest()
    assert recorded.exit_code == code
    assert recorded.statuses == {"test_a.py::test_one": "passed", "test_a.py::test_leaves": "error"}
    assert recorded.suite("pytest").outcome == "errored"
    assert not recorded.verdict.ok


def test_a_process_that_ends_between_tests_is_never_green(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("conftest.py", "import os\ndef pytest_runtestloop():\n    os._exit(0)\n")
    recorded = project.pytest()
    assert recorded.exit_code == 0
    assert recorded.outcomes == [("pytest", "errored")]
    assert not recorded.verdict.ok


def test_a_pytest_that_runs_on_in_the_background_is_not_taken_for_dead(project: Project) -> None:
    gate = project.root / "gate"
    os.mkfifo(gate)
    project.write("test_a.py", "def test_long():\n    open('gate', 'w').close()\n    open('gate').close()\n")
    command = f"{sys.executable} -m pytest >/dev/null 2>&1 & cat gate"
    recorded = project.command(["sh", "-c", command])
    with gate.open("w"):
        pass
    assert recorded.exit_code == 0
    assert recorded.outcomes == []
    assert not recorded.of(TestFinished)
    assert [event.suite for event in recorded.of(SuiteStarted)] == ["test_a.py"]
