"""The `treescribe` program: the user's tasks and treescribe's operations side by side."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from invoke.parser.argument import Argument
from invoke.parser.context import ParserContext
from treescribe.program import take_words
from treescribe.testing import treescribe

TASKS = """
from invoke import task, Collection

@task
def build(c):
    "Build it."
    print("built")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "tasks.py").write_text(TASKS)
    return root


def test_tasks_and_operations_are_listed_together(project: Path) -> None:
    listed = treescribe(project, "--list").stdout
    assert re.search(r"^  build +Build it\.$", listed, re.MULTILINE)
    assert "history.diff" in listed
    assert "treescribe.history.diff" not in listed


def test_everything_of_treescribes_is_listed_below_its_own_name(project: Path) -> None:
    assert ".history.diff" in treescribe(project, "--list", "treescribe").stdout


def test_json_listing_is_json(project: Path) -> None:
    listed = json.loads(treescribe(project, "--list", "--list-format=json").stdout)
    assert "build" in [task["name"] for task in listed["tasks"]]


def test_a_task_of_the_same_name_wins_and_the_list_says_so(project: Path) -> None:
    (project / "tasks.py").write_text(TASKS + "\n@task\ndef plugins(c):\n    print('my plugins')\n")
    assert treescribe(project, "plugins").stdout == "my plugins\n"
    assert "plugins is this project's own; treescribe's is treescribe.plugins" in treescribe(project, "--list").stdout
    assert treescribe(project, "treescribe.plugins").stdout.startswith("name ")


def test_a_collection_of_the_same_name_wins(project: Path) -> None:
    extra = "\nhistory = Collection('history')\nhistory.add_task(build, name='list')\nns = Collection(build, history)\n"
    (project / "tasks.py").write_text(TASKS + extra)
    assert treescribe(project, "history.list").stdout == "built\n"
    assert "built" not in treescribe(project, "treescribe.history.list").stdout


def test_operations_work_where_there_are_no_tasks(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    done = treescribe(tmp_path, "history.list")
    assert done.returncode == 0, done.stderr


def test_operations_survive_tasks_that_cannot_be_loaded_and_say_so(project: Path) -> None:
    (project / "tasks.py").write_text("import no_such_module\n")
    done = treescribe(project, "history.list")
    assert done.returncode == 0
    assert "the tasks here cannot be loaded, going on without them: ModuleNotFoundError" in done.stderr


def test_a_task_of_a_file_that_cannot_be_loaded_fails_as_under_inv(project: Path) -> None:
    (project / "tasks.py").write_text("import no_such_module\n")
    done = treescribe(project, "build")
    assert done.returncode == 1
    assert "ModuleNotFoundError: No module named 'no_such_module'" in done.stderr


def test_in_a_linked_worktree_without_tasks_the_main_checkouts_do_not_run(project: Path) -> None:
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", str(project))
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "empty"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", "inner"], check=True)
    done = treescribe(project / "inner", "build")
    assert done.returncode == 1
    assert "built" not in done.stdout
    assert "No idea what 'build' is!" in done.stderr


def test_tasks_are_found_from_a_folder_below_them(project: Path) -> None:
    (project / "deep" / "er").mkdir(parents=True)
    assert treescribe(project / "deep" / "er", "build").stdout == "built\n"
    assert (project / ".treescribe" / "history" / "1.jsonl").exists()


@pytest.mark.parametrize("name", ["init", "demo", "plugins"])
def test_a_projects_own_task_runs_and_nothing_of_treescribes_does(project: Path, name: str) -> None:
    (project / "tasks.py").write_text(TASKS + f"\n@task(name='{name}')\ndef own(c):\n    print('my own')\n")
    assert treescribe(project, name).stdout == "my own\n"
    assert not (project / "invoke.yaml").exists()


def test_exec_stays_treescribes_and_the_list_says_how_to_run_ones_own(project: Path) -> None:
    (project / "tasks.py").write_text(TASKS + "\n@task(name='exec')\ndef own(c):\n    print('my own')\n")
    assert treescribe(project, "exec", "--", "echo", "theirs").stdout == "theirs\n"
    assert "this project's exec is run by: inv exec" in treescribe(project, "--list").stdout


def test_init_works_where_tasks_cannot_be_loaded(project: Path) -> None:
    (project / "tasks.py").write_text("import no_such_module\n")
    assert treescribe(project, "init").returncode == 0
    assert (project / "invoke.yaml").exists()


def test_a_list_of_tasks_that_cannot_be_loaded_fails_with_that_error_alone(project: Path) -> None:
    (project / "tasks.py").write_text("import no_such_module\n")
    assert "During handling" not in treescribe(project, "--list").stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("biuld", "build"),
        ("history.dif 1 2", "history.diff"),
        ("history", "history.diff"),
        ("history.diff --exitcode", "--exit-code"),
    ],
)
def test_a_misspelt_word_is_answered_with_what_may_be_meant(project: Path, typed: str, meant: str) -> None:
    done = treescribe(project, *typed.split())
    assert done.returncode == 1
    assert f"Did you mean: {meant}" in done.stderr


