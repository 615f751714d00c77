"""Jobs: real processes, started by one process, followed and stopped by others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import NOBODY, eventually, python
from treescribe.errors import TreescribeError
from treescribe.process_tree import is_running
from treescribe.testing import operation
from treescribe.workspace import Workspace
from treescribe_jobs.job import Job, State
from treescribe_jobs.operations import PAGE_BYTES, list_jobs, start, status, stop
from treescribe_jobs.processes import Life, life_of
from treescribe_jobs.store import SWEPT_AFTER_MS, JobStore

DAY_MS = SWEPT_AFTER_MS
TASKS = """
from invoke import task

@task
def check(c):
    c.run("test ! -e dust")
"""


@pytest.fixture
def workspace(treescribe_workspace: Workspace) -> Iterator[Workspace]:
    yield treescribe_workspace
    for job in JobStore(treescribe_workspace).jobs():
        if job.state() is State.RUNNING:
            stop(treescribe_workspace, job.id, grace=0.1)


def started(workspace: Workspace, command: str) -> Job:
    """A job of a shell command that has begun: it touches ``begun`` first."""
    begun = workspace.root / "begun"
    begun.unlink(missing_ok=True)
    number = start(workspace, command=f"touch begun; {command}").job
    eventually(begun.exists)
    return JobStore(workspace).find(number)


def ended(workspace: Workspace, number: int) -> Any:
    return status(workspace, number, wait=60)


def pid_of(workspace: Workspace, name: str) -> int:
    path = workspace.root / name
    eventually(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


# -- from one process to another -------------------------------------------------------------------------------


def test_a_job_outlives_who_started_it_and_is_followed_and_stopped_by_others(workspace: Workspace) -> None:
    code = """
import sys, os, signal
from treescribe.workspace import Workspace
from treescribe_jobs.operations import start
print(start(Workspace.open(sys.argv[1]), command="echo going on; sleep 600 & echo $! > pid; wait").job, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code, workspace.root], capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    sleeping = pid_of(workspace, "pid")
    told = operation(workspace.root, "job.status", "1")
    assert (told["job"]["state"], told["log"]) == ("running", "going on\n")
    assert operation(workspace.root, "job.list")["summary"] == "1 job, 1 running"
    stopped = operation(workspace.root, "job.stop", "1")
    assert stopped["summary"] == "job #1 stopped"
    assert (stopped["job"]["state"], stopped["job"]["stopped"]) == ("ended", True)
    eventually(lambda: not is_running(sleeping))


def test_waiting_returns_as_soon_as_it_has_ended(workspace: Workspace) -> None:
    job = started(workspace, "while ! test -e go; do sleep 0.02; done; exit 3")
    assert status(workspace, job.id).job.state == "running"
    threading.Timer(0.2, (workspace.root / "go").touch).start()
    told = status(workspace, job.id, wait=500)
    assert (told.summary, told.job.exit_code) == ("job #1 failed with exit code 3", 3)


def test_a_job_of_targets_keeps_the_summary_of_its_run(workspace: Workspace) -> None:
    (workspace.root / "tasks.py").write_text(TASKS)
    first = ended(workspace, start(workspace, targets=["check"]).job)
    (workspace.root / "dust").touch()
    second = ended(workspace, start(workspace, targets=["check"], name="again").job)
    assert (first.job.exit_code, first.answer["ok"], first.job.run) == (0, True, 1)
    assert (second.job.exit_code, second.answer["run"], second.job.name) == (1, 2, "again")
    assert second.answer["summary"].startswith('failed: exit code 1 of "test ! -e dust"')
    rows = operation(workspace.root, "history.list")["runs"]
    assert [row["client"] for row in rows] == ["job:2", "job:1"]
    for transcript in (workspace.state / "history").glob("*.jsonl"):
        transcript.unlink()
    assert status(workspace, 2).answer == second.answer


def test_a_job_of_a_command_is_recorded_as_one(workspace: Workspace) -> None:
    told = ended(workspace, start(workspace, command="echo one; exit 4").job)
    assert (told.answer["exit_code"], told.answer["targets"]) == (4, ["sh -c 'echo one; exit 4'"])


# -- the end ---------------------------------------------------------------------------------------------------


def test_one_that_is_deaf_to_the_signal_is_killed(workspace: Workspace) -> None:
    job = started(workspace, "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done")
    pid = pid_of(workspace, "pid")
    told = stop(workspace, job.id, grace=0.3)
    assert (told.job.state, told.job.stopped) == ("ended", True)
    assert not is_running(pid)


