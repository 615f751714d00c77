"""JUnit XML as different tools write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from treescribe.events import Event, SuiteFinished, SuiteStarted, TestFinished
from treescribe.workspace import Workspace
from treescribe_reports.junit import junit_events
from treescribe_reports.texts import LONGEST_TRACE
from treescribe_reports.written import UnreadableReport

SUREFIRE = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="com.example.CartTest" time="1,234.5" tests="4" errors="1" skipped="1" failures="1">
  <properties><property name="java.version" value="17"/></properties>
  <testcase name="adds" classname="com.example.CartTest" time="0.012"/>
  <testcase name="subtracts" classname="com.example.CartTest" time="0.5">
    <failure message="expected: &lt;9&gt; but was: &lt;10&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[
org.opentest4j.AssertionFailedError: expected: <9> but was: <10>
	at com.example.CartTest.subtracts(CartTest.java:17)
]]></failure>
    <system-out><![CDATA[printed]]></system-out>
  </testcase>
  <testcase name="connects" classname="com.example.CartTest" time="0">
    <error type="java.lang.IllegalStateException">java.lang.IllegalStateException: no network
	at com.example.CartTest.connects(CartTest.java:21)</error>
  </testcase>
  <testcase name="later" classname="com.example.CartTest" time="0"><skipped message="not yet"/></testcase>
</testsuite>
"""
FLAKY = """\
<testsuite name="com.example.FlakyTest">
  <testcase name="sometimes" classname="com.example.FlakyTest" time="0.1">
    <flakyFailure message="too slow" type="java.lang.AssertionError"><stackTrace>…</stackTrace></flakyFailure>
    <flakyError message="no answer" type="java.io.IOException"><stackTrace>…</stackTrace></flakyError>
  </testcase>
  <testcase name="never" classname="com.example.FlakyTest" time="0.2">
    <failure message="too slow" type="java.lang.AssertionError">at FlakyTest.java:9</failure>
    <rerunFailure message="too slow" type="java.lang.AssertionError"><stackTrace>…</stackTrace></rerunFailure>
  </testcase>
</testsuite>
"""
GRADLE = """\
<testsuite name="com.example.CartTest" tests="2" skipped="1" failures="0" errors="0" time="0.02">
  <properties/>
  <testcase name="adds()" classname="com.example.CartTest" time="0.012"/>
  <testcase name="later()" classname="com.example.CartTest" time="0.0"><skipped/></testcase>
  <system-out><![CDATA[]]></system-out>
</testsuite>
"""
GOTESTSUM = """\
<testsuites tests="3" failures="2" errors="0" time="0.3">
  <testsuite tests="2" failures="1" time="0.004000" name="example.com/shop">
    <testcase classname="example.com/shop" name="TestTable/very_large" time="0.000000">
      <failure message="Failed" type="">=== RUN   TestTable/very_large&#xA;    shop_test.go:8: too large&#xA;</failure>
    </testcase>
    <testcase classname="example.com/shop" name="TestSkips" time="0.000000"><skipped message="no network"/></testcase>
  </testsuite>
  <testsuite tests="0" failures="1" time="0.000000" name="example.com/shop/cart">
    <testcase classname="example.com/shop/cart" name="TestMain" time="0.000000">
      <failure message="Failed" type="">FAIL&#x9;example.com/shop/cart [build failed]&#xA;</failure>
    </testcase>
  </testsuite>
  <testsuite tests="0" failures="0" time="0.000000" name="example.com/shop/doc"></testsuite>
</testsuites>
"""
JEST = """\
<testsuites name="jest tests" tests="2" failures="1" errors="0" time="0.9">
  <testsuite name="cart" errors="0" failures="1" skipped="0" timestamp="2026-01-01T00:00:00" time="0.4" tests="2">
    <testcase classname="cart adds" name="cart adds" time="0.002"></testcase>
    <testcase classname="cart subtracts" name="cart subtracts" time="0.003">
      <failure>Error: expect(received).toBe(expected)
    at Object.toBe (/home/ana/shop/cart.test.js:5:41)</failure>
    </testcase>
  </testsuite>
</testsuites>
"""
NEXTEST = """\
<testsuites name="nextest-run" tests="2" failures="1" errors="0" uuid="45c50042" timestamp="2026-01-01T00:00:00.000Z">
  <testsuite name="shop::bin/shop" tests="2" disabled="0" errors="0" failures="1">
    <testcase name="cart::adds" classname="shop::bin/shop" timestamp="2026-01-01T00:00:00.000Z" time="0.003"/>
    <testcase name="cart::subtracts" classname="shop::bin/shop" time="0.004">
      <failure type="test failure with exit code 101">thread 'cart::subtracts' panicked at src/cart.rs:9:9:
assertion `left == right` failed</failure>
      <rerunFailure timestamp="2026-01-01T00:00:00.000Z" time="0.1" type="test failure with exit code 101"/>
      <system-out>running 1 test</system-out>
    </testcase>
  </testsuite>
</testsuites>
"""
GOOGLETEST = """\
<testsuites tests="2" failures="0" disabled="1" errors="0" name="AllTests">
  <testsuite name="Cart" tests="2">
    <testcase name="Adds" file="cart_test.cc" line="7" status="run" result="completed" time="0." classname="Cart"/>
    <testcase name="DISABLED_Later" status="notrun" result="suppressed" time="0." classname="Cart"/>
  </testsuite>
</testsuites>
"""
NESTED = """\
<testsuites><testsuite name="all"><testsuite name="inner"><testcase name="without a class"/></testsuite>
<testcase classname="Outer" name="beside"/></testsuite></testsuites>
"""


