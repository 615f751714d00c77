"""The store, used by several real processes of which some are killed, against a model of what it promises.

The model knows runs as plain values and says of each by itself what has to become of it; how the store comes to
the same (files, locks, who finishes whose run) is not in it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from recording_processes import Nursery, Recorder, Refused

WORKERS = 3
NAMES = ("main", "base")
TESTS = ("a", "b", "c")
LARGE = 1 << 40
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Without making a failing example smaller, which takes minutes with real processes."""


@dataclass
class Known:
    """What is known of a run.

    :ivar worker: who records it, while it goes on.
    :ivar state: live, left (its process died, and nobody has begun a run since), interrupted (one has), finished, or
        gone.
    """

    worker: int
    state: str = "live"
    tests: dict[str, str] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        return self.state != "live"

    @property
    def outcome(self) -> str:
        """As history.list tells it."""
        if self.state == "finished":
            return "failed" if "failed" in self.tests.values() else "passed"
        return "running" if self.state == "live" else "interrupted"


@dataclass(frozen=True)
class Limits:
    """What the runs that are not pinned may come to."""

    runs: int
    size: int


def keeps_its_place(run: int, sizes: dict[int, int], pinned: set[int], limits: Limits, just_finished: int) -> bool:
    """Whether a finished run stays: said of each run by itself, from those that stand before it."""
    if run in pinned or run == just_finished or run == max(sizes):
        return True
    counted = {other: size for other, size in sizes.items() if other not in pinned}
    sure = {just_finished, max(sizes)}
    newer = [other for other in counted if other > run]
    taken = sum(counted[other] for other in {*newer, run, *(sure & counted.keys())})
    return len(newer) < limits.runs and taken <= limits.size


