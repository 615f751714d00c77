"""Comparing two runs, question by question."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest
from run_builders import APP, FORK, SUITE, compiled, diagnostic, failed, finished, passed, run, skipped, suite
from treescribe.events import (
    CommandFinished,
    CommandStarted,
    Event,
    IssueChanged,
    OperationFinished,
    Output,
    PatchRecorded,
    RunFinished,
    TaskFinished,
    TestStarted,
    UnknownEvent,
)
from treescribe.facts import Fact, WorkspacePath
from treescribe_history.diff import diff, exit_code
from treescribe_history.diff_models import DiffResult, TestChange


def names(tests: tuple[TestChange, ...]) -> list[str]:
    return [test.test for test in tests]


def sections(result: DiffResult) -> set[str]:
    """The sections that the JSON has, those within `tests`, `compile` and `diagnostics` with a dot."""
    written: dict[str, dict[str, object]] = json.loads(result.model_dump_json())
    parts = {f"{name}.{part}" for name in ("tests", "compile", "diagnostics") for part in written.get(name, {})}
    return parts | (written.keys() & {"suites", "tasks", "commands", "other"})


# ---- tests --------------------------------------------------------------------------------------------


def test_the_same_outcome_with_other_times_and_in_another_order_is_identical() -> None:
    base = run(passed("test_a", duration_ms=5, at=1), failed("test_b", at=2), suite(duration_ms=3))
    target = run(suite(duration_ms=999), failed("test_b", duration_ms=70), passed("test_a", at=100))
    result = diff(base, target)
    assert result.identical
    assert result.summary == "No logical differences; 1 test fails as before."


def test_a_test_that_broke_is_newly_failing_with_what_it_says_and_then_fixed() -> None:
    green, red = run(passed("test_a"), passed("test_b")), run(passed("test_a"), failed("test_b"))
    broken = diff(green, red)
    assert broken.summary == "1 newly failing."
    assert broken.tests.newly_failing == (
        TestChange(suite=SUITE, test="test_b", before="passed", after="failed", message="assert 9 == 10"),
    )
    assert sections(broken) == {"tests.newly_failing"}
    mended = diff(red, green)
    assert (mended.summary, names(mended.tests.fixed)) == ("1 fixed.", ["test_b"])
    assert sections(mended) == {"tests.fixed"}


def test_a_test_that_fails_with_the_same_message_is_listed_and_no_difference() -> None:
    result = diff(run(failed("test_a")), run(failed("test_a")))
    assert result.identical
    (entry,) = result.tests.still_failing
    assert (entry.test, entry.changed, entry.message) == ("test_a", None, "assert 9 == 10")


def test_a_test_that_fails_with_another_message_or_status_is_a_difference() -> None:
    base = run(failed("test_a", "assert 1 == 2"), failed("test_b", "boom"), failed("test_c"))
    target = run(failed("test_a", "assert 1 == 3"), finished("test_b", "timeout", message="boom"), failed("test_c"))
    result = diff(base, target)
    assert not result.identical
    assert result.summary == "2 failing otherwise than before."
    message, status, same = result.tests.still_failing
    assert (message.message, message.previous, message.changed) == ("assert 1 == 3", "assert 1 == 2", True)
    assert (status.before, status.after, status.previous) == ("failed", "timeout", "")
    assert (same.test, same.changed) == ("test_c", None)


def test_skips_are_told_with_their_reasons() -> None:
    base = run(passed("test_a"), failed("test_b"), skipped("test_c", "no network"), skipped("test_d", "on Tuesdays"))
    target = run(
        skipped("test_a", "flaky"), skipped("test_b", "xfail"), passed("test_c"), skipped("test_d", "on Mondays")
    )
    tests = diff(base, target).tests
    assert [(test.test, test.before, test.reason) for test in tests.newly_skipped] == [
        ("test_b", "failed", "xfail"),
        ("test_a", "passed", "flaky"),
    ]
    assert [(test.test, test.reason) for test in tests.unskipped] == [("test_c", "no network")]
    assert [(test.test, test.previous, test.reason) for test in tests.status_changed] == [
        ("test_d", "on Tuesdays", "on Mondays")
    ]


def test_a_skip_of_another_status_has_changed_its_status() -> None:
    (entry,) = diff(run(skipped("test_a", "")), run(finished("test_a", "pending"))).tests.status_changed
    assert (entry.before, entry.after) == ("skipped", "pending")


def test_a_skipped_test_that_fails_is_newly_failing() -> None:
    assert names(diff(run(skipped("test_a")), run(failed("test_a"))).tests.newly_failing) == ["test_a"]


def test_a_failing_test_that_left_the_scope_is_removed_and_not_fixed() -> None:
    result = diff(run(failed("test_a"), passed("test_b")), run(passed("test_b"), passed("test_c")))
    assert sections(result) == {"tests.removed", "tests.added"}
    assert [(test.test, test.before) for test in result.tests.removed] == [("test_a", "failed")]
    assert result.summary == "1 test added, 1 test removed."


def test_the_same_name_in_another_project_or_suite_is_another_test() -> None:
    base = run(passed("test_a", project="py311"), passed("test_a", suite="tests/test_x.py"))
    target = run(passed("test_a", project="py312"), passed("test_a", suite="tests/test_y.py"))
    tests = diff(base, target).tests
    assert [test.name for test in tests.added] == ["tests/test_y.py::test_a", f"py312: {SUITE}::test_a"]
    assert len(tests.removed) == 2


@pytest.mark.parametrize("status", ["exploded", "failed", "error", "cancelled", "timeout"])
def test_statuses_that_are_failures_and_unknown_ones_read_as_failures(status: str) -> None:
    assert names(diff(run(passed("test_a")), run(finished("test_a", status))).tests.newly_failing) == ["test_a"]
    assert names(diff(run(finished("test_a", status)), run(passed("test_a"))).tests.fixed) == ["test_a"]


def test_repeated_tests_are_a_multiset_and_compared_by_counts() -> None:
    base = run(passed("test_a"), passed("test_a"), failed("test_a"))
    assert diff(base, run(failed("test_a"), passed("test_a"), passed("test_a"))).identical
    lost = diff(base, run(failed("test_a"), passed("test_a")))
    assert [(test.test, test.before) for test in lost.tests.removed] == [("test_a", "passed")]
    worse = diff(base, run(failed("test_a"), failed("test_a"), passed("test_a")))
    assert sections(worse) == {"tests.newly_failing", "tests.still_failing"}
    assert (names(worse.tests.newly_failing), names(worse.tests.still_failing)) == (["test_a"], ["test_a"])


def test_what_remains_of_a_repeated_test_is_paired_by_its_status_first() -> None:
    base = run(failed("test_a", "one"), passed("test_a"))
    target = run(failed("test_a", "two"), skipped("test_a"))
    tests = diff(base, target).tests
    assert [(test.previous, test.message) for test in tests.still_failing] == [("one", "two")]
    assert names(tests.newly_skipped) == ["test_a"]


def test_of_changes_the_failing_come_first() -> None:
    base = run(passed("test_gone"), failed("test_red_gone"))
    target = run(passed("test_a"), failed("test_z"))
    tests = diff(base, target).tests
    assert (names(tests.added), names(tests.removed)) == (["test_z", "test_a"], ["test_red_gone", "test_gone"])


# ---- suites and compile units -------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["empty", "no-framework-matched", "errored", "timed-out", "cancelled", "odd"])
def test_every_outcome_of_a_suite_differs_from_executed(outcome: str) -> None:
    result = diff(run(suite()), run(suite(outcome=outcome, message="no module named cart")))
    (entry,) = result.suites
    assert (entry.change, entry.before, entry.after) == ("changed", "executed", outcome)
    assert entry.message == "no module named cart"
    assert result.summary == "1 suite differs."


def test_a_suite_without_tests_on_one_side_is_a_difference() -> None:
    result = diff(run(passed("test_a")), run(passed("test_a"), suite("tests/test_empty.py", "empty")))
    assert not result.identical
    assert [(entry.suite, entry.change, entry.after) for entry in result.suites] == [
        ("tests/test_empty.py", "added", "empty")
    ]


def test_compile_units_tell_what_moved_from_what_to_what() -> None:
    base = run(*compiled("core", "clean-build", invalidated_files=(f"{APP}/a.scala", f"{APP}/b.scala")))
    target = run(
        *compiled(
            "core", "incremental", "failed", invalidated_files=(f"{APP}/b.scala",), changed_dependencies=("base",)
        )
    )
    (unit,) = diff(base, target).compile.changed
    assert json.loads(unit.model_dump_json()) == {
        "project": "core",
        "reason": {"before": "clean-build", "after": "incremental"},
        "status": {"before": "success", "after": "failed"},
        "invalidated_files": {"removed": ["a.scala"]},
        "changed_dependencies": {"added": ["base"]},
    }


def test_compile_units_of_one_side_are_added_and_removed() -> None:
    units = diff(run(*compiled("core")), run(*compiled("web", status="failed"))).compile
    assert [(unit.project, unit.status) for unit in units.added] == [("web", "failed")]
    assert [(unit.project, unit.status) for unit in units.removed] == [("core", "success")]


# ---- diagnostics --------------------------------------------------------------------------------------


def test_diagnostics_are_new_and_resolved_and_two_equal_ones_are_two() -> None:
    base = run(diagnostic("unused", line=3), diagnostic("dead code", line=9))
    target = run(diagnostic("unused", line=3), diagnostic("unused", line=7, code="F401", tool="ruff"))
    found = diff(base, target).diagnostics
    assert json.loads(found.model_dump_json()) == {
        "new": [
            {
                "severity": "warning",
                "path": "src/cart.py",
                "line": 7,
                "message": "unused",
                "code": "F401",
                "tool": "ruff",
            }
        ],
        "resolved": [{"severity": "warning", "path": "src/cart.py", "line": 9, "message": "dead code"}],
    }
    assert len(diff(run(), run(diagnostic("unused"), diagnostic("unused"))).diagnostics.new) == 2


def test_a_diagnostic_that_only_moved_lines_is_neither_new_nor_resolved() -> None:
    assert diff(run(diagnostic("unused", line=3)), run(diagnostic("unused", line=30, column=2))).identical


def test_errors_come_before_warnings_and_unknown_severities_count_as_errors() -> None:
    severities = ("info", "warning", "fatal")
    found = diff(run(), run(*(diagnostic("x", severity=severity) for severity in severities))).diagnostics.new
    assert [entry.severity for entry in found] == ["fatal", "warning", "info"]


@pytest.mark.parametrize(
    ("reason", "status"), [("up-to-date", "success"), ("incremental", "skipped"), ("incremental", "cancelled")]
)
def test_diagnostics_of_a_unit_that_was_not_compiled_this_time_are_not_checked(reason: str, status: str) -> None:
    said = (diagnostic("unused", project="core"), diagnostic("dead", project="web"), diagnostic("long line"))
    base = run(*compiled("core"), *compiled("web"), *said)
    target = run(*compiled("core", reason, status), *compiled("web"))
    result = diff(base, target)
    assert [entry.message for entry in result.diagnostics.resolved] == ["dead", "long line"]
    assert result.diagnostics.not_checked == 1
    assert "1 diagnostic not checked" in result.summary


def test_diagnostics_of_a_unit_that_the_target_does_not_speak_of_are_not_checked() -> None:
    base = run(*compiled("core"), diagnostic("unused", project="core"))
    assert diff(base, run()).diagnostics.not_checked == 1


# ---- tasks, commands and all else ---------------------------------------------------------------------


def task(name: str, status: str = "passed", **arguments: str) -> TaskFinished:
    return TaskFinished(task=1, name=name, status=status, arguments=tuple(arguments.items()))


def command(line: str, code: int | None = 0, **fields: object) -> CommandFinished:
    return CommandFinished(command=1, line=line, exit_code=code, **fields)  # type: ignore[arg-type]


def test_tasks_are_compared_by_name_and_arguments() -> None:
    result = diff(run(task("build", level="1"), task("test")), run(task("build", level="2"), task("test", "failed")))
    assert [(entry.name, entry.arguments, entry.change, entry.after) for entry in result.tasks] == [
        ("test", (), "changed", "failed"),
        ("build", ("level=1",), "removed", ""),
        ("build", ("level=2",), "added", "passed"),
    ]
    assert result.summary == "3 tasks differ."


def test_commands_are_compared_by_line_and_by_how_they_ended() -> None:
    base = run(command("pytest -q"), command("ruff check"))
    target = run(command("pytest -q", None, status="signalled", signal=9), command("mypy", 2))
    written = json.loads(diff(base, target).model_dump_json())["commands"]
    assert written == [
        {"line": "mypy", "change": "added", "after": {"exit_code": 2}},
        {
            "line": "pytest -q",
            "change": "changed",
            "before": {"exit_code": 0},
            "after": {"status": "signalled", "signal": 9},
        },
        {"line": "ruff check", "change": "removed", "before": {"exit_code": 0}},
    ]


def test_the_same_command_twice_is_not_the_same_command_once() -> None:
    result = diff(run(command("make")), run(command("make"), command("make")))
    assert [(entry.line, entry.change) for entry in result.commands] == [("make", "added")]


def test_the_summary_speaks_of_tasks_and_commands_only_where_nothing_else_differs() -> None:
    base, target = run(passed("test_a"), command("pytest")), run(failed("test_a"), command("pytest", 1))
    assert diff(base, target).summary == "1 newly failing."
    assert diff(run(command("pytest")), run(command("pytest", 1))).summary == "1 command differs."


def test_issues_operations_and_patches_are_added_removed_and_changed() -> None:
    def moved(issue: str, after: str) -> IssueChanged:
        return IssueChanged(tracker="bd", issue=issue, field="status", before="open", after=after, actor="ana")

    patch = PatchRecorded(paths=(f"{APP}/a.py",), added_lines=3)
    base = run(moved("bd-1", "closed"), OperationFinished(operation="1", name="lint", status="passed"), patch)
    target = run(
        moved("bd-1", "blocked"), moved("bd-2", "closed"), replace(patch, paths=(f"{APP}/a.py", f"{APP}/b.py"))
    )
    result = diff(base, target)
    assert json.loads(result.model_dump_json())["other"] == [
        {
            "kind": "issue",
            "key": ["bd", "bd-1", "status"],
            "change": "changed",
            "before": {"after": "closed"},
            "after": {"after": "blocked"},
        },
        {
            "kind": "issue",
            "key": ["bd", "bd-2", "status"],
            "change": "added",
            "after": {"before": "open", "after": "closed"},
        },
        {
            "kind": "operation",
            "key": ["lint"],
            "change": "removed",
            "before": {"status": "passed", "message": ""},
        },
        {"kind": "patch", "key": ["workspace"], "change": "changed", "after": {"paths": ["b.py"]}},
    ]
    assert result.summary == "4 other differences."


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed(Event):
    """A third party's event."""

    service: str
    version: str
    manifest: str = ""

    def fact(self) -> Fact:
        return Fact("deployment", (self.service, WorkspacePath(self.manifest)), (("version", self.version),))