def events_of(workspace: Workspace, text: str, name: str = "junit.xml") -> list[Event]:
    path = workspace.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return list(junit_events(str(path), workspace))


def told(workspace: Workspace, text: str) -> list[tuple[str, str, str, str]]:
    return [
        (test.suite, test.test, str(test.status), test.message)
        for test in events_of(workspace, text)
        if isinstance(test, TestFinished)
    ]


DIALECTS = {
    "surefire": (
        SUREFIRE,
        [
            ("com.example.CartTest", "adds", "passed", ""),
            ("com.example.CartTest", "subtracts", "failed", "expected: <9> but was: <10>"),
            ("com.example.CartTest", "connects", "error", "java.lang.IllegalStateException: no network"),
            ("com.example.CartTest", "later", "skipped", "not yet"),
        ],
    ),
    "surefire that tries again": (
        FLAKY,
        [
            ("com.example.FlakyTest", "sometimes", "passed", "flaky: no answer"),
            ("com.example.FlakyTest", "never", "failed", "too slow"),
        ],
    ),
    "gradle": (
        GRADLE,
        [("com.example.CartTest", "adds()", "passed", ""), ("com.example.CartTest", "later()", "skipped", "")],
    ),
    "gotestsum": (
        GOTESTSUM,
        [
            ("example.com/shop", "TestTable/very_large", "failed", "shop_test.go:8: too large"),
            ("example.com/shop", "TestSkips", "skipped", "no network"),
            ("example.com/shop/cart", "TestMain", "failed", "FAIL\texample.com/shop/cart [build failed]"),
        ],
    ),
    "jest-junit": (
        JEST,
        [
            ("cart", "cart adds", "passed", ""),
            ("cart", "cart subtracts", "failed", "Error: expect(received).toBe(expected)"),
        ],
    ),
    "cargo-nextest": (
        NEXTEST,
        [
            ("shop::bin/shop", "cart::adds", "passed", ""),
            (
                "shop::bin/shop",
                "cart::subtracts",
                "failed",
                "thread 'cart::subtracts' panicked at src/cart.rs:9:9:",
            ),
        ],
    ),
    "googletest": (GOOGLETEST, [("Cart", "Adds", "passed", ""), ("Cart", "DISABLED_Later", "ignored", "")]),
    "suites in suites": (NESTED, [("inner", "without a class", "passed", ""), ("Outer", "beside", "passed", "")]),
}


