"""A run that is followed: what comes over the socket, and what the follower can do."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import eventually
from treescribe.effects import ADDITIVE, DESTRUCTIVE, READ_ONLY, strongest, within
from treescribe.environment import FOLLOWER_VARIABLE
from treescribe.process_tree import is_running
from treescribe.workspace import Workspace

TASKS = """
from invoke import task

@task
def look(c):
    c.run("true")

@task
def wait(c):
    c.run("sleep 600 & echo $! > pid; touch started; wait")

@task
def inside(c):
    c.run("env > environment; ls -l /proc/self/fd > descriptors")
"""


@pytest.fixture
def root(treescribe_workspace: Workspace) -> Path:
    root = treescribe_workspace.root
    (root / "tasks.py").write_text(TASKS)
    (root / "invoke.json").write_text(json.dumps({"treescribe": {"effects": {"look": "read-only"}}}))
    return root


class Followed:
    """A process of treescribe, and our end of its socket."""

    def __init__(self, process: subprocess.Popen[str], ours: socket.socket) -> None:
        self.process = process
        self.ours = ours

    def told(self) -> list[dict[str, Any]]:
        """Everything that comes, to the end."""
        with self.ours.makefile("rb") as stream:
            return [json.loads(line) for line in stream]


@contextmanager
def followed(root: Path, *words: str, meant: Path | None = None, max_effect: str = DESTRUCTIVE) -> Iterator[Followed]:
    ours, its = socket.socketpair()
    told = {"descriptor": its.fileno(), "root": str(meant or root), "max_effect": max_effect}
    process = subprocess.Popen(
        [sys.executable, "-m", "treescribe", *words],
        cwd=root,
        env={**os.environ, FOLLOWER_VARIABLE: json.dumps(told)},
        pass_fds=(its.fileno(),),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    its.close()
    with process, ours:
        try:
            yield Followed(process, ours)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.mark.parametrize("words", [("look",), ("exec", "--", "true")], ids=["tasks", "exec"])
def test_its_number_comes_first_and_then_its_events_as_the_transcript_has_them(
    root: Path, words: tuple[str, ...]
) -> None:
    with followed(root, *words) as run:
        first, *events = run.told()
    assert (first["run"], first["workspace"]) == (1, str(root))
    transcript = (root / ".treescribe/history/1.jsonl").read_text().splitlines()
    assert events == [json.loads(line) for line in transcript[1:]]


def test_another_workspace_than_meant_is_refused_before_anything_happens(root: Path, tmp_path: Path) -> None:
    with followed(root, "look", meant=tmp_path) as run:
        (refusal,) = run.told()
        assert run.process.wait(60) == 2
    assert f"a run of the workspace {root}, not of {tmp_path}" in refusal["refused"]
    assert not (root / ".treescribe").exists()


def test_a_stronger_effect_than_allowed_is_refused(root: Path) -> None:
    with followed(root, "look", max_effect=READ_ONLY) as run:
        assert run.told()[0]["run"] == 1
    with followed(root, "look", "wait", max_effect=ADDITIVE) as run:
        (refusal,) = run.told()
        assert run.process.wait(60) == 2
    assert refusal["refused"] == "look wait: not declared additive."
    assert not (root / "started").exists()


@pytest.mark.parametrize("words", [("history.list",), ("treescribe.plugins",)])
def test_operations_are_no_runs(root: Path, words: tuple[str, ...]) -> None:
    with followed(root, *words) as run:
        (refusal,) = run.told()
    assert "an operation of treescribe, not a target" in refusal["refused"]


@pytest.mark.parametrize("words", [("look",), ("exec", "--", "touch", "done")], ids=["tasks", "exec"])
def test_what_would_not_be_recorded_for_a_bad_setting_is_refused(root: Path, words: tuple[str, ...]) -> None:
    (root / "invoke.json").write_text(json.dumps({"treescribe": {"summary": "loud"}}))
    with followed(root, *words) as run:
        (refusal,) = run.told()
        assert run.process.wait(60) == 2
    assert "treescribe.summary must be one of" in refusal["refused"]
    assert not (root / "done").exists()


@pytest.mark.parametrize("ended_by", ["word", "end"])
@pytest.mark.parametrize(
    "words", [("wait",), ("exec", "--", "sh", "-c", "sleep 600 & echo $! > pid; touch started; wait")],
    ids=["tasks", "exec"],
)  # fmt: skip
def test_a_follower_ends_the_run_by_its_word_or_by_going(root: Path, words: tuple[str, ...], ended_by: str) -> None:
    with followed(root, *words) as run:
        eventually((root / "started").exists)
        if ended_by == "word":
            run.ours.sendall(b'{"cancel": "it took too long"}\n')
        else:
            run.ours.close()
        assert run.process.wait(60) != 0
    child = int((root / "pid").read_text())
    eventually(lambda: not is_running(child))
    last = json.loads((root / ".treescribe/history/1.jsonl").read_text().splitlines()[-1])
    assert last["outcome"] == "cancelled"
    assert last["error"] == ("it took too long" if ended_by == "word" else "who asked for it has gone")


def test_nothing_below_it_has_the_socket(root: Path) -> None:
    with followed(root, "inside") as run:
        run.told()
    assert FOLLOWER_VARIABLE not in (root / "environment").read_text()
    assert "socket:" not in (root / "descriptors").read_text()


def test_a_run_where_nothing_can_be_written_is_followed_all_the_same(root: Path) -> None:
    (root / ".treescribe").write_text("in the way")
    with followed(root, "look") as run:
        first, *events = run.told()
    assert first["run"] is None
    assert events[-1]["outcome"] == "passed"


def test_effects_have_an_order() -> None:
    assert strongest([]) == strongest([READ_ONLY]) == READ_ONLY
    assert strongest([READ_ONLY, ADDITIVE]) == ADDITIVE
    assert strongest([DESTRUCTIVE, READ_ONLY]) == DESTRUCTIVE
    assert within(ADDITIVE, ADDITIVE)
    assert not within(DESTRUCTIVE, ADDITIVE)
