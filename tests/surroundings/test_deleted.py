"""What is deleted under a live run costs its record at most: its exit code and output stand."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from programs import SURFACES, Ended, Project
from treescribe.events import Output, RunFinished


@pytest.mark.parametrize("surface", SURFACES)
def test_the_worktree_deleted_by_its_own_run(surface: str, project: Project) -> None:
    script = f"echo before; rm -rf {shlex.quote(str(project.root))}; echo after; echo err >&2; exit 4"
    expected = project.start(project.plain(surface, script))
    Project.make(project.root, project.configuration)
    found = project.start(project.recorded(surface, script))
    assert (expected.code, expected.stdout) == (4, b"before\nafter\n")
    assert found.without_treescribe() == expected
    assert len(found.warnings) == 1
    assert b"this run is not recorded" in found.warnings[0]
    assert found.closing_line.startswith(b"History: not recorded")
    assert not project.root.exists()


@pytest.mark.parametrize("surface", SURFACES)
def test_the_state_deleted_by_its_own_run_and_begun_anew_by_one_below_it(surface: str, project: Project) -> None:
    below = shlex.join(project.recorded("exec", "echo below"))
    script = f"echo before; rm -rf .treescribe; {below}; echo after; exit 4"
    found = project.start(project.recorded(surface, script))
    assert (found.code, found.stdout) == (4, b"before\nbelow\nafter\n")
    assert len(found.warnings) == 1
    assert found.closing_line.startswith(b"History: not recorded")
    (run,) = project.runs()
    assert run.header.targets == ("sh -c 'echo below'",)
    assert [event.exit_code for event in run.events if isinstance(event, RunFinished)] == [0]


@contextmanager
def going_on(project: Project, surface: str, word: str) -> Iterator[subprocess.Popen[bytes]]:
    """A recorded run that has printed `word`, and ends with exit code 4 when it is told to."""
    command = project.recorded(surface, f"echo {word}; read go; echo $go; exit 4")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=project.root, **pipes) as process:  # type: ignore[call-overload]
        try:
            assert process.stdout.readline() == f"{word}\n".encode()
            yield process
        finally:
            process.kill()


def told_to_end(process: subprocess.Popen[bytes]) -> Ended:
    stdout, stderr = process.communicate(b"go\n", timeout=30)
    return Ended(process.returncode, stdout, stderr)


@pytest.mark.parametrize("surface", SURFACES)
def test_the_state_deleted_and_begun_anew_by_another_run(surface: str, project: Project) -> None:
    with going_on(project, surface, "first") as first:
        shutil.rmtree(project.root / ".treescribe")
        with going_on(project, "exec", "second") as second:
            ended = told_to_end(first)
            assert (ended.code, ended.stdout) == (4, b"go\n")
            assert len(ended.warnings) == 1
            assert ended.closing_line.startswith(b"History: not recorded")
            assert b"Traceback" not in ended.stderr
            later = told_to_end(second)
    assert (later.code, later.stdout, later.warnings) == (4, b"go\n", [])
    (run,) = project.runs()
    assert run.state == "finished"
    assert [event.text for event in run.events if isinstance(event, Output)] == ["second\ngo\n"]


@pytest.mark.parametrize(
    ("words", "code"), [("history.list", 2), ("exec -- echo ran", 2)], ids=["an operation", "a command"]
)
def test_in_a_folder_that_is_gone_nothing_is_done_and_nobody_is_blamed(words: str, code: int, project: Project) -> None:
    gone = project.root / "gone"
    gone.mkdir()
    command = f"{shlex.quote(sys.executable)} -m treescribe {words}"
    found = project.start(["sh", "-c", f"rmdir {shlex.quote(str(gone))}; {command}"], cwd=gone)
    assert (found.code, found.stdout) == (code, b"")
    assert found.warnings
    assert b"fault" not in found.stderr
    assert b"Traceback" not in found.stderr
