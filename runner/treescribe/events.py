"""The event catalogue: everything a run can say, one frozen dataclass each.

An event is written as one JSON object: its ``type`` (the class's name), ``at`` (milliseconds since the
epoch; `Run.emit` stamps it), and every field that differs from its default. Statuses and outcomes are
plain text: a value that this version does not know counts as a failure, never as a pass, and is written
back as it came (see `treescribe.reduce`).

Fields named in a class's ``masked`` are searched for secrets before anything is written. Types, statuses,
keys and paths are not, so that a secret that happens to read ``test`` cannot change a fact.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Any, ClassVar

from treescribe.facts import Fact, WorkspacePath
from treescribe.frozen import Frozen, frozen


@frozen
class Event(Frozen):
    """Base of every event. A third party's event derives from it and is named through `treescribe_event_types`."""

    type: ClassVar[str] = "Event"
    masked: ClassVar[tuple[str, ...]] = ()

    at: int = 0

    def __init_subclass__(cls) -> None:
        cls.type = cls.__dict__.get("type", cls.__name__)

    def fact(self) -> Fact | None:
        """The fact that this event establishes; None for events that are not compared."""
        return None


# ---- statuses -----------------------------------------------------------------------------------------


class TestStatus(StrEnum):
    """How one test came out. Failed, error, cancelled and timeout count as failures; so does any other text."""

    __test__ = False

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    IGNORED = "ignored"
    CANCELLED = "cancelled"
    ASSUMPTION_FAILED = "assumption-failed"
    PENDING = "pending"
    TIMEOUT = "timeout"


class SuiteOutcome(StrEnum):
    """How one suite came out, beside its tests."""

    EXECUTED = "executed"
    EMPTY = "empty"
    NO_FRAMEWORK_MATCHED = "no-framework-matched"
    ERRORED = "errored"
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"


class CompileStatus(StrEnum):
    """How one compile unit came out."""

    SUCCESS = "success"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class Severity(StrEnum):
    """How bad a diagnostic is."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class CommandStatus(StrEnum):
    """How a command ended. ``detached``: it was still running when its run ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed-out"
    DETACHED = "detached"
    ERROR = "error"


class RunOutcome(StrEnum):
    """How a run ended. ``error``: an exception that no command or test explains. ``interrupted``: its process died."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


# ---- run ----------------------------------------------------------------------------------------------


@frozen
class RunStarted(Event):
    """The first event of every run. What identifies the run stands in the transcript's header."""

    masked: ClassVar[tuple[str, ...]] = ("targets",)

    targets: tuple[str, ...] = ()


@frozen
class RunFinished(Event):
    """The last event of every run.

    :ivar outcome: a `RunOutcome`.
    :ivar exit_code: what the process ends with; None where it died.
    :ivar error: the reason where no command or test gives it.
    :ivar worktree_changed: whether files of the worktree changed: yes, no or unknown.
    """

    masked: ClassVar[tuple[str, ...]] = ("error",)

    outcome: str
    exit_code: int | None = None
    duration_ms: int = 0
    error: str = ""
    worktree_changed: str = "unknown"


# ---- tasks and commands -------------------------------------------------------------------------------

Arguments = tuple[tuple[str, str], ...]


@frozen
class TaskStarted(Event):
    """An invoke task was entered.

    :ivar task: number of this call within the run; ``parent`` is the call it was made from.
    :ivar name: the dotted name.
    :ivar arguments: (name, value as text) of what it was called with.
    :ivar role: target (asked for by name), pre, post, or call (one task called another).
    """

    masked: ClassVar[tuple[str, ...]] = ("arguments",)

    task: int
    parent: int | None = None
    name: str
    arguments: Arguments = ()
    role: str = "target"


@frozen
class TaskFinished(Event):
    """An invoke task was left. ``status`` is passed or failed; ``error`` is the exception that left it."""

    masked: ClassVar[tuple[str, ...]] = ("arguments", "error")

    task: int
    name: str
    arguments: Arguments = ()
    status: str
    error: str = ""
    duration_ms: int = 0

    def fact(self) -> Fact:
        arguments = tuple(f"{name}={value}" for name, value in self.arguments)
        return Fact("task", (self.name, *arguments), (("status", self.status),))


@frozen
class CommandStarted(Event):
    """A command was started.

    :ivar command: number of this command within the run.
    :ivar task: the task call that started it.
    :ivar line: the command line, with prefixes.
    :ivar mode: attached, asynchronous or disowned.
    """

    masked: ClassVar[tuple[str, ...]] = ("line",)

    command: int
    task: int | None = None
    line: str
    cwd: str = ""
    pty: bool = False
    mode: str = "attached"