def test_what_was_put_in_the_background_or_left_the_session_is_stopped_too(workspace: Workspace) -> None:
    job = started(workspace, "setsid sleep 600 & echo $! > one; (sleep 600 & echo $! > two); sleep 600")
    pids = [pid_of(workspace, name) for name in ("one", "two")]
    stop(workspace, job.id, grace=0.5)
    assert not any(is_running(pid) for pid in pids)


def test_one_whose_runner_was_killed_goes_on_and_is_lost_with_its_own_process(workspace: Workspace) -> None:
    job = started(workspace, "while ! test -e go; do sleep 0.02; done")
    os.kill(job.record["runner"]["pid"], signal.SIGKILL)
    eventually(lambda: not is_running(job.record["runner"]["pid"]))
    assert job.state() is State.RUNNING
    (workspace.root / "go").touch()
    eventually(lambda: job.state() is State.LOST)
    assert status(workspace, job.id).summary.startswith("job #1 lost: ")


def test_one_whose_runner_was_killed_can_be_stopped(workspace: Workspace) -> None:
    job = started(workspace, "sleep 600")
    os.kill(job.record["runner"]["pid"], signal.SIGKILL)
    told = stop(workspace, job.id, grace=0.3)
    assert (told.job.state, told.job.stopped) == ("ended", True)
    assert life_of(job.record["child"]) is Life.DEAD


def test_a_killed_job_tells_its_signal(workspace: Workspace) -> None:
    job = started(workspace, "sleep 600")
    os.killpg(job.record["child"]["pid"], signal.SIGKILL)
    assert ended(workspace, job.id).summary == "job #1 ended by SIGKILL"


def test_a_program_that_is_not_there_is_told(workspace: Workspace) -> None:
    told = ended(workspace, start(workspace, command="no-such-program").job)
    assert told.job.exit_code == 127
    assert "not found" in told.log


# -- whose process it is ---------------------------------------------------------------------------------------


def test_a_number_that_was_given_to_another_process_is_not_the_job(workspace: Workspace) -> None:
    job = started(workspace, "sleep 600")
    record = job.record
    os.kill(record["runner"]["pid"], signal.SIGKILL)
    os.killpg(record["child"]["pid"], signal.SIGKILL)
    eventually(lambda: job.state() is State.LOST)
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        job.write("record.json", record | {"child": record["child"] | {"pid": other.pid}})
        assert job.state() is State.LOST
        stop(workspace, job.id)
        assert other.poll() is None
        other.kill()


def test_a_process_of_before_the_last_boot_is_dead(workspace: Workspace) -> None:
    told = started(workspace, "sleep 600").record["child"]
    assert life_of(told) is Life.ALIVE
    assert life_of(told | {"boot": "another"}) is Life.DEAD
    assert life_of(told | {"namespace": "pid:[1]"}) is Life.UNKNOWN
    assert life_of({"pid": told["pid"]}) is Life.ALIVE, "where the system does not tell more"


def test_a_zombie_is_dead() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    stat = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    assert stat[0] == "Z"
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    told = {"pid": child.pid, "started": int(stat[19]), "boot": boot, "namespace": os.readlink("/proc/self/ns/pid")}
    assert life_of(told) is Life.DEAD
    child.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can look at it as somebody else")
def test_a_process_of_another_user_is_alive_and_is_not_said_to_be_lost(workspace: Workspace) -> None:
    job = started(workspace, "sleep 600")
    os.kill(job.record["runner"]["pid"], signal.SIGKILL)
    code = """
import os, sys, json
from pathlib import Path
from treescribe_jobs.processes import life_of
told = json.loads(sys.argv[1])
os.setuid(int(sys.argv[2]))
try:
    os.kill(told["pid"], 0)
except PermissionError:
    print(life_of(told))
"""
    assert python(code, json.dumps(job.record["child"]), str(NOBODY)).stdout == "alive\n"


# -- numbers, files, time --------------------------------------------------------------------------------------