@pytest.mark.parametrize(("text", "expected"), DIALECTS.values(), ids=DIALECTS)
def test_dialects(workspace: Workspace, text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert told(workspace, text) == expected


def test_a_failure_keeps_its_trace_and_a_test_its_time(workspace: Workspace) -> None:
    started, adds, subtracts, *_, finished = events_of(workspace, SUREFIRE)
    assert started == SuiteStarted(suite="com.example.CartTest", tests=4)
    assert isinstance(adds, TestFinished)
    assert isinstance(subtracts, TestFinished)
    assert (adds.duration_ms, subtracts.duration_ms) == (12, 500)
    assert subtracts.trace.endswith("\tat com.example.CartTest.subtracts(CartTest.java:17)")
    assert finished == SuiteFinished(suite="com.example.CartTest", outcome="executed", duration_ms=512)


def test_a_suite_without_tests_is_empty(workspace: Workspace) -> None:
    *_, last = events_of(workspace, GOTESTSUM)
    assert last == SuiteFinished(suite="example.com/shop/doc", outcome="empty")


def test_a_source_that_exists_is_where_the_test_is(workspace: Workspace) -> None:
    (workspace.root / "cart_test.cc").touch()
    adds, later = (test for test in events_of(workspace, GOOGLETEST) if isinstance(test, TestFinished))
    assert (adds.path, adds.line) == (str(workspace.root / "cart_test.cc"), 7)
    assert (later.path, later.line) == ("", 0)


@pytest.mark.parametrize(
    ("name", "project"),
    [
        ("junit.xml", ""),
        ("target/surefire-reports/TEST-a.xml", ""),
        ("cart/target/surefire-reports/TEST-a.xml", "cart"),
        ("apps/cart/build/test-results/test/TEST-a.xml", "apps/cart"),
        ("reports/cart.xml", ""),
    ],
)
def test_the_module_that_a_report_lies_in_is_its_project(workspace: Workspace, name: str, project: str) -> None:
    assert {event.project for event in events_of(workspace, GRADLE, name) if isinstance(event, TestFinished)} == {
        project
    }


def test_tests_of_one_name_are_all_told(workspace: Workspace) -> None:
    twice = '<testsuite name="s"><testcase name="a"/><testcase name="a"><failure/></testcase></testsuite>'
    assert told(workspace, twice) == [("s", "a", "passed", ""), ("s", "a", "failed", "")]


def test_a_long_trace_is_cut_and_the_cut_is_marked(workspace: Workspace) -> None:
    text = f'<testsuite name="s"><testcase name="a"><error>{"x" * 100_000}</error></testcase></testsuite>'
    (test,) = (event for event in events_of(workspace, text) if isinstance(event, TestFinished))
    assert len(test.trace) < LONGEST_TRACE + 100
    assert "characters left out" in test.trace
    assert len(test.message) <= 1000


@pytest.mark.parametrize("time", ["", "fast", "nan", "inf", "-1", "1e400"])
def test_a_time_that_is_none_is_nought(workspace: Workspace, time: str) -> None:
    text = f'<testsuite name="s"><testcase name="a" time="{time}"/></testsuite>'
    (test,) = (event for event in events_of(workspace, text) if isinstance(event, TestFinished))
    assert test.duration_ms == 0


def test_letters_of_any_language_are_kept(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "latin.xml"
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><testsuite name="Körbe"><testcase name="zählt"/></testsuite>'
    path.write_bytes(text.encode("latin-1"))
    names = [(test.suite, test.test) for test in junit_events(str(path), workspace) if isinstance(test, TestFinished)]
    assert names == [("Körbe", "zählt")]


def results_of(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.suite, event.test) for event in events if isinstance(event, TestFinished)]


def test_suites_may_be_nested_however_deep(workspace: Workspace) -> None:
    depth = 5000
    text = "<testsuites>" + "<testsuite name='d'>" * depth + "<testcase name='z'/>" + "</testsuite>" * depth
    assert results_of(events_of(workspace, f"{text}</testsuites>")) == [("d", "z")]


LAUGHS = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    "doctype",
    [f'<!ENTITY a "ha">{LAUGHS}', '<!ENTITY j SYSTEM "file:///etc/passwd">'],
    ids=["entities that grow", "another file"],
)
def test_entities_bring_nothing_in(workspace: Workspace, doctype: str) -> None:
    case = '<testcase name="t"><failure>&j;</failure></testcase>'
    text = f'<!DOCTYPE t [{doctype}]><testsuite name="s">{case}</testsuite>'
    events: list[Event] = []
    with pytest.raises(UnreadableReport, match="no well-formed XML"):
        events.extend(events_of(workspace, text))
    assert "root:" not in str(events)


def test_an_encoding_that_the_file_tells_is_read(workspace: Workspace) -> None:
    path = workspace.root / "junit.xml"
    text = '<?xml version="1.0" encoding="utf-16"?><testsuite name="u"><testcase name="ü"/></testsuite>'
    path.write_bytes(text.encode("utf-16"))
    assert results_of(list(junit_events(str(path), workspace))) == [("u", "ü")]
