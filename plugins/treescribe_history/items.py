"""What happened in a run as a list of items: from every event that establishes a fact, and from what never ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from treescribe.events import (
    CommandFinished,
    CommandStarted,
    CommandStatus,
    CompilationReason,
    CompileFinished,
    Diagnostic,
    Event,
    LogMessage,
    Severity,
    SuiteFinished,
    TaskFinished,
    TaskStarted,
    TestFinished,
    TestStarted,
)
from treescribe.facts import full_test_name
from treescribe.foreign import fact_of
from treescribe.frozen import Frozen, frozen
from treescribe.reduce import compile_fails, suite_fails, test_fails

_ORDER = ("test", "suite", "diagnostic", "compile", "command", "task", "operation", "issue", "patch", "log")


PATH_DETAILS = ("invalidated_files", "paths")
"""The names of an item's details that are paths."""


@frozen
class Item(Frozen):
    """One thing that happened in a run.

    :ivar kind: test, suite, compile, diagnostic, command, task, and so on; a third party's fact has its own.
    :ivar status: as the event says it; running or unfinished for what has not ended.
    :ivar details: further values, as text.
    """

    kind: str
    name: str
    status: str
    failing: bool = False
    message: str | None = None
    trace: str | None = None
    project: str | None = None
    path: str | None = None
    line: int | None = None
    column: int | None = None
    duration_ms: int | None = None
    details: dict[str, str] | None = None


def items_of(events: Iterable[Event], unended: str) -> list[Item]:
    """Every item of a run, failing ones first, then by kind, then as they came.

    :param unended: the status of a test, command or task that was begun and never ended.
    """
    items: list[Item] = []
    begun: dict[tuple[object, ...], Item] = {}
    for event in events:
        key = _key(event)
        if isinstance(event, TestStarted | CommandStarted | TaskStarted):
            begun[key] = _begun(event, unended)
            continue
        begun.pop(key, None)
        item = _item(event)
        if item is not None:
            items.append(item)
    items += begun.values()
    rank = {kind: number for number, kind in enumerate(_ORDER)}
    return sorted(items, key=lambda item: (not item.failing, rank.get(item.kind, len(rank))))


def _key(event: Event) -> tuple[object, ...]:
    """What ties the beginning of a test, a command or a task to its end."""
    if isinstance(event, TestStarted | TestFinished):
        return ("test", event.project, event.suite, event.test)
    if isinstance(event, CommandStarted | CommandFinished):
        return ("command", event.command)
    if isinstance(event, TaskStarted | TaskFinished):
        return ("task", event.task)
    return ()


def _begun(event: TestStarted | CommandStarted | TaskStarted, status: str) -> Item:
    if isinstance(event, CommandStarted):
        return Item(kind="command", name=event.line, status=status)
    if isinstance(event, TaskStarted):
        return Item(kind="task", name=_called(event), status=status)
    name = full_test_name(event.project, event.suite, event.test)
    return Item(kind="test", name=name, status=status, project=event.project or None)


def _item(event: Event) -> Item | None:
    make = _MAKERS.get(type(event))
    return make(event) if make is not None else _of_fact(event)


def _of_test(test: TestFinished) -> Item:
    return Item(
        kind="test",
        name=full_test_name(test.project, test.suite, test.test),
        status=str(test.status),
        failing=test_fails(test.status),
        message=test.message or None,
        trace=test.trace or None,
        project=test.project or None,
        path=test.path or None,
        line=test.line or None,
        duration_ms=test.duration_ms,
    )


def _of_suite(suite: SuiteFinished) -> Item:
    return Item(
        kind="suite",
        name=f"{suite.project}: {suite.suite}" if suite.project else suite.suite,
        status=str(suite.outcome),
        failing=suite_fails(suite.outcome),
        message=suite.message or None,
        trace=suite.trace or None,
        project=suite.project or None,
        duration_ms=suite.duration_ms,
    )


def _of_diagnostic(diagnostic: Diagnostic) -> Item:
    details = {"tool": diagnostic.tool} if diagnostic.tool else None
    return Item(
        kind="diagnostic",
        name=diagnostic.code,
        status=str(diagnostic.severity),
        failing=diagnostic.severity not in (Severity.WARNING, Severity.INFO),
        message=diagnostic.message,
        project=diagnostic.project or None,
        path=diagnostic.path or None,
        line=diagnostic.line or None,
        column=diagnostic.column or None,
        details=details,
    )


def _of_command(command: CommandFinished) -> Item:
    ended_well = command.status == CommandStatus.EXITED and command.exit_code == 0
    ends = {"exit code": command.exit_code or None, "signal": command.signal}
    says = [f"{what} {number}" for what, number in ends.items() if number is not None]
    return Item(
        kind="command",
        name=command.line,
        status=str(command.status),
        failing=not ended_well and command.status != CommandStatus.DETACHED,
        message=", ".join([*says, *([command.error] if command.error else [])]) or None,
        duration_ms=command.duration_ms,
    )


def _called(task: TaskStarted | TaskFinished) -> str:
    arguments = " ".join(f"{name}={value}" for name, value in task.arguments)
    return f"{task.name} {arguments}".rstrip()


def _of_task(task: TaskFinished) -> Item:
    return Item(
        kind="task",
        name=_called(task),
        status=task.status,
        failing=task.status != "passed",
        message=task.error or None,
        duration_ms=task.duration_ms,
    )


def _of_unit(unit: CompileFinished) -> Item:
    return Item(
        kind="compile",
        name=unit.project,
        status=str(unit.status),
        failing=compile_fails(unit.status),
        message=f"skipped because of {unit.skipped_because}" if unit.skipped_because else None,
        project=unit.project,
        duration_ms=unit.duration_ms,
    )


def _of_reason(reason: CompilationReason) -> Item:
    lists = {"invalidated_files": reason.invalidated_files, "changed_dependencies": reason.changed_dependencies}
    details = {name: ", ".join(values) for name, values in lists.items() if values}
    return Item(
        kind="compile", name=reason.project, status=reason.reason, project=reason.project, details=details or None
    )


def _of_message(message: LogMessage) -> Item:
    return Item(kind="log", name=message.source, status=message.level, message=message.message)


def _of_fact(event: Event) -> Item | None:
    """An item of any other event that establishes a fact, a third party's included."""
    fact = fact_of(event)
    if fact is None:
        return None
    values = {name: _text(value) for name, value in (*fact.value, *fact.shown) if value not in (None, "", ())}
    status = values.pop("status", "") or values.pop("outcome", "")
    message = values.pop("message", None)
    return Item(
        kind=fact.kind,
        name=" ".join(fact.key),
        status=status,
        failing=status in ("failed", "error"),
        message=message,
        details=values or None,
    )


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


_Maker = Callable[[Any], Item]
_MAKERS = cast(
    dict[type[Event], _Maker],
    {
        TestFinished: _of_test,
        SuiteFinished: _of_suite,
        Diagnostic: _of_diagnostic,
        CommandFinished: _of_command,
        TaskFinished: _of_task,
        CompileFinished: _of_unit,
        CompilationReason: _of_reason,
        LogMessage: _of_message,
    },
)
