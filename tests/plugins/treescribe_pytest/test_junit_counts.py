"""What is recorded is what pytest itself counts, in its JUnit XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from treescribe.events import SuiteFinished, TestFinished

if TYPE_CHECKING:
    from plugins.treescribe_pytest.conftest import Project, Recorded

CART = """\
    import unittest
    import pytest

    def test_passes(): pass
    def test_fails(): assert 0
    @pytest.mark.parametrize("value", ["a::b", "[x]", "ü", 3])
    def test_value(value): assert value != 3
    @pytest.fixture
    def broken(): raise RuntimeError("no")
    @pytest.fixture
    def breaks_late():
        yield
        raise RuntimeError("late")
    @pytest.fixture
    def skips(): pytest.skip("in a fixture")
    @pytest.fixture
    def xfails(): pytest.xfail("in a fixture")
    def test_setup_breaks(broken): pass
    def test_teardown_breaks(breaks_late): pass
    def test_fixture_skips(skips): pass
    def test_fixture_xfails(xfails): pass
    def test_skips_and_teardown_breaks(breaks_late): pytest.skip("no")
    @pytest.mark.skip
    def test_skipped(): pass
    @pytest.mark.xfail
    def test_xfails(): assert 0
    @pytest.mark.xfail
    def test_xpasses(): pass
    @pytest.mark.xfail(strict=True)
    def test_xpasses_strictly(): pass
    @pytest.mark.xfail(raises=ValueError)
    def test_fails_otherwise(): raise KeyError("x")
    class TestOld(unittest.TestCase):
        def test_passes(self): pass
        def test_fails(self): self.fail()
        def test_skips(self): self.skipTest("no")
        @unittest.expectedFailure
        def test_expected(self): self.fail()
        @unittest.expectedFailure
        def test_unexpected(self): pass
    class TestBroken(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise RuntimeError("no class")
        def test_one(self): pass
        def test_two(self): pass
"""


def junit(project: Project) -> dict[str, int]:
    (suite,) = ET.parse(project.root / "junit.xml").getroot().iter("testsuite")
    return {name: int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")}


def recorded_counts(recorded: Recorded) -> dict[str, int]:
    """A collection error is a testcase in JUnit XML; here it is a suite that errored."""
    statuses = Counter(event.status for event in recorded.of(TestFinished))
    uncollected = sum(event.outcome == "errored" for event in recorded.of(SuiteFinished))
    return {
        "tests": statuses.total() + uncollected,
        "failures": statuses["failed"],
        "errors": statuses["error"] + uncollected,
        "skipped": statuses["skipped"],
    }


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_counts_of_a_mixed_suite_are_equal(project: Project, workers: list[str]) -> None:
    project.write("tests/test_cart.py", CART)
    project.write("tests/test_more.py", CART)
    project.write("tests/test_broken.py", "import no_such_module")
    project.write("tests/test_absent.py", "import pytest\npytest.importorskip('no_such_module')")
    project.write("tests/test_doc.txt", ">>> 1 + 1\n3\n")
    recorded = project.pytest("--continue-on-collection-errors", "--junit-xml=junit.xml", *workers)
    counts = junit(project)
    # pytest's XML counts one test with a skipped call and a broken teardown in both columns, and once as a test
    doubled = 2
    assert recorded_counts(recorded) == {**counts, "skipped": counts["skipped"] - doubled}
    assert counts["tests"] > 40


def test_a_test_that_failed_twice_is_one_test_here_and_two_in_junit_xml(project: Project) -> None:
    project.write(
        "test_a.py",
        dedent("""\
            import pytest
            @pytest.fixture
            def breaks_late():
                yield
                raise RuntimeError("late")
            def test_both(breaks_late): assert 0
        """),
    )
    recorded = project.pytest("--junit-xml=junit.xml")
    assert junit(project) == {"tests": 2, "failures": 1, "errors": 1, "skipped": 0}
    assert recorded_counts(recorded) == {"tests": 1, "failures": 1, "errors": 0, "skipped": 0}
