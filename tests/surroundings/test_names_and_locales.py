"""Homes, folders, temporary folders and locales that are not as one would have them: nothing of a run differs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from programs import SURFACES, Project
from support import git
from treescribe.events import TestFinished

SPEAKING = "echo grüße; printf '\\303\\274 \\377\\n'; echo tschüß >&2; exit 3"
ASCII_ONLY = {"LC_ALL": "C", "PYTHONUTF8": "0"}

ENVIRONMENTS: dict[str, dict[str, str | None]] = {
    "no home": {"HOME": None},
    "a home that does not exist": {"HOME": "/nonexistent"},
    "LC_ALL=C": {"LC_ALL": "C"},
    "LC_ALL=C without UTF-8 mode": {**ASCII_ONLY},
    "ASCII streams": {"PYTHONIOENCODING": "ascii"},
    "a TMPDIR that does not exist": {"TMPDIR": "/nonexistent"},
    "a TMPDIR that cannot be written": {"TMPDIR": "/dev/null"},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_run_is_what_it_is_without_us_and_is_recorded(name: str, project: Project) -> None:
    environment = ENVIRONMENTS[name]
    for number, surface in enumerate(("exec", "treescribe"), 1):
        expected = project.start(project.plain(surface, SPEAKING), env=environment)
        found = project.start(project.recorded(surface, SPEAKING), env=environment)
        assert found.without_treescribe() == expected.without_treescribe()
        assert found.warnings == []
        assert b"not recorded" not in found.closing_line
        assert len(project.runs()) == number
    listed = project.start([sys.executable, "-m", "treescribe", "history.list"], env=environment)
    assert (listed.code, listed.stderr) == (0, b"")
    assert len(listed.stdout.splitlines()) == 4


NAMED = """
from invoke import task

@task(name="grüße")
def gruesse(c):
    print("grüße".encode())
"""


@pytest.mark.parametrize("environment", [{"LC_ALL": "C"}, ASCII_ONLY, {"PYTHONIOENCODING": "ascii"}], ids=str)
def test_a_task_with_a_name_beyond_ascii_runs_where_it_does_without_us(
    environment: dict[str, str | None], project: Project
) -> None:
    (project.root / "tasks.py").write_text(NAMED, encoding="utf-8")
    expected = project.start([sys.executable, "-m", "invoke", "grüße"], env=environment)
    found = project.start([sys.executable, "-m", "treescribe", "grüße"], env=environment)
    assert found.without_treescribe() == expected.without_treescribe()
    assert [run.header.targets for run in project.runs()] == [("grüße",)] * (expected.code == 0)


@pytest.mark.parametrize("words", ["--list", "--help", "--help history.show", "exec --help"])
def test_help_is_shown_where_only_ascii_can_be(words: str, project: Project) -> None:
    (project.root / "tasks.py").write_text(NAMED, encoding="utf-8")
    shown = project.start([sys.executable, "-m", "treescribe", *words.split()], env=ASCII_ONLY)
    assert (shown.code, shown.stderr) == (0, b"")
    assert b"treescribe" in shown.stdout or b"history.show" in shown.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no names that are not UTF-8")
def test_folders_with_blanks_line_ends_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    root = tmp_path / "a blank" / "line\nend" / os.fsdecode(b"caf\xe9 \xff $(x)'\"")
    project = Project.make(root, tmp_path / "recording.yaml")
    git(root, "init", "-q")
    below = root / os.fsdecode(b"be low\n\xfe")
    below.mkdir()
    for surface in SURFACES:
        for folder in (root, below) if surface == "exec" else (below,):
            expected = project.start(project.plain(surface, "pwd; exit 3"), cwd=folder)
            found = project.start(project.recorded(surface, "pwd; exit 3"), cwd=folder)
            assert found.without_treescribe() == expected
            assert found.warnings == []
    (root / "test_a.py").write_text("def test_good():\n    pass\n\ndef test_bad():\n    assert 0\n")
    for _ in range(2):
        project.start(
            project.recorded("exec", f"{sys.executable} -m pytest -q -p no:cacheprovider -p no:hypothesispytest")
        )
    *_, last = runs = project.runs()
    assert len(runs) == len(SURFACES) + 3
    assert {run.header.workspace for run in runs} == {str(root)}
    tests = {event.test: (event.status, event.path) for event in last.events if isinstance(event, TestFinished)}
    assert tests == {name: (status, str(root / "test_a.py")) for name, status in WANTED.items()}
    listed = project.start([sys.executable, "-m", "treescribe", "history.list"])
    assert len(listed.stdout.splitlines()) == len(runs) + 2, "each run is one row"
    differences = project.start([sys.executable, "-m", "treescribe", "history.diff", "--json"])
    assert b'"identical":true' in differences.stdout


WANTED = {"test_good": "passed", "test_bad": "failed"}
