"""What is on disk, and how it is read: also where it is torn, damaged, or of another version."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from history_processes import open_to_all
from support import python, unprivileged
from treescribe.codec import Codec, to_line
from treescribe.errors import RunUnavailable
from treescribe.events import (
    CommandFinished,
    CommandStarted,
    Event,
    Output,
    RunFinished,
    RunStarted,
    TestFinished,
    UnknownEvent,
)
from treescribe.workspace import Workspace
from treescribe_history.store import Store, StoredRun
from treescribe_history.transcript import Header, Transcript, read_transcript

HEADER = Header(run=7, workspace="/ws", backend="invoke", targets=("test",), client="cli", started_at=1000)


def written(folder: Path, *lines: bytes, header: bytes | None = None, name: str = "7.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(b"".join([HEADER.to_line() if header is None else header, *lines]))
    return path


def read(path: Path) -> Transcript:
    return read_transcript(path, Codec())


def a_run(*events: Event) -> list[bytes]:
    return [to_line(event) for event in (RunStarted(at=1000), *events, RunFinished(at=3000, outcome="passed"))]


def test_a_transcript_reads_back_as_what_was_recorded(record: Any, store: Store, a_test: Any) -> None:
    run = record(a_test("test_a"), a_test("test_b", "failed", "assert 9 == 10"))
    transcript = store.read(StoredRun(1, store.folder / "1.jsonl", False), Codec())
    assert transcript.state == "finished"
    assert transcript.problems == ()
    assert [event.type for event in transcript.events] == ["RunStarted", "TestFinished", "TestFinished", "RunFinished"]
    assert transcript.header.targets == ("test",)
    assert transcript.header.workspace == str(store.workspace.root)
    assert transcript.header.started_at == run.started_at
    assert transcript.header.writer["pid"] == os.getpid()


def test_every_line_is_json_that_people_can_search(record: Any, store: Store, a_test: Any) -> None:
    record(a_test("test_größe", "failed", "“ungleich”"))
    lines = (store.folder / "1.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line).get("type") for line in lines] == [None, "RunStarted", "TestFinished", "RunFinished"]
    assert "test_größe" in lines[2]
    assert "“ungleich”" in lines[2]


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    path = written(tmp_path, *a_run()[:1], b'{"type":"TestFinished","at":2000,"suite":"s","te')
    assert [event.type for event in read(path).events] == ["RunStarted", "RunFinished"]
    assert read(path).problems == ()


def test_a_last_line_that_lacks_only_its_end_of_line_counts(tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(a_run()).removesuffix(b"\n"))
    assert read(path).state == "finished"


@pytest.mark.parametrize(
    "damaged",
    [
        b"not json",
        b'{"type":"TestFinished","suite":"s"}',
        b'{"type":"TestFinished","suite":"s","test":1,"status":"passed"}',
        b'{"type":"TestFinished","suite":"s","test":"t","status":"passed"',
        b'{"type":"TestFinished","suite":"s","test":"t","status":"pas\xffsed"}',
        b'["a list"]',
        b'{"no":"type"}',
    ],
)
def test_a_damaged_line_is_a_problem_with_its_number_and_the_rest_is_read(tmp_path: Path, damaged: bytes) -> None:
    good = to_line(TestFinished(at=1, suite="s", test="t", status="passed"))
    started, finished = a_run()
    transcript = read(written(tmp_path, started, good, damaged + b"\n", good, finished))
    assert [event.type for event in transcript.events] == ["RunStarted", "TestFinished", "TestFinished", "RunFinished"]
    assert len(transcript.problems) == 1
    assert transcript.problems[0].startswith("line 4: ")


def test_damage_in_two_lines_cannot_hide_itself(tmp_path: Path) -> None:
    """Lines are validated many at once: halves that would make one whole text together are still two problems."""
    good = to_line(TestFinished(at=1, suite="s", test="t", status="passed"))
    begun, ended = (
        b'{"type":"TestFinished","suite":"s","test":"t","x":[1',
        b'{"type":"TestFinished"}],"status":"passed"}',
    )
    transcript = read(written(tmp_path, good, begun + b"\n", ended + b"\n", good))
    assert [problem.partition(":")[0] for problem in transcript.problems] == ["line 3", "line 4"]


def test_blank_lines_are_no_damage_and_do_count(tmp_path: Path) -> None:
    started, finished = a_run()
    transcript = read(written(tmp_path, started, b"\n", b"  \r\n", b"oops\n", finished))
    assert transcript.problems[0].startswith("line 5: ")
    assert len(transcript.events) == 2


def test_an_event_of_a_type_that_is_not_known_is_kept_whole(tmp_path: Path) -> None:
    record = {"type": "ThirdParty", "at": 5, "anything": [1, {"deep": None}]}
    transcript = read(written(tmp_path, *a_run(UnknownEvent(record=record))))
    event = transcript.events[1]
    assert isinstance(event, UnknownEvent)
    assert event.record == record
    assert json.loads(to_line(event)) == record


def test_names_that_are_no_unicode_survive(tmp_path: Path) -> None:
    event = CommandStarted(at=1, command=1, line="cat caf\udce9", cwd="/ws")
    assert event in read(written(tmp_path, *a_run(event, Output(at=2, text="fine")))).events


def test_a_newer_format_names_both_formats_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RunUnavailable) as caught:
        read(written(tmp_path, header=b'{"format":2,"run":7,"anything":"else"}\n'))
    assert "run #7 has format 2" in str(caught.value)
    assert "formats up to 1" in str(caught.value)
    assert "upgrade" in caught.value.hint


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"run": "seven"}, "wrong at run"),
        ({"run": 8}, "that of run #8"),
        ({"started_at": None}, "wrong at started_at"),
        ({"started_at": 10**30}, "wrong at started_at"),
        ({"started_at": -1}, "wrong at started_at"),
        ({"targets": "test"}, "wrong at targets"),
        ({"targets": [1]}, "wrong at targets"),
        ({"backend": None}, "wrong at backend"),
        ({"format": "1"}, "names no format"),
        ({"format": 0}, "names no format"),
        ({"format": True}, "names no format"),
        ({"parent": "me"}, "wrong at parent"),
    ],
)
def test_a_header_edited_to_nonsense_is_told(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    record = json.loads(HEADER.to_line()) | change
    with pytest.raises(RunUnavailable) as caught:
        read(written(tmp_path, header=json.dumps(record).encode() + b"\n"))
    assert says in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("first", [b"", b"\n", b"nonsense\n", b"[]\n", b'{"type":"RunStarted"}\n', b"\xff\xfe\n"])
def test_a_file_without_a_header_is_told(tmp_path: Path, first: bytes) -> None:
    with pytest.raises(RunUnavailable, match="cannot be read"):
        read(written(tmp_path, header=first))


def test_a_run_that_ends_without_its_end_is_interrupted(tmp_path: Path) -> None:
    started = CommandStarted(at=1500, command=4, line="sleep 60")
    done = [
        CommandStarted(at=1200, command=3, line="true"),
        CommandFinished(at=1300, command=3, line="true", exit_code=0),
    ]
    path = written(tmp_path / "active", *map(to_line, (RunStarted(at=1000), *done, started)))
    before = path.read_bytes()
    transcript = read(path)
    assert transcript.state == "interrupted"
    *_, detached, end = transcript.events
    assert detached == CommandFinished(at=1500, command=4, line="sleep 60", status="detached")
    assert end == RunFinished(at=1500, outcome="interrupted", error="its process died", duration_ms=500)
    assert path.read_bytes() == before


def test_reading_works_where_nothing_can_be_written(record: Any, begin: Any, store: Store, tmp_path: Path) -> None:
    record()
    begin()
    assert store.read(store.runs()[1], Codec()).state == "finished"  # what reading imports may be out of others' reach
    open_to_all(tmp_path)
    copy = tmp_path / "copy"
    shutil.copytree(store.workspace.root, copy)
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    there = {str(path): path.stat().st_mtime_ns for path in copy.rglob("*")}
    with unprivileged():
        copied = Store(Workspace.open(str(copy)))
        runs = copied.runs()
        states = [copied.read(stored, Codec()).state for stored in runs]
    assert [stored.id for stored in runs] == [2, 1]
    assert states == ["interrupted", "finished"]
    assert {str(path): path.stat().st_mtime_ns for path in copy.rglob("*")} == there
    copy.chmod(0o755)


def test_recording_and_the_plugin_import_neither_pydantic_nor_the_comparison() -> None:
    code = """
import sys
import treescribe_history.plugin as plugin
assert len(plugin.treescribe_operations()) == 7
light = set(sys.modules)
import treescribe_history.recorder, treescribe_history.listing
recording = set(sys.modules)
print(sorted(name for name in light if name.startswith("treescribe_history")))
print("pydantic" in recording, "pydantic_core" in recording, "treescribe_history.diff" in recording)
"""
    assert python(code, env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in _paths())}).stdout.splitlines() == [
        "['treescribe_history', 'treescribe_history.plugin']",
        "False False False",
    ]


def _paths() -> list[str]:
    import treescribe
    import treescribe_history

    return [str(Path(str(module.__file__)).parents[1]) for module in (treescribe, treescribe_history)]
