"""Seeing invoke's tasks as they are called, without touching them.

`Task.__call__` is observed for the time of a run, for every task and every subclass. Task bodies stay as they are:
invoke tells tasks apart by their bodies' code, so wrapped ones would count as one and the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from invoke.collection import Collection
from invoke.exceptions import Exit, Failure
from invoke.tasks import Call, Task

from treescribe.events import Arguments, RunOutcome, TaskFinished, TaskStarted
from treescribe.run import Run
from treescribe.tracebacks import trim

LONGEST_ARGUMENT = 200

current_task: ContextVar[int | None] = ContextVar("current_task", default=None)
"""The number of the task call that this thread is in."""


class TaskObserver:
    """Emits `TaskStarted` and `TaskFinished` around every task call of a run.

    :param direct: the calls that were asked for by name; other calls from the top are pre- or post-tasks.
    """

    def __init__(self, run: Run, collection: Collection, direct: list[Call]) -> None:
        self._run = run
        self._names = _names(collection)
        self._direct = [call.task for call in direct]
        self._post: list[Task[Any]] = []

    @contextmanager
    def observing(self, ignored: type[Task[Any]]) -> Iterator[None]:
        """Observe for the block; tasks of the class `ignored` are not part of the run."""
        original = Task.__call__

        def __call__(task: Task[Any], *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if isinstance(task, ignored):
                return original(task, *args, **kwargs)
            try:
                return self._call(original, task, args, kwargs)
            except BaseException as error:
                trim(error)
                raise

        Task.__call__ = __call__  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            Task.__call__ = original  # type: ignore[method-assign]

    def _call(
        self, original: Callable[..., Any], task: Task[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        parent = current_task.get()
        number = self._run.next_number()
        name = self._names.get(id(task), task.name)
        arguments = self._arguments(task, args[1:], kwargs)
        role = "call" if parent is not None else self._role(task)
        self._run.emit(TaskStarted(task=number, parent=parent, name=name, arguments=arguments, role=role))
        begun = self._run.clock.elapsed_ms()
        token = current_task.set(number)
        error: BaseException | None = None
        try:
            return original(task, *args, **kwargs)
        except BaseException as raised:
            error = raised
            raise
        finally:
            current_task.reset(token)
            if role == "target":
                self._post.extend(_flattened(task.post))
            self._run.emit(
                TaskFinished(
                    task=number,
                    name=name,
                    arguments=arguments,
                    status=RunOutcome.FAILED if _is_failure(error) else RunOutcome.PASSED,
                    error=error_text(error) if _is_failure(error) else "",
                    duration_ms=self._run.clock.elapsed_ms() - begun,
                )
            )

    def _arguments(self, task: Task[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """What a task is called with; masked before it is cut, since half of a secret would not be recognised."""
        try:
            found = arguments_as_text(task, args, kwargs)
        except Exception:  # noqa: BLE001 - an argument's own code may do anything; the task is to run all the same
            return ()
        return tuple((name, _cut(self._run.masker.text(text))) for name, text in found)

    def _role(self, task: Task[Any]) -> str:
        if any(task is direct for direct in self._direct):
            return "target"
        return "post" if any(task is post for post in self._post) else "pre"


def _names(collection: Collection, prefix: str = "") -> dict[int, str]:
    """The dotted name of every task, by identity; the shortest where it stands in several collections."""
    names = {id(task): prefix + name for name, task in collection.tasks.items()}
    for name, below in collection.collections.items():
        for identity, dotted in _names(below, f"{prefix}{name}.").items():
            names.setdefault(identity, dotted)
    return names


def _flattened(calls: Any) -> Iterator[Task[Any]]:
    for call in calls:
        task = call.task if isinstance(call, Call) else call
        yield task
        yield from _flattened(task.pre)
        yield from _flattened(task.post)


def arguments_as_text(task: Task[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """What a task is called with beyond its defaults, as (name, text)."""
    try:
        signature = task.argspec(task.body)
        given = signature.bind_partial(*args, **kwargs).arguments
    except TypeError:  # the call itself will say what is wrong with it
        return ()
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
    return tuple((name, as_text(value)) for name, value in given.items() if not _same(value, defaults.get(name)))


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and isinstance(value, str | int | float | bool | None) and value == default


def as_text(value: Any) -> str:
    """A value as text that is the same in every run: no addresses of objects."""
    if isinstance(value, str):
        text = value
    elif value is None or isinstance(value, bool | int | float):
        text = repr(value)
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(as_text(part) for part in value) + "]"
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{as_text(key)}: {as_text(part)}" for key, part in value.items()) + "}"
    else:
        text = f"<{type(value).__name__}>"
    return text


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_ARGUMENT else text[:LONGEST_ARGUMENT] + "…"


def error_text(error: BaseException | None) -> str:
    """An exception in one line."""
    if error is None:
        return ""
    try:
        if isinstance(error, Failure):
            return repr(error)
        first = str(error).strip().partition("\n")[0]
    except Exception:  # noqa: BLE001 - an exception that cannot even be shown; its type says as much as there is
        return type(error).__name__
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _is_failure(error: BaseException | None) -> bool:
    if isinstance(error, Exit):
        return error.code != 0
    if isinstance(error, SystemExit):
        return error.code not in (None, 0)
    return error is not None
