"""What recording must not change: exit code, stdout and stderr of every shape of task."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

TASKS = Path(__file__).with_name("parity_tasks.py")

SHAPES = [
    "build",
    "build deduped",
    "--no-dedupe build deduped",
    "prepare prepare --clean prepare",
    "calls-directly",
    "renamed",
    "other-name",
    "arguments here --names=a --names b -vv --flag",
    "arguments here --count=x",
    "arguments",
    "returns",
    "both-streams",
    "fails",
    "fails tidy",
    "--warn-only fails tidy",
    "fails-hidden",
    "warns",
    "killed",
    "echoes",
    "--echo both-streams",
    "--hide=both both-streams",
    "hides-one",
    "under-pty",
    "--pty both-streams",
    "asynchronous",
    "asynchronous-failing",
    "disowned",
    "times-out",
    "--command-timeout=1 times-out",
    "answers",
    "answers-in-vain",
    "elsewhere",
    "environment",
    "dry",
    "--dry both-streams",
    "sudoed",
    "into-a-file",
    "reads-stdin",
    "module-level-run",
    "raises",
    "exits",
    "exits-quietly",
    "leaves",
    "leaves-with-text",
    "interrupted",
    "bad-option",
    "bytes-and-colours",
    "much-output",
    "no-shell",
    "tidy counted",
    "nested",
    "nested.inside",
    "one.twin two.twin",
    "no-such-task",
    "build --no-such-flag",
    "--help build",
    "arguments --help",
    "build -- the remainder",
    "--list",
    "",
]


class Ended(NamedTuple):
    code: int
    stdout: str
    stderr: str


def make_project(root: Path, configuration: str) -> Path:
    root.mkdir()
    shutil.copy(TASKS, root / "tasks.py")
    if configuration:
        (root / "invoke.yaml").write_text(configuration)
    bin_folder = root / "bin"
    bin_folder.mkdir()
    sudo = bin_folder / "sudo"
    sudo.write_text('#!/bin/sh\nshift 3\nexec "$@"\n')
    sudo.chmod(0o755)
    return root


def run(root: Path, module: str, words: list[str]) -> Ended:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("INVOKE", "TREESCRIBE"))}
    environment |= {"PATH": f"{root / 'bin'}:{os.environ['PATH']}", "COLUMNS": "100", "LANG": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=root,
        env=environment,
        input=b"" if "pty" in " ".join(words) else b"typed ahead\n",  # a pty echoes what is typed when it likes
        capture_output=True,
        timeout=60,
    )
    streams = [stream.decode(errors="replace").replace(str(root), "ROOT") for stream in (done.stdout, done.stderr)]
    return Ended(done.returncode, *streams)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("plain") / "project", "")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    configuration = "tasks:\n  executor_class: treescribe.Executor\n"
    return make_project(tmp_path_factory.mktemp("recorded") / "project", configuration)


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("silent") / "project", "treescribe:\n  summary: never\n")


@pytest.mark.parametrize("words", SHAPES)
def test_recorded_inv_is_plain_inv_to_whoever_looks(words: str, plain: Path, recorded: Path) -> None:
    assert run(recorded, "invoke", words.split()) == run(plain, "invoke", words.split())


TOLD_OTHERWISE = ("", "--list", "--help build", "arguments --help", "arguments here --count=x")
"""Where the treescribe program deliberately says more, or something kinder, than inv."""


@pytest.mark.parametrize("words", [words for words in SHAPES if words not in TOLD_OTHERWISE])
def test_treescribe_runs_tasks_as_inv_does(words: str, plain: Path, silent: Path) -> None:
    expected = run(plain, "invoke", words.split())
    found = run(silent, "treescribe", words.split())
    assert found.code == expected.code
    assert found.stdout == expected.stdout
    assert without_program(found.stderr) == without_program(expected.stderr)


def without_program(stderr: str) -> str:
    """Tracebacks name the program's own entry in their first lines; what follows must be equal."""
    head, mark, rest = stderr.rpartition("in execute\n")
    return mark + rest if "Traceback" in head else stderr
