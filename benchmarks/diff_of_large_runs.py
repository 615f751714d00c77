"""What comparing two runs of 100,000 tests takes, beside `json.loads` of every line of both files.

Each is a process of its own. The reference holds nothing that it has parsed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from pairs import Program, in_turns, run
from projects import history_of, new_project, throw_away_folder
from rows import Row, show, timed

BUDGET = 2.0
TESTS = 100_000
ROUNDS = 7

LOADS = """\
import json, sys
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        for line in file:
            json.loads(line)
"""
DIFF = """\
import sys
from treescribe.workspace import Workspace
from treescribe.host import host
host().operations()["history.diff"].call(Workspace.open(sys.argv[1]), base="1", target="2")
"""


def rows() -> Iterator[Row]:
    """Reading and comparing as `history.diff` does; and the whole command, with what it prints."""
    with throw_away_folder() as folder:
        project = new_project(folder / "project")
        run(Program((sys.executable, str(Path(__file__).with_name("record_large_runs.py")), str(TESTS)), project))
        files = map(str, history_of(project))
        reference, compared, command = in_turns(
            Program((sys.executable, "-c", LOADS, *files), project),
            Program((sys.executable, "-c", DIFF, str(project)), project),
            Program(("treescribe", "history.diff", "1", "2"), project),
            rounds=ROUNDS,
        )
    yield timed(f"diff of two runs of {TESTS:,} tests / json.loads", compared, reference, BUDGET)
    yield timed("the same, treescribe history.diff", command, reference)


if __name__ == "__main__":
    show(rows())