def test_jobs_that_are_started_at_once_have_numbers_of_their_own(workspace: Workspace) -> None:
    numbers: list[int] = []
    threads = [threading.Thread(target=lambda: numbers.append(start(workspace, command="true").job)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]
    for number in numbers:
        ended(workspace, number)


def test_what_ended_a_day_ago_is_swept_and_its_number_is_not_given_again(workspace: Workspace) -> None:
    old, going_on = started(workspace, "true"), started(workspace, "sleep 600")
    ended(workspace, old.id)
    end = json.loads((old.folder / "exit.json").read_text())
    old.write("exit.json", end | {"ended_at": end["ended_at"] + DAY_MS})  # the clock was set back
    assert [job.job for job in list_jobs(workspace).jobs] == [2, 1]
    old.write("exit.json", end | {"ended_at": end["ended_at"] - DAY_MS - 1000})
    going_on.write("record.json", going_on.record | {"started_at": 0})
    assert [job.job for job in list_jobs(workspace).jobs] == [2]
    assert start(workspace, command="true").job == 3
    ended(workspace, 3)


def test_a_clock_that_steps_changes_no_duration(workspace: Workspace) -> None:
    job = started(workspace, "sleep 0.1")
    job.write("record.json", job.record | {"started_at": job.record["started_at"] + DAY_MS})
    assert status(workspace, job.id).job.duration_ms is not None
    told = ended(workspace, job.id)
    assert 100 <= told.job.duration_ms < 60_000


def test_the_log_is_read_page_by_page(workspace: Workspace) -> None:
    lines = "".join(f"line {number}\n" for number in range(3000))
    told = ended(workspace, start(workspace, command="seq 0 2999 | sed 's/^/line /'").job)
    assert told.log.splitlines()[:-1] == lines.splitlines()[-19:], "and the line of treescribe exec itself"
    read, offset = "", 0
    while offset < told.size:
        page = status(workspace, 1, offset=offset)
        assert 0 < len(page.log) <= PAGE_BYTES
        read, offset = read + page.log, page.next_offset
    beyond = status(workspace, 1, offset=10**18)
    assert (beyond.log, beyond.offset, beyond.next_offset) == ("", told.size, told.size)
    assert read.startswith(lines)
    assert read.count("\n") == 3001


def test_files_are_readable_for_their_owner_only(workspace: Workspace) -> None:
    job = started(workspace, "true")
    assert job.folder.stat().st_mode & 0o077 == 0
    ended(workspace, job.id)


def test_git_sees_nothing_of_it(workspace: Workspace) -> None:
    ended(workspace, start(workspace, command="true").job)
    listed = subprocess.run(["git", "status", "--porcelain"], cwd=workspace.root, capture_output=True, check=True)
    assert listed.stdout == b""


# -- refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "give one of the two"),
        ({"targets": ["a"], "command": "b"}, "give one of the two"),
        ({"targets": ["--help"]}, "targets are names"),
        ({"targets": ["exec", "id"]}, "is a command of treescribe"),
        ({"targets": ["mcp"]}, "is a command of treescribe"),
    ],
)
def test_what_is_neither_targets_nor_a_command_is_refused(
    workspace: Workspace, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(TreescribeError, match=told):
        start(workspace, **arguments)
    assert list_jobs(workspace).summary == "no jobs"


def test_an_unknown_job_is_told_with_those_that_there_are(workspace: Workspace) -> None:
    with pytest.raises(TreescribeError, match="There are none"):
        status(workspace, 7)
    ended(workspace, start(workspace, command="true").job)
    with pytest.raises(TreescribeError, match="There are: #1"):
        stop(workspace, 7)


def test_stopping_what_has_ended_changes_nothing(workspace: Workspace) -> None:
    before = ended(workspace, start(workspace, command="true").job)
    assert stop(workspace, 1) == before


def test_a_job_gets_nothing_of_a_run_or_a_server(workspace: Workspace) -> None:
    code = """
import sys
from treescribe.workspace import Workspace
from treescribe_jobs.operations import start, status
workspace = Workspace.open(sys.argv[1])
status(workspace, start(workspace, command="env -0 > environment").job, wait=60)
"""
    ours = {"TREESCRIBE_MCP_TOKEN": "secret", "TREESCRIBE_RUN": "1", "TREESCRIBE_CLIENT": "other", "KEPT": "yes"}
    python(code, workspace.root, env={**os.environ, **ours})
    told = dict(part.split("=", 1) for part in (workspace.root / "environment").read_text().split("\0") if part)
    assert (told["KEPT"], told["TREESCRIBE_CLIENT"]) == ("yes", "job:1")
    assert "TREESCRIBE_MCP_TOKEN" not in told
    assert told["TREESCRIBE_RUN"] != "1", "that of its own run"


def test_the_runner_needs_the_standard_library_only() -> None:
    code = "import sys, runpy, treescribe_jobs as jobs; runpy.run_path(jobs.__path__[0] + '/job_runner.py')"
    loaded = python(f"{code}; print(*[name for name in sys.modules if 'treescribe' in name])").stdout.split()
    assert loaded == ["treescribe_jobs"]
