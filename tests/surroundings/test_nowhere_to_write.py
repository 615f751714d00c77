"""Where nothing can be written, a run is not recorded: said once, and its exit code and output stand."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from history_processes import open_to_all
from programs import SURFACES, Project, as_user
from support import NOBODY
from treescribe.events import RunFinished

SCRIPT = "echo out; echo err >&2; exit 5"


@pytest.mark.parametrize("surface", SURFACES)
def test_a_worktree_of_somebody_else(surface: str, project: Project) -> None:
    open_to_all(project.root)
    project.root.chmod(0o555)
    try:
        expected = project.start([*as_user(), *project.plain(surface, SCRIPT)])
        found = project.start([*as_user(), *project.recorded(surface, SCRIPT)])
    finally:
        project.root.chmod(0o755)
    assert (expected.code, expected.stdout) == (5, b"out\n")
    assert found.without_treescribe() == expected
    assert found.warnings == [
        f"treescribe: this run is not recorded in {project.root}: Permission denied".encode(),
    ]
    assert found.closing_line.startswith(b"History: not recorded \xc2\xb7 failed")
    assert not (project.root / ".treescribe").exists()


@pytest.mark.parametrize("surface", SURFACES)
def test_a_history_of_somebody_else_stays_as_it_is_and_can_be_read(surface: str, project: Project) -> None:
    project.start(project.recorded("exec", "echo first"))
    before = {path: path.read_bytes() for path in (project.root / ".treescribe").rglob("*") if path.is_file()}
    open_to_all(project.root)
    user = as_user()
    if not user:
        pytest.skip("only root has files that others cannot write, though they may look at them")
    found = project.start([*user, *project.recorded(surface, SCRIPT)])
    assert (found.code, found.stdout) == (5, b"out\n")
    assert len(found.warnings) == 1
    assert found.closing_line.startswith(b"History: not recorded \xc2\xb7 failed")
    listed = project.start([*user, sys.executable, "-m", "treescribe", "history.list"])
    assert (listed.code, listed.stderr) == (0, b"")
    assert b"1 kept of 1 recorded" in listed.stdout
    assert {path: path.read_bytes() for path in before} == before
    assert not [path for path in (project.root / ".treescribe").rglob("*") if path.stat().st_uid == NOBODY]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Project]:
    """A project on a file system of its own of 512 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "treescribe-tests", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a file system can be mounted by root only")
    try:
        yield Project.make(place / "project", tmp_path / "recording.yaml")
    finally:
        subprocess.run(["umount", str(place)], check=True)


def filling(place: Path) -> str:
    """A line of shell after which nothing more can be written to the disk that `place` is on."""
    return f"cat /dev/zero > {shlex.quote(str(place / 'filler'))} 2>/dev/null"


MUCH = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done"
"""More than the pieces in which output is recorded, and than what a file may have left of its last block."""


@pytest.mark.parametrize("surface", SURFACES)
def test_a_disk_that_is_full_before_the_run(surface: str, small_disk: Project) -> None:
    subprocess.run(["sh", "-c", filling(small_disk.root)], check=False)
    found = small_disk.start(small_disk.recorded(surface, SCRIPT))
    assert (found.code, found.stdout) == (5, b"out\n")
    assert found.without_treescribe().stderr == b"err\n"
    assert found.warnings == [
        f"treescribe: this run is not recorded in {small_disk.root}: No space left on device".encode(),
    ]
    assert found.closing_line.startswith(b"History: not recorded \xc2\xb7 failed")
    assert sorted(os.listdir(small_disk.root)) in (["filler", "tasks.py"], ["__pycache__", "filler", "tasks.py"])


@pytest.mark.parametrize("surface", SURFACES)
def test_a_disk_that_fills_during_the_run(surface: str, small_disk: Project) -> None:
    script = f"echo before; {filling(small_disk.root)}; {MUCH}; exit 5"
    found = small_disk.start(small_disk.recorded(surface, script))
    (small_disk.root / "filler").unlink()
    expected = small_disk.start(small_disk.plain(surface, script))
    assert (expected.code, expected.stdout[:14]) == (5, b"before\nline 0\n")
    assert found.without_treescribe() == expected
    assert found.warnings == [
        f"treescribe: this run is not recorded in {small_disk.root}: No space left on device".encode(),
    ]
    assert found.closing_line.startswith(b"History: not recorded \xc2\xb7 failed")
    assert small_disk.runs() == []
    (small_disk.root / "filler").unlink()
    again = small_disk.start(small_disk.recorded(surface, SCRIPT))
    assert again.warnings == []
    assert len(small_disk.runs()) == 1


@pytest.mark.parametrize("surface", SURFACES)
def test_a_disk_that_fills_before_the_last_events(surface: str, small_disk: Project) -> None:
    more_than_a_block = f": {'x' * 6000}"  # stands in the event of the command's end too
    script = f"{more_than_a_block}; echo before; {filling(small_disk.root)}; exit 5"
    found = small_disk.start(small_disk.recorded(surface, script))
    assert (found.code, found.stdout) == (5, b"before\n")
    assert found.without_treescribe().stderr == b""
    assert found.warnings == [
        f"treescribe: this run is not recorded in {small_disk.root}: No space left on device".encode(),
    ]
    assert found.closing_line.startswith(b"History: not recorded \xc2\xb7 failed")
    assert small_disk.runs() == []


@pytest.mark.parametrize("surface", SURFACES)
def test_a_disk_that_is_full_when_all_but_the_digest_is_written(surface: str, small_disk: Project) -> None:
    found = small_disk.start(small_disk.recorded(surface, f"echo before; {filling(small_disk.root)}; exit 5"))
    assert (found.code, found.stdout) == (5, b"before\n")
    assert found.without_treescribe().stderr == b""
    assert len(found.warnings) == 1
    assert found.warnings[0].endswith(b"stay where they are: [Errno 28] No space left on device")
    assert found.closing_line.startswith(b"History: #1 failed")
    (run,) = small_disk.runs()
    assert [event.exit_code for event in run.events if isinstance(event, RunFinished)] == [5]
    listed = small_disk.start([sys.executable, "-m", "treescribe", "history.list"])
    assert (listed.code, listed.stderr) == (0, b"")
