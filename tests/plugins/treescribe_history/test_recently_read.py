"""Transcripts that were read a moment ago: not read again, unless they are others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from treescribe.codec import Codec
from treescribe.testing import RecordedRun, record
from treescribe.workspace import Workspace
from treescribe_history import recently_read
from treescribe_history.recently_read import KEPT, read_recently


@pytest.fixture(autouse=True)
def nothing_read() -> Iterator[None]:
    recently_read._kept.clear()
    yield
    recently_read._kept.clear()


def transcript(run: RecordedRun) -> Path:
    return run.workspace.state / "history" / f"{run.id}.jsonl"


@pytest.fixture
def run(treescribe_workspace: Workspace) -> RecordedRun:
    return record(treescribe_workspace.root, "exec", "--", "true")


def test_a_second_time_it_is_not_read(run: RecordedRun) -> None:
    codec = Codec()
    first = read_recently(transcript(run), codec)
    assert read_recently(transcript(run), codec) is first
    assert read_recently(transcript(run), Codec()) is not first, "one that knows other types"


def test_one_that_was_edited_is_read_anew(run: RecordedRun) -> None:
    codec = Codec()
    first = read_recently(transcript(run), codec)
    path = transcript(run)
    path.write_text(path.read_text().replace('"line":"true"', '"line":"else"'))
    assert read_recently(path, codec) != first


def test_one_that_is_live_is_read_each_time(run: RecordedRun) -> None:
    codec = Codec()
    path = transcript(run)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert read_recently(path, codec).state != "finished"
    assert not recently_read._kept


def test_so_many_are_kept_and_no_large_ones(run: RecordedRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    codec = Codec()
    for number in range(KEPT + 3):
        (tmp_path / str(number)).mkdir()
        copy = tmp_path / str(number) / "1.jsonl"
        copy.write_bytes(transcript(run).read_bytes())
        read_recently(copy, codec)
    assert len(recently_read._kept) == KEPT
    recently_read._kept.clear()
    monkeypatch.setattr(recently_read, "LARGEST", 10)
    read_recently(transcript(run), codec)
    assert not recently_read._kept
