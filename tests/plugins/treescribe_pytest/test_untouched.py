"""A recorded pytest prints, returns and sees what it does without us."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from treescribe.events import LogMessage, SuiteFinished, TestFinished
from treescribe_pytest.plugin import RECORDER_FOLDER

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Project

PYTEST = [sys.executable, "-m", "pytest"]
PASSES = "def test_one():\n    pass\n"
FAILS = "def test_bad():\n    assert 9 == 10\n"
SHELL_PYTEST = f"{shlex.quote(sys.executable)} -m pytest"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-q"],
        ["-v"],
        ["-vv", "-rA"],
        ["-x"],
        ["--collect-only"],
        ["--version"],
        ["-VV"],
        ["--fixtures"],
        ["--durations=0", "-vv"],
        ["--setup-show"],
        ["--tb=short", "--showlocals"],
        ["-W", "error"],
        ["--strict-markers", "--strict-config"],
        ["--assert=plain"],
        ["-p", "no:terminal"],
        ["--continue-on-collection-errors"],
        ["nowhere.py"],
        ["-k", "nothing"],
    ],
    ids=" ".join,
)
def test_output_and_exit_code_are_those_of_plain_pytest(project: Project, arguments: list[str]) -> None:
    project.write("tests/test_a.py", PASSES + FAILS + "def test_setup(nowhere): pass\n")
    project.write("tests/test_b.py", "import pytest\npytest.skip('no', allow_module_level=True)\n")
    project.write("tests/test_c.py", "import no_such_module\n")
    recorded, plain = project.both(*arguments)
    if "--durations=0" in arguments:
        recorded_lines, plain_lines = (sorted(printed.stdout.splitlines()) for printed in (recorded.printed, plain))
        assert recorded_lines == plain_lines
    else:
        assert recorded.printed == plain


def test_the_header_names_the_same_plugins(project: Project) -> None:
    project.write("test_a.py", PASSES)
    recorded, plain = project.both()
    assert "plugins: " in plain.stdout
    assert recorded.printed.stdout == plain.stdout


def test_a_test_sees_neither_an_open_warning_nor_another_module_path(project: Project) -> None:
    project.write(
        "test_a.py",
        """\
        import importlib.metadata, os, sys, threading

        def test_threads():
            assert threading.active_count() == 1

        def test_path():
            assert sys.path[-1] != ""
            assert "" not in os.environ["PYTHONPATH"].split(os.pathsep)
        """,
    )
    assert project.pytest("-W", "error").exit_code == 0


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (f"PYTHONPATH=src {SHELL_PYTEST}", False),
        (f"{shlex.quote(sys.executable)} -I -m pytest", False),
        (f"{shlex.quote(sys.executable)} -E -m pytest", False),
        (f"PYTHONPATH=src:$PYTHONPATH {SHELL_PYTEST}", True),
        (f"env -u TREESCRIBE_SPOOL {SHELL_PYTEST}", False),
        (f"{SHELL_PYTEST} -p no:treescribe_pytest_recorder", False),
        (SHELL_PYTEST, True),
    ],
)
def test_a_pytest_that_does_not_see_the_recorder_goes_on_without_it(project: Project, line: str, seen: bool) -> None:
    project.write("src/cart.py", "")
    project.write("test_a.py", PASSES)
    recorded = project.command(["sh", "-c", line])
    assert recorded.printed == project.plain_command(["sh", "-c", line])
    assert recorded.exit_code == 0
    assert recorded.statuses == ({"test_a.py::test_one": "passed"} if seen else {})


def test_the_users_python_path_comes_first_and_stays(project: Project) -> None:
    project.write("src/cart.py", "")
    project.write("test_a.py", "import cart\n" + PASSES)
    recorded = project.pytest(PYTHONPATH="src")
    assert recorded.statuses == {"test_a.py::test_one": "passed"}


@pytest.mark.parametrize("before", [{}, {"PYTHONPATH": ""}], ids=["unset", "empty"])
def test_an_empty_python_path_gets_no_empty_entry(project: Project, before: dict[str, str]) -> None:
    code = "import os; print(os.environ['PYTHONPATH'])"
    recorded = project.command([sys.executable, "-c", code], environment=before)
    assert recorded.printed.stdout == f"{RECORDER_FOLDER}\n"


def test_autoload_that_is_off_does_not_hide_the_tests(project: Project) -> None:
    project.write("test_a.py", PASSES)
    recorded, plain = project.both(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert recorded.printed == plain
    assert recorded.statuses == {"test_a.py::test_one": "passed"}


def test_named_plugins_stay_named_where_autoload_is_off(project: Project) -> None:
    project.write("mine.py", "def pytest_report_header():\n    return 'mine is here'\n")
    project.write("test_a.py", PASSES)
    recorded, plain = project.both(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTEST_PLUGINS="mine", PYTHONPATH=".")
    assert "mine is here" in plain.stdout
    assert recorded.printed == plain
    assert recorded.statuses == {"test_a.py::test_one": "passed"}


def test_no_plugin_is_named_where_autoload_is_on(project: Project) -> None:
    code = (
        "import os; print(sorted(name for name in os.environ if name.startswith('PYTEST_') and 'TEST' not in name[7:]))"
    )
    assert project.command([sys.executable, "-c", code]).printed.stdout == "[]\n"


def test_options_of_the_user_are_left_as_they_are(project: Project) -> None:
    project.write(
        "test_a.py", PASSES + "import os\ndef test_two():\n    assert os.environ['PYTEST_ADDOPTS'] == '-k two'\n"
    )
    recorded = project.pytest(PYTEST_ADDOPTS="-k two")
    assert recorded.statuses == {"test_a.py::test_two": "passed"}


# ---- a spool that cannot be written ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["missing", "a file", "removed during the run"])
def test_pytest_runs_as_ever_where_the_spool_cannot_be_written(project: Project, tmp_path: Path, kind: str) -> None:
    spool = tmp_path / "spool"
    if kind == "a file":
        spool.write_text("")
    if kind == "removed during the run":
        spool.mkdir()
    project.write(
        "test_a.py", PASSES + FAILS + f"import shutil\ndef test_c():\n    shutil.rmtree({str(spool)!r}, True)\n"
    )
    variables = {"PYTHONPATH": str(RECORDER_FOLDER), "TREESCRIBE_SPOOL": str(spool)}
    seen = project.plain_command(PYTEST, environment={**variables, "PYTEST_CURRENT_TEST": ""})
    assert seen == project.plain()
    assert seen.exit_code == 1


def test_a_spool_that_is_full_changes_nothing_and_is_told(project: Project) -> None:
    project.write("test_a.py", "import pytest\n@pytest.mark.parametrize('n', range(50))\ndef test_one(n): pass\n")
    line = f"ulimit -f 2; exec {SHELL_PYTEST} -s"  # files end at 1 or 2 KiB; pytest itself writes none
    more = {"PYTHONDONTWRITEBYTECODE": "1"}
    recorded = project.command(["sh", "-c", line], environment=more)
    assert recorded.printed == project.plain_command(["sh", "-c", line], environment=more)
    assert recorded.exit_code == 0
    assert len(recorded.of(TestFinished)) < 50
    assert "could not be written" in recorded.of(LogMessage)[0].message
    assert all(event.outcome == "executed" for event in recorded.of(SuiteFinished))


def test_a_recorder_that_is_broken_leaves_pytest_alone(project: Project, tmp_path: Path) -> None:
    package = tmp_path / "broken" / "treescribe_pytest_recorder"
    package.mkdir(parents=True)
    (package / "__init__.py").write_bytes((RECORDER_FOLDER / "treescribe_pytest_recorder/__init__.py").read_bytes())
    (package / "hooks.py").write_text("this is no Python that any version reads")
    project.write("test_a.py", PASSES)
    path = os.pathsep.join([str(package.parent), str(RECORDER_FOLDER)])
    assert project.plain_command(PYTEST, environment={"PYTHONPATH": path}).exit_code == 0


# ---- tests that do odd things to the process ----------------------------------------------------------


def test_tests_that_replace_or_close_what_recording_needs_are_recorded(project: Project) -> None:
    project.write(
        "test_a.py",
        """\
        import json, os, pytest

        def broken(*arguments, **named):
            raise RuntimeError("not for you")

        @pytest.fixture(scope="module", autouse=True)
        def no_system():
            with pytest.MonkeyPatch.context() as patch:
                for name in ("write", "getpid", "unlink"):
                    patch.setattr(os, name, broken)
                patch.setattr(json, "dumps", broken)
                yield

        def test_one(): pass
        def test_two(): pass
        """,
    )
    project.write(
        "test_b.py",
        """\
        import os

        def recorders():
            links = {fd: os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")}
            return [int(fd) for fd, path in links.items() if "/pytest-" in path and path.endswith(".jsonl")]

        def test_closes_and_reuses_the_descriptor():
            (fd,) = recorders()
            mine = os.open("mine.txt", os.O_CREAT | os.O_WRONLY)
            os.dup2(mine, fd)

        def test_after(): pass
        """,
    )
    recorded = project.pytest()
    assert recorded.exit_code == 0
    assert recorded.statuses == {
        "test_a.py::test_one": "passed",
        "test_a.py::test_two": "passed",
        "test_b.py::test_closes_and_reuses_the_descriptor": "passed",
        "test_b.py::test_after": "passed",
    }
    assert (project.root / "mine.txt").read_bytes() == b""
    assert recorded.outcomes == [("test_a.py", "executed"), ("test_b.py", "executed")]


def test_a_forked_child_that_falls_out_of_its_test_tells_nothing(project: Project) -> None:
    project.write(
        "test_a.py",
        """\
        import os

        def test_forks():
            child = os.fork()
            if child:
                os.waitpid(child, 0)

        def test_after(): pass
        """,
    )
    recorded = project.pytest()
    assert [event.test for event in recorded.of(TestFinished)] == ["test_forks", "test_after"]
    assert recorded.outcomes == [("test_a.py", "executed")]


# ---- pip ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["freeze"], ["freeze", "--all"], ["list"], ["list", "--format=json"], ["check"]])
@pytest.mark.parametrize("excluded", ["", "pytest pluggy"])
def test_pip_lists_what_it_lists_without_us(project: Project, arguments: list[str], excluded: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    more = {"PIP_EXCLUDE": excluded} if excluded else {}
    assert project.command(command, environment=more).printed == project.plain_command(command, environment=more)


def test_pip_would_list_the_recorder_if_it_were_not_told(project: Project) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "freeze"]
    seen = project.plain_command(command, environment={"PYTHONPATH": str(RECORDER_FOLDER)})
    assert "treescribe-pytest-recorder" in seen.stdout.replace("_", "-")


def test_the_recorder_needs_nothing_but_the_standard_library_and_pytest() -> None:
    code = """if True:
        import sys, pytest
        before = set(sys.modules)
        import treescribe_pytest_recorder.recorder, treescribe_pytest_recorder.journal
        added = {name.partition(".")[0] for name in set(sys.modules) - before}
        print(sorted(added - set(sys.stdlib_module_names)))
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(RECORDER_FOLDER)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['treescribe_pytest_recorder']\n"
