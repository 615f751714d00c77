"""Locks hold between threads and between processes, and die with who holds them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import eventually, python_in_background
from treescribe import locks
from treescribe.locks import close_lock_file, exclusive, open_lock_file, own_descriptor, try_lock, wait_for_lock

HOLD = """
import sys
from pathlib import Path
from treescribe.locks import open_lock_file, try_lock
print(try_lock(open_lock_file(Path(sys.argv[1])), shared=sys.argv[2] == "shared"), flush=True)
sys.stdin.readline()
"""


@contextmanager
def opened(path: Path) -> Iterator[int]:
    descriptor = open_lock_file(path)
    try:
        yield descriptor
    finally:
        close_lock_file(descriptor)


@pytest.mark.parametrize(
    ("first_shared", "second_shared", "taken"),
    [(False, False, False), (False, True, False), (True, False, False), (True, True, True)],
)
class TestWhoMayHoldItTogether:
    def test_within_a_process(self, tmp_path: Path, first_shared: bool, second_shared: bool, taken: bool) -> None:
        with opened(tmp_path / "lock") as first, opened(tmp_path / "lock") as second:
            assert try_lock(first, shared=first_shared)
            assert try_lock(second, shared=second_shared) is taken

    def test_between_processes(self, tmp_path: Path, first_shared: bool, second_shared: bool, taken: bool) -> None:
        kind = "shared" if first_shared else "exclusive"
        with python_in_background(HOLD, tmp_path / "lock", kind), opened(tmp_path / "lock") as second:
            assert try_lock(second, shared=second_shared) is taken


def test_a_lock_is_free_once_its_file_is_closed(tmp_path: Path) -> None:
    with opened(tmp_path / "lock") as first:
        assert try_lock(first)
    with opened(tmp_path / "lock") as second:
        assert try_lock(second)


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    with python_in_background(HOLD, tmp_path / "lock", "exclusive") as holder, opened(tmp_path / "lock") as ours:
        assert not try_lock(ours)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert wait_for_lock(ours, timeout=10)


def test_a_forked_child_does_not_keep_the_lock_of_its_parent(tmp_path: Path) -> None:
    code = """if True:
        import os, sys
        from pathlib import Path
        from treescribe.locks import open_lock_file, close_lock_file, try_lock
        descriptor = open_lock_file(Path(sys.argv[1]))
        assert try_lock(descriptor)
        if os.fork() == 0:
            close_lock_file(descriptor)  # what the parent's code would do on its way out
            sys.stdin.readline()
            os._exit(0)
        close_lock_file(descriptor)
        print("let go", flush=True)
        os.wait()
    """
    with python_in_background(code, tmp_path / "lock"), opened(tmp_path / "lock") as ours:
        assert wait_for_lock(ours, timeout=30), "the child, which is still there, kept it"


def test_a_descriptor_of_somebody_elses_making_can_be_locked_and_is_not_inherited_by_a_fork(tmp_path: Path) -> None:
    descriptor = own_descriptor(os.open(tmp_path / "live", os.O_RDWR | os.O_CREAT))
    try:
        assert try_lock(descriptor)
        child = os.fork()
        if child == 0:
            try:
                os.fstat(descriptor)
            except OSError:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        close_lock_file(descriptor)


def test_closing_twice_does_not_close_what_got_the_number_since(tmp_path: Path) -> None:
    descriptor = open_lock_file(tmp_path / "lock")
    close_lock_file(descriptor)
    with open(os.devnull) as other:
        close_lock_file(other.fileno())
        other.read()


def test_waiting_ends_at_the_timeout_and_tells_how_long_it_took(tmp_path: Path) -> None:
    told: list[float] = []
    with opened(tmp_path / "lock") as first, opened(tmp_path / "lock") as second:
        assert try_lock(first)
        assert not wait_for_lock(second, timeout=0.1, waiting=told.append)
        assert told
        assert told == sorted(told)
        assert told[-1] < 0.1
        assert not wait_for_lock(second, timeout=0)


def test_waiting_ends_when_the_lock_is_free(tmp_path: Path) -> None:
    with opened(tmp_path / "lock") as second:
        first = open_lock_file(tmp_path / "lock")
        assert try_lock(first)
        assert wait_for_lock(second, waiting=lambda _: close_lock_file(first))


def test_only_one_thread_at_a_time_is_in_an_exclusive_block(tmp_path: Path) -> None:
    inside, most, entered = 0, 0, 0

    def enter() -> None:
        nonlocal inside, most, entered
        for _ in range(5):
            with exclusive(tmp_path / "lock"):
                inside += 1
                most = max(most, inside)
                entered += 1
                inside -= 1

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: not any(thread.is_alive() for thread in threads))
    assert (most, entered) == (1, 20)


def test_counting_in_a_file_between_processes_loses_nothing(tmp_path: Path) -> None:
    code = """if True:
        import sys
        from pathlib import Path
        from treescribe.locks import exclusive
        print("ready", flush=True)
        sys.stdin.readline()
        place = Path(sys.argv[1])
        for _ in range(20):
            with exclusive(place / "lock"):
                count = place / "count"
                count.write_text(str(int(count.read_text()) + 1))
    """
    (tmp_path / "count").write_text("0")
    with python_in_background(code, tmp_path) as one, python_in_background(code, tmp_path) as other:
        for process in (one, other):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert (one.wait(60), other.wait(60)) == (0, 0)
    assert (tmp_path / "count").read_text() == "40"


def test_a_holder_that_is_stuck_is_waited_for_only_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "LONGEST_SECONDS", 0.05)
    lock = tmp_path / "lock"
    stuck = pytest.raises(TimeoutError, match="another process holds its lock")
    with locks.exclusive(lock), stuck, locks.exclusive(lock):
        pass
    with locks.exclusive(tmp_path / "lock"):
        pass


def test_a_lock_that_passes_from_one_to_the_other_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "LONGEST_SECONDS", 2)
    taken: list[int] = []

    def take(number: int) -> None:
        with locks.exclusive(tmp_path / "lock"):
            time.sleep(0.4)  # what holding it takes
            taken.append(number)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(taken) == list(range(8))


def test_a_descriptor_that_somebody_closed_is_ours_no_more(tmp_path: Path) -> None:
    """Code that is run beside may close every descriptor, and open files of its own under their numbers."""
    descriptor = locks.open_lock_file(tmp_path / "lock")
    assert locks.is_ours(descriptor)
    os.close(descriptor)
    assert not locks.is_ours(descriptor)
    other = os.open(tmp_path / "other", os.O_CREAT | os.O_RDWR)
    assert other == descriptor
    assert not locks.is_ours(descriptor)
    locks.close_lock_file(descriptor)
    os.fstat(other)
    os.close(other)


def test_threads_that_open_and_close_at_once_let_go_of_every_lock(tmp_path: Path) -> None:
    """A number that one thread gives back is another's in the next moment."""

    def work(number: int) -> None:
        for _ in range(300):
            locks.close_lock_file(locks.open_lock_file(tmp_path / f"lock-{number}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    before = len(os.listdir("/dev/fd"))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(os.listdir("/dev/fd")) == before
