"""Facts: normalised so that two worktrees can be compared, and never with a time."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields, replace

import pytest
from event_strategies import events_of
from hypothesis import given
from hypothesis import strategies as st
from treescribe.events import CATALOGUE, Event
from treescribe.facts import Fact, WorkspacePath, collect, compared, full_test_name, normalise, rank, root_pattern

WINDOWS = r"C:\ws\app"


@pytest.mark.parametrize(
    ("root", "text", "expected"),
    [
        ("/ws/app", "see /ws/app/src/a.py:3", "see src/a.py:3"),
        ("/ws/app", "in /ws/app.", "in .."),
        ("/ws/app", "in '/ws/app' and /ws/app/", "in '.' and ."),
        ("/ws/app/", "in /ws/app/src", "in src"),
        ("/ws/app", "/ws/app-fork/src and /ws/application", "/ws/app-fork/src and /ws/application"),
        ("/ws/app", "/ws/app.bak/src", "/ws/app.bak/src"),
        ("/ws/app", "/mnt/ws/app/src", "/mnt/ws/app/src"),
        ("/ws/app", "file:///ws/app/src", "file://src"),
        ("/ws/app", "cc -I/ws/app/include -o=/ws/app/out @/ws/app/args", "cc -Iinclude -o=out @args"),
        ("/ws/app", "PATH=/bin:/ws/app/bin:/ws/app", "PATH=/bin:bin:."),
        ("/ws/app", r"test[/ws/app/x\n]", r"test[x\n]"),
        ("/ws/a+b (1)", "in /ws/a+b (1)/src", "in src"),
        ("/ws/app", "\x1b[31mE\x1b[0m in \x1b]8;;x\x1b\\/ws/app/a.py", "E in a.py"),
        ("/", "/usr/lib/a.so", "/usr/lib/a.so"),
        ("", "/usr/lib/a.so", "/usr/lib/a.so"),
        (WINDOWS, r"see C:\ws\app\src\a.py:3", "see src/a.py:3"),
        (WINDOWS, "see c:/WS/app/src/a.py:3", "see src/a.py:3"),
        (WINDOWS, r"open('C:\\ws\\app\\src\\a.py')", "open('src/a.py')"),
        (WINDOWS, r"see C:\ws\app-fork\a.py", r"see C:\ws\app-fork\a.py"),
        (WINDOWS, "file:///C:/ws/app/a.py", "file:///a.py"),
        (r"\\server\share\app", r"see \\server\share\app\src\a.py", "see src/a.py"),
    ],
)
def test_mentions_of_the_root_become_relative_at_path_boundaries_only(root: str, text: str, expected: str) -> None:
    assert normalise(text, root_pattern(root)) == expected


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        ("/ws/app", "/ws/app/src/a.py", "src/a.py"),
        ("/ws/app", "/ws/app//src/a.py", "src/a.py"),
        ("/ws/app", "/ws/app", "."),
        ("/ws/app", "/ws/app/", "."),
        ("/ws/app", "src/a.py", "src/a.py"),
        ("/ws/app", "/ws/app fork/a.py", "/ws/app fork/a.py"),
        ("/ws/app", "/usr/include/stdio.h", "/usr/include/stdio.h"),
        ("/ws/app", "/mnt/ws/app/a.py", "/mnt/ws/app/a.py"),
        ("/", "/usr/a", "/usr/a"),
        (WINDOWS, r"c:\ws\app\src\a.py", "src/a.py"),
        (WINDOWS, r"D:\sdk\a.h", "D:/sdk/a.h"),
    ],
)
def test_a_path_is_relative_to_its_own_root_and_stays_absolute_outside(root: str, path: str, expected: str) -> None:
    assert normalise(WorkspacePath(path), root_pattern(root)) == expected


def test_a_collection_of_paths_is_ordered_after_it_was_made_relative() -> None:
    def fact(root: str) -> Fact:
        paths = tuple(WorkspacePath(path) for path in sorted((f"{root}/src/a.py", "/usr/x.py")))
        return Fact("patch", ("workspace",), (("paths", paths),))

    one, other = (compared(fact(root), root_pattern(root)) for root in ("/aa/app", "/zz/app"))
    assert one == other


def test_a_later_fact_that_merges_updates_the_earlier_one() -> None:
    reason = Fact("compile", ("core",), (("reason", "clean-build"),), merges=True)
    again = Fact("compile", ("core",), (("reason", "up-to-date"),), merges=True)
    end = Fact("compile", ("core",), (("status", "success"),), merges=True)
    counts = collect([reason, end, again], "/ws/app").counts
    assert counts == {"compile": {Fact("compile", ("core",), (("reason", "up-to-date"), ("status", "success"))): 1}}


def test_equal_facts_are_counted_and_told_as_often_as_they_occurred() -> None:
    facts = [Fact("note", ("x",), (), (("line", line),)) for line in (10, 9)] + [Fact("note", ("x",))]
    gathered = collect(facts, "/ws/app")
    same = Fact("note", ("x",))
    assert gathered.counts == {"note": {same: 3}}
    assert [told.shown for told in gathered.told(same)] == [(("line", 9),), (("line", 10),), ()]


def test_what_is_told_keeps_the_text_of_the_run_and_drops_only_colours() -> None:
    fact = Fact("note", (WorkspacePath("/ws/app/a.py"), "in /ws/app/b.py"), (("message", "\x1b[1mno /ws/app/c\x1b[m"),))
    gathered = collect([fact], "/ws/app")
    (same,) = gathered.counts["note"]
    assert same == Fact("note", ("a.py", "in b.py"), (("message", "no c"),))
    assert gathered.told(same) == [Fact("note", ("a.py", "in /ws/app/b.py"), (("message", "no /ws/app/c"),))]


def test_values_of_different_types_have_an_order() -> None:
    values = ["b", None, 10, 9, ("z",), "a", True]
    assert sorted(values, key=rank) == [None, True, 9, 10, "a", "b", ("z",)]


@pytest.mark.parametrize("cls", CATALOGUE, ids=lambda cls: cls.type)
@given(data=st.data(), time=st.integers())
def test_no_fact_of_the_catalogue_holds_a_time(cls: type[Event], data: st.DataObject, time: int) -> None:
    event = data.draw(events_of(cls))
    times = [field.name for field in fields(cls) if field.name == "at" or field.name.endswith("_ms")]
    assert replace(event, **dict.fromkeys(times, time)).fact() == event.fact()


@pytest.mark.parametrize(
    ("project", "suite", "name"),
    [
        ("", "tests/a.py", "tests/a.py::test_x"),
        ("py311", "tests/a.py", "py311: tests/a.py::test_x"),
        ("", "", "test_x"),
    ],
)
def test_a_test_is_called_by_suite_and_test_and_by_project_where_there_is_one(
    project: str, suite: str, name: str
) -> None:
    assert full_test_name(project, suite, "test_x") == name


def test_facts_are_imported_without_pydantic() -> None:
    code = "import sys, treescribe.facts, treescribe.events; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
