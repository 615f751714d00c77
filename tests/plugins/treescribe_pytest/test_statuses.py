"""What one test comes to: status, message, trace, position."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from treescribe.events import TestFinished, TestStarted

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Live, Project

TESTS = """\
    import unittest
    import pytest

    def test_passes():
        pass

    def test_fails():
        assert 9 == 10

    def test_fails_with_words():
        assert 9 == 10, "the cart is wrong"

    def test_raises():
        raise ValueError("first line\\nsecond line")

    def test_reads_bad_source():
        compile("a = (", "/somewhere/cart.py", "exec")

    @pytest.fixture
    def broken():
        raise RuntimeError("no database")

    @pytest.fixture
    def breaks_late():
        yield
        raise RuntimeError("cannot close")

    def test_setup_breaks(broken):
        pass

    def test_teardown_breaks(breaks_late):
        pass

    def test_call_and_teardown_break(breaks_late):
        assert 1 == 2

    def test_names_no_fixture(nowhere):
        pass

    @pytest.mark.skip(reason="not on Tuesdays")
    def test_skipped_by_mark():
        pass

    @pytest.mark.skip
    def test_skipped_without_reason():
        pass

    def test_skips_itself():
        pytest.skip("no network")

    def test_needs_a_module():
        pytest.importorskip("no_such_module")

    @pytest.mark.xfail(reason="issue 7")
    def test_expected_to_fail():
        assert 0

    @pytest.mark.xfail
    def test_expected_to_fail_without_reason():
        assert 0

    @pytest.mark.xfail(reason="issue 8")
    def test_passes_unexpectedly():
        pass

    @pytest.mark.xfail(reason="issue 9", strict=True)
    def test_passes_unexpectedly_and_strictly():
        pass

    class TestCase(unittest.TestCase):
        def test_fails_in_unittest(self):
            self.assertEqual(9, 10)

        @unittest.skip("old")
        def test_skipped_in_unittest(self):
            pass

        @unittest.expectedFailure
        def test_expected_in_unittest(self):
            self.fail("known")
