"""What a run changed since an earlier one, in as few words as an answer to a run has room for."""

from __future__ import annotations

from collections.abc import Sequence

from treescribe.reduce import test_fails
from treescribe.terminal import count

from treescribe_history.diff_models import DiagnosticEntry, DiffResult, Names, TestChange

NAMED = 3
"""How many of a kind are named."""


def changes_text(result: DiffResult, since: int) -> str:
    """Say on one line what changed since run `since`, for the line that a run ends with."""
    failing = [test for test in result.tests.added if test_fails(test.after)]
    kinds = (
        (f"newly failing since #{since}", result.tests.newly_failing),
        ("added and failing", failing),
        (f"fixed since #{since}", result.tests.fixed),
    )
    parts = [f"{said}: {_listed(first_names(tests))}" for said, tests in kinds if tests]
    new = result.diagnostics.new
    if new and not (result.tests.newly_failing or failing):
        parts.append(f"{count(len(new), 'new diagnostic')}, first: {diagnostic_text(new[0])}")
    if parts:
        return " · ".join(parts)
    return f"no differences since #{since}" if result.identical else f"since #{since}: {result.summary.rstrip('.')}"


def first_names(tests: Sequence[TestChange]) -> Names:
    """The first few by name, then how many more there are."""
    names = tuple(test.name for test in tests[:NAMED])
    rest = len(tests) - len(names)
    return (*names, f"{rest:,} more") if rest else names


def _listed(names: Names) -> str:
    if len(names) < 2:
        return "".join(names)
    joint = " and " if names[-1].endswith(" more") else ", "
    return f"{', '.join(names[:-1])}{joint}{names[-1]}"


def position(diagnostic: DiagnosticEntry) -> str:
    """Where a diagnostic stands: ``path:line:column``, as far as it is known."""
    numbers = (str(number) for number in (diagnostic.line, diagnostic.column) if number)
    return ":".join((diagnostic.path or "(no file)", *numbers))


def diagnostic_text(diagnostic: DiagnosticEntry) -> str:
    """A diagnostic on one line, without its severity."""
    message = (diagnostic.message.splitlines() or [""])[0]
    return " ".join(part for part in (position(diagnostic), diagnostic.code, message) if part)
