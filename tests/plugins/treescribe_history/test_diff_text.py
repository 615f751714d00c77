"""A comparison as people read it, and in the few words that a run ends with."""

from __future__ import annotations

import pytest
from run_builders import APP, FORK, compiled, diagnostic, failed, passed, run, skipped, suite
from treescribe.events import CommandFinished, Event, PatchRecorded, TaskFinished, UnknownEvent
from treescribe.terminal import Style
from treescribe_history.changes import changes_text, first_names
from treescribe_history.diff import diff
from treescribe_history.diff_text import render_diff

PLAIN = Style()


def command(line: str, code: int = 0) -> CommandFinished:
    return CommandFinished(command=1, line=line, exit_code=code)


def test_a_failing_test_and_a_diagnostic_read_as_in_the_guide() -> None:
    base = run(passed("test_total"))
    target = run(
        failed("test_total"),
        diagnostic("undefined name 'totl'", severity="error", line=14, column=5, code="F821", tool="ruff"),
    )
    assert render_diff(diff(base, target), PLAIN) == "\n".join(
        [
            "1 newly failing, 1 new diagnostic.",
            "",
            "Tests",
            "  newly failing  tests/test_cart.py::test_total",
            "                 assert 9 == 10",
            "Diagnostics",
            "  new            src/cart.py:14:5  error  F821 undefined name 'totl'  (ruff)",
        ]
    )


def test_identical_runs_say_what_was_the_same() -> None:
    events: tuple[Event, ...] = (
        *(passed(f"test_{number}") for number in range(41)),
        command("a"),
        command("b"),
        TaskFinished(task=1, name="test", status="passed"),
    )
    assert render_diff(diff(run(*events), run(*events)), PLAIN) == (
        "No logical differences. 41 tests, 2 commands and 1 task are the same; "
        "durations are compared by history.timing."
    )


def test_runs_without_facts_say_so() -> None:
    assert render_diff(diff(run(), run()), PLAIN) == (
        "No logical differences. Neither run established anything to compare."
    )


def test_every_section_has_its_lines_in_aligned_columns() -> None:
    base = run(
        failed("test_a", "one"),
        failed("test_same", "boom"),
        passed("test_b", project="py311"),
        skipped("test_c", "on Tuesdays"),
        suite(),
        *compiled("core", "clean-build", invalidated_files=(f"{APP}/a.c",)),
        diagnostic("dead", line=3),
        diagnostic("old", project="web"),
        *compiled("web"),
        TaskFinished(task=1, name="build", arguments=(("level", "1"),), status="passed"),
        command("make"),
        PatchRecorded(paths=(f"{APP}/a.py",), added_lines=1),
    )
    target = run(
        failed("test_a", "two\nmore"),
        failed("test_same", "boom"),
        skipped("test_b", "flaky", project="py311"),
        skipped("test_c", "on Mondays"),
        suite(outcome="errored", message="no module"),
        *compiled("core", "incremental", "failed", invalidated_files=(f"{APP}/b.c",)),
        *compiled("web", "up-to-date"),
        TaskFinished(task=1, name="build", arguments=(("level", "1"),), status="failed"),
        command("make", 2),
        PatchRecorded(paths=(f"{APP}/b.py",), added_lines=2),
        number=12,
    )
    assert render_diff(diff(base, target), PLAIN).splitlines() == [
        "1 failing otherwise than before, 1 newly skipped, 1 test status changed, 1 suite differs, "
        "2 compile units differ, 1 diagnostic resolved, 1 diagnostic not checked, 1 other difference.",
        "",
        "Tests",
        "  still failing   tests/test_cart.py::test_a",
        "                  was: one",
        "                  now: two …",
        "  still failing   tests/test_cart.py::test_same  (as before)",
        "                  boom",
        "  newly skipped   py311: tests/test_cart.py::test_b",
        "                  flaky",
        "  status changed  tests/test_cart.py::test_c",
        "                  was: on Tuesdays",
        "                  now: on Mondays",
        "Suites",
        "  changed         tests/test_cart.py  executed → errored",
        "                  no module",
        "Compile units",
        "  changed         core  status success → failed, reason clean-build → incremental",
        "                  invalidated files + b.c",
        "                  invalidated files - a.c",
        "  changed         web  reason incremental → up-to-date",
        "Diagnostics",
        "  resolved        src/cart.py:3  warning  dead",
        "  not checked     1 diagnostic of units that were not compiled",
        "Tasks",
        "  changed         build(level=1)  passed → failed",
        "Commands",
        "  changed         make  exit code 0 → exit code 2",
        "Other",
        "  changed         patch  workspace",
        "                  added_lines: 1 → 2",
        "                  paths: a.py → b.py",
    ]


def test_colours_only_where_the_style_has_them_and_never_from_a_message() -> None:
    result = diff(run(passed("test_a")), run(failed("test_a", "\x1b[31mred\x1b[0m\x07"), number=12))
    assert "\x1b" not in render_diff(result, PLAIN)
    assert "\x07" not in render_diff(result, PLAIN)
    coloured = render_diff(result, Style(colour=True))
    assert "\x1b[31mnewly failing\x1b[0m" in coloured
    assert "\x1b[2mred \x1b[0m" in coloured


def test_notes_and_events_that_were_not_compared_stand_below_the_sentence() -> None:
    unknown = UnknownEvent(record={"type": "Deployed"})
    text = render_diff(diff(run(unknown), run(root=FORK)), PLAIN)
    assert text.splitlines()[1:] == [
        f"Across worktrees, {APP} and {FORK}: paths are relative to each one's own.",
        "Not compared: 1 event of types that are not installed here (Deployed).",
    ]


def test_what_a_page_leaves_out_is_counted_with_the_options_that_show_it() -> None:
    target = run(*(failed(f"test_{number}") for number in range(5)))
    lines = render_diff(diff(run(), target, limit=2), PLAIN).splitlines()
    assert lines[-1] == "         … 3 others not listed: --offset 2 shows the next, --limit 0 and --offset 0 show all"


# ---- at the end of a run ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "target", "text"),
    [
        ((passed("test_a"),), (failed("test_a"),), "newly failing since #11: tests/test_cart.py::test_a"),
        ((failed("test_a"),), (passed("test_a"),), "fixed since #11: tests/test_cart.py::test_a"),
        (
            (failed("test_a"), passed("test_b")),
            (passed("test_a"), failed("test_b")),
            "newly failing since #11: tests/test_cart.py::test_b · fixed since #11: tests/test_cart.py::test_a",
        ),
        ((failed("test_a"),), (failed("test_a"),), "no differences since #11"),
        ((), (passed("test_a"),), "since #11: 1 test added"),
        (
            (),
            (diagnostic("unused", line=7, column=1, code="F401"),) * 3,
            "3 new diagnostics, first: src/cart.py:7:1 F401 unused",
        ),
    ],
)
def test_a_run_ends_with_what_it_changed(base: tuple[Event, ...], target: tuple[Event, ...], text: str) -> None:
    assert changes_text(diff(run(*base), run(*target)), 11) == text


def test_of_many_changes_three_are_named_and_the_rest_is_counted() -> None:
    tests = [f"test_{number}" for number in range(7)]
    result = diff(run(*map(passed, tests)), run(*map(failed, tests)))
    named = ", ".join(f"tests/test_cart.py::test_{number}" for number in range(3))
    assert changes_text(result, 11) == f"newly failing since #11: {named} and 4 more"
    assert first_names(result.tests.newly_failing)[-1] == "4 more"
    added = diff(run(), run(*map(failed, tests)))
    assert changes_text(added, 11) == f"added and failing: {named} and 4 more"
