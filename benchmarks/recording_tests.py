"""What recording adds to each test of a pytest, beside what pytest-reportlog adds: its time, and its bytes on disk.

The time is taken twice. Of whole processes, as what each adds to a plain pytest: the measure of the budget, with the
run that reads along in it, but a small difference of large times, uncertain where the machine has other work. And
inside one pytest that both record, as the time that each spends in its hooks: exact, but without the run.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pairs import Program, Ratio, Sample, in_turns, peak_of, processor_seconds_of, ratio, run, seconds_of
from projects import history_of, new_project, throw_away_folder
from rows import Row, show

TIME_BUDGET = 0.5
BYTES_BUDGET = 0.25
TESTS = 2000
ROUNDS = 12
GROUPS = 4
PLAIN = ("pytest", "-q")
REPORTLOG = (*PLAIN, "--report-log=reportlog.jsonl")
RECORDED = ("treescribe", "exec", "--")

CONFTEST = """\
import json
from collections import Counter
from functools import wraps
from time import perf_counter

spent = Counter()


def timed(function, name):
    @wraps(function)
    def call(*args, **kwargs):
        begun = perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent[name] += perf_counter() - begun

    return call


def pytest_sessionstart(session):
    for caller in vars(session.config.hook).values():
        for implementation in caller.get_hookimpls() if caller.name.startswith("pytest_runtest") else ():
            name = type(implementation.plugin).__module__.partition(".")[0]
            if name in ("pytest_reportlog", "treescribe_pytest_recorder"):
                implementation.function = timed(implementation.function, name)


def pytest_unconfigure(config):
    with open("spent.json", "w") as file:
        json.dump(spent, file)
"""
"""Has a pytest write down how long the two recorders were in their hooks of tests."""


def rows() -> Iterator[Row]:
    """The time of whole processes, that in the hooks, and the bytes."""
    with throw_away_folder() as folder:
        large, single = new_project(folder / "large", tests=TESTS), new_project(folder / "single", tests=1)
        yield from _whole_processes(large, single)
        yield _hooks(folder / "hooks")
        yield _bytes(large, single)


def _hooks(folder: Path) -> Row:
    """Both recorders in one pytest."""
    project = new_project(folder, tests=TESTS)
    (project / "conftest.py").write_text(CONFTEST)
    program = Program((*RECORDED, *REPORTLOG), project)
    run(program)
    ours, reportlog = zip(*(_spent(program) for _ in range(ROUNDS)), strict=True)
    return _row("in the hooks of a test: treescribe / pytest-reportlog", ours, reportlog)


def _spent(program: Program) -> tuple[float, float]:
    run(program)
    spent = json.loads((program.folder / "spent.json").read_bytes())
    return spent["treescribe_pytest_recorder"] / TESTS, spent["pytest_reportlog"] / TESTS


def _whole_processes(large: Path, single: Path) -> Iterator[Row]:
    """What is added to a plain pytest: of the large suite, less that of the single test, which is spent once."""
    commands = PLAIN, REPORTLOG, (*RECORDED, *PLAIN)
    samples = in_turns(*(Program(words, suite) for suite in (large, single) for words in commands), rounds=ROUNDS)
    memory = peak_of(samples[2]), peak_of(samples[1])
    by_clock, by_processor = _added(samples, seconds_of), _added(samples, processor_seconds_of)
    yield _row("added to a test: treescribe exec / pytest-reportlog", *by_clock, TIME_BUDGET, memory)
    yield _row("the same, processor time of all processes", *by_processor, memory=memory)


def _added(
    samples: Sequence[Sequence[Sample]], measure: Callable[[Sequence[Sample]], list[float]]
) -> tuple[list[float], list[float]]:
    """What treescribe and what pytest-reportlog add to a test: of medians, a group of rounds left out in turn."""
    typical = [[_median_without(group, measure(one)) for group in range(GROUPS)] for one in samples]
    plain, reportlog, recorded = (
        [(long - short) / (TESTS - 1) for long, short in zip(typical[kind], typical[kind + 3], strict=True)]
        for kind in range(3)
    )
    return (
        [one - bare for one, bare in zip(recorded, plain, strict=True)],
        [one - bare for one, bare in zip(reportlog, plain, strict=True)],
    )


def _median_without(group: int, times: Sequence[float]) -> float:
    return statistics.median(time for number, time in enumerate(times) if number % GROUPS != group)


def _row(
    what: str,
    ours: Sequence[float],
    reference: Sequence[float],
    budget: float | None = None,
    memory: tuple[int, ...] = (),
) -> Row:
    median_ours, median_reference = (f"{statistics.median(times) * 1e6:.0f} µs" for times in (ours, reference))
    return Row(what, median_ours, median_reference, ratio(ours, reference), budget, memory)


def _bytes(large: Path, single: Path) -> Row:
    ours = _bytes_per_test(history_of(large)[-1], history_of(single)[-1])
    reference = _bytes_per_test(large / "reportlog.jsonl", single / "reportlog.jsonl")
    same = ours / reference
    what = "bytes of a passing test: transcript / pytest-reportlog"
    return Row(what, f"{ours:.0f} B", f"{reference:.0f} B", Ratio(same, same, same), BYTES_BUDGET)


def _bytes_per_test(large: Path, single: Path) -> float:
    return (large.stat().st_size - single.stat().st_size) / (TESTS - 1)


if __name__ == "__main__":
    show(rows())
