"""The one reducer: events in, the verdict out. Every surface shows what it says.

Only values known to be good count as good: a status or outcome that this version does not know is a failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from treescribe.events import (
    CommandFinished,
    CompileFinished,
    CompileStatus,
    Diagnostic,
    Event,
    RunFinished,
    RunOutcome,
    Severity,
    SuiteFinished,
    SuiteOutcome,
    TestFinished,
    TestStatus,
    UnknownEvent,
)

NOT_FAILING = frozenset(
    {TestStatus.PASSED, TestStatus.SKIPPED, TestStatus.IGNORED, TestStatus.ASSUMPTION_FAILED, TestStatus.PENDING}
)
SUITE_NOT_FAILING = frozenset({SuiteOutcome.EXECUTED, SuiteOutcome.EMPTY, SuiteOutcome.NO_FRAMEWORK_MATCHED})
COMPILE_NOT_FAILING = frozenset({CompileStatus.SUCCESS})
TOP_DIAGNOSTICS = 3


def test_fails(status: str) -> bool:
    """Whether a test of this status counts as a failure."""
    return status not in NOT_FAILING


def suite_fails(outcome: str) -> bool:
    """Whether a suite of this outcome counts as a failure."""
    return outcome not in SUITE_NOT_FAILING


def compile_fails(status: str) -> bool:
    """Whether a compile unit of this status counts as a failure."""
    return status not in COMPILE_NOT_FAILING


@dataclass(frozen=True)
class Verdict:
    """What a run came to.

    :ivar outcome: a `RunOutcome`; empty while the run goes on.
    :ivar tests: how many tests of each status.
    :ivar failures: the tests that count as failures, in order.
    :ivar suites: suites that count as failures; ``units``: compile units that do.
    :ivar commands: commands that ended otherwise than with exit code 0.
    :ivar errors, warnings: how many diagnostics; ``top`` are the first few, errors before warnings.
    """

    outcome: str = ""
    exit_code: int | None = None
    error: str = ""
    duration_ms: int = 0
    tests: dict[str, int] = field(default_factory=dict)
    failures: tuple[TestFinished, ...] = ()
    suites: tuple[SuiteFinished, ...] = ()
    units: tuple[CompileFinished, ...] = ()
    commands: tuple[CommandFinished, ...] = ()
    errors: int = 0
    warnings: int = 0
    top: tuple[Diagnostic, ...] = ()
    unknown_events: int = 0

    @property
    def ok(self) -> bool:
        """Whether the run may be shown as green."""
        return self.outcome == RunOutcome.PASSED


class Reducer:
    """Builds a `Verdict` event by event; `verdict` may be asked for at any time."""

    def __init__(self) -> None:
        self._finished: RunFinished | None = None
        self._tests: Counter[str] = Counter()
        self._failures: list[TestFinished] = []
        self._suites: list[SuiteFinished] = []
        self._units: dict[str, CompileFinished] = {}
        self._commands: list[CommandFinished] = []
        self._diagnostics: Counter[str] = Counter()
        self._top: dict[str, list[Diagnostic]] = {Severity.ERROR: [], Severity.WARNING: []}
        self._unknown = 0

    def add(self, event: Event) -> None:
        match event:
            case TestFinished():
                self._tests[str(event.status)] += 1
                if test_fails(event.status):
                    self._failures.append(event)
            case SuiteFinished():
                if suite_fails(event.outcome):
                    self._suites.append(event)
            case CompileFinished():
                self._units[event.project] = event
            case CommandFinished():
                if event.exit_code != 0:
                    self._commands.append(event)
            case Diagnostic():
                severity = event.severity if event.severity in tuple(Severity) else Severity.ERROR
                self._diagnostics[severity] += 1
                top = self._top.get(severity)
                if top is not None and len(top) < TOP_DIAGNOSTICS:
                    top.append(event)
            case RunFinished():
                self._finished = event
            case UnknownEvent():
                self._unknown += 1

    def verdict(self) -> Verdict:
        finished = self._finished
        units = tuple(unit for unit in self._units.values() if compile_fails(unit.status))
        verdict = Verdict(
            exit_code=finished.exit_code if finished else None,
            error=finished.error if finished else "",
            duration_ms=finished.duration_ms if finished else 0,
            tests=dict(sorted(self._tests.items())),
            failures=tuple(self._failures),
            suites=tuple(self._suites),
            units=units,
            commands=tuple(self._commands),
            errors=self._diagnostics[Severity.ERROR],
            warnings=self._diagnostics[Severity.WARNING],
            top=tuple((self._top[Severity.ERROR] + self._top[Severity.WARNING])[:TOP_DIAGNOSTICS]),
            unknown_events=self._unknown,
        )
        return _with_outcome(verdict, finished)


def _with_outcome(verdict: Verdict, finished: RunFinished | None) -> Verdict:
    if finished is None:
        return verdict
    outcome = str(finished.outcome)
    if outcome == RunOutcome.PASSED and not _is_green(verdict):
        outcome = RunOutcome.FAILED
    if outcome not in tuple(RunOutcome):
        outcome = RunOutcome.ERROR
    return replace(verdict, outcome=str(outcome))


def _is_green(verdict: Verdict) -> bool:
    return verdict.exit_code == 0 and not (verdict.failures or verdict.suites or verdict.units)


def reduce(events: Iterable[Event]) -> Verdict:
    """Return the verdict over all of `events`."""
    reducer = Reducer()
    for event in events:
        reducer.add(event)
    return reducer.verdict()
