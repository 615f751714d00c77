"""The spool: whole lines of many processes, each handed to the reader of its name, once."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import eventually, python, python_in_background
from treescribe import locks
from treescribe.spool import Spool, is_live


class Reader:
    def __init__(self) -> None:
        self.records: list[tuple[str, dict[str, Any]]] = []
        self.calls: list[str] = []

    def record(self, source: str, record: dict[str, Any]) -> None:
        self.calls.append("record")
        self.records.append((source, record))

    def caught_up(self) -> None:
        self.calls.append("caught up")

    def command_ended(self) -> None:
        self.calls.append("command ended")

    def settle(self) -> None:
        self.calls.append("settle")


@pytest.fixture
def reported() -> list[str]:
    return []


@pytest.fixture
def spool(reported: list[str]) -> Iterator[Spool]:
    made = Spool(reported.append)
    yield made
    made.close()


def append(spool: Spool, name: str, data: bytes) -> None:
    with open(spool.folder / name, "ab") as file:
        file.write(data)


def test_records_go_to_the_reader_of_their_files_name(spool: Spool) -> None:
    one, other = Reader(), Reader()
    spool.follow("one", one)
    spool.follow("other", other)
    append(spool, "one-1.jsonl", b'{"n":1}\n')
    append(spool, "one-a-b.jsonl", b'{"n":2}\n')
    append(spool, "other-1.jsonl", b'{"n":3}\n')
    append(spool, "stranger-1.jsonl", b'{"n":4}\n')
    append(spool, "one-2.txt", b'{"n":5}\n')
    spool.read()
    assert one.records == [("one-1.jsonl", {"n": 1}), ("one-a-b.jsonl", {"n": 2})]
    assert other.records == [("other-1.jsonl", {"n": 3})]


def test_a_line_is_handed_over_when_it_is_whole_and_once(spool: Spool) -> None:
    reader = Reader()
    spool.follow("one", reader)
    for data, count in ((b'{"n":', 0), (b"1}", 0), (b'\n{"n":2}\n{', 2), (b"}\n", 3), (b"", 3)):
        append(spool, "one-1.jsonl", data)
        spool.read()
        assert len(reader.records) == count


@given(st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=5), max_size=2)), st.lists(st.integers(0)))
def test_however_the_file_grows_the_records_are_the_same(records: list[dict[str, str]], places: list[int]) -> None:
    data = b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
    ends = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    spool, reader = Spool(print), Reader()
    spool.follow("one", reader)
    for start, end in pairwise(ends):
        append(spool, "one-1.jsonl", data[start:end])
        spool.read()
    spool.close()
    assert [record for _, record in reader.records] == records


@pytest.mark.parametrize("torn", [b'{"n":1,"x', b"\xff\xfe", b"[1]", b"5", b"", b"[" * 100_000])
def test_what_is_no_record_is_passed_over(spool: Spool, torn: bytes) -> None:
    reader = Reader()
    spool.follow("one", reader)
    append(spool, "one-1.jsonl", torn + b"\n" + b'{"n":2}\n')
    spool.read()
    assert [record for _, record in reader.records] == [{"n": 2}]


def test_readers_are_told_when_they_have_seen_all_and_when_a_command_has_ended(spool: Spool) -> None:
    reader = Reader()
    spool.follow("one", reader)
    append(spool, "one-1.jsonl", b'{"n":1}\n')
    spool.settle()
    assert reader.calls == ["command ended", "record", "caught up", "settle"]


def test_it_reads_on_in_the_background_and_is_gone_afterwards(spool: Spool) -> None:
    reader = Reader()
    spool.follow("one", reader)
    spool.start()
    spool.start()
    code = """if True:
        import json, sys
        for number in range(100):
            with open(sys.argv[1], "a") as file:
                print(json.dumps({"n": number}), file=file)
    """
    python(code, spool.folder / "one-1.jsonl")
    eventually(lambda: len(reader.records) == 100)
    spool.close()
    assert not spool.folder.exists()
    assert not any(thread.name == "treescribe-spool" for thread in threading.enumerate())


def test_only_we_may_read_it(spool: Spool) -> None:
    assert spool.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("when", ["record", "caught_up", "command_ended", "settle"])
def test_a_reader_that_raises_is_reported_and_asked_no_more(spool: Spool, reported: list[str], when: str) -> None:
    def fail(*arguments: object) -> None:
        raise KeyError("x")

    failing, other = Reader(), Reader()
    setattr(failing, when, fail)
    spool.follow("one", failing)
    spool.follow("other", other)
    append(spool, "one-1.jsonl", b'{"n":1}\n{"n":2}\n')
    append(spool, "other-1.jsonl", b'{"n":3}\n')
    spool.settle()
    spool.settle()
    assert reported == ["the spool's reader one failed: KeyError: 'x'"]
    assert other.calls == ["command ended", "record", "caught up", "settle", "command ended", "caught up", "settle"]


def test_a_folder_that_somebody_removed_is_no_error(spool: Spool) -> None:
    shutil.rmtree(spool.folder)
    spool.settle()
    spool.close()
    assert not Path(spool.folder).exists()


def test_the_folder_of_a_run_that_was_killed_is_removed_by_the_next() -> None:
    """What processes wrote there was never masked."""
    code = """if True:
        from treescribe.spool import Spool
        spool = Spool(print)
        print("ready", flush=True)
        print(spool.folder, flush=True)
        input()
    """
    with python_in_background(code) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert is_live(folder)
        Spool(print).close()
        assert folder.exists(), "it belongs to a run that goes on"
        process.kill()
        process.wait()
        assert not is_live(folder)
        Spool(print).close()
        assert not folder.exists()


def test_many_that_begin_at_once_do_not_remove_each_others_folders() -> None:
    """Each sweeps first; a folder is one of those that are swept only once its lock is held."""
    code = """if True:
        from treescribe.spool import Spool
        for _ in range(150):
            spool = Spool(print)
            assert spool.folder.is_dir()
            spool.close()
    """
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]


def test_a_folder_that_cannot_be_locked_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(locks, "open_lock_file", failing)
    with pytest.raises(OSError, match="no more files"):
        Spool(print)
    assert list(tmp_path.iterdir()) == []


def failing(path: Path) -> int:
    raise OSError(errno.EMFILE, "no more files")


def test_it_is_called_back_after_each_look() -> None:
    called = threading.Event()
    spool = Spool(print, each_time=called.set)
    spool.start()
    assert called.wait(30)
    spool.close()


def test_where_no_thread_can_be_had_everything_is_read_at_the_end(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    reader = Reader()
    spool.follow("one", reader)
    spool.start()
    append(spool, "one-1.jsonl", b'{"n":1}\n')
    spool.settle()
    assert [record for _, record in reader.records] == [{"n": 1}]


def test_a_reader_may_be_added_from_within_a_look(spool: Spool) -> None:
    class Adding(Reader):
        def record(self, source: str, record: dict[str, Any]) -> None:
            thread = threading.Thread(target=spool.follow, args=("other", other))
            thread.start()
            thread.join(30)
            assert not thread.is_alive()

    adding, other = Adding(), Reader()
    spool.follow("one", adding)
    append(spool, "one-1.jsonl", b'{"n":1}\n')
    append(spool, "other-1.jsonl", b'{"n":2}\n')
    spool.read()
    assert [record for _, record in other.records] == [{"n": 2}]