"""

CASES = {
    "test_passes": ("passed", ""),
    "test_fails": ("failed", "assert 9 == 10"),
    "test_fails_with_words": ("failed", "AssertionError: the cart is wrong"),
    "test_raises": ("failed", "ValueError: first line"),
    "test_reads_bad_source": ("failed", "SyntaxError: '(' was never closed"),
    "test_setup_breaks": ("error", "RuntimeError: no database"),
    "test_teardown_breaks": ("error", "error at teardown: RuntimeError: cannot close"),
    "test_call_and_teardown_break": ("failed", "assert 1 == 2"),
    "test_names_no_fixture": ("error", "fixture 'nowhere' not found"),
    "test_skipped_by_mark": ("skipped", "not on Tuesdays"),
    "test_skipped_without_reason": ("skipped", "unconditional skip"),
    "test_skips_itself": ("skipped", "no network"),
    "test_needs_a_module": ("skipped", "could not import 'no_such_module': No module named 'no_such_module'"),
    "test_expected_to_fail": ("skipped", "xfail: issue 7"),
    "test_expected_to_fail_without_reason": ("skipped", "xfail"),
    "test_passes_unexpectedly": ("passed", "xpass: issue 8"),
    "test_passes_unexpectedly_and_strictly": ("failed", "[XPASS(strict)] issue 9"),
    "TestCase::test_fails_in_unittest": ("failed", "AssertionError: 9 != 10"),
    "TestCase::test_skipped_in_unittest": ("skipped", "old"),
    "TestCase::test_expected_in_unittest": ("skipped", "xfail"),
}


def test_every_test_is_told_once_with_its_status_and_reason(project: Project) -> None:
    project.write("tests/test_cart.py", TESTS)
    recorded = project.pytest()
    assert recorded.exit_code == 1
    told = {event.test: (event.status, event.message) for event in recorded.of(TestFinished)}
    assert told == CASES
    assert len(recorded.of(TestFinished)) == len(CASES)
    assert {event.suite for event in recorded.of(TestFinished)} == {"tests/test_cart.py"}
    assert {event.project for event in recorded.of(TestFinished)} == {""}


def test_a_test_has_an_absolute_path_and_a_line_that_counts_from_one(project: Project) -> None:
    path = project.write("tests/test_cart.py", "import os\n\ndef test_one():\n    pass\n")
    test = project.pytest().test("test_one")
    assert (test.path, test.line) == (str(path), 3)


def test_a_failure_keeps_its_traceback_and_a_passing_test_has_none(project: Project) -> None:
    project.write(
        "test_cart.py", "def test_one():\n    total = 9\n    assert total == 10\n\ndef test_two():\n    pass\n"
    )
    recorded = project.pytest()
    trace = recorded.test("test_one").trace
    assert "    total = 9" in trace
    assert "E       assert 9 == 10" in trace
    assert "test_cart.py:3: AssertionError" in trace
    assert recorded.test("test_two").trace == ""


def test_messages_and_traces_are_never_coloured(project: Project) -> None:
    project.write("test_cart.py", "def test_one():\n    assert 9 == 10\n")
    project.write("test_bad.py", "import no_such_module\n")
    plain = project.pytest("--continue-on-collection-errors")
    coloured = project.pytest("--continue-on-collection-errors", "--color=yes", FORCE_COLOR="1", PY_COLORS="1")
    assert "\x1b[" in coloured.printed.stdout
    for recorded in (plain, coloured):
        assert "\x1b" not in recorded.test("test_one").trace + recorded.suite("test_bad.py").trace
    assert coloured.test("test_one").fact() == plain.test("test_one").fact()


def test_a_failure_of_call_and_teardown_keeps_both_traces(project: Project) -> None:
    project.write("tests/test_cart.py", TESTS)
    trace = project.pytest("-k", "test_call_and_teardown_break").test("test_call_and_teardown_break").trace
    assert trace.index("assert 1 == 2") < trace.index("RuntimeError: cannot close")


def test_a_long_trace_loses_its_middle_and_says_so(project: Project) -> None:
    project.write("test_cart.py", "def test_one():\n    raise ValueError('first', 'x' * 100_000, 'last')\n")
    test = project.pytest().test("test_one")
    assert len(test.trace) < 17_000
    assert "characters left out …" in test.trace
    assert "def test_one" in test.trace
    assert test.trace.endswith("test_cart.py:2: ValueError")
    assert len(test.message) == 1000
    assert test.message.endswith("…")


@pytest.mark.parametrize(
    ("text", "reason", "exit_code"),
    [
        ("import pytest\npytest.importorskip('no_such_module')", "could not import 'no_such_module'", 5),
        ("import pytest\npytest.skip('not here', allow_module_level=True)", "not here", 5),
        ("import unittest\nraise unittest.SkipTest('not here')", "not here", 5),
    ],
)
def test_a_file_that_skips_itself_is_one_skipped_test_named_like_the_file(
    project: Project, text: str, reason: str, exit_code: int
) -> None:
    project.write("tests/test_cart.py", text)
    recorded = project.pytest()
    assert recorded.exit_code == exit_code
    assert recorded.statuses == {"tests/test_cart.py::test_cart.py": "skipped"}
    assert recorded.test("test_cart.py").message.startswith(reason)
    assert recorded.test("test_cart.py").path == str(project.root / "tests" / "test_cart.py")


def test_a_failed_subtest_fails_its_test(project: Project) -> None:
    project.write(
        "test_cart.py",
        """\
        import unittest

        class TestCart(unittest.TestCase):
            def test_items(self):
                for number in range(4):
                    with self.subTest(number=number):
                        assert number % 2 == 0

            def test_good(self):
                with self.subTest():
                    pass

            def test_skips(self):
                with self.subTest():
                    self.skipTest("no")

        def test_with_fixture(subtests):
            for number in range(4):
                with subtests.test("item", number=number):
                    assert number != 2
        """,
    )
    recorded = project.pytest()
    assert recorded.statuses == {
        "test_cart.py::TestCart::test_items": "failed",
        "test_cart.py::TestCart::test_good": "passed",
        "test_cart.py::TestCart::test_skips": "passed",
        "test_cart.py::test_with_fixture": "failed",
    }
    assert recorded.test("test_with_fixture").message == "assert 2 != 2"
    trace = recorded.test("TestCart::test_items").trace
    assert "1 % 2" in trace or "(1 % 2)" in trace
    assert "(3 % 2)" in trace


def test_a_test_that_runs_long_is_told_when_it_starts_and_a_short_one_only_when_it_ends(project: Project) -> None:
    project.write(
        "test_cart.py",
        """\
        import os
        import pytest

        def test_short():
            pass

        def test_long():
            with open("gate") as gate:
                gate.read()
        """,
    )
    gate = project.root / "gate"
    os.mkfifo(gate)

    def open_gate(live: Live) -> None:
        live.events.wait_for(lambda event: isinstance(event, TestStarted) and event.test == "test_long")
        gate.write_text("go")

    recorded = project.interrupted(by=open_gate)
    assert recorded.exit_code == 0
    assert recorded.statuses == {"test_cart.py::test_short": "passed", "test_cart.py::test_long": "passed"}
    assert [event.test for event in recorded.of(TestStarted)].count("test_long") == 1
