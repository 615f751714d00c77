"""What holds for any two runs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from run_builders import APP, FORK, run
from treescribe.events import (
    CommandFinished,
    CompilationReason,
    CompileFinished,
    CompileStatus,
    Diagnostic,
    Event,
    OperationFinished,
    RunFinished,
    Severity,
    SuiteFinished,
    SuiteOutcome,
    TaskFinished,
    TestFinished,
    TestStatus,
)
from treescribe.terminal import Style
from treescribe_history.diff import diff
from treescribe_history.diff_models import DiffResult, TestChange
from treescribe_history.diff_text import render_diff
from treescribe_history.timing import timing
from treescribe_history.timing_text import render_timing

FEW = st.sampled_from(["a", "b", f"{APP}/x", "\x1b[1mb\x1b[m"])
TIME = st.integers(0, 10_000)
EVENTS = st.one_of(
    st.builds(
        TestFinished,
        suite=FEW,
        test=FEW,
        status=st.sampled_from([*TestStatus, "odd"]),
        message=FEW,
        duration_ms=TIME,
    ),
    st.builds(SuiteFinished, suite=FEW, outcome=st.sampled_from(list(SuiteOutcome)), duration_ms=TIME),
    st.builds(
        Diagnostic,
        severity=st.sampled_from(list(Severity)),
        message=FEW,
        path=FEW,
        line=st.integers(0, 3),
        project=FEW,
    ),
    st.builds(TaskFinished, task=st.just(1), name=FEW, status=st.sampled_from(["passed", "failed"]), duration_ms=TIME),
    st.builds(CommandFinished, command=st.just(1), line=FEW, exit_code=st.sampled_from([0, 1, None]), duration_ms=TIME),
    st.builds(OperationFinished, operation=FEW, name=FEW, status=FEW, cached=st.booleans(), duration_ms=TIME),
)
UNITS = st.one_of(
    st.builds(CompilationReason, project=FEW, reason=st.sampled_from(["clean-build", "up-to-date"])),
    st.builds(CompileFinished, project=FEW, status=st.sampled_from(list(CompileStatus)), duration_ms=TIME),
)
RUNS = st.lists(EVENTS, max_size=12)
WITH_UNITS = st.tuples(RUNS, st.lists(UNITS, max_size=4)).map(lambda parts: parts[0] + parts[1])


def compare(base: Sequence[Event], target: Sequence[Event]) -> DiffResult:
    return diff(run(*base), run(*target, number=12))


def scaled(events: Sequence[Event], factor: int) -> list[Event]:
    """The events with every duration and moment multiplied."""
    times = {"at", "duration_ms"}
    return [
        replace(event, **{f.name: getattr(event, f.name) * factor + 1 for f in fields(event) if f.name in times})
        for event in events
    ]


def who(tests: tuple[TestChange, ...]) -> list[tuple[str, str]]:
    return sorted((test.suite, test.test) for test in tests)


@given(WITH_UNITS)
def test_a_run_is_identical_to_itself(events: list[Event]) -> None:
    result = compare(events, events)
    assert result.identical
    assert result.summary.startswith("No logical differences")


@given(WITH_UNITS, WITH_UNITS)
def test_exchanging_the_sides_exchanges_what_was_added_and_removed(base: list[Event], target: list[Event]) -> None:
    there, back = compare(base, target), compare(target, base)
    assert there.identical == back.identical
    assert there.same == back.same
    assert who(there.tests.added) == who(back.tests.removed)
    assert len(there.compile.added) == len(back.compile.removed)
    assert len(there.compile.changed) == len(back.compile.changed)
    for one, other in ((there.suites, back.suites), (there.tasks, back.tasks), (there.commands, back.commands)):
        mirror = {"added": "removed", "removed": "added", "changed": "changed"}
        assert sorted(entry.change for entry in one) == sorted(mirror[entry.change] for entry in other)


@given(RUNS, RUNS)
def test_exchanging_the_sides_exchanges_broken_and_fixed_tests(base: list[Event], target: list[Event]) -> None:
    there, back = compare(base, target), compare(target, base)
    broken = tuple(test for test in there.tests.newly_failing if test.before == "passed")
    mended = tuple(test for test in back.tests.fixed if test.after == "passed")
    assert who(broken) == who(mended)
    assert [(test.before, test.after) for test in broken] == [(test.after, test.before) for test in mended]


@given(WITH_UNITS, WITH_UNITS, st.integers(1, 9))
def test_scaling_every_duration_never_changes_a_byte(base: list[Event], target: list[Event], factor: int) -> None:
    scaled_result = compare(scaled(base, factor), scaled(target, factor + 3))
    assert scaled_result.model_dump_json() == compare(base, target).model_dump_json()


@given(RUNS, RUNS, st.randoms(use_true_random=False))
def test_the_order_of_events_never_changes_a_byte(
    base: list[Event], target: list[Event], chance: random.Random
) -> None:
    shuffled = chance.sample(base, len(base)), chance.sample(target, len(target))
    assert compare(*shuffled).model_dump_json() == compare(base, target).model_dump_json()


@given(WITH_UNITS)
def test_the_same_events_told_from_another_worktree_are_identical(events: list[Event]) -> None:
    def moved(value: Any) -> Any:
        return value.replace(APP, FORK) if isinstance(value, str) else value

    elsewhere = [replace(event, **{f.name: moved(getattr(event, f.name)) for f in fields(event)}) for event in events]
    assert diff(run(*events), run(*elsewhere, root=FORK)).identical


@given(WITH_UNITS, WITH_UNITS, st.integers(0, 3), st.integers(0, 3))
def test_a_page_shows_a_part_and_counts_the_rest(
    base: list[Event], target: list[Event], limit: int, offset: int
) -> None:
    whole, page = compare(base, target), diff(run(*base), run(*target, number=12), limit=limit, offset=offset)
    end = offset + limit if limit else None
    assert page.summary == whole.summary
    assert page.commands == whole.commands[offset:end]
    assert page.left_out.get("commands", 0) == len(whole.commands) - len(page.commands)


@given(WITH_UNITS, WITH_UNITS)
def test_any_comparison_can_be_read_on_lines_without_control_characters(base: list[Event], target: list[Event]) -> None:
    results = timing(run(*base), run(*target, RunFinished(outcome="passed")))
    for text in (render_diff(compare(base, target), Style()), render_timing(results, Style())):
        assert all(line.isprintable() for line in text.splitlines())
