"""Recording: ids, what survives a kill, what is said where nothing can be written, and what never reaches the disk."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from history_processes import KILLED, PRELUDE, open_to_all
from support import NOBODY, below, python, python_in_background
from treescribe import locks
from treescribe.codec import Codec
from treescribe.errors import LockTimeout
from treescribe.events import CommandStarted, Event, LogMessage, TaskStarted
from treescribe.nested import Parent
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.workspace import Workspace
from treescribe_history import live, recorder
from treescribe_history.ids import last_id
from treescribe_history.listing import list_runs
from treescribe_history.store import Store


def ids(store: Store) -> list[int]:
    return [stored.id for stored in store.runs()]


# ---- ids ----------------------------------------------------------------------------------------------


def test_ids_count_up_from_one(record: Any, store: Store) -> None:
    assert [record().id for _ in range(3)] == [1, 2, 3]
    assert last_id(store) == 3


def test_ids_of_many_processes_and_threads_are_all_different(store: Store) -> None:
    code = (
        PRELUDE
        + """
import threading
given = []
def several():
    for _ in range(3):
        run = begin()
        given.append(run.id)
        run.finish(Outcome("passed", 0))
threads = [threading.Thread(target=several) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*given)
"""
    )
    outputs: list[str] = []

    def process() -> None:
        outputs.append(python(code, store.workspace.root).stdout)

    threads = [threading.Thread(target=process) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    given = [int(word) for output in outputs for word in output.split()]
    assert sorted(given) == list(range(1, 49))
    assert {store.read(stored, Codec()).state for stored in store.runs()} == {"finished"}


def test_ids_of_threads_of_one_process_are_all_different(begin: Any, store: Store) -> None:
    given: list[int | None] = []

    def one() -> None:
        run = begin()
        given.append(run.id)
        run.finish(Outcome("passed", 0))

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, given)) == sorted(map(str, range(1, 9)))


def test_an_id_is_not_given_again_after_its_run_was_deleted(record: Any, store: Store) -> None:
    record()
    record()
    for path in store.folder.glob("[0-9]*"):
        path.unlink()
    assert record().id == 3


@pytest.mark.parametrize("damaged", [None, b"", b"\0\0\0", b"-7", b"twelve", b"9" * 40, b"1"])
def test_a_counter_that_is_gone_or_damaged_never_gives_an_id_that_is_there(
    record: Any, begin: Any, store: Store, damaged: bytes | None
) -> None:
    record()
    record()
    begin()
    counter = store.folder / "counter"
    counter.unlink()
    if damaged is not None:
        counter.write_bytes(damaged)
    assert record().id == 4


def test_the_runs_of_one_process_do_not_mix(begin: Any, store: Store) -> None:
    first, second = begin(LogMessage(message="of the first")), begin(LogMessage(message="of the second"))
    first.emit(LogMessage(message="of the first again"))
    first.finish(Outcome("passed", 0))
    second.finish(Outcome("passed", 0))
    for number, words in ((1, "of the first"), (2, "of the second")):
        events = store.read(store.runs()[2 - number], Codec()).events
        assert {e.message.removesuffix(" again") for e in events if isinstance(e, LogMessage)} == {words}


def test_a_state_folder_that_git_ignores_and_that_says_what_it_is(record: Any, workspace: Workspace) -> None:
    from support import git

    record()
    assert git(workspace.root, "status", "--porcelain") == ""


# ---- live and interrupted -----------------------------------------------------------------------------


def test_a_live_run_can_be_read_while_it_runs(begin: Any, store: Store, a_test: Any) -> None:
    run = begin()
    for number in range(3):
        run.emit(a_test(f"test_{number}"))
        transcript = store.read(store.runs()[0], Codec())
        assert transcript.state == "live"
        assert len(transcript.events) == number + 2
    run.finish(Outcome("passed", 0))
    assert store.read(store.runs()[0], Codec()).state == "finished"


def test_a_run_that_finishes_between_finding_and_reading_it_is_read(begin: Any, store: Store) -> None:
    run = begin()
    found = store.runs()[0]
    run.finish(Outcome("passed", 0))
    assert store.read(found, Codec()).state == "finished"
    assert store.header(found).run == 1


def test_a_killed_run_is_interrupted_and_keeps_every_whole_line(record: Any, store: Store) -> None:
    with python_in_background(KILLED, store.workspace.root) as process:
        assert store.read(store.runs()[0], Codec()).state == "live"
        process.kill()
        process.wait()
    found = store.runs()[0]
    assert found.active
    before = store.read(found, Codec())
    assert before.state == "interrupted"
    assert len([event for event in before.events if event.type == "TestFinished"]) == 100
    record()
    found = store.runs()[1]
    assert not found.active
    after = store.read(found, Codec())
    assert (after.state, after.events) == ("finished", before.events)


def test_a_torn_last_line_is_cut_off_by_the_next_writer(record: Any, store: Store) -> None:
    with python_in_background(KILLED, store.workspace.root) as process:
        process.kill()
        process.wait()
    path = store.runs()[0].path
    with path.open("ab") as file:
        file.write(b'{"type":"TestFinished","at":17,"sui')
    before = store.read(store.runs()[0], Codec()).events
    record()
    assert store.read(store.runs()[1], Codec()).events == before
    assert [json.loads(line) for line in (store.folder / path.name).read_bytes().splitlines()]


def test_the_next_writer_leaves_live_runs_alone(record: Any, begin: Any, store: Store) -> None:
    begin()
    with python_in_background(KILLED, store.workspace.root) as process:
        record()
        assert [(stored.id, stored.active) for stored in store.runs()] == [(3, False), (2, True), (1, True)]
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("content", [b"", b"nonsense\n", b'{"format":2,"run":1}\n'])
def test_a_left_over_file_that_cannot_be_understood_does_not_stop_the_next_run(
    record: Any, store: Store, content: bytes
) -> None:
    store.prepare()
    (store.active / "1.jsonl").write_bytes(content)
    assert record().id == 2
    assert (store.folder / "1.jsonl").read_bytes() == content


def test_a_child_forked_by_a_run_neither_keeps_its_lock_nor_writes_into_its_file(begin: Any, store: Store) -> None:
    run = begin()
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()

    def child(run: Run) -> None:
        run.emit(LogMessage(message="from the child"))
        run.finish(Outcome("failed", 1))
        there.send(run.closing_lines)
        there.recv()

    process = context.Process(target=child, args=(run,))
    process.start()
    try:
        assert here.recv() == []
        assert store.read(store.runs()[0], Codec()).state == "live"
        recorder._recordings.pop(run).live.close()  # as if this process had died
        assert store.read(store.runs()[0], Codec()).state == "interrupted"
        assert b"from the child" not in store.runs()[0].path.read_bytes()
    finally:
        here.send("end")
        process.join()


# ---- where nothing can be written ----------------------------------------------------------------------


def warnings(text: str) -> list[str]:
    return [line for line in text.splitlines() if "not recorded" in line]


def test_a_disk_that_is_full_from_the_beginning(
    workspace: Workspace, begin: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, line: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(live, "_write", full)
    run = begin()
    assert run.id is None
    run.finish(Outcome("passed", 0))
    said = capsys.readouterr().err
    assert warnings(said) == [f"treescribe: this run is not recorded in {workspace.root}: No space left on device"]
    assert run.closing_lines == ["History: not recorded · passed"]
    assert list((workspace.state / "history" / "active").iterdir()) == []


def test_a_disk_that_fills_while_the_run_goes_on(store: Store, tmp_path: Path) -> None:
    """A limit on the size of files, which the system answers a write with as a full disk would be."""
    code = (
        PRELUDE
        + """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
