"""A history that tests record into, with a clock that is set by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import treescribe_history.plugin
from support import SetClock, new_run
from treescribe.events import Event, TestFinished, TestStarted
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.workspace import Workspace
from treescribe_history import recorder
from treescribe_history.store import Store

Record = Callable[..., Run]


@pytest.fixture
def store(workspace: Workspace) -> Store:
    return Store(workspace)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def begin(workspace: Workspace, clock: SetClock) -> Iterator[Record]:
    """Start a run of some targets; it goes on until the test, or its end, finishes it."""
    begun: list[Run] = []

    def begin(*events: Event, targets: tuple[str, ...] = ("test",), **options: Any) -> Run:
        place = options.pop("workspace", workspace)
        request = options.pop("request", None) or RunRequest("invoke", targets, client="cli")
        options.setdefault("clock", clock)
        options.setdefault("environment", {})
        run = new_run(place, treescribe_history.plugin, request=request, **options)
        begun.append(run)
        run.start()
        for event in events:
            run.emit(event)
        return run

    yield begin
    for run in begun:
        run.finish(Outcome("passed", 0))
    assert not recorder._recordings


@pytest.fixture
def record(begin: Record, clock: SetClock) -> Record:
    """Record a whole run that takes a second: failed where one of its tests failed, or as told."""

    def record(*events: Event, exit_code: int | None = None, **options: Any) -> Run:
        run = begin(*events, **options)
        clock.advance(1000)
        code = exit_code if exit_code is not None else int(bool(run.verdict.failures))
        run.finish(Outcome("failed" if code else "passed", code))
        return run

    return record


@pytest.fixture
def a_test() -> Callable[..., TestFinished]:
    """A finished test."""

    def a_test(name: str, status: str = "passed", message: str = "", **fields: Any) -> TestFinished:
        suite = fields.pop("suite", "tests/test_cart.py")
        return TestFinished(suite=suite, test=name, status=status, message=message, **fields)

    return a_test


@pytest.fixture
def many_tests(a_test: Callable[..., TestFinished]) -> Callable[[int], list[Event]]:
    """So many passing tests, begun and finished."""

    def many_tests(number: int) -> list[Event]:
        events: list[Event] = []
        for index in range(number):
            name = f"test_{index}"
            events += [TestStarted(suite="tests/test_cart.py", test=name), a_test(name, duration_ms=index)]
        return events

    return many_tests
