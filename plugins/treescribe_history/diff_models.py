"""What a comparison of two runs answers with: frozen values whose JSON leaves out what is empty.

Every entry speaks of ``before`` (the base) and ``after`` (the target). Paths are relative to each side's own
worktree; messages and command lines are as the side they are shown for told them.
"""

from __future__ import annotations

from dataclasses import asdict, field
from typing import Any, Literal

from treescribe.facts import Value, full_test_name
from treescribe.frozen import frozen
from treescribe.result import Result

Kind = Literal["changed", "added", "removed"]
Names = tuple[str, ...]


class Compact(Result):
    """Base of what is written without its empty members: None, empty texts and collections. 0 and False are kept.

    A member that can be empty has a default, so that what is written is valid by the schema.
    """

    __slots__ = ()

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        """Return what is not empty as plain values, nested members alike."""
        return asdict(self, dict_factory=_without_empty)


def _without_empty(members: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in members if value or value in (0, False)}


@frozen
class Side(Compact):
    """One of the two runs that were compared."""

    run: int
    workspace: str


@frozen
class Moved(Compact):
    """A text that reads differently on the two sides."""

    before: str = ""
    after: str = ""


@frozen
class Listed(Compact):
    """How a collection of names differs."""

    added: Names = ()
    removed: Names = ()


@frozen
class TestChange(Compact):
    """A test that came out differently, or (``changed`` left out) fails as it did before.

    ``message`` is what a failing test says, ``reason`` why a test did not run; ``previous`` is what the base had there.
    """

    __test__ = False

    project: str = ""
    suite: str = ""
    test: str = ""
    before: str = ""
    after: str = ""
    message: str = ""
    reason: str = ""
    previous: str = ""
    changed: bool | None = None

    @property
    def name(self) -> str:
        """The test's full name."""
        return full_test_name(self.project, self.suite, self.test)


@frozen
class TestChanges(Compact):
    """Tests, by what became of them. ``still_failing`` has those that fail as before too, after the changed ones."""

    __test__ = False

    newly_failing: tuple[TestChange, ...] = ()
    fixed: tuple[TestChange, ...] = ()
    newly_skipped: tuple[TestChange, ...] = ()
    unskipped: tuple[TestChange, ...] = ()
    status_changed: tuple[TestChange, ...] = ()
    still_failing: tuple[TestChange, ...] = ()
    added: tuple[TestChange, ...] = ()
    removed: tuple[TestChange, ...] = ()


@frozen
class SuiteChange(Compact):
    """A suite whose outcome, or the message beside it, differs."""

    project: str = ""
    suite: str = ""
    change: Kind
    before: str = ""
    after: str = ""
    message: str = ""


@frozen
class CompileChange(Compact):
    """A compile unit that both runs speak of, and what differs about it."""

    project: str = ""
    reason: Moved | None = None
    status: Moved | None = None
    skipped_because: Moved | None = None
    invalidated_files: Listed | None = None
    changed_dependencies: Listed | None = None


@frozen
class CompileUnit(Compact):
    """A compile unit that only one run speaks of."""

    project: str = ""
    reason: str = ""
    status: str = ""
    skipped_because: str = ""


@frozen
class CompileChanges(Compact):
    """Compile units."""

    changed: tuple[CompileChange, ...] = ()
    added: tuple[CompileUnit, ...] = ()
    removed: tuple[CompileUnit, ...] = ()


@frozen
class DiagnosticEntry(Compact):
    """A diagnostic that only one run has. Line and column are where that run saw it."""

    severity: str = ""
    path: str = ""
    line: int | None = None
    column: int | None = None
    message: str = ""
    code: str = ""
    tool: str = ""
    project: str = ""


@frozen
class DiagnosticChanges(Compact):
    """Diagnostics; ``not_checked`` counts those of units that the target did not compile, so that nobody knows."""

    new: tuple[DiagnosticEntry, ...] = ()
    resolved: tuple[DiagnosticEntry, ...] = ()
    not_checked: int | None = None


@frozen
class TaskChange(Compact):
    """A call of a task. ``arguments`` are ``name=value``."""

    name: str = ""
    arguments: Names = ()
    change: Kind
    before: str = ""
    after: str = ""


@frozen
class CommandEnd(Compact):
    """How a command ended."""

    status: str = ""
    exit_code: int | None = None
    signal: int | None = None


@frozen
class CommandChange(Compact):
    """A command, by its line."""

    line: str = ""
    change: Kind
    before: CommandEnd | None = None
    after: CommandEnd | None = None


@frozen
class OtherChange(Compact):
    """A fact of another kind: an issue, an engine's operation, a patch, or a third party's.

    Of a changed fact only what differs is given; of lists in it only what the other side lacks.
    """

    kind: str = ""
    key: Names = ()
    change: Kind
    before: dict[str, Value] = field(default_factory=dict)
    after: dict[str, Value] = field(default_factory=dict)


@frozen
class DiffResult(Compact):
    """What differs between two runs.

    ``identical``: every fact of both sides is equal, as often as it occurred. Tests that fail as before are listed
    under ``tests.still_failing`` all the same. ``same``: by kind, how many facts are equal. ``not_compared``: by
    type, how many events of either side establish no fact because their type is not installed here. ``left_out``:
    by section, how many entries the page does not show; ``more`` says how to see them.
    """

    summary: str
    identical: bool
    base: Side
    target: Side
    cross_workspace: bool
    notes: Names = ()
    tests: TestChanges = TestChanges()
    suites: tuple[SuiteChange, ...] = ()
    compile: CompileChanges = CompileChanges()
    diagnostics: DiagnosticChanges = DiagnosticChanges()
    tasks: tuple[TaskChange, ...] = ()
    commands: tuple[CommandChange, ...] = ()
    other: tuple[OtherChange, ...] = ()
    same: dict[str, int] = field(default_factory=dict)
    not_compared: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    more: str = ""
