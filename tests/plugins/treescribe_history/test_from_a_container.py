"""A container that shares the folder: it sees neither the host's processes nor its pids, and does see its locks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from history_processes import KILLED
from support import python_in_background

IMAGE = os.environ.get("TREESCRIBE_TEST_IMAGE", "treescribe-base:bookworm")

pytestmark = [pytest.mark.docker, pytest.mark.once]


@pytest.fixture(scope="module", autouse=True)
def engine() -> None:
    if shutil.which("docker") is None or subprocess.run(["docker", "info"], capture_output=True).returncode:
        pytest.skip("no Docker engine is running")
    version = ["docker", "run", "--rm", IMAGE, "python3", "-c", "import sys; print(*sys.version_info[:2])"]
    found = subprocess.run(version, capture_output=True, text=True)
    if found.returncode:
        pytest.skip(f"no image {IMAGE} with Python and git: see .ci/run")
    if found.stdout.split() != [str(part) for part in sys.version_info[:2]]:
        pytest.skip(f"the image has another Python than this one, so it cannot use what is installed here: {IMAGE}")


def in_container(root: Path, *words: str) -> str:
    """Run treescribe in a container, with the worktree at its own path and what is installed here; its stdout."""
    installed = [place for place in map(Path, sys.path) if place.is_dir() and not place.is_relative_to(sys.base_prefix)]
    installed += [Path(sys.prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")]
    mounts = [f"--volume={place}:{place}:ro" for place in dict.fromkeys(installed)]
    path = os.pathsep.join(map(str, dict.fromkeys(installed)))
    options = ["--rm", "--network=none", f"--volume={root}:{root}", f"--workdir={root}", f"--env=PYTHONPATH={path}"]
    command = ["docker", "run", *options, *mounts, IMAGE, "python3", "-m", "treescribe", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def outcomes(root: Path) -> dict[int, str]:
    listed: dict[str, Any] = json.loads(in_container(root, "history.list", "--json"))
    return {row["run"]: row["outcome"] for row in listed["runs"]}


def test_a_live_run_of_the_host_stays_live_and_a_dead_one_is_finished(workspace: Any) -> None:
    root = Path(workspace.root)
    with python_in_background(KILLED, root) as process:
        assert outcomes(root) == {1: "running"}
        in_container(root, "exec", "--", "true")
        assert outcomes(root) == {2: "passed", 1: "running"}
        assert (root / ".treescribe/history/active/1.jsonl").exists()
        process.kill()
        process.wait()
        assert outcomes(root) == {2: "passed", 1: "interrupted"}
        in_container(root, "exec", "--", "true")
    assert (root / ".treescribe/history/1.jsonl").exists()
    assert outcomes(root) == {3: "passed", 2: "passed", 1: "interrupted"}
