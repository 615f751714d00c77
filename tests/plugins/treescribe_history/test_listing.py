"""history.list."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from history_processes import KILLED, open_to_all
from support import SetClock, python_in_background
from treescribe.settings import Settings
from treescribe.terminal import Style
from treescribe.workspace import Workspace
from treescribe_history import digest as digests
from treescribe_history.listing import RunsResult, list_runs
from treescribe_history.listing_text import render
from treescribe_history.pinning import pin_run
from treescribe_history.store import Store, StoredRun
from treescribe_history.transcript import Header

MINUTE = 60_000


def plain(result: RunsResult, clock: SetClock) -> str:
    return render(result, Style(now_ms=clock.now_ms()))


def test_the_table(
    record: Any, begin: Any, workspace: Workspace, clock: SetClock, a_test: Any, many_tests: Any
) -> None:
    record(*many_tests(38))
    pin_run(workspace, 1, "main")
    clock.advance(26 * 60 * MINUTE)
    record(*many_tests(40), a_test("test_total"))
    clock.advance(7 * MINUTE)
    record(*many_tests(40), a_test("test_total", "failed", "assert 9 == 10"))
    record(targets=("build", "test"), exit_code=2)
    clock.advance(2 * MINUTE)
    record(*many_tests(40), a_test("test_total"))
    begin(*many_tests(3), targets=("test", "--slow"))
    assert plain(list_runs(workspace), clock).splitlines() == [
        "  #    when         targets        result        since the run before",
        "  6    just now     test --slow    running       3 tests seen",
        "  5    just now     test           passed  41    1 fixed",
        "  4    2 min ago    build test     failed",
        "  3    2 min ago    test           failed   1    1 newly failing",
        "  2    9 min ago    test           passed  41    3 tests added",
        "  1    yesterday    test           passed  38    pinned: main",
        "6 kept of 6 recorded · treescribe history.show RUN",
    ]


def test_a_target_of_several_lines_is_one_row(record: Any, workspace: Workspace, clock: SetClock) -> None:
    record(targets=("sh -c 'make\n  make test'",))
    _, row, _ = plain(list_runs(workspace), clock).splitlines()
    assert "sh -c 'make make test'" in row


def test_the_model(record: Any, workspace: Workspace, clock: SetClock, a_test: Any) -> None:
    record(a_test("test_a"))
    record(a_test("test_a", "failed"))
    result = json.loads(list_runs(workspace).model_dump_json(exclude_none=True))
    assert result["workspace"] == str(workspace.root)
    assert (result["total"], result["recorded"]) == (2, 2)
    assert result["runs"][0] == {
        "run": 2,
        "started_at": 1_700_000_001_000,
        "started": "2023-11-14T22:13:21Z",
        "backend": "invoke",
        "targets": ["test"],
        "client": "cli",
        "outcome": "failed",
        "summary": "1 failed",
        "tests": {"failed": 1},
        "failing": 1,
        "duration_ms": 1000,
        "since": 1,
        "changes": "1 newly failing",
    }
    assert "changes" not in result["runs"][1]


def test_pages(record: Any, workspace: Workspace, clock: SetClock) -> None:
    for _ in range(5):
        record()
    result = list_runs(workspace, limit=2, offset=1)
    assert [row.run for row in result.runs] == [4, 3]
    assert plain(result, clock).splitlines()[-1] == (
        "5 kept of 5 recorded · 2 more: treescribe history.list --offset 3"
    )
    assert list_runs(workspace, offset=9).runs == ()


def test_how_many_were_recorded_counts_those_that_went(record: Any, workspace: Workspace) -> None:
    for _ in range(4):
        record(settings=Settings(history_keep=2))
    result = list_runs(workspace)
    assert (result.total, result.recorded) == (2, 4)


def test_an_empty_history_says_how_to_begin(workspace: Workspace, clock: SetClock) -> None:
    assert re.match("No runs are kept in .*Record one: treescribe", plain(list_runs(workspace), clock))
    assert not workspace.state.exists()


def test_an_interrupted_run_says_how_far_it_came(workspace: Workspace, store: Store, clock: SetClock) -> None:
    with python_in_background(KILLED, workspace.root) as process:
        process.kill()
        process.wait()
    row = list_runs(workspace).runs[0]
    assert (row.outcome, row.summary) == ("interrupted", "100 passed")
    assert plain(list_runs(workspace), clock).splitlines()[1].endswith("interrupted    100 tests seen")


def test_a_file_that_cannot_be_read_is_told_in_its_row(record: Any, workspace: Workspace, store: Store) -> None:
    record()
    record()
    (store.folder / "1.jsonl").write_text('{"format":2}\n')
    rows = list_runs(workspace).runs
    assert [row.outcome for row in rows] == ["passed", "unreadable"]
    assert "run #1 has format 2" in rows[1].summary


# ---- digests ------------------------------------------------------------------------------------------


def without_digests(store: Store) -> None:
    for path in store.folder.glob("*.digest.json"):
        path.unlink()


def history(record: Any, a_test: Any, many_tests: Any) -> None:
    record(*many_tests(3))
    record(*many_tests(3), a_test("test_x", "failed", "no"))
    record(*many_tests(3), a_test("test_x", "failed", "no"))
    record(targets=("lint",), exit_code=1)
    record(*many_tests(4), a_test("test_x"))


def test_the_list_is_the_same_without_digests(
    record: Any, workspace: Workspace, store: Store, a_test: Any, many_tests: Any
) -> None:
    history(record, a_test, many_tests)
    before = list_runs(workspace)
    without_digests(store)
    assert list_runs(workspace) == before
    assert list(store.folder.glob("*.digest.json")) == []


@pytest.mark.parametrize("damaged", [b"", b"[]", b"{}", b'{"version":1}', b'{"version":0,"made_from":[]}', b"\xff"])
def test_a_damaged_digest_is_not_believed(
    record: Any, workspace: Workspace, store: Store, a_test: Any, many_tests: Any, damaged: bytes
) -> None:
    history(record, a_test, many_tests)
    before = list_runs(workspace)
    (store.folder / "2.digest.json").write_bytes(damaged)
    assert list_runs(workspace) == before


def test_a_stale_digest_is_not_believed(record: Any, workspace: Workspace, store: Store, a_test: Any) -> None:
    record(a_test("test_a"))
    path = store.folder / "1.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"status":"passed"', b'"status":"failed"'))
    assert list_runs(workspace).runs[0].outcome == "failed"


def test_no_transcript_is_read_where_digests_can_be_believed(
    record: Any, workspace: Workspace, a_test: Any, many_tests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    history(record, a_test, many_tests)

    def refused(*arguments: Any) -> None:
        raise AssertionError("a transcript is read")

    monkeypatch.setattr(Store, "read", refused)
    monkeypatch.setattr(Store, "header", refused)
    assert len(list_runs(workspace).runs) == 5


def test_differences_to_a_run_that_went_are_not_told(
    record: Any, workspace: Workspace, store: Store, a_test: Any
) -> None:
    record(a_test("test_a"))
    record(a_test("test_a"))
    record(a_test("test_a", "failed"))
    (store.folder / "2.jsonl").unlink()
    row = list_runs(workspace).runs[0]
    assert (row.run, row.since, row.changes) == (3, 1, "1 newly failing")
    (store.folder / "1.jsonl").unlink()
    row = list_runs(workspace).runs[0]
    assert (row.since, row.changes) == (None, None)


def test_a_run_that_goes_while_it_is_listed_is_no_reason_to_list_none(
    record: Any, workspace: Workspace, store: Store, a_test: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        record(a_test("test_a"))
    (store.folder / "2.jsonl").unlink()  # so that run 3 is compared with another run than it was at its end
    header = Store.header

    def header_of_one_that_goes(self: Store, stored: StoredRun) -> Header:
        stored.path.unlink()
        return header(self, stored)

    monkeypatch.setattr(Store, "header", header_of_one_that_goes)
    rows = list_runs(workspace).runs
    assert [(row.run, row.since) for row in rows] == [(3, 1), (1, None)]
    assert rows[0].changes == f"not compared: run #3 of {workspace.root} cannot be read: No such file or directory."


def test_equal_facts_have_equal_fingerprints_whatever_their_order(record: Any, store: Store, a_test: Any) -> None:
    a, b = a_test("test_a", duration_ms=1), a_test("test_b", "failed", "m")
    for events in ((a, b), (b, a), (a, a, b), (a, a_test("test_b", "failed", "n"))):
        record(*events)
    facts = [digests.kept_digest(stored).facts for stored in reversed(store.runs())]  # type: ignore[union-attr]
    assert facts[0] == facts[1]
    assert len(set(facts)) == 3


def test_a_digest_made_from_the_file_is_the_recorders(record: Any, store: Store, a_test: Any, many_tests: Any) -> None:
    from treescribe.codec import Codec

    history(record, a_test, many_tests)
    for stored in store.runs():
        kept = digests.kept_digest(stored)
        assert kept is not None
        made = digests.digest_of(store.read(stored, Codec()))
        assert made == replace(kept, since=None, changes="")


def test_colours_are_put_on_the_outcome(record: Any, workspace: Workspace, clock: SetClock) -> None:
    record()
    text = render(list_runs(workspace), Style(colour=True, now_ms=clock.now_ms()))
    assert "\x1b[32mpassed\x1b[0m" in text
    assert re.sub(r"\x1b\[\d*m", "", text) == plain(list_runs(workspace), clock)


def test_a_history_that_may_not_be_read_is_told(record: Any, workspace: Workspace, store: Store) -> None:
    from support import unprivileged
    from treescribe.errors import RunUnavailable

    record()
    list_runs(workspace)  # what it imports may be out of others' reach
    open_to_all(workspace.root)
    store.folder.chmod(0o000)
    try:
        with unprivileged(), pytest.raises(RunUnavailable, match=r"cannot be read: .*Permission denied"):
            list_runs(workspace)
    finally:
        store.folder.chmod(0o755)
