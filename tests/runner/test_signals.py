"""Signals and terminals: what plain `inv` and the bare command do, and a finished transcript."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import eventually
from terminals import Terminal
from treescribe.signals import EndingSignals, undisturbed

TASKS = """
import sys
from pathlib import Path
from invoke import task
from invoke.runners import Local

is_finished = Local.process_is_finished.fget

def noted(runner):
    Path("invoke waits").touch()
    return is_finished(runner)

Local.process_is_finished = property(noted)

@task
def wait(c, how, pty=False):
    c.run(f"{sys.executable} waiting.py {how} 'invoke waits'", pty=pty, in_stream=False if how == "deaf" else None)

@task
def own_handler(c):
    import signal
    signal.signal(signal.SIGTERM, lambda *_: print("taken care of") or sys.exit(3))
    c.run(f"{sys.executable} waiting.py dies 'invoke waits'")

@task
def talks(c):
    c.run("yes | head -n 200000")
"""
WAITING = """
import os, signal, sys, time
how = sys.argv[1]
count = 0
def note(*_):
    global count
    count += 1
    os.write(1, b"got %d\\n" % count)  # Python's own streams are not to be used in a handler
if how == "dies":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
elif how == "deaf":
    signal.signal(signal.SIGINT, note)
elif how == "tidy":
    signal.signal(signal.SIGINT, note)
while sys.argv[2:] and not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
if "INPUT_ENDS" in os.environ:
    sys.stdin.read()  # invoke takes a moment to hand the end of its own on
with open("pid", "w") as file:
    file.write(str(os.getpid()))
print("ready", flush=True)
while count < {"deaf": 2, "tidy": 1}.get(how, 9) and not os.path.exists("go"):
    time.sleep(0.01)
print("ended by itself", flush=True)
sys.exit(7 if how == "tidy" else 0)
"""


class Surface(NamedTuple):
    """A way to run ``waiting.py``; the first of a pair is what the second is to be like."""

    name: str
    command: Callable[[str], list[str]]


def task(module: str, *options: str) -> Callable[[str], list[str]]:
    return lambda how: [sys.executable, "-m", module, "wait", how, *options]


BARE = Surface("bare", lambda how: [sys.executable, "waiting.py", how])
EXEC = Surface(
    "exec", lambda how: [sys.executable, "-m", "treescribe", "exec", "--", sys.executable, "waiting.py", how]
)
INV, RECORDED = Surface("inv", task("invoke")), Surface("recorded", task("invoke"))
TREESCRIBE = Surface("treescribe", task("treescribe"))
INV_PTY, TREESCRIBE_PTY = (
    Surface("inv-pty", task("invoke", "--pty")),
    Surface("treescribe-pty", task("treescribe", "--pty")),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def make_project(root: Path, *, recorded: bool = False) -> Path:
    root.mkdir()
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "tasks.py").write_text(TASKS)
    (root / "waiting.py").write_text(WAITING)
    if recorded:
        (root / "invoke.yaml").write_text("tasks: {executor_class: treescribe.Executor}")
    return root


def last_line(root: Path) -> dict[str, Any]:
    """The end of the only transcript, which must be a finished one."""
    lines = (root / ".treescribe" / "history" / "1.jsonl").read_bytes().splitlines()
    record: dict[str, Any] = json.loads(lines[-1])
    assert record["type"] == "RunFinished"
    return record


# -- the keyboard ---------------------------------------------------------------------------------------------


def ctrl_c(terminal: Terminal, how: str) -> None:
    terminal.type(b"\x03")
    if how == "deaf":
        terminal.read_until(b"got 1")
        terminal.type(b"\x03")


@pytest.mark.parametrize("how", ["dies", "tidy", "deaf"])
@pytest.mark.parametrize(
    ("reference", "surface"),
    [(BARE, EXEC), (INV, TREESCRIBE), (INV_PTY, TREESCRIBE_PTY)],
    ids=lambda surface: surface.name,
)
def test_ctrl_c_does_what_it_does_without_us(tmp_path: Path, reference: Surface, surface: Surface, how: str) -> None:
    """A child that dies of it, one that tidies up first, and one that minds it only the second time."""
    codes = []
    for name, command in (("plain", reference.command(how)), ("ours", surface.command(how))):
        terminal = Terminal(make_project(tmp_path / name), *command)
        terminal.read_until(b"ready")
        ctrl_c(terminal, how)
        codes.append(terminal.wait())
        assert (b"ended by itself" in terminal.output) == (how != "dies")
    plain, ours = codes
    assert ours == (128 - plain if surface is EXEC and plain < 0 else plain)
    ended = last_line(tmp_path / "ours")
    assert ended["outcome"] == ("passed" if ours == 0 else "cancelled")


@pytest.mark.parametrize("how", ["dies", "tidy"])
@pytest.mark.parametrize(
    ("reference", "surface"), [(BARE, EXEC), (INV, TREESCRIBE), (INV, RECORDED)], ids=lambda surface: surface.name
)
def test_and_so_it_does_where_stdin_is_at_its_end(
    tmp_path: Path, reference: Surface, surface: Surface, how: str
) -> None:
    """invoke itself fails then, since it would hand Ctrl-C on by the child's standard input."""
    ended = []
    for name, command in (("plain", reference.command(how)), ("ours", surface.command(how))):
        root = make_project(tmp_path / name, recorded=surface is RECORDED and name == "ours")
        process = started(root, command)
        os.killpg(process.pid, signal.SIGINT)
        stderr = process.communicate(timeout=30)[1]
        ended.append((process.returncode, b"Traceback" in stderr))
    plain, ours = ended
    if surface is EXEC and plain[0] < 0:
        plain = (128 - plain[0], plain[1])
    assert ours == plain
    assert last_line(tmp_path / "ours")["outcome"] == "cancelled"