def test_facts_of_a_third_party_take_part_as_any_other() -> None:
    base = run(Deployed(service="shop", version="1", manifest=f"{APP}/k8s.yaml"))
    target = run(Deployed(service="shop", version="2", manifest=f"{FORK}/k8s.yaml"), root=FORK)
    (entry,) = diff(base, target).other
    assert (entry.kind, entry.key, entry.change) == ("deployment", ("shop", "k8s.yaml"), "changed")
    assert (entry.before, entry.after) == ({"version": "1"}, {"version": "2"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd(Event):
    """A third party's fact of a kind that is not its own, with a key of another shape."""

    def fact(self) -> Fact:
        return Fact("test", ("just a name",), (("status", "failed"),))


def test_a_fact_whose_key_is_not_of_its_kinds_shape_is_told_among_the_others() -> None:
    assert [entry.key for entry in diff(run(), run(Odd())).other] == [("just a name",)]
    assert diff(run(Odd()), run(Odd())).identical


def test_events_of_types_that_are_not_installed_are_counted_as_not_compared() -> None:
    unknown = UnknownEvent(record={"type": "acme.Deployed", "at": 1})
    result = diff(run(unknown, passed("test_a")), run(passed("test_a")))
    assert result.identical
    assert result.not_compared == {"acme.Deployed": 1}


# ---- worktrees ----------------------------------------------------------------------------------------


def in_worktree(root: str, number: int) -> tuple[Event, ...]:
    return (
        failed("test_a", f"FileNotFoundError: {root}/data/x.json", trace=f"{root}/x"),
        diagnostic("unused", path=f"{root}/src/cart.py", line=number),
        command(f"cc -I{root}/include {root}/src/a.c"),
        *compiled("core", invalidated_files=(f"{root}/src/a.c", "/usr/include/stdio.h")),
        suite(f"{root}/tests"),
    )


def test_two_worktrees_with_equal_facts_are_identical_and_flagged() -> None:
    result = diff(run(*in_worktree(APP, 1)), run(*in_worktree(FORK, 2), number=3, root=FORK))
    assert result.identical
    assert result.cross_workspace
    assert (result.base.workspace, result.target.workspace) == (APP, FORK)
    assert result.notes == (f"Across worktrees, {APP} and {FORK}: paths are relative to each one's own.",)
    assert not diff(run(), run()).cross_workspace


def test_a_mention_of_the_other_worktree_is_a_difference() -> None:
    base = run(failed("test_a", f"no {APP}/x"))
    result = diff(base, run(failed("test_a", f"no {APP}/x"), root=FORK))
    assert not result.identical
    assert diff(base, run(failed("test_a", f"no {FORK}/x"), root=FORK)).identical


def test_a_message_is_told_as_its_own_side_told_it() -> None:
    result = diff(run(passed("test_a")), run(failed("test_a", f"\x1b[31mno {FORK}/x\x1b[0m"), root=FORK))
    assert result.tests.newly_failing[0].message == f"no {FORK}/x"


def test_paths_outside_the_worktree_stay_absolute() -> None:
    base = run(diagnostic("deprecated", path="/usr/include/stdio.h"))
    assert diff(base, run(diagnostic("deprecated", path="/usr/include/stdio.h"), root=FORK)).identical
    result = diff(base, run(diagnostic("deprecated", path="/opt/include/stdio.h")))
    assert [entry.path for entry in result.diagnostics.new] == ["/opt/include/stdio.h"]


def test_windows_roots_and_separators_compare_equal() -> None:
    windows = run(
        diagnostic("unused", path=r"C:\ws\app\src\cart.py"), failed("test_a", r"C:\WS\app\src\x"), root=r"c:\ws\app"
    )
    posix = run(diagnostic("unused", path=f"{APP}/src/cart.py"), failed("test_a", f"{APP}/src/x"))
    assert diff(windows, posix).identical


# ---- what never matters, and the answer's shape -------------------------------------------------------


def test_colours_in_messages_do_not_matter() -> None:
    assert diff(run(failed("test_a", "\x1b[31massert\x1b[0m x")), run(failed("test_a", "assert x"))).identical


def test_interleaving_and_events_without_a_fact_do_not_matter() -> None:
    base = run(
        CommandStarted(command=1, line="a"), Output(command=1, text="x"), command("a"), command("b"), passed("test_a")
    )
    target = run(TestStarted(suite=SUITE, test="test_a"), command("b"), passed("test_a"), command("a"))
    assert diff(base, target).identical


def test_the_same_input_gives_the_same_bytes() -> None:
    base, target = run(*in_worktree(APP, 1), passed("test_b")), run(*in_worktree(FORK, 2), failed("test_b"))
    assert diff(base, target).model_dump_json() == diff(base, target).model_dump_json()


def test_empty_sections_are_left_out_and_what_is_false_or_zero_is_not() -> None:
    written = json.loads(diff(run(), run(number=12)).model_dump_json())
    assert written == {
        "summary": "No logical differences.",
        "identical": True,
        "base": {"run": 11, "workspace": APP},
        "target": {"run": 12, "workspace": APP},
        "cross_workspace": False,
    }


def test_kinds_do_not_mix_and_what_is_equal_is_counted_by_kind() -> None:
    base = run(*in_worktree(APP, 1), task("build"))
    target = run(*in_worktree(APP, 1), passed("test_b"), task("build"))
    result = diff(base, target)
    assert sections(result) == {"tests.added", "tests.still_failing"}
    assert result.same == {"command": 1, "compile": 1, "diagnostic": 1, "suite": 1, "task": 1, "test": 1}


def test_a_long_section_is_paged_and_says_how_to_see_more() -> None:
    base, target = run(), run(*(failed(f"test_{number:02}") for number in range(25)))
    result = diff(base, target, limit=10, offset=10)
    assert names(result.tests.added) == [f"test_{number}" for number in range(10, 20)]
    assert result.left_out == {"tests.added": 15}
    assert result.more == "offset 20 shows the next, limit 0 and offset 0 show all"
    assert result.summary == "25 tests added."
    assert not diff(base, target).left_out


def test_long_messages_and_lists_are_cut_and_the_cut_is_marked() -> None:
    files = tuple(f"{APP}/{number}.c" for number in range(9))
    base, target = (
        run(*compiled("core"), passed("test_a")),
        run(*compiled("core", invalidated_files=files), failed("test_a", "x" * 2000)),
    )
    result = diff(base, target, limit=3)
    assert result.tests.newly_failing[0].message.endswith("x … (1,500 more characters)")
    listed = result.compile.changed[0].invalidated_files
    assert listed
    assert listed.added == ("0.c", "1.c", "2.c", "… and 6 more")


@pytest.mark.parametrize(
    ("ended", "state", "note"),
    [
        (RunFinished(outcome="interrupted"), "interrupted", "Run #12 was interrupted"),
        (RunFinished(outcome="cancelled"), "finished", "Run #12 was cancelled"),
        (RunFinished(outcome="passed"), "live", "Run #12 still goes on"),
    ],
)
def test_a_run_that_did_not_come_to_its_end_is_pointed_out(ended: RunFinished, state: str, note: str) -> None:
    result = diff(run(passed("test_a")), run(ended, number=12, state=state))
    assert result.notes == (f"{note}: what it did not reach counts as missing from it.",)


def test_other_targets_and_damaged_records_are_pointed_out() -> None:
    result = diff(run(targets=("test",)), run(targets=("build", "test"), number=12, problems=("line 3: not JSON",)))
    assert result.notes == (
        "The targets differ: test, then build test.",
        "Run #12: 1 damaged record left out of the comparison.",
    )


def test_the_exit_code_says_that_runs_differ_only_where_it_was_asked_for() -> None:
    same, other = diff(run(), run()), diff(run(), run(passed("test_a")))
    assert [exit_code(result, {"exit_code": True}) for result in (same, other)] == [0, 1]
    assert [exit_code(result, {"exit_code": False}) for result in (same, other)] == [0, 0]
    assert exit_code(other, {}) == 0


def test_the_answer_is_valid_by_its_own_schema() -> None:
    pydantic = pytest.importorskip("pydantic")
    result = diff(
        run(*in_worktree(APP, 1)), run(passed("", suite=""), command(""), diagnostic(""), task(""), Odd()), limit=1
    )
    assert pydantic.TypeAdapter(DiffResult).validate_json(result.model_dump_json()) == result