def test_a_directory_may_be_relative_on_the_command_line(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q", other], check=True)
    (other / "tasks.py").write_text(TASKS)
    for root in (project, other):
        treescribe(root, "build")
    done = treescribe(project, "history.diff", "--base-directory", "../other", "1", "--json")
    assert json.loads(done.stdout)["cross_workspace"] is True


def test_a_dry_run_is_not_recorded(project: Path) -> None:
    treescribe(project, "--dry", "build")
    assert not (project / ".treescribe").exists()


def test_after_init_plain_inv_records(project: Path) -> None:
    treescribe(project, "init")
    subprocess.run([sys.executable, "-m", "invoke", "build"], cwd=project, check=True, stdout=subprocess.DEVNULL)
    assert (project / ".treescribe" / "history" / "1.jsonl").exists()


def test_an_operation_outside_any_workspace_says_what_is_missing(tmp_path: Path) -> None:
    done = treescribe(tmp_path, "history.list")
    assert done.returncode == 2
    assert done.stderr.startswith(f"treescribe: {tmp_path} lies in no workspace")
    assert "Traceback" not in done.stderr


def test_operations_are_no_runs(project: Path) -> None:
    treescribe(project, "history.list")
    assert not (project / ".treescribe").exists()


def test_a_user_can_mix_tasks_and_operations(project: Path) -> None:
    done = treescribe(project, "build", "history.list")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("built\n")


def test_a_value_of_the_wrong_type_is_refused_in_one_line(project: Path) -> None:
    done = treescribe(project, "history.show", "--limit=many")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "A value cannot be used" in done.stderr


def test_an_unknown_option_is_refused(project: Path) -> None:
    done = treescribe(project, "history.list", "--nonsense")
    assert done.returncode == 1
    assert "No idea what '--nonsense' is!" in done.stderr


def test_values_may_be_given_without_their_flags(project: Path) -> None:
    treescribe(project, "build")
    by_place = treescribe(project, "history.show", "1", "--json")
    by_flag = treescribe(project, "history.show", "--run=1", "--json")
    assert by_place.stdout == by_flag.stdout != ""


def test_an_operations_help_tells_its_arguments(project: Path) -> None:
    for words in (["--help", "history.show"], ["history.show", "--help"]):
        assert "--query" in treescribe(project, *words).stdout


def test_the_version_names_invokes_too(project: Path) -> None:
    assert treescribe(project, "--version").stdout.startswith("treescribe 0.")


def test_a_projects_own_executor_class_stays_in_use(project: Path) -> None:
    (project / "shouting.py").write_text(
        "import invoke\n\nclass Shouting(invoke.Executor):\n"
        "    def execute(self, *tasks):\n        print('SHOUT')\n        return super().execute(*tasks)\n"
    )
    (project / "invoke.yaml").write_text("tasks:\n  executor_class: shouting.Shouting\n")
    assert treescribe(project, "build").stdout == "SHOUT\nbuilt\n"
    assert (project / ".treescribe" / "history" / "1.jsonl").exists()


def test_names_stay_as_they_are_whatever_auto_dash_names_says(project: Path) -> None:
    (project / "invoke.yaml").write_text("tasks:\n  auto_dash_names: false\n")
    assert treescribe(project, "history.list").returncode == 0


def test_a_setting_that_cannot_be_used_leaves_the_run_unrecorded_and_says_so(project: Path) -> None:
    (project / "invoke.yaml").write_text("treescribe:\n  redact: ['(']\n")
    done = treescribe(project, "build")
    assert (done.returncode, done.stdout) == (0, "built\n")
    assert "this run is not recorded" in done.stderr
    assert not (project / ".treescribe").exists()


@pytest.mark.parametrize(
    ("typed", "own", "rest"),
    [
        ("ana", "ana", ""),
        ("ana here", "ana --place here", ""),
        ("ana --loud here", "ana --loud --place here", ""),
        ("--times 3 ana here", "--times 3 ana --place here", ""),
        ("--loud ana", "--loud ana", ""),
        ("--name ana here", "--name ana --place here", ""),
        ("ana here build --fast", "ana --place here", "build --fast"),
        ("ana --unknown", "ana --unknown", ""),
        ("--times", "--times", ""),
    ],
)
def test_values_may_stand_by_themselves_before_and_after_options(typed: str, own: str, rest: str) -> None:
    arguments = [
        Argument(name="name", positional=True),
        Argument(name="place", default=""),
        Argument(name="times", kind=int, default=1),
        Argument(name="loud", kind=bool, default=False),
    ]
    context = ParserContext(name="greet", args=arguments)
    assert take_words(typed.split(), context, ["--place"]) == (own.split(), rest.split())


def test_a_value_of_ones_own_task_is_not_taken_for_an_operation(project: Path) -> None:
    (project / "tasks.py").write_text(TASKS + "\n@task\ndef grep(c, pattern, file):\n    print(pattern, file)\n")
    assert treescribe(project, "grep", "history.show", "12").stdout == "history.show 12\n"


def test_a_pin_that_is_called_like_a_task_is_compared_with_and_no_task_runs(project: Path) -> None:
    for _ in range(2):
        treescribe(project, "build")
    treescribe(project, "history.pin", "1", "build")
    done = treescribe(project, "history.diff", "build", "--json")
    assert json.loads(done.stdout)["base"]["run"] == 1
    assert "built" not in done.stdout


def test_scripts_can_tell_differences_from_runs_that_cannot_be_had(project: Path) -> None:
    for script in ("true", "false"):
        treescribe(project, "exec", "--", "sh", "-c", script)
    codes = [
        treescribe(project, "history.diff", "--exit-code", *words).returncode
        for words in (("1", "1"), ("1", "2"), ("1", "99"))
    ]
    assert codes == [0, 1, 2]