def started(root: Path, command: list[str]) -> subprocess.Popen[bytes]:
    """The command in a process group of its own, with nothing to read, when its child is ready."""
    process = subprocess.Popen(
        command,
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        env={**os.environ, "INPUT_ENDS": "1"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.mark.parametrize("surface", [EXEC, TREESCRIBE], ids=lambda surface: surface.name)
def test_ctrl_z_stops_the_command_with_us_and_fg_brings_both_back(root: Path, surface: Surface) -> None:
    shell = Terminal(root, "bash", "--norc", "--noprofile", "-i")
    shell.type(" ".join(surface.command("dies")).encode() + b"\n")
    shell.read_until(b"ready\r\n")
    shell.type(b"\x1a")
    shell.read_until(b"Stopped")
    states = [state_of(int(pid)) for pid in (pids_in_group_of(int((root / "pid").read_text())))]
    assert states
    assert set(states) == {"T"}
    (root / "go").touch()
    shell.type(b"fg\n")
    shell.read_until(b"ended by itself")
    shell.read_until(b"History: #1 passed")
    shell.type(b"exit\n")
    assert shell.wait() == 0
    assert last_line(root)["outcome"] == "passed"


def state_of(pid: int) -> str:
    return subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()[:1]


def pids_in_group_of(pid: int) -> list[str]:
    listed = subprocess.run(["ps", "-axo", "pid=,pgid="], capture_output=True, text=True, check=True).stdout
    group = str(os.getpgid(pid))
    return [row.split()[0] for row in listed.splitlines() if row.split()[1] == group]


def test_a_quit_key_ends_both_and_the_transcript_is_finished(root: Path) -> None:
    terminal = Terminal(root, *EXEC.command("dies"))
    terminal.read_until(b"ready")
    terminal.type(b"\x1c")
    assert terminal.wait() == 128 + signal.SIGQUIT
    assert last_line(root)["outcome"] == "cancelled"


# -- from elsewhere -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=lambda number: number.name)
@pytest.mark.parametrize("surface", [TREESCRIBE, RECORDED], ids=lambda surface: surface.name)
def test_a_run_of_tasks_dies_of_a_signal_as_plain_inv_does(
    tmp_path: Path, surface: Surface, number: signal.Signals
) -> None:
    left = []
    for name, command in (("plain", INV.command("dies")), ("ours", surface.command("dies"))):
        root = make_project(tmp_path / name, recorded=surface is RECORDED and name == "ours")
        process = started(root, command)
        process.send_signal(number)
        assert process.wait(30) == -number
        left.append(int((root / "pid").read_text()))
        process.communicate()
    for pid in left:
        assert state_of(pid) in "SR", "the child is left alone"
        os.kill(pid, signal.SIGKILL)
    ended = last_line(tmp_path / "ours")
    assert (ended["outcome"], ended["exit_code"]) == ("cancelled", 128 + number)
    assert ended["error"] == f"ended by {number.name}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_exec_passes_on_what_reaches_only_itself(root: Path, number: signal.Signals) -> None:
    process = started(root, EXEC.command("dies"))
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert last_line(root)["outcome"] == "cancelled"


def test_a_handler_of_the_projects_own_stays(root: Path) -> None:
    process = started(root, [sys.executable, "-m", "treescribe", "own-handler"])
    process.send_signal(signal.SIGTERM)
    (root / "go").touch()
    assert b"taken care of" in process.communicate(timeout=30)[0]
    assert process.returncode == 3


def test_what_nohup_ignores_stays_ignored(root: Path) -> None:
    for surface in (EXEC, TREESCRIBE):
        process = started(root, ["nohup", *surface.command("dies")])
        process.send_signal(signal.SIGHUP)
        (root / "go").touch()
        assert b"ended by itself" in process.communicate(timeout=30)[0]
        assert process.returncode == 0
        (root / "go").unlink()


@pytest.mark.parametrize("surface", [EXEC, TREESCRIBE, TREESCRIBE_PTY], ids=lambda surface: surface.name)
def test_a_terminal_that_is_closed_ends_the_run_and_the_transcript_is_finished(root: Path, surface: Surface) -> None:
    terminal = Terminal(root, *surface.command("dies"))
    terminal.read_until(b"ready")
    child = int((root / "pid").read_text())
    terminal.close()
    assert terminal.wait() in (-signal.SIGHUP, 128 + signal.SIGHUP)
    eventually(lambda: state_of(child) in ("", "Z"))
    assert last_line(root)["outcome"] == "cancelled"


def test_a_reader_that_has_gone_is_met_as_plain_inv_meets_it(tmp_path: Path) -> None:
    ended = []
    for name, module in (("plain", "invoke"), ("ours", "treescribe")):
        root = make_project(tmp_path / name)
        line = f"{sys.executable} -m {module} talks | head -n 1; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], cwd=root, capture_output=True, timeout=60)
        ended.append((done.returncode, done.stdout, b"BrokenPipeError" in done.stderr))
    assert ended[1] == ended[0]
    assert last_line(tmp_path / "ours")["outcome"] in ("failed", "error")


# -- the blocks in which signals wait -------------------------------------------------------------------------


def test_a_signal_waits_until_the_outermost_block_is_left() -> None:
    seen = []
    with pytest.raises(KeyboardInterrupt), EndingSignals(lambda number: None) as signals:
        with undisturbed:
            with undisturbed:
                signal.raise_signal(signal.SIGINT)
                seen.append("inner")
            seen.append("outer")
        seen.append("after")
    assert seen == ["inner", "outer"]
    assert signals.interrupted


def test_a_second_signal_does_not_wait() -> None:
    with pytest.raises(KeyboardInterrupt), EndingSignals(lambda number: None), undisturbed:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_blocks_of_other_threads_hold_nothing_back() -> None:
    entered, leave = threading.Event(), threading.Event()

    def work() -> None:
        with undisturbed:
            entered.set()
            leave.wait()

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait()
    try:
        with pytest.raises(KeyboardInterrupt), EndingSignals(lambda number: None):
            signal.raise_signal(signal.SIGINT)
    finally:
        leave.set()
        thread.join()


def test_a_fork_within_a_block_is_not_in_it() -> None:
    with undisturbed:
        pid = os.fork()
        if pid == 0:
            called: list[int] = []
            undisturbed.then(lambda: called.append(1))
            os._exit(0 if called else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_in_another_thread_no_signal_is_taken() -> None:
    handlers = []

    def work() -> None:
        with EndingSignals(lambda number: None):
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]


def test_afterwards_every_handler_is_the_one_it_was() -> None:
    numbers = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    with EndingSignals(lambda number: None):
        assert [signal.getsignal(number) for number in numbers] != before
    assert [signal.getsignal(number) for number in numbers] == before


def test_a_fork_has_the_handlers_that_were_there_before() -> None:
    """`multiprocessing` ends its processes with SIGTERM, which is not to wait for Python code to come round."""
    with EndingSignals(lambda number: None):
        pid = os.fork()
        if pid == 0:
            os._exit(0 if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL else 1)
    assert os.waitpid(pid, 0)[1] == 0