@frozen
class CommandFinished(Event):
    """A command ended, or its run did (`CommandStatus.DETACHED`). ``signal`` is a number where one ended it."""

    masked: ClassVar[tuple[str, ...]] = ("line", "error")

    command: int
    line: str
    status: str = CommandStatus.EXITED
    exit_code: int | None = None
    signal: int | None = None
    error: str = ""
    duration_ms: int = 0

    def fact(self) -> Fact:
        return Fact(
            "command",
            (self.line,),
            (("status", str(self.status)), ("exit_code", self.exit_code), ("signal", self.signal)),
        )


@frozen
class Output(Event):
    """A piece of what a command (or a suite) printed, undecodable bytes replaced.

    :ivar stream: stdout or stderr.
    :ivar omitted_bytes: how many bytes of what was printed are left out before this piece.
    """

    masked: ClassVar[tuple[str, ...]] = ("text",)

    command: int | None = None
    project: str = ""
    suite: str = ""
    stream: str = "stdout"
    text: str
    omitted_bytes: int = 0


# ---- compiling ----------------------------------------------------------------------------------------


@frozen
class CompileStarted(Event):
    """A compile unit was begun."""

    project: str


@frozen
class CompilationReason(Event):
    """Why a unit was compiled, or not. May come before its `CompileStarted`, and twice: the last counts.

    :ivar reason: clean-build, empty-output, incremental or up-to-date.
    """

    project: str
    reason: str
    total_files: int = 0
    invalidated_files: tuple[str, ...] = ()
    changed_dependencies: tuple[str, ...] = ()

    def fact(self) -> Fact:
        value = (
            ("changed_dependencies", tuple(sorted(self.changed_dependencies))),
            ("invalidated_files", tuple(WorkspacePath(path) for path in sorted(self.invalidated_files))),
            ("reason", self.reason),
        )
        return Fact("compile", (self.project,), value, merges=True)


@frozen
class CompileProgress(Event):
    """How far a unit has come: per cent, and the compiler's own word for what it is doing."""

    project: str
    percentage: int = 0
    phase: str = ""


@frozen
class CompileFinished(Event):
    """A compile unit ended. ``status`` is a `CompileStatus`; ``skipped_because`` names what kept it from compiling."""

    project: str
    status: str
    skipped_because: str = ""
    duration_ms: int = 0

    def fact(self) -> Fact:
        value = (("skipped_because", self.skipped_because), ("status", str(self.status)))
        return Fact("compile", (self.project,), value, merges=True)


@frozen
class Diagnostic(Event):
    """A message of a compiler, linter or type checker.

    :ivar severity: a `Severity`.
    :ivar tool: the program that said it, where known (``code`` is its name for the rule).
    :ivar path: absolute where the file is known; ``line`` and ``column`` count from 1, 0 where unknown.
    :ivar project: the compile unit it belongs to, where there is one.
    """

    masked: ClassVar[tuple[str, ...]] = ("message",)

    severity: str
    message: str
    code: str = ""
    tool: str = ""
    path: str = ""
    line: int = 0
    column: int = 0
    project: str = ""

    def fact(self) -> Fact:
        shown = (
            ("line", self.line),
            ("column", self.column),
            ("code", self.code),
            ("tool", self.tool),
            ("project", self.project),
        )
        return Fact("diagnostic", (str(self.severity), WorkspacePath(self.path), self.message), shown=shown)


# ---- tests --------------------------------------------------------------------------------------------


@frozen
class SuiteStarted(Event):
    """A suite was begun. ``tests`` is how many it is expected to run, where that is known."""

    project: str = ""
    suite: str
    tests: int | None = None


@frozen
class TestStarted(Event):
    """A test was begun."""

    __test__ = False

    project: str = ""
    suite: str
    test: str


@frozen
class TestFinished(Event):
    """A test ended.

    :ivar project: the build unit or environment; empty where the worktree is one project.
    :ivar suite: class, file or module, as the framework names it.
    :ivar status: a `TestStatus`.
    :ivar message: one line: the assertion, or the reason of a skip. ``trace`` is the whole report, bounded.
    :ivar path: absolute path of the test's source, where known; ``line`` counts from 1, 0 where unknown.
    """

    __test__ = False
    masked: ClassVar[tuple[str, ...]] = ("message", "trace")

    project: str = ""
    suite: str
    test: str
    status: str
    duration_ms: int = 0
    message: str = ""
    trace: str = ""
    path: str = ""
    line: int = 0

    def fact(self) -> Fact:
        return Fact(
            "test",
            (self.project, self.suite, self.test),
            (("status", str(self.status)), ("message", self.message)),
        )


