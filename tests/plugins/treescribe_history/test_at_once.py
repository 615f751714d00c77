"""Many processes, with many threads each, that record in one worktree at once."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from recording_processes import Nursery
from treescribe.codec import Codec
from treescribe.events import LockAcquired, LockContention, TestFinished
from treescribe.workspace import Workspace
from treescribe_history.listing import list_runs
from treescribe_history.store import Store


@contextmanager
def gate(path: Path) -> Iterator[None]:
    """A gate that is closed during the block."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class AtOnce:
    """Processes that record at once.

    :ivar given: the target of each run by its id, in the end.
    """

    def __init__(self, processes: Nursery, workspace: Workspace, number: int) -> None:
        self.given: dict[int, str] = {}
        self._root = workspace.root
        self._recorders = [processes.recorder() for _ in range(number)]

    @property
    def said(self) -> list[str]:
        """What was said on stderr, but for waiting: on a busy machine one may wait for its turn."""
        return [note for recorder in self._recorders for note in recorder.notes if "waiting for" not in note]

    def begin(self, **what: Any) -> threading.Thread:
        """Have them all begin; the thread ends with the last of them."""
        path = self._root / "gate"
        with gate(path):
            for label, recorder in enumerate(self._recorders):
                recorder.send("record_at_once", root=str(self._root), gate=str(path), label=str(label), **what)
                assert recorder.note() == "ready"
        ends = threading.Thread(target=self._collect)
        ends.start()
        return ends

    def _collect(self) -> None:
        answers = list(chain.from_iterable(recorder.answer() for recorder in self._recorders))
        self.given = dict(answers)
        assert len(self.given) == len(answers), "an id was given twice"


def test_the_runs_of_sixteen_processes_with_sixteen_threads_each_have_their_own_ids_and_events(
    processes: Nursery, workspace: Workspace, store: Store
) -> None:
    recorded = AtOnce(processes, workspace, 16)
    recorded.begin(threads=16, runs=1, tests=6).join()
    assert recorded.given.keys() == set(range(1, 257))
    assert recorded.said == []
    assert {stored.id: store.header(stored).targets for stored in store.runs()} == {
        number: (target,) for number, target in recorded.given.items()
    }
    for stored in store.runs():
        transcript = store.read(stored, Codec())
        events = [event for event in transcript.events if not isinstance(event, LockContention | LockAcquired)]
        assert (transcript.state, transcript.problems) == ("finished", ())
        assert [event.type for event in events] == ["RunStarted", *["TestFinished"] * 6, "RunFinished"]
        assert [(test.suite, test.test) for test in events if isinstance(test, TestFinished)] == [
            (recorded.given[stored.id], str(number)) for number in range(6)
        ]


def test_the_list_can_be_had_at_every_moment_while_many_record_and_old_runs_go(
    processes: Nursery, workspace: Workspace, store: Store
) -> None:
    recorded = AtOnce(processes, workspace, 4)
    ends = recorded.begin(threads=4, runs=6, tests=3, keep=2)
    lists = []
    while ends.is_alive():
        lists.append(list_runs(workspace, limit=0))
    ends.join()
    assert recorded.given.keys() == set(range(1, 97))
    assert recorded.said == []
    for result in lists:
        assert [row.run for row in result.runs] == sorted({row.run for row in result.runs}, reverse=True)
        damaged = [row.summary for row in result.runs if row.outcome == "unreadable"]
        assert all("No such file" in text for text in damaged), "one that went in this moment at most"
    assert lists[-1].recorded == 96
    assert len(store.runs()) <= 3
