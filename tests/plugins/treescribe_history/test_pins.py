"""Names of runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from treescribe.errors import InvalidInput, RunUnavailable
from treescribe.terminal import Style
from treescribe.workspace import Workspace
from treescribe_history.pinning import pin_run, render, unpin_run
from treescribe_history.pins import check_name, read_pins
from treescribe_history.resolve import resolve
from treescribe_history.store import Store


def test_a_name_serves_wherever_a_run_does(record: Any, workspace: Workspace, store: Store) -> None:
    record()
    record()
    result = pin_run(workspace, 1, "main")
    assert result.pins == {"main": 1}
    assert render(result, Style()) == "#1 is kept as main."
    assert resolve(store, "main").id == 1


def test_a_run_can_have_several_names_and_lose_them(record: Any, workspace: Workspace, store: Store) -> None:
    record()
    pin_run(workspace, "latest", "main")
    pin_run(workspace, "#1", "release/1.0")
    result = unpin_run(workspace, "main")
    assert (result.run, result.pins) == (1, {"release/1.0": 1})
    assert render(result, Style()) == "main no longer stands for #1. It is still kept as release/1.0."
    assert "as long as any other run" in render(unpin_run(workspace, "release/1.0"), Style())
    assert read_pins(store) == {}


def test_pinning_twice_is_pinning_once(record: Any, workspace: Workspace, store: Store) -> None:
    record()
    pin_run(workspace, 1, "main")
    pin_run(workspace, 1, "main")
    assert read_pins(store) == {"main": 1}


def test_a_name_is_not_taken_from_another_run(record: Any, workspace: Workspace) -> None:
    record()
    record()
    pin_run(workspace, 1, "main")
    with pytest.raises(InvalidInput, match=r"the name main is taken, by run #1") as caught:
        pin_run(workspace, 2, "main")
    assert caught.value.hint == "Free it with: treescribe history.unpin main"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "needs a name"),
        ("12", "taken for a run's number"),
        ("latest", "stands for a run already"),
        ("previous", "stands for a run already"),
        ("two words", "holds ' '"),
        ("café", "holds 'é'"),
        ("#12", "holds '#'"),
        ("--json", "taken for an option"),
        ("line\nbreak", r"holds '\n'"),
        ("٣", "holds '٣'"),
        ("x" * 101, "at most 100"),
    ],
)
def test_what_cannot_be_a_name_is_refused(name: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(says)):
        check_name(name)


@pytest.mark.parametrize("name", ["main", "v1.2", "release/2026-01", "a_b-c", "7up", "1.0", "../x"])
def test_what_can_be_a_name_is_taken(name: str) -> None:
    check_name(name)


def test_a_live_run_is_not_pinned(begin: Any, workspace: Workspace) -> None:
    begin()
    with pytest.raises(RunUnavailable, match="run #1 is still going on"):
        pin_run(workspace, 1, "main")


def test_an_unknown_name_is_told_with_the_known_ones(record: Any, workspace: Workspace, store: Store) -> None:
    record()
    with pytest.raises(InvalidInput, match="no run is called 'main'") as caught:
        resolve(store, "main")
    assert caught.value.hint.endswith("Pinned here: none.")
    pin_run(workspace, 1, "base")
    with pytest.raises(InvalidInput, match="no run is called 'main'") as caught:
        unpin_run(workspace, "main")
    assert caught.value.hint.endswith("Pinned here: base (#1).")


def test_unpinning_where_there_is_no_history_is_told(workspace: Workspace) -> None:
    with pytest.raises(InvalidInput, match="no run is called 'main'"):
        unpin_run(workspace, "main")


@pytest.mark.parametrize("damaged", ["{", "[]", '{"main": "1"}', '{"main": true}', ""])
def test_damaged_pins_are_told_and_nothing_is_overwritten(
    record: Any, workspace: Workspace, store: Store, damaged: str
) -> None:
    record()
    path = store.folder / "pins.json"
    path.write_text(damaged)
    with pytest.raises(RunUnavailable, match=r"the pins of .* cannot be read"):
        pin_run(workspace, 1, "main")
    assert path.read_text() == damaged


def test_a_pin_whose_run_was_deleted_says_so(record: Any, workspace: Workspace, store: Store) -> None:
    record()
    record()
    pin_run(workspace, 1, "main")
    (store.folder / "1.jsonl").unlink()
    with pytest.raises(RunUnavailable, match=r"run #1 \(pinned as main\) is no longer kept"):
        resolve(store, "main")
