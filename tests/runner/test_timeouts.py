"""A command that takes longer than it may: ended with everything below it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import eventually

TASKS = """
import sys
from invoke import task

@task
def slow(c, how, pty=False):
    c.run(f"{sys.executable} tree.py {how}", timeout=3, pty=pty)
"""
TREE = """
import os, sys, time

def below():
    with open(f"{os.getpid()}.part", "w") as file:
        file.write("")
    os.rename(file.name, f"{os.getpid()}.pid")
    time.sleep(600)

def child(start):
    if os.fork() == 0:
        start()
        os._exit(0)

def in_a_session():
    os.setsid()
    below()

def as_a_daemon():
    os.setsid()
    child(below)

child({"child": below, "setsid": in_a_session, "daemon": as_a_daemon}[sys.argv[1]])
time.sleep(600)
"""


def is_gone(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()[:1] in ("", "Z")


@pytest.mark.parametrize("pty", [False, True], ids=["by pipes", "below a pty"])
@pytest.mark.parametrize("how", ["child", "setsid", "daemon"])
def test_what_is_below_a_command_that_timed_out_is_ended_with_it(tmp_path: Path, how: str, pty: bool) -> None:
    if how == "daemon" and not Path("/proc/self/environ").exists():
        pytest.skip("the system does not show the environments of other processes")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tasks.py").write_text(TASKS)
    (tmp_path / "tree.py").write_text(TREE)
    command = [sys.executable, "-m", "treescribe", "slow", how, *(["--pty"] if pty else [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
    assert len(pids) == 1
    eventually(lambda: all(is_gone(pid) for pid in pids))
    kept = (tmp_path / ".treescribe" / "history" / "1.jsonl").read_text().splitlines()
    finished = next(record for record in map(json.loads, kept) if record.get("type") == "CommandFinished")
    assert finished["status"] == "timed-out"


TWO = """
import sys
from invoke import task
from invoke.exceptions import CommandTimedOut

@task
def two(c):
    other = c.run("cat go", asynchronous=True)
    try:
        c.run(f"{sys.executable} tree.py daemon", timeout=2)
    except CommandTimedOut:
        pass
    with open("go", "w") as file:
        file.write("it went on")
    print(other.join().stdout)
"""


def test_a_timeout_leaves_other_commands_alone(tmp_path: Path) -> None:
    """They run at the same time, below the same process."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tree.py").write_text(TREE)
    (tmp_path / "tasks.py").write_text(TWO)
    os.mkfifo(tmp_path / "go")
    command = [sys.executable, "-m", "treescribe", "two"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "it went on" in done.stdout, done.stderr


def test_a_command_has_timed_out_however_long_it_takes_to_end_what_is_below_it(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tasks.py").write_text("""
import time
import treescribe.observed_commands
from invoke import task

end_tree = treescribe.observed_commands.end_tree

def slowly(*args, **kwargs):
    end_tree(*args, **kwargs)
    time.sleep(0.5)

treescribe.observed_commands.end_tree = slowly

@task
def slow(c, pty=False):
    c.run("sleep 600", timeout=1, pty=pty)
""")
    for words in (["slow"], ["slow", "--pty"]):
        command = [sys.executable, "-m", "treescribe", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert "CommandTimedOut" in done.stderr
        assert done.returncode == 1
