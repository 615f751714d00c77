"""Targets of third parties' backends: listed, run and recorded by ``treescribe BACKEND.TARGET``."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import eventually
from treescribe.events import CommandFinished, CommandStarted, Output, RunFinished
from treescribe.testing import RecordedRun, operation, read_events, treescribe
from treescribe.workspace import Workspace

MODULE = """
from treescribe import Outcome, Target, hookimpl, run_command

class Make:
    name = "make"

    def detect(self, workspace):
        if (workspace.root / "unreadable").exists():
            raise OSError("the Makefile cannot be read")
        return (workspace.root / "Makefile").exists()

    def targets(self, workspace):
        (workspace.root / "asked").touch()
        return [Target(name, f"Do {name}.") for name in ("build", "slow", "sub.lint", "broken", "wrong", "history")]

    def run(self, run):
        outcome = Outcome("passed", 0)
        for target in run.request.targets:
            if target == "broken":
                raise KeyError("no such rule")
            if target == "wrong":
                return None
            script = "echo begun; exec sleep 60" if target == "slow" else f"echo {target} >&2; pwd; test ! -e fails"
            outcome = run_command(run, ["sh", "-c", script])
        return outcome

class Other(Make):
    name = "other"

@hookimpl
def treescribe_backends():
    return [Make(), Other()]
"""

TASKS = """
from invoke import task

@task
def build(c):
    print("the task")
"""

Treescribe = Callable[..., RecordedRun]


@pytest.fixture
def make(treescribe_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A worktree with a Makefile, beside an installed plugin that knows what that is."""
    metadata = tmp_path / "site" / "acme-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[treescribe]\nacme = acme_make\n")
    (metadata.parent / "acme_make.py").write_text(MODULE)
    paths = [str(metadata.parent), os.environ.get("PYTHONPATH")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    (treescribe_workspace.root / "Makefile").touch()
    return treescribe_workspace.root


def test_a_target_is_run_at_the_workspaces_root_and_recorded_as_exec_does(make: Path, recorded_run: Treescribe) -> None:
    run = recorded_run("make.build")
    assert (run.exit_code, run.stdout) == (0, f"{make}\n")
    assert run.stderr.splitlines() == ["build", "History: #1 passed · first run of these targets"]
    assert run.events.one(CommandStarted).cwd == str(make)
    assert {(event.stream, event.text) for event in run.events.of(Output)} == {
        ("stdout", f"{make}\n"),
        ("stderr", "build\n"),
    }
    assert operation(run.workspace.root, "history.show")["backend"] == "make"


def test_several_targets_are_one_run_and_the_exit_code_is_the_backends(make: Path, recorded_run: Treescribe) -> None:
    (make / "fails").touch()
    run = recorded_run("make.build", "make.sub.lint")
    assert run.exit_code == run.events.one(RunFinished, outcome="failed").exit_code == 1
    assert operation(run.workspace.root, "history.show")["targets"] == ["build", "sub.lint"]


def test_targets_are_listed_with_their_help_and_only_where_the_backend_is_used(make: Path) -> None:
    assert re.search(r"^  make\.sub\.lint +Do sub\.lint\.$", treescribe(make, "--list").stdout, re.MULTILINE)
    (make / "Makefile").unlink()
    assert "make." not in treescribe(make, "--list").stdout
    assert "No idea what 'make.build' is!" in treescribe(make, "make.build").stderr


def test_a_tool_is_not_asked_for_its_targets_where_nothing_of_it_is_named(make: Path, recorded_run: Treescribe) -> None:
    (make / "tasks.py").write_text(TASKS)
    assert recorded_run("build").stdout == "the task\n"
    recorded_run("exec", "--", "true")
    recorded_run("history.list")
    assert not (make / "asked").exists()
    assert not treescribe(make, "plugins").stderr


def test_a_task_of_the_project_goes_before_a_target(make: Path, recorded_run: Treescribe) -> None:
    (make / "tasks.py").write_text(TASKS.replace("def build", "def make"))
    assert recorded_run("make").stdout == "the task\n"
    assert recorded_run("treescribe.make.build").stdout == f"{make}\n"


@pytest.mark.parametrize("words", ["make.build other.build", "build make.build", "make.build history.list"])
def test_targets_of_a_backend_are_run_by_themselves(words: str, make: Path, recorded_run: Treescribe) -> None:
    (make / "tasks.py").write_text(TASKS)
    run = recorded_run(*words.split())
    assert (run.exit_code, run.stdout, run.id) == (2, "", None)
    assert run.stderr.startswith("treescribe: targets of a backend are run by themselves.")


def test_there_are_no_dry_runs(make: Path, recorded_run: Treescribe) -> None:
    run = recorded_run("--dry", "make.build")
    assert (run.exit_code, run.stdout, run.stderr) == (2, "", "treescribe: the backend make has no dry runs.\n")


@pytest.mark.parametrize(
    ("target", "reason"),
    [("broken", "KeyError: 'no such rule'"), ("wrong", "TypeError: an Outcome is expected, not NoneType")],
)
def test_a_backend_that_fails_is_told_by_name_and_its_run_is_an_error(
    target: str, reason: str, make: Path, recorded_run: Treescribe
) -> None:
    run = recorded_run(f"make.{target}")
    assert f"treescribe: the backend make failed: {reason}\n" in run.stderr
    assert "Traceback" not in run.stderr
    end = run.events.one(RunFinished)
    assert (end.outcome, end.exit_code, end.error) == ("error", run.exit_code, reason)


def test_a_backend_that_cannot_look_leaves_the_others_alone(make: Path) -> None:
    (make / "unreadable").touch()
    listed = treescribe(make, "--list")
    assert "history.list" in listed.stdout
    assert listed.stderr.splitlines() == [
        f"treescribe: the targets of the backend {name} cannot be had: OSError: the Makefile cannot be read"
        for name in ("make", "other")
    ]


def test_with_a_setting_that_cannot_be_used_a_target_goes_on_unrecorded(make: Path, recorded_run: Treescribe) -> None:
    (make / "invoke.yaml").write_text("treescribe: {summary: sometimes}\n")
    run = recorded_run("make.build")
    assert (run.exit_code, run.stdout, run.id) == (0, f"{make}\n", None)
    assert "treescribe: this run is not recorded: the setting treescribe.summary must be" in run.stderr


def test_a_signal_ends_the_targets_command_and_the_run_is_cancelled(make: Path) -> None:
    command = [sys.executable, "-m", "treescribe", "make.slow"]
    with subprocess.Popen(command, cwd=make, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGTERM)
    transcript = make / ".treescribe" / "history" / "1.jsonl"
    eventually(transcript.exists)
    events = read_events(transcript)
    assert events.one(CommandFinished).signal == signal.SIGTERM
    end = events.one(RunFinished)
    assert (end.outcome, end.exit_code) == ("cancelled", process.returncode) == ("cancelled", 143)


def test_the_effects_of_targets_are_declared_by_their_full_names(make: Path, recorded_run: Treescribe) -> None:
    (make / "invoke.yaml").write_text("treescribe: {effects: {make.build: read-only, make.sub.lint: read-only}}\n")
    recorded_run("make.build", "make.sub.lint")
    assert not (make / ".treescribe" / "lock").exists()
    recorded_run("make.build", "make.history")
    assert (make / ".treescribe" / "lock").exists()
