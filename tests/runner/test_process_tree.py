"""The processes below a process: found wherever they have gone, and all ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import eventually
from treescribe import process_tree
from treescribe.process_tree import end_tree, marked, new_mark

TREE = """
import os, sys, time
def below(depth, new_session):
    if new_session:
        os.setsid()
    with open(os.path.join(sys.argv[1], f"{os.getpid()}.part"), "w") as file:
        file.write(f"{depth} {os.getppid()}")
    os.rename(file.name, file.name.replace(".part", ".pid"))
    if depth:
        for session in (False, True):
            if os.fork() == 0:
                below(depth - 1, session)
    time.sleep(600)
below(2, False)
"""

SPAWNING = """
import os, sys, time
for _ in range(8):
    if os.fork() == 0:
        sys.stdout.write("x")
        sys.stdout.flush()
        while True:
            if os.fork() == 0:
                time.sleep(600)
            time.sleep(0.002)
time.sleep(600)
"""


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return (
        not Path("/proc/self").exists()
        and b"Z" in subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, check=False).stdout
    )


@pytest.fixture
def tree(tmp_path: Path) -> tuple[subprocess.Popen[bytes], dict[int, int]]:
    """A process with children and grandchildren, half of them in sessions of their own: (it, parent of each)."""
    process = subprocess.Popen([sys.executable, "-c", TREE, str(tmp_path)])
    eventually(lambda: len(list(tmp_path.glob("*.pid"))) == 7)
    return process, {int(path.stem): int(path.read_text().split()[1]) for path in tmp_path.glob("*.pid")}


Tree = tuple[subprocess.Popen[bytes], dict[int, int]]


def test_they_are_ended_all_the_same_where_there_is_no_proc(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    process, parents = tree
    monkeypatch.setattr(process_tree, "_processes", process_tree._processes_from_ps)
    end_tree(process.pid)
    process.wait()
    eventually(lambda: all(is_gone(pid) for pid in parents))


def test_grandchildren_and_those_in_sessions_of_their_own_are_ended(tree: Tree) -> None:
    process, parents = tree
    end_tree(process.pid)
    assert process.wait(30) == -signal.SIGKILL
    eventually(lambda: all(is_gone(pid) for pid in parents))


def test_another_signal_reaches_each_of_them(tree: Tree) -> None:
    process, parents = tree
    end_tree(process.pid, signal.SIGTERM)
    assert process.wait(30) == -signal.SIGTERM
    eventually(lambda: all(is_gone(pid) for pid in parents))


def test_a_signal_is_sent_once() -> None:
    code = """if True:
        import signal, sys, time
        got = []
        signal.signal(signal.SIGTERM, lambda *_: got.append(1))
        print("ready", flush=True)
        while not got:
            time.sleep(0.01)
        sys.stdin.readline()
        print(len(got))
    """
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        end_tree(process.pid, signal.SIGTERM)
        assert process.communicate(b"\n", timeout=30)[0] == b"1\n"


def test_those_that_keep_starting_others_leave_none(tmp_path: Path) -> None:
    marker = f"treescribe-{os.getpid()}"
    command = ["ps", "-axwwo", "pid=,stat=,args="]

    def there() -> list[str]:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return [line for line in listed if marker in line and " Z" not in line]

    with subprocess.Popen([sys.executable, "-c", SPAWNING, marker], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(8)
        eventually(lambda: len(there()) > 30)
        end_tree(process.pid)
    eventually(lambda: not there())


def test_a_process_that_is_gone_is_passed_over() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    end_tree(process.pid)


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1] + ".part", "w") as file:
            file.write(str(os.getpid()))
        os.rename(file.name, sys.argv[1])
        time.sleep(600)
    os._exit(0)
os.wait()
time.sleep(600)
"""


def start_daemon(folder: Path, environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """A process that goes on, and one below it that has lost its parent: (it, the pid of the other)."""
    folder.mkdir()
    file = folder / "pid"
    process = subprocess.Popen([sys.executable, "-c", DAEMON, str(file)], env=environment)
    eventually(file.exists)
    return process, int(file.read_text())


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not show environments of others")
@pytest.mark.parametrize("below", [False, True], ids=["of the command", "of a command below it"])
def test_what_has_lost_its_parent_is_found_by_its_mark(tmp_path: Path, below: bool) -> None:
    mark, other_mark = new_mark(), new_mark()
    environment = marked(os.environ, mark)
    process, daemon = start_daemon(tmp_path / "ours", marked(environment, new_mark()) if below else environment)
    other, others_daemon = start_daemon(tmp_path / "others", marked(os.environ, other_mark))
    end_tree(process.pid, mark=mark)
    process.wait(30)
    eventually(lambda: is_gone(daemon))
    assert not is_gone(others_daemon)
    assert other.poll() is None
    end_tree(other.pid, mark=other_mark)
    other.wait(30)
    eventually(lambda: is_gone(others_daemon))