run = begin()
assert run.id == 1
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
for number in range(100):
    run.emit(TestFinished(suite="s", test=f"test_{number}", status="passed"))
assert run.id is None
run.finish(Outcome("passed", 0))
print(run.verdict.tests, run.closing_lines)
"""
    )
    result = python(code, store.workspace.root)
    assert result.stdout == "{'passed': 100} ['History: not recorded · passed · 100 passed']\n"
    assert warnings(result.stderr) == [
        f"treescribe: this run is not recorded in {store.workspace.root}: {os.strerror(errno.EFBIG)}"
    ]
    assert ids(store) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 2000


def test_a_file_system_that_is_really_full(tmp_path: Path, begin: Any, capsys: pytest.CaptureFixture[str]) -> None:
    small = tmp_path / "small"
    small.mkdir()
    import subprocess

    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small]).returncode:
        pytest.skip("a file system can be mounted by root only")
    try:
        (small / "tasks.py").touch()
        run = begin(workspace=Workspace.open(str(small)))
        assert run.id == 1
        for _ in range(100):
            run.emit(LogMessage(message="x" * 1000))
        assert run.id is None
        run.finish(Outcome("passed", 0))
        assert len(warnings(capsys.readouterr().err)) == 1
        assert ids(Store(Workspace.open(str(small)))) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_worktree_that_cannot_be_written(store: Store) -> None:
    root = store.workspace.root
    open_to_all(root)
    root.chmod(0o555)
    code = PRELUDE + "import treescribe_history.ending\n"  # the library may be out of reach of others
    code += f"if os.geteuid() == 0: os.seteuid({NOBODY})\n"
    code += "run = begin()\nprint(run.id)\nrun.finish(Outcome('passed', 0))\nprint(run.closing_lines)"
    result = python(code, root)
    root.chmod(0o755)
    assert result.stdout == "None\n['History: not recorded · passed']\n"
    assert warnings(result.stderr) == [f"treescribe: this run is not recorded in {root}: Permission denied"]
    assert not (root / ".treescribe").exists()


def test_the_state_folder_deleted_while_the_run_goes_on(
    begin: Any, workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    run = begin()
    shutil.rmtree(workspace.state)
    run.emit(LogMessage(message="still here"))
    run.finish(Outcome("passed", 0))
    assert run.id is None
    assert len(warnings(capsys.readouterr().err)) == 1
    assert not workspace.state.exists()


def test_the_state_folder_deleted_and_begun_anew_by_another_run(begin: Any, workspace: Workspace, store: Store) -> None:
    first = begin(LogMessage(message="the first"))
    shutil.rmtree(workspace.state)
    second = begin(LogMessage(message="the second"))
    assert (first.id, second.id) == (1, 1)
    first.finish(Outcome("passed", 0))
    assert first.id is None
    assert store.runs()[0].active
    second.finish(Outcome("passed", 0))
    assert second.id == 1
    assert b"the second" in (store.folder / "1.jsonl").read_bytes()


def test_a_history_that_is_a_file(begin: Any, workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    workspace.state.mkdir()
    (workspace.state / "history").write_text("in the way")
    run = begin()
    assert run.id is None
    assert len(warnings(capsys.readouterr().err)) == 1


# ---- what is written ----------------------------------------------------------------------------------


def test_secrets_are_not_on_disk(begin: Any, store: Store) -> None:
    secret = "tops3cret-value"
    environment = {"API_TOKEN": secret}
    run = begin(environment=environment, request=RunRequest("invoke", (f"deploy --token={secret}",)))
    run.emit(TaskStarted(task=1, name="deploy", arguments=(("token", secret),)))
    run.emit(CommandStarted(command=2, line=f"curl -H {secret}"))
    capture = run.capture(2, "stdout")
    capture.feed(b"the value is tops3cr")
    capture.feed(b"et-value.\n")
    capture.finish()
    run.finish(Outcome("failed", 1, f"refused: {secret}"))
    for path in store.folder.rglob("*"):
        if path.is_file():
            assert b"cret-value" not in path.read_bytes(), path
    assert b"***" in (store.folder / "1.jsonl").read_bytes()


def test_each_event_is_one_write(begin: Any, monkeypatch: pytest.MonkeyPatch, many_tests: Any) -> None:
    """So a process that is killed leaves whole lines."""
    run = begin()
    written: list[bytes] = []
    write = os.write

    def watched(descriptor: int, data: bytes) -> int:
        written.append(bytes(data))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", watched)
    events: list[Event] = many_tests(10)
    for event in events:
        run.emit(event)
    monkeypatch.undo()
    assert len(written) == len(events)
    assert all(re.fullmatch(rb"\{.*\}\n", line) for line in written)


def test_a_run_within_a_run_names_its_parent(begin: Any, store: Store) -> None:
    begin(environment=below(Parent(41, "/outer")))
    assert store.header(store.runs()[0]).parent == {"run": 41, "workspace": "/outer"}


def test_a_lock_timeout_is_no_reason_to_break(begin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(store: Store) -> int:
        raise LockTimeout("held")

    monkeypatch.setattr(recorder, "mint", held)
    assert begin().id is None


@pytest.mark.parametrize("umask", [0o077, 0o022, 0o002])
def test_who_may_read_the_history_the_umask_says(record: Any, store: Store, umask: int) -> None:
    before = os.umask(umask)
    try:
        record()
    finally:
        os.umask(before)
    for path in store.workspace.state.rglob("*"):
        assert path.stat().st_mode & 0o777 & umask == 0, path
        assert path.stat().st_mode & 0o400, path


def test_a_run_whose_file_its_own_code_closed_is_not_recorded_and_writes_nowhere_else(
    begin: Any, store: Store, tmp_path: Path, a_test: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run = begin()
    descriptor = recorder._recordings[run].live._descriptor
    theirs = os.open(tmp_path / "theirs", os.O_CREAT | os.O_RDWR)
    os.dup2(theirs, descriptor)
    run.emit(a_test("test_a"))
    run.finish(Outcome("passed", 0))
    for number in (theirs, descriptor):
        os.close(number)
    assert (tmp_path / "theirs").read_bytes() == b""
    assert run.id is None
    assert "this run is not recorded" in capsys.readouterr().err


def test_where_the_lock_cannot_be_had_at_the_end_the_run_is_left_whole(
    begin: Any, record: Any, store: Store, monkeypatch: pytest.MonkeyPatch, a_test: Any
) -> None:
    monkeypatch.setattr(locks, "LONGEST_SECONDS", 0.05)
    run = begin(a_test("test_a"))
    with store.locked():
        run.finish(Outcome("passed", 0))
    assert [(stored.id, stored.active) for stored in store.runs()] == [(1, True)]
    assert store.read(store.runs()[0], Codec()).state == "finished"
    record()
    assert [(stored.id, stored.active) for stored in store.runs()] == [(2, False), (1, False)]


@pytest.mark.parametrize("number", [10**17, 10**18 - 1, 10**30, 0, -5])
def test_an_id_that_somebody_wrote_by_hand_is_believed_only_so_far(record: Any, store: Store, number: int) -> None:
    record()
    (store.folder / "pins.json").write_text(json.dumps({"a": number}))
    (store.folder / "counter").write_text(f"{number}\n")
    ids = [record().id, record().id]
    assert ids[1] == ids[0] + 1
    assert [stored.id for stored in store.runs()] == [ids[1], ids[0], 1]


def test_nesting_without_end_in_a_file_beside_the_runs_costs_no_run(record: Any, store: Store) -> None:
    record()
    for name in ("pins.json", "1.digest.json"):
        (store.folder / name).write_text("[" * 100_000)
    assert record().id == 2
    assert {row.run for row in list_runs(store.workspace).runs} == {1, 2}
