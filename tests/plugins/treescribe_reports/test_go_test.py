"""``go test -json``: packages are suites, and what go says of each test is what is recorded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import Project
from treescribe.events import CommandStarted, Diagnostic, Event, SuiteFinished, SuiteStarted, TestFinished, TestStarted
from treescribe.reduce import reduce
from treescribe.workspace import Workspace
from treescribe_reports.go_test import GoTestReader

needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="there is no go here")

TESTS = """\
package shop

import (
	"fmt"
	"testing"
)

func TestPasses(t *testing.T) { fmt.Println("printed") }

func TestFails(t *testing.T) {
	t.Log("before")
	t.Errorf("9 is not %d", 10)
}

func TestSkips(t *testing.T) { t.Skip("no network") }

func TestTable(t *testing.T) {
	t.Run("small", func(t *testing.T) {})
	t.Run("very large", func(t *testing.T) { t.Fatal("too large") })
}
"""
PANICS = """\
package cart

import "testing"

func TestPanics(t *testing.T) {
	var counts map[string]int
	counts["a"] = 1
}

func TestComesAfter(t *testing.T) {}
"""


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


CACHE = os.environ.get("GOCACHE") or str(Path.home() / ".cache" / "go-build")
"""The user's own: compiling go's library for a cache that is empty takes a minute."""


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("go")
    write(folder, **{"go.mod": "module example.com/shop\n\ngo 1.21\n", "shop_test.go": TESTS})
    subprocess.run(["go", "test", "./..."], cwd=folder, env={**os.environ, "GOCACHE": CACHE}, capture_output=True)
    return CACHE


@pytest.fixture
def module(repository: Path, warm_cache: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GOCACHE", warm_cache)
    monkeypatch.setenv("GOFLAGS", "-count=1")
    write(repository, **{"go.mod": "module example.com/shop\n\ngo 1.21\n", "shop_test.go": TESTS})
    return repository


def recorded(module: Path, tmp_path: Path) -> tuple[list[Event], str]:
    """The events of a recorded ``go test -json ./...``, and what it printed."""
    project = Project(module, tmp_path / "unused.yaml")
    words = [*project.recorded("exec", "")[:5], "go", "test", "-json", "./..."]
    ended = project.start(words)
    return list(project.runs()[-1].events), ended.stdout.decode()


def of(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def ends_that_go_tells(printed: str) -> Counter[tuple[str, str, str]]:
    words = {"pass": "passed", "fail": "failed", "skip": "skipped"}
    records = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return Counter(
        (record["Package"], record["Test"], words[record["Action"]])
        for record in records
        if record["Action"] in words and record.get("Test")
    )


@needs_go
def test_tests_are_those_that_go_tells_with_what_they_said_and_where(module: Path, tmp_path: Path) -> None:
    write(module, **{"cart/cart_test.go": PANICS, "doc/doc.go": "package doc\n"})
    events, printed = recorded(module, tmp_path)
    finished = of(events, TestFinished)
    assert Counter((test.suite, test.test, test.status) for test in finished) == ends_that_go_tells(printed)
    by_name = {test.test: test for test in finished}
    fails = by_name["TestFails"]
    assert (fails.message, fails.path, fails.line) == ("9 is not 10", str(module / "shop_test.go"), 12)
    assert by_name["TestSkips"].message == "no network"
    assert by_name["TestSkips"].trace == ""
    assert by_name["TestTable/very_large"].message == "too large"
    assert by_name["TestPanics"].message.startswith("panic: assignment to entry in nil map")
    assert "cart_test.go:7" in by_name["TestPanics"].trace
    assert "TestPasses" in by_name and by_name["TestPasses"].message == ""
    assert {suite.suite: suite.outcome for suite in of(events, SuiteFinished)} == {
        "example.com/shop": "executed",
        "example.com/shop/cart": "executed",
        "example.com/shop/doc": "empty",
    }


@needs_go
def test_a_package_that_cannot_be_built_is_a_suite_that_errored_with_the_compilers_errors(
    module: Path, tmp_path: Path
) -> None:
    write(module, **{"cart/cart_test.go": "package cart\n\nfunc total() int { return missing }\n"})
    events, _ = recorded(module, tmp_path)
    outcomes = {suite.suite: suite.outcome for suite in of(events, SuiteFinished)}
    assert outcomes["example.com/shop/cart"] == "errored"
    (diagnostic,) = of(events, Diagnostic)
    assert (diagnostic.path, diagnostic.line, diagnostic.column) == (str(module / "cart" / "cart_test.go"), 3, 27)
    assert (diagnostic.severity, diagnostic.message, diagnostic.tool) == ("error", "undefined: missing", "go")


@needs_go
def test_a_package_whose_process_ends_itself_is_no_green_suite(module: Path, tmp_path: Path) -> None:
    ends = 'package cart\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestEnds(t *testing.T) { os.Exit(3) }\n'
    write(module, **{"cart/cart_test.go": ends})
    events, printed = recorded(module, tmp_path)
    statuses = {(test.suite, test.test): test.status for test in of(events, TestFinished)}
    assert statuses["example.com/shop/cart", "TestEnds"] in ("failed", "error"), printed
    assert reduce(events).outcome == "failed"


# -- lines that no go is needed for ---------------------------------------------------------------------------


def events_of(lines: list[dict[str, Any] | str], workspace: Workspace, pieces: int = 1) -> list[Event]:
    reader = GoTestReader(CommandStarted(command=1, line="go test -json"), workspace)
    texts = [line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in lines]
    events: list[Event] = []
    for start in range(0, len(texts), pieces):
        events += reader.read("stdout", "\n".join(texts[start : start + pieces]) + "\n")
    return [*events, *reader.end()]


def begin() -> Iterator[dict[str, Any]]:
    yield {"Action": "start", "Package": "p"}
    yield {"Action": "run", "Package": "p", "Test": "TestA"}


def test_a_stream_that_is_cut_short_is_an_error_of_the_test_that_ran(workspace: Workspace) -> None:
    assert [event.type for event in events_of([*begin()], workspace)] == [
        "SuiteStarted",
        "TestStarted",
        "TestFinished",
        "SuiteFinished",
    ]
    *_, test, suite = events_of([*begin()], workspace)
    assert isinstance(test, TestFinished)
    assert isinstance(suite, SuiteFinished)
    assert (test.status, suite.outcome, suite.message) == ("error", "errored", "go test ended without finishing")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ok  \texample.com/shop\t0.01s",
        "{not json",
        '{"Action":"',
        '{"Action":"output"}',
        '{"Action":"pass","Package":7,"Test":[]}',
        '{"Level":"info","Action":"pass"}',
        '["Action":"pass"]',
        '{"Action":"bench","Package":"p","Test":"BenchmarkA"}',
        "[" * 5000 + '"Action":"',
        '{"Action":"x",' + '"a":[' * 5000,
    ],
)
def test_lines_of_other_programs_tell_nothing_and_harm_nothing(workspace: Workspace, line: str) -> None:
    passes: list[dict[str, Any] | str] = [
        {"Action": "pass", "Package": "p", "Test": "TestA", "Elapsed": 0.25},
        {"Action": "pass", "Package": "p", "Elapsed": 0.5},
    ]
    events = events_of([*begin(), line, *passes], workspace)
    assert events == [
        SuiteStarted(suite="p"),
        TestStarted(suite="p", test="TestA"),
        TestFinished(suite="p", test="TestA", status="passed", duration_ms=250),
        SuiteFinished(suite="p", outcome="executed", duration_ms=500),
    ]


def test_what_a_noisy_test_prints_is_kept_in_bounds(workspace: Workspace) -> None:
    noise = [{"Action": "output", "Package": "p", "Test": "TestA", "Output": f"line {n}\n"} for n in range(50_000)]
    fails = {"Action": "fail", "Package": "p", "Test": "TestA", "Elapsed": 1}
    events = events_of([*begin(), *noise, fails], workspace, pieces=1000)
    (test,) = of(events, TestFinished)
    assert "line 0\n" in test.trace and "line 49999\n" in test.trace
    assert "…" in test.trace
    assert len(test.trace) < 20_000
