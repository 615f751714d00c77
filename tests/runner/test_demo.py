"""`treescribe demo`: a real session, whose diff names the one broken test and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest


def demo(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treescribe", "demo", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def shown() -> str:
    done = demo()
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def session(shown: str, command: str) -> str:
    """What a command of the session printed."""
    return shown.partition(f"$ treescribe {command}\n")[2].partition("\n$ treescribe")[0]


def test_the_diff_names_exactly_the_broken_test(shown: str) -> None:
    tests = session(shown, "history.diff 1 2").partition("Tests\n")[2].partition("Tasks\n")[0]
    assert re.findall(r"tests/\S+", tests) == ["tests/test_cart.py::test_discounted"]


def test_mended_the_first_run_and_the_last_have_no_logical_differences(shown: str) -> None:
    assert session(shown, "history.diff 1 3").startswith("No logical differences.")


def test_it_shows_the_commands_in_order(shown: str) -> None:
    commands = re.findall(r"^\$ treescribe (.*)$", shown, re.MULTILINE)
    runs = ["test", "history.list", "test", "history.diff 1 2", "test", "history.diff 1 3", "history.timing 1 3"]
    assert commands == runs


def test_nothing_is_left_behind(shown: str) -> None:
    root = re.search(r"in (\S+)$", shown, re.MULTILINE)
    assert root is not None
    assert not Path(root[1]).exists()
