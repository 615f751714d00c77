"""The list of runs as people read it: a table, times relative to now."""

from __future__ import annotations

from treescribe.terminal import Style, columns, count, relative_time

from treescribe_history.digest import CUT_SHORT, RUNNING
from treescribe_history.listing import UNREADABLE, RunRow, RunsResult
from treescribe_history.verdict_text import OUTCOME_ROLES

LONGEST_TARGETS = 40
_ROLES = OUTCOME_ROLES | {UNREADABLE: "bad"}


def render(result: RunsResult, style: Style) -> str:
    """A table of runs, the newest first."""
    if not result.total:
        return f"No runs are kept in {result.workspace}. Record one: treescribe TASK, or: treescribe exec -- COMMAND"
    number = max((len(str(row.run)) for row in result.runs), default=0)
    tests = max((len(_number(row)) for row in result.runs), default=0)
    cells: list[tuple[str, ...]] = [("#".rjust(number), "when", "targets", "result", "since the run before")]
    cells += [_cells(row, style, number, tests) for row in result.runs]
    header, *lines = columns(cells, gap="    ")
    painted = [_painted(line, row, style) for line, row in zip(lines, result.runs, strict=True)]
    return "\n".join([style.paint("  " + header, "dim"), *painted, _below_list(result)])


def _cells(row: RunRow, style: Style, number: int, tests: int) -> tuple[str, str, str, str, str]:
    when = relative_time(row.started_at, style.now_ms) if row.started_at is not None else ""
    return str(row.run).rjust(number), when, _cut(" ".join(row.targets)), _outcome(row, tests), _remark(row)


def _painted(line: str, row: RunRow, style: Style) -> str:
    before, outcome, after = line.rpartition(f"    {row.outcome}")
    return (
        "  " + before + (outcome[:4] + style.paint(outcome[4:], _ROLES.get(row.outcome, ""))) + after
        if (style.colour and row.outcome in _ROLES and outcome)
        else "  " + line
    )


def _number(row: RunRow) -> str:
    """How many tests passed, of a run that passed; how many failed, of one that failed."""
    number = row.tests.get("passed", 0) if row.outcome == "passed" else row.failing
    return f"{number:,}" if number and row.outcome in ("passed", "failed") else ""


def _outcome(row: RunRow, width: int) -> str:
    return f"{row.outcome.ljust(6)}  {_number(row).rjust(width)}".rstrip()


def _remark(row: RunRow) -> str:
    if row.outcome == UNREADABLE:
        remarks = [row.summary]
    elif row.outcome in (RUNNING, *CUT_SHORT):
        seen = sum(row.tests.values())
        remarks = [f"{count(seen, 'test')} seen" if seen else ""]
    else:
        remarks = [row.changes or ""]
    if row.pinned:
        remarks.append(f"pinned: {', '.join(row.pinned)}")
    return " · ".join(remark for remark in remarks if remark)


def _below_list(result: RunsResult) -> str:
    end = result.offset + len(result.runs)
    kept = f"{result.total:,} kept of {result.recorded:,} recorded"
    if end < result.total:
        return f"{kept} · {result.total - end:,} more: treescribe history.list --offset {end}"
    return f"{kept} · treescribe history.show RUN"


def _cut(text: str) -> str:
    """Targets on one line, cut where they are long: a command can be a script of many lines."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TARGETS else text[: LONGEST_TARGETS - 1] + "…"