class StoreMachine(RuleBasedStateMachine):
    """Several workers on one workspace."""

    nursery: Nursery

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "tasks.py").touch()
        self.workers: list[Recorder] = [self.nursery.recorder() for _ in range(WORKERS)]
        self.runs: dict[int, Known] = {}
        self.pins: dict[str, int] = {}
        self.limits = Limits(LARGE, LARGE)

    def teardown(self) -> None:
        for worker in self.workers:
            worker.kill()
            assert worker.notes == [], "something was said on stderr"
        self.folder.cleanup()

    @initialize(runs=st.integers(1, 4), size=st.sampled_from((1, 1500, 3000, LARGE)))
    def begin(self, runs: int, size: int) -> None:
        self.limits = Limits(runs, size)

    # -- what is known -----------------------------------------------------------------------------------

    def of_state(self, *states: str) -> list[int]:
        return [number for number, run in self.runs.items() if run.state in states]

    @property
    def live(self) -> list[int]:
        return self.of_state("live")

    @property
    def there(self) -> list[int]:
        return [number for number, run in self.runs.items() if run.state != "gone"]

    def sizes(self) -> dict[int, int]:
        """Bytes of the finished runs, with whatever belongs to them."""
        sizes: dict[int, int] = {}
        for entry in os.scandir(self.root / ".treescribe" / "history"):
            number = entry.name.partition(".")[0]
            if number.isdigit():
                sizes[int(number)] = sizes.get(int(number), 0) + entry.stat().st_size
        return sizes

    def reference(self, data: st.DataObject) -> str:
        """A run that may be there, or not; by its number or its name."""
        choices = [st.integers(1, len(self.runs) + 1).map(str)]
        choices += [st.sampled_from(names) for names in (sorted(self.pins), [*map(str, self.there)]) if names]
        return data.draw(st.one_of(choices), "run")

    def refusal(self, reference: str) -> str:
        """What has to be said of a run that cannot be had, in part; empty where it can."""
        number = self.pins.get(reference) or int(reference)
        if not self.there:
            return "no runs"
        if number not in self.runs:
            return f"there never was a run #{number} "
        return "" if self.runs[number].state != "gone" else f"run #{number} is no longer kept"

    def refusal_unless_ended(self, reference: str) -> str:
        """The same of a run that must not go on."""
        refusal, number = self.refusal(reference), self.run_of(reference)
        return refusal or ("" if self.runs[number].ended else f"run #{number} is still going on")

    def run_of(self, reference: str) -> int:
        return self.pins.get(reference) or int(reference)

    def ask(self, worker: int, command: str, **values: Any) -> Any:
        return self.workers[worker].ask(command, root=str(self.root), **values)

    def unavailable(self, refusal: str, worker: int, command: str, **values: Any) -> bool:
        """Whether a run cannot be had, which must be told in the words that are expected."""
        if not refusal:
            return False
        with pytest.raises(Refused) as caught:
            self.ask(worker, command, **values)
        assert refusal in caught.value.message
        return True

    # -- what happens ------------------------------------------------------------------------------------

    anyone = st.integers(0, WORKERS - 1)

    @rule(worker=anyone)
    def start(self, worker: int) -> None:
        limits = {"keep": self.limits.runs, "size": self.limits.size}
        assert self.ask(worker, "start", targets=["test"], **limits) == len(self.runs) + 1
        for left in self.of_state("left"):
            self.runs[left].state = "interrupted"
        self.runs[len(self.runs) + 1] = Known(worker)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), test=st.sampled_from(TESTS), passes=st.booleans(), words=st.integers(0, 200))
    def emit(self, data: st.DataObject, test: str, passes: bool, words: int) -> None:
        self.say(data.draw(st.sampled_from(self.live), "run"), test, passes, words)

    def say(self, number: int, test: str, passes: bool, words: int) -> None:
        run = self.runs[number]
        if test in run.tests:
            return
        status, message = ("passed", "") if passes else ("failed", "so " * words)
        run.tests[test] = status
        self.workers[run.worker].ask("emit", run=number, tests=[[test, status, message]])

    @rule(worker=anyone, tests=st.dictionaries(st.sampled_from(TESTS), st.booleans()))
    def record(self, worker: int, tests: dict[str, bool]) -> None:
        self.start(worker)
        for test, passes in tests.items():
            self.say(len(self.runs), test, passes, words=0)
        self.end(len(self.runs))

    @rule(worker=anyone)
    def crash(self, worker: int) -> None:
        assert self.workers[worker].kill() == []
        self.workers[worker] = self.nursery.recorder()
        for run in self.runs.values():
            if run.state == "live" and run.worker == worker:
                run.state = "left"

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        self.end(data.draw(st.sampled_from(self.live), "run"))

    def end(self, number: int) -> None:
        before = self.sizes()
        self.workers[self.runs[number].worker].ask("finish", run=number)
        self.runs[number].state = "finished"
        sizes = before | {number: self.sizes().get(number, 0)}
        pinned = set(self.pins.values())
        for finished in self.of_state("finished", "interrupted"):
            if not keeps_its_place(finished, sizes, pinned, self.limits, number):
                self.runs[finished].state = "gone"

    @rule(worker=anyone, data=st.data(), name=st.sampled_from(NAMES))
    def pin(self, worker: int, data: st.DataObject, name: str) -> None:
        reference = self.reference(data)
        refusal, run = self.refusal_unless_ended(reference), self.run_of(reference)
        if not refusal and self.pins.get(name, run) != run:
            refusal = f"the name {name} is taken, by run #{self.pins[name]} "
        if not self.unavailable(refusal, worker, "pin", run=reference, name=name):
            self.pins[name] = run
            assert self.ask(worker, "pin", run=reference, name=name) == self.pins

    @rule(worker=anyone, name=st.sampled_from(NAMES))
    def unpin(self, worker: int, name: str) -> None:
        refusal = "" if name in self.pins else f"no run is called '{name}'"
        if not self.unavailable(refusal, worker, "unpin", name=name):
            del self.pins[name]
            assert self.ask(worker, "unpin", name=name) == self.pins

    # -- what is seen ------------------------------------------------------------------------------------

    @rule(worker=anyone)
    def list(self, worker: int) -> None:
        expected = [
            [
                number,
                self.runs[number].outcome,
                {status: tests.count(status) for status in set(tests)},
                sorted(name for name, pinned in self.pins.items() if pinned == number),
            ]
            for number in sorted(self.there, reverse=True)
            for tests in [list(self.runs[number].tests.values())]
        ]
        assert self.ask(worker, "listed") == expected

    @precondition(lambda self: self.runs)
    @rule(worker=anyone, data=st.data())
    def show(self, worker: int, data: st.DataObject) -> None:
        reference = self.reference(data)
        if self.unavailable(self.refusal(reference), worker, "shown", run=reference):
            return
        run = self.runs[self.run_of(reference)]
        state = {"live": "live", "left": "interrupted"}.get(run.state, "finished")
        assert self.ask(worker, "shown", run=reference) == [self.run_of(reference), state, run.tests]

    @precondition(lambda self: self.runs)
    @rule(worker=anyone, data=st.data())
    def diff(self, worker: int, data: st.DataObject) -> None:
        pair = {"base": self.reference(data), "target": self.reference(data)}
        refusals = (self.refusal_unless_ended(pair[side]) for side in ("target", "base"))
        if self.unavailable(next(filter(None, refusals), ""), worker, "differences", **pair):
            return
        before, after = (self.runs[self.run_of(reference)].tests for reference in pair.values())
        expected = {
            "newly_failing": {test for test in before if (before[test], after.get(test)) == ("passed", "failed")},
            "fixed": {test for test in before if (before[test], after.get(test)) == ("failed", "passed")},
            "still_failing": {test for test in before if before[test] == after.get(test) == "failed"},
            "added": after.keys() - before.keys(),
            "removed": before.keys() - after.keys(),
        }
        found = self.ask(worker, "differences", **pair)
        assert {part: set(tests) for part, tests in found.items() if tests} == {
            part: tests for part, tests in expected.items() if tests
        }

    @invariant()
    def files_are_those_of_runs_that_are_there(self) -> None:
        history = self.root / ".treescribe" / "history"
        if not self.runs:
            assert not (history / "active").exists()
            return
        active = {int(path.stem) for path in (history / "active").iterdir()}
        assert active == set(self.of_state("live", "left"))
        assert self.sizes().keys() == set(self.of_state("finished", "interrupted"))


def test_what_several_processes_do_to_the_store_is_what_the_model_says(processes: Nursery) -> None:
    class Machine(StoreMachine):
        nursery = processes

    run_state_machine_as_test(Machine, settings=settings(max_examples=20, stateful_step_count=30, phases=PHASES))
