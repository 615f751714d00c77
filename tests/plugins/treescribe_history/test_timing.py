"""Comparing how long two runs took."""

from __future__ import annotations

import pytest
from run_builders import APP, FORK, SUITE, failed, passed, run, suite
from treescribe.events import CommandFinished, CompileFinished, Event, RunFinished, TaskFinished
from treescribe.terminal import Style
from treescribe_history.timing import Slow, TimingChange, TimingResult, timing
from treescribe_history.timing_text import render_timing

TEST = f"{SUITE}::test_a"


def timed(test: str, ms: int) -> Event:
    return passed(test, duration_ms=ms)


def command(line: str, ms: int, status: str = "exited") -> Event:
    return CommandFinished(command=1, line=line, exit_code=0, duration_ms=ms, status=status)


@pytest.mark.parametrize(
    ("base", "target", "counts"),
    [
        (0, 49, False),
        (0, 50, True),
        (100, 149, False),
        (100, 150, True),
        (1000, 1199, False),
        (1000, 1200, True),
        (1000, 801, False),
        (1000, 800, True),
        (1200, 1000, False),
        (50, 0, True),
    ],
)
def test_a_change_counts_from_50_ms_and_20_per_cent_of_base_on(base: int, target: int, counts: bool) -> None:
    result = timing(run(timed("test_a", base)), run(timed("test_a", target)))
    changed = result.slower if target > base else result.faster
    assert len(changed) == (1 if counts else 0)
    assert result.suppressed == (0 if counts else 1)
    assert (result.threshold.ms, result.threshold.percent_of_base) == (50, 20)


def test_tests_suites_units_tasks_and_commands_are_compared_each_by_its_key() -> None:
    def events(factor: int) -> tuple[Event, ...]:
        return (
            timed("test_a", 100 * factor),
            suite(duration_ms=200 * factor),
            CompileFinished(project="core", status="success", duration_ms=300 * factor),
            TaskFinished(task=1, name="build", arguments=(("x", "1"),), status="passed", duration_ms=400 * factor),
            command("make", 500 * factor),
        )

    result = timing(run(*events(1)), run(*events(2)))
    assert [(change.kind, change.name, change.change_ms) for change in result.slower] == [
        ("command", "make", 500),
        ("task", "build(x=1)", 400),
        ("compile", "core", 300),
        ("suite", SUITE, 200),
        ("test", TEST, 100),
    ]


def test_how_a_test_came_out_does_not_matter() -> None:
    base = run(passed("test_a", duration_ms=100))
    target = run(failed("test_a", duration_ms=400))
    assert timing(base, target).slower == (
        TimingChange(kind="test", name=TEST, base_ms=100, target_ms=400, change_ms=300),
    )


def test_the_biggest_change_comes_first_and_ties_break_on_the_key() -> None:
    base = run(*(timed(test, 100) for test in ("test_c", "test_a", "test_b")))
    target = run(timed("test_c", 300), timed("test_b", 200), timed("test_a", 200))
    result = timing(base, target)
    assert [change.name.partition("::")[2] for change in result.slower] == ["test_c", "test_a", "test_b"]
    assert [slow.name.partition("::")[2] for slow in result.slowest_in_target] == ["test_c", "test_a", "test_b"]


def test_the_slowest_of_the_target_are_a_few_of_each_kind() -> None:
    target = run(*(timed(f"test_{number}", 10 * number) for number in range(9)), command("pytest", 1000))
    assert [(slow.kind, slow.ms) for slow in timing(run(), target).slowest_in_target] == [
        ("command", 1000),
        *(("test", ms) for ms in (80, 70, 60, 50, 40)),
    ]


def test_of_what_ran_several_times_the_sums_are_compared() -> None:
    base, target = run(*(timed("test_a", 40) for _ in range(3))), run(*(timed("test_a", 60) for _ in range(3)))
    (change,) = timing(base, target).slower
    assert (change.base_ms, change.target_ms, change.times) == (120, 180, 3)


