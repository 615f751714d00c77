"""The tests in the envs of a tox are recorded, each env as a project of its own; tox does what it does without us."""

from __future__ import annotations

import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from treescribe.events import SuiteFinished, TestFinished
from treescribe_pytest.plugin import RECORDER_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from plugins.treescribe_pytest.conftest import Printed, Project, Recorded

TOX = [sys.executable, "-m", "tox"]
PYTEST = f"{sys.executable} -m pytest -p no:cacheprovider"
PASSES = "def test_one(): pass\n"

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


ONE_ENV = f"""\
[tox]
env_list = one
no_package = true
skip_missing_interpreters = true

[testenv]
allowlist_externals = *
commands = {PYTEST}
"""
SHOW = f"""{sys.executable} -c "import os; print('seen', os.environ.get('NAME', '-'))" """


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where virtualenv and pip keep what one test can take over from another; each has a home of its own."""
    folder = tmp_path_factory.mktemp("caches")
    return {"VIRTUALENV_OVERRIDE_APP_DATA": str(folder / "virtualenv"), "PIP_CACHE_DIR": str(folder / "pip")}


@pytest.fixture(autouse=True)
def shared_caches(surroundings: None, caches: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in caches.items():
        monkeypatch.setenv(name, value)


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


VARYING = re.compile(
    r"[\d.]+=setup.*?\]( |(?=\)))|\d+(\.\d+)?(?= seconds)|in …s =+|=+ "
    r"|(?<=pid=)\d+|(?<=PYTHONHASHSEED=)\d+|(?<=/package/)\d+|(?<=#sha256=)[0-9a-f]+"
)


def printed(result: Printed) -> tuple[int, list[str], str]:
    """What tox printed, without times, numbers and hashes, and the order in which parallel envs came to their end."""
    lines = VARYING.sub("…", result.stdout).splitlines()
    return result.exit_code, sorted(line for line in lines if not re.search("[✔✖]", line)), result.stderr


@pytest.mark.parametrize("parallel", [(), ("-p", "2")], ids=["one by one", "parallel"])
@pytest.mark.parametrize(
    ("name", "text"),
    [("tox.ini", INI), ("tox.toml", TOML), ("pyproject.toml", PYPROJECT)],
    ids=["tox.ini", "tox.toml", "pyproject.toml"],
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


# ---- what tox does otherwise ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [(), ("-p", "2"), ("--version",), ("list",), ("config", "-e", "two"), ("exec", "-e", "two", "--", "env")],
    ids=" ".join,
)
def test_it_prints_and_returns_what_it_does_without_us(project: Project, arguments: Sequence[str]) -> None:
    project.write("test_cart.py", TESTS)
    project.write("tox.ini", INI)
    if not {"--version", "list", "config"} & {*arguments}:
        project.plain_command([*TOX, "-n"])
    recorded, plain = project.command([*TOX, *arguments]).printed, project.plain_command([*TOX, *arguments])
    if "exec" in arguments:  # which shows the variables of the commands
        assert recorded.exit_code == plain.exit_code == 0
        return
    assert printed(recorded) == printed(plain)


def test_an_env_is_not_created_anew_on_either_side_of_a_recorded_run(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV)
    seen = []
    for run in (project.plain_command, project.command, project.plain_command):
        run(TOX)
        info = project.root / ".tox/one/.tox-info.json"
        seen.append((info.read_text(), (project.root / ".tox/one/pyvenv.cfg").stat().st_ino))
    assert len(set(seen)) == 1


def test_the_installation_of_dependencies_does_not_see_the_recorder(project: Project) -> None:
    project.write("test_a.py", PASSES)
    script = project.write(
        "install.py",
        """\
        import os, pathlib
        ours = [name for name in os.environ if name == "PYTHONPATH" or name.startswith("TREESCRIBE_")]
        pathlib.Path("seen.txt").write_text(f"installs with {ours}")
        """,
    )
    install = f"install_command = {sys.executable} {script} {{packages}}\n"
    project.write("tox.ini", ONE_ENV + "deps = cart\n" + install + "list_dependencies_command = true\n")
    recorded = project.command(TOX)
    assert (project.root / "seen.txt").read_text() == "installs with []"
    assert projects(recorded) == {"one"}


@pytest.mark.parametrize(
    ("set_env", "name", "value"),
    [
        ("PYTHONPATH = src", "PYTHONPATH", f"src:{RECORDER_FOLDER}"),
        (f"PYTHONPATH = {RECORDER_FOLDER}:src", "PYTHONPATH", f"{RECORDER_FOLDER}:src"),
        ("CART = 1", "PYTHONPATH", str(RECORDER_FOLDER)),
        ("PIP_EXCLUDE = pytest", "PIP_EXCLUDE", "pytest treescribe-pytest-recorder"),
        ("PYTEST_PLUGINS = mine", "PYTEST_PLUGINS", "mine"),
        ("TREESCRIBE_MINE = mine", "TREESCRIBE_MINE", "mine"),
    ],
)
def test_what_an_env_sets_is_added_to_and_stays(project: Project, set_env: str, name: str, value: str) -> None:
    project.write("tox.ini", ONE_ENV.replace(PYTEST, SHOW.replace("NAME", name)) + f"set_env = {set_env}\n")
    recorded = project.command(TOX, environment={"TREESCRIBE_MINE": "outer"})
    assert f"seen {value}\n" in recorded.printed.stdout


def test_an_env_with_autoload_off_is_recorded(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV + "set_env = PYTEST_DISABLE_PLUGIN_AUTOLOAD = 1\n")
    assert project.command(TOX).statuses == {"test_a.py::test_one": "passed"}


@pytest.mark.parametrize("key", ["commands_pre", "commands_post"])
def test_commands_before_and_after_are_recorded(project: Project, key: str) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV.replace("commands", key))
    assert project.command(TOX).statuses == {"test_a.py::test_one": "passed"}


def test_a_tox_that_does_not_see_the_recorder_goes_on_without_it(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV)
    command = [sys.executable, "-I", "-m", "tox"]
    recorded = project.command(command)
    assert printed(recorded.printed) == printed(project.plain_command(command))
    assert recorded.exit_code == 0
    assert recorded.statuses == {}


def test_an_isolated_tox_that_passes_the_environment_on_is_recorded(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV + "pass_env = *\n")
    assert projects(project.command([sys.executable, "-I", "-m", "tox"])) == {"one"}


def test_a_recorder_that_is_broken_leaves_tox_alone(project: Project, tmp_path: Path) -> None:
    broken = shutil.copytree(RECORDER_FOLDER, tmp_path / "broken")
    (broken / "treescribe_tox_recorder/hooks.py").write_text("this is no Python that any version reads")
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV)
    assert project.plain_command(TOX, environment={"PYTHONPATH": str(broken)}).exit_code == 0


# ---- which tox -----------------------------------------------------------------------------------------


def test_a_tox_in_a_subfolder_names_the_folder_too(project: Project) -> None:
    project.write("services/cart/test_a.py", PASSES)
    project.write("services/cart/pytest.ini", "[pytest]\n")
    project.write("services/cart/tox.ini", ONE_ENV + "[testenv:two]\nbase_python = python3.99\n")
    recorded = project.command([*TOX, "-e", "one,two"], cwd=project.root / "services/cart")
    assert projects(recorded) == {"services/cart:one"}
    assert list(told(recorded)) == ["services/cart:two"]


def test_the_env_that_a_run_was_started_in_names_no_project(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outer = {"TOX_ENV_NAME": "one", "TOX_ENV_DIR": str(tmp_path / ".tox/one")}
    for name, value in outer.items():
        monkeypatch.setenv(name, value)
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV)
    assert projects(project.command([sys.executable, "-m", "pytest"], environment=outer)) == {""}
    assert projects(project.command(TOX, environment=outer)) == {"one"}


@pytest.mark.parametrize("pass_env", ["CART", "*"])
def test_a_tox_that_a_test_starts_is_that_tests_business(project: Project, pass_env: str) -> None:
    project.write("inner/test_b.py", "def test_inner(): assert 0\n")
    project.write("inner/tox.ini", ONE_ENV + f"pass_env = {pass_env}\n[testenv:two]\nbase_python=python3.99\n")
    project.write(
        "test_a.py",
        """\
        import subprocess, sys

        def test_outer():
            assert subprocess.run([sys.executable, "-m", "tox", "-e", "one,two"], cwd="inner").returncode == 1
        """,
    )
    recorded = project.pytest("test_a.py")
    assert recorded.statuses == {"test_a.py::test_outer": "passed"}
    assert recorded.verdict.ok


# ---- envs that do not run ------------------------------------------------------------------------------

MISSING = "[testenv:two]\nbase_python = python3.99\n"


def test_an_env_whose_interpreter_is_missing_is_never_green(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV + MISSING)
    recorded = project.command([*TOX, "-e", "one,two"])
    assert recorded.exit_code == 0
    assert told(recorded) == {
        "two": ("errored", "skipped because could not find python interpreter with spec(s): python3.99")
    }
    assert projects(recorded) == {"one"}
    assert not recorded.verdict.ok


def test_nor_is_it_where_missing_interpreters_fail(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV.replace("skip_missing_interpreters = true", "") + MISSING)
    recorded = project.command([*TOX, "-e", "one,two", "-p", "2", "--skip-missing-interpreters", "false"])
    assert recorded.exit_code != 0
    assert "python3.99" in told(recorded)["two"][1]
    assert not recorded.verdict.ok


@pytest.mark.parametrize("ignored", ["true", "false"])
def test_an_env_that_cannot_be_created_is_never_green(project: Project, ignored: str) -> None:
    project.write("test_a.py", PASSES)
    project.write(
        "tox.ini", ONE_ENV + f"[testenv:two]\ndeps = {{toxinidir}}/no-such-cart.whl\nignore_outcome = {ignored}\n"
    )
    recorded = project.command([*TOX, "-e", "one,two"])
    assert recorded.exit_code == (0 if ignored == "true" else 1)
    assert list(told(recorded)) == ["two"]
    assert not recorded.verdict.ok


def test_an_env_for_another_platform_is_told_and_does_not_fail_the_run(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV + "[testenv:two]\nplatform = elsewhere\n")
    recorded = project.command([*TOX, "-e", "one,two"])
    assert told(recorded)["two"][0] == "no-framework-matched"
    assert recorded.verdict.ok


# ---- with the package index ----------------------------------------------------------------------------


@pytest.mark.index
@pytest.mark.parametrize("package", ["wheel", "editable"])
def test_a_package_and_a_pytest_that_tox_installs(project: Project, package: str) -> None:
    project.write("pyproject.toml", "[project]\nname = 'cart'\nversion = '1'\n[tool.setuptools]\npackages = ['cart']\n")
    project.write("cart/__init__.py", "")
    project.write("test_a.py", "import cart\ndef test_one(): pass\n")
    project.write(
        "tox.ini", f"[tox]\nenv_list = one\n[testenv]\npackage = {package}\ndeps = pytest\ncommands = pytest\n"
    )
    recorded = project.command(TOX)
    assert recorded.exit_code == 0, recorded.printed
    assert projects(recorded) == {"one"}
    assert printed(project.command(TOX).printed) == printed(project.plain_command(TOX))


@pytest.mark.index
def test_a_tox_that_provides_itself_is_recorded(project: Project) -> None:
    project.write("test_a.py", PASSES)
    project.write("tox.ini", ONE_ENV.replace("[tox]", "[tox]\nrequires = toml"))
    recorded = project.command(TOX)
    assert "automatically provisioned" in recorded.printed.stdout
    assert projects(recorded) == {"one"}