@frozen
class SuiteFinished(Event):
    """A suite ended. ``outcome`` is a `SuiteOutcome`; ``message`` and ``trace`` say why where it was not executed."""

    masked: ClassVar[tuple[str, ...]] = ("message", "trace")

    project: str = ""
    suite: str
    outcome: str
    message: str = ""
    trace: str = ""
    duration_ms: int = 0

    def fact(self) -> Fact:
        return Fact("suite", (self.project, self.suite), (("outcome", str(self.outcome)), ("message", self.message)))


@frozen
class ReportRead(Event):
    """A file that a tool wrote was taken into account: what it says stands among the events of this run.

    :ivar format: junit or sarif.
    """

    path: str
    format: str


# ---- trackers, engines, patches, state, locks, log ----------------------------------------------------


@frozen
class IssueChanged(Event):
    """A field of a tracker's item changed. ``actor`` is who changed it."""

    masked: ClassVar[tuple[str, ...]] = ("before", "after")

    tracker: str
    issue: str
    field: str
    before: str = ""
    after: str = ""
    actor: str = ""

    def fact(self) -> Fact:
        value = (("before", self.before), ("after", self.after))
        return Fact("issue", (self.tracker, self.issue, self.field), value, (("actor", self.actor),))


@frozen
class OperationStarted(Event):
    """A step of an engine was begun. Ids are the engine's own and hold within one run."""

    masked: ClassVar[tuple[str, ...]] = ("name",)

    operation: str
    parent: str = ""
    name: str


@frozen
class OperationFinished(Event):
    """A step of an engine ended. ``status`` is passed or failed; ``cached`` steps did no work."""

    masked: ClassVar[tuple[str, ...]] = ("name", "message")

    operation: str
    parent: str = ""
    name: str
    status: str
    cached: bool = False
    message: str = ""
    duration_ms: int = 0

    def fact(self) -> Fact:
        value = (("status", self.status), ("message", self.message))
        return Fact("operation", (self.name,), value, (("cached", self.cached),))


@frozen
class PatchRecorded(Event):
    """The run's change to its worktree was recorded.

    :ivar patch: the name of its file beside the transcript; empty where it stands in the transcript.
    :ivar private: it holds what looks like a secret: stored with mode 0600, never shown.
    """

    patch: str = ""
    paths: tuple[str, ...] = ()
    added_lines: int = 0
    removed_lines: int = 0
    private: bool = False

    def fact(self) -> Fact:
        paths = tuple(WorkspacePath(path) for path in sorted(self.paths))
        value = (("added_lines", self.added_lines), ("paths", paths), ("removed_lines", self.removed_lines))
        return Fact("patch", ("workspace",), value)


@frozen
class StateCopied(Event):
    """A unit of compiled state came from another worktree."""

    unit: str
    source: str = ""
    files: int = 0
    bytes: int = 0


@frozen
class LockContention(Event):
    """Somebody else holds what this run waits for."""

    lock: str
    holder: str = ""
    waiting_ms: int = 0


@frozen
class LockAcquired(Event):
    """The wait is over."""

    lock: str
    waited_ms: int = 0


@frozen
class LogMessage(Event):
    """What treescribe or a plugin has to say about the run itself. ``level``: info, warning or error."""

    masked: ClassVar[tuple[str, ...]] = ("message",)

    level: str = "info"
    source: str = "treescribe"
    message: str


@frozen
class UnknownEvent(Event):
    """An event of a type that is not installed here, kept whole and written back unchanged."""

    record: dict[str, Any] = field(default_factory=dict)


CATALOGUE: tuple[type[Event], ...] = (
    RunStarted,
    RunFinished,
    TaskStarted,
    TaskFinished,
    CommandStarted,
    CommandFinished,
    Output,
    CompileStarted,
    CompilationReason,
    CompileProgress,
    CompileFinished,
    Diagnostic,
    SuiteStarted,
    TestStarted,
    TestFinished,
    SuiteFinished,
    ReportRead,
    IssueChanged,
    OperationStarted,
    OperationFinished,
    PatchRecorded,
    StateCopied,
    LockContention,
    LockAcquired,
    LogMessage,
)
"""Every event type that treescribe itself brings, in the order of the documentation."""
