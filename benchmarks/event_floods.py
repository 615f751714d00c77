"""Floods of events: a million lines of output, with and without messages of compilers in them, and 100,000 tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pairs import Program, in_turns, run
from projects import new_project, throw_away_folder
from rows import Row, show, timed

LINES = 1_000_000
TESTS = 100_000
ROUNDS = 3
RECORDED = ("treescribe", "exec", "--")
PYTEST = ("pytest", "-q", "-p", "no:cacheprovider")

KINDS = {
    "of a build": b"[%07d] building the module and everything below it\n",
    "that look like messages": b"10:22:33: GET /orders/%07d, error or warning: none\n",
    "that are messages": b"src/orders.c:%d:7: warning: unused variable [-Wunused-variable]\n",
}
"""Lines that no reader looks at twice, lines that each is tried on, and diagnostics."""


def rows() -> Iterator[Row]:
    """Each kind of lines, through `exec` and through a pipe; then the tests, recorded and with pytest-reportlog."""
    with throw_away_folder() as folder:
        project = new_project(folder / "lines")
        for name, line in KINDS.items():
            yield _lines(project, name, line)
        yield from _tests(new_project(folder / "tests", tests=TESTS))


def _lines(project: Path, name: str, line: bytes) -> Row:
    with (project / "lines.txt").open("wb") as file:
        file.writelines(line % number for number in range(1, LINES + 1))
    recorded, piped = in_turns(
        Program((*RECORDED, "cat", "lines.txt"), project),
        Program(("sh", "-c", "cat lines.txt | cat"), project),
        rounds=ROUNDS,
    )
    return timed(f"{LINES:,} lines {name}: treescribe exec / the command | cat", recorded, piped)


def _tests(project: Path) -> Iterator[Row]:
    run(Program((*PYTEST, "--collect-only"), project))  # Python compiles the modules once
    plain, reportlog, recorded = (
        [run(Program(words, project))]
        for words in (PYTEST, (*PYTEST, "--report-log=reportlog.jsonl"), (*RECORDED, *PYTEST))
    )
    yield timed(f"{TESTS:,} tests: treescribe exec / plain pytest", recorded, plain)
    yield timed(f"{TESTS:,} tests: treescribe exec / with pytest-reportlog", recorded, reportlog)


if __name__ == "__main__":
    show(rows())
