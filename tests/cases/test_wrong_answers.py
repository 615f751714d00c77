"""Wrong answers that were found by attack: each kept as the right one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from treescribe.testing import operation, treescribe

ENVIRONMENT_FREE = "import os\nfrom invoke import task\n\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


def diff(root: Path, *words: str) -> Any:
    return operation(root, "history.diff", *words)


def test_a_failure_that_moves_between_two_nested_workspaces_is_seen(project: Path) -> None:
    inner = ENVIRONMENT_FREE + f"@task\ndef test(c):\n    c.run('{sys.executable} -m pytest -q', warn=True)\n"
    outer = "    for folder in 'ab':\n        with c.cd(folder):\n"
    outer += f"            c.run('{sys.executable} -m treescribe test', warn=True)\n"
    (project / "tasks.py").write_text(f"{ENVIRONMENT_FREE}@task\ndef test(c):\n{outer}")
    for folder in "ab":
        (project / folder).mkdir()
        (project / folder / "tasks.py").write_text(inner)
        (project / folder / "pytest.ini").write_text("[pytest]\n")
    for failing in "ba":
        for folder in "ab":
            (project / folder / "test_x.py").write_text(f"def test_x():\n    assert {folder != failing}\n")
        treescribe(project, "test")
    tests = diff(project)["tests"]
    assert [test["project"] for test in tests["newly_failing"]] == ["a"]
    assert [test["project"] for test in tests["fixed"]] == ["b"]


def test_a_task_that_forks_does_not_end_the_run_for_its_parent(project: Path) -> None:
    body = "    c.run('true')\n    pid = os.fork()\n    if pid == 0:\n        raise SystemExit(0)\n"
    body += "    os.waitpid(pid, 0)\n"
    body += f"    c.run('{sys.executable} -m pytest -q', warn=True)\n"
    (project / "tasks.py").write_text(f"{ENVIRONMENT_FREE}@task\ndef test(c):\n{body}")
    (project / "test_x.py").write_text("def test_x():\n    assert 0\n")
    done = treescribe(project, "test")
    assert "History: #1 failed · 1 failed" in done.stderr


def test_a_rootdir_above_two_worktrees_names_neither(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        subprocess.run(["git", "init", "-q", tmp_path / name], check=True)
        (tmp_path / name / "test_a.py").write_text("def test_a():\n    pass\n")
        treescribe(tmp_path / name, "exec", "--", sys.executable, "-m", "pytest", "-q")
    assert diff(tmp_path / "two", "1", "--base-directory", "../one")["identical"] is True


def test_messages_that_differ_only_in_addresses_and_pytests_own_folders_are_equal(project: Path) -> None:
    (project / "test_a.py").write_text(
        "def test_folder(tmp_path):\n    open(tmp_path / 'nope')\n\ndef test_address():\n    assert object() is None\n"
    )
    for _ in range(2):
        treescribe(project, "exec", "--", sys.executable, "-m", "pytest", "-q")
    assert diff(project)["identical"] is True


def test_arguments_and_exceptions_with_odd_code_of_their_own_change_nothing(project: Path) -> None:
    (project / "tasks.py").write_text(
        ENVIRONMENT_FREE
        + "class Odd(Exception):\n    def __str__(self):\n        raise RuntimeError('no text')\n\n"
        + "@task\ndef inner(c, value):\n    print('inner ran')\n\n"
        + "@task\ndef cycle(c):\n    a = []\n    a.append(a)\n    inner(c, a)\n\n"
        + "@task\ndef odd(c):\n    raise Odd()\n"
    )
    assert treescribe(project, "cycle").stdout == "inner ran\n"
    assert "Odd: <exception str() failed>" in treescribe(project, "odd").stderr


def test_a_traceback_that_a_task_prints_itself_has_no_frame_of_treescribes(project: Path) -> None:
    body = "    import traceback\n    try:\n        {}\n    except Exception:\n        traceback.print_exc()\n"
    (project / "tasks.py").write_text(
        ENVIRONMENT_FREE
        + "@task\ndef inner(c):\n    raise ValueError('inner')\n\n"
        + "@task\ndef command(c):\n"
        + body.format("c.run('false')")
        + "\n@task\ndef call(c):\n"
        + body.format("inner(c)")
    )
    for name in ("command", "call"):
        stderr = treescribe(project, name).stderr
        assert "Traceback" in stderr
        assert "observed_" not in stderr


def test_methods_set_on_a_runner_instance_are_used(project: Path) -> None:
    (project / "tasks.py").write_text(
        ENVIRONMENT_FREE
        + "from invoke import Local\n\n@task\ndef mine(c):\n    runner = Local(c)\n    original = runner.start\n"
        + "    def start(command, shell, env):\n        print('mine')\n        return original(command, shell, env)\n"
        + "    runner.start = start\n    runner.run('echo one')\n    runner.run('echo two')\n"
    )
    assert treescribe(project, "mine").stdout == "mine\none\nmine\ntwo\n"


SECRETS = {
    "LONG_TOKEN": "".join(f"{number:03}" for number in range(110)),
    "QUOTED_TOKEN": "LEAKQ'abcdefgh\"ij",
    "SSH_PRIVATE_KEY": "-----BEGIN-----\nfirstlineofthekey\nsecondlineofthekey\n-----END-----",
    "STRIPE_KEY": "stripe-key-0123456789",
    "DB_PASS": "database-pass-0123456789",
}


@pytest.mark.parametrize("name", SECRETS)
def test_no_part_of_a_secret_reaches_the_disk(project: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, SECRETS[name])
    (project / "tasks.py").write_text(
        ENVIRONMENT_FREE
        + "import shlex, subprocess, sys\n\n@task\ndef leak(c, value=''):\n"
        + f"    secret = os.environ['{name}']\n    c.run('echo ' + shlex.quote(secret))\n"
        + "    c.run('echo ' + shlex.quote(secret), pty=True)\n"
        + "    c.run('true # ' + repr(secret).replace(chr(10), ' '))\n"
        + f"    c.run('{sys.executable} -m pytest -q', warn=True)\n    raise ValueError(secret)\n"
    )
    (project / "test_leak.py").write_text(
        f"import os\nSECRET = os.environ['{name}']\n\ndef test_raise():\n    raise ValueError(SECRET)\n\n"
        "def test_equal():\n    assert SECRET == 'other'\n"
    )
    treescribe(project, "leak", f"--value={SECRETS[name]}")
    kept = b"".join(path.read_bytes() for path in (project / ".treescribe").rglob("*") if path.is_file()).decode()
    assert '"type":"TestFinished"' in kept
    for line in SECRETS[name].splitlines():
        parts = {line[start : start + 12] for start in range(len(line) - 11)} - {"-----BEGIN--", "-----END----"}
        assert not [part for part in parts if part in kept and not part.startswith("-")]