def test_what_only_one_run_has_or_ran_more_often_is_counted_and_not_compared() -> None:
    base = run(timed("test_a", 100), timed("test_b", 100), timed("test_b", 100))
    target = run(timed("test_b", 900), timed("test_c", 900), timed("test_d", 900))
    result = timing(base, target)
    assert (result.slower, result.suppressed, result.only_in_base, result.only_in_target) == ((), 0, 2, 3)
    assert result.summary.startswith("The two runs have nothing in common")


def test_a_command_that_outlived_its_run_has_no_duration() -> None:
    result = timing(run(command("serve", 100, "detached")), run(command("serve", 9000, "detached")))
    assert (result.slower, result.slowest_in_target, result.only_in_base) == ((), (), 0)


def test_keys_are_compared_across_worktrees() -> None:
    base, target = run(command(f"cc {APP}/a.c", 100)), run(command(f"cc {FORK}/a.c", 900), root=FORK)
    result = timing(base, target)
    assert result.cross_workspace
    assert [change.name for change in result.slower] == [f"cc {FORK}/a.c"]


def test_the_totals_are_the_runs_own_or_what_they_took_so_far() -> None:
    base = run(RunFinished(outcome="passed", duration_ms=8100))
    target = run(passed("test_a", at=9000), number=12)
    unfinished = type(target)(target.header, target.events[:1], "live")
    result = timing(base, unfinished)
    assert (result.total_base_ms, result.total_target_ms) == (8100, 9000)
    assert result.notes == ("Run #12 still goes on: what it did not reach counts as missing from it.",)


def test_the_limit_leaves_out_the_smaller_changes_and_counts_them() -> None:
    base = run(*(timed(f"test_{number}", 0) for number in range(5)))
    target = run(*(timed(f"test_{number}", 100 + number) for number in range(5)))
    result = timing(base, target, limit=2)
    assert [change.target_ms for change in result.slower] == [104, 103]
    assert result.left_out == {"slower": 3}
    assert result.summary.startswith("5 slower, 0 within")


def test_the_text_reads_as_in_the_guide() -> None:
    base = run(timed("test_many", 410), timed("test_x", 5), RunFinished(outcome="passed", duration_ms=8100))
    target = run(timed("test_many", 1320), timed("test_x", 6), RunFinished(outcome="passed", duration_ms=9000))
    assert render_timing(timing(base, target), Style()).splitlines() == [
        "1 slower, 1 within max(50 ms, 20 %). Total 8.10 s → 9.00 s.",
        "  slower  tests/test_cart.py::test_many  0.41 s → 1.32 s  +0.91 s",
        "Slowest",
        "  1.32 s  tests/test_cart.py::test_many",
        "  0.01 s  tests/test_cart.py::test_x",
    ]


def test_slower_is_red_faster_is_green_and_what_is_missing_is_told() -> None:
    base = run(timed("test_a", 100), timed("test_b", 900), timed("test_c", 1))
    result = timing(base, run(timed("test_a", 900), timed("test_b", 100), number=12), limit=0)
    lines = render_timing(result, Style(colour=True)).splitlines()
    assert "\x1b[2mNot compared, for want of an equal counterpart: 1 more in #11.\x1b[0m" in lines
    assert any(line.startswith("  \x1b[31mslower\x1b[0m  ") for line in lines)
    assert any(line.startswith("  \x1b[32mfaster\x1b[0m  ") and line.endswith("-0.80 s") for line in lines)


def test_the_answer_is_valid_by_its_own_schema() -> None:
    pydantic = pytest.importorskip("pydantic")
    result = timing(run(timed("test_a", 0)), run(timed("test_a", 100), suite("", duration_ms=7)))
    assert Slow(kind="suite", name="", ms=7) in result.slowest_in_target
    assert pydantic.TypeAdapter(TimingResult).validate_json(result.model_dump_json()) == result
