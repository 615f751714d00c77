"""Operations as invoke tasks: their arguments from the typed function, ``--json`` beside them."""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from invoke.collection import Collection
from invoke.exceptions import Exit
from invoke.parser.argument import Argument
from invoke.tasks import Task

from treescribe.clock import SystemClock
from treescribe.collector import collector_paused
from treescribe.errors import TreescribeError
from treescribe.operation import Operation, described
from treescribe.terminal import show_any_text, style_for
from treescribe.workspace import Workspace

if TYPE_CHECKING:
    from treescribe.backend import Backend

ALIAS_PREFIX = "treescribe"


class OwnTask(Task[Any]):
    """A task of treescribe's own: no part of a run of tasks, and equal to no other task.

    :ivar backend: whose target it is; None for operations and the like.
    """

    backend: Backend | None = None
    __hash__ = Task.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


class OperationTask(OwnTask):
    """An invoke task that runs an operation in the workspace around a directory.

    :param directory: gives the directory, when the task is called.
    :param named: whether the operation is named on the command line; only then is its function imported.
    """

    def __init__(self, operation: Operation, directory: Callable[[], str], *, named: bool) -> None:
        def body(context: Any, json: bool = False, **parameters: Any) -> None:
            self._show(json, parameters)

        super().__init__(body, name=operation.name, positional=())
        self.operation = operation
        self._directory = directory
        self._named = named
        with collector_paused():
            self.__doc__ = inspect.getdoc(operation.load()) if named else operation.help

    def get_arguments(self, ignore_unknown_help: bool | None = None) -> list[Argument]:
        """The operation's parameters as arguments; none where the operation is not named, since nothing is parsed."""
        if not self._named:
            return []
        arguments = [_argument(parameter) for parameter in self.operation.parameters().values()]
        return [*arguments, Argument(name="json", kind=bool, default=False, help="Print the result as JSON.")]

    def flags(self) -> list[str]:
        """The flags of its arguments."""
        return [f"--{argument.names[0]}" for argument in self.get_arguments()]

    def optional_positionals(self) -> list[str]:
        """Flags that may be left off on the command line though their values need not be given at all, in order."""
        if not self._named:
            return []
        parameters = self.operation.parameters().values()
        return [_flag(p) for p in parameters if described(p).positional and p.default is not inspect.Parameter.empty]

    def _absolute(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters with directories made absolute: only the command line knows a current one."""
        directories = [name for name, p in self.operation.parameters().items() if described(p).directory]
        start = self._directory()
        return parameters | {
            name: os.path.join(start, parameters[name]) for name in directories if parameters.get(name)
        }

    def _show(self, json: bool, parameters: dict[str, Any]) -> None:
        operation = self.operation
        try:
            workspace = Workspace.open(self._directory()) if operation.needs_workspace else None
            result = operation.call(workspace, **self._absolute(parameters))
            style = style_for(sys.stdout, SystemClock().now_ms())
            text = result.model_dump_json(exclude_none=True) if json else operation.text(result, style)
            _print(text)
            code = operation.code(result, parameters)
        except (TreescribeError, Exit):
            raise
        except Exception as error:
            raise TreescribeError(*_fault(operation, error)) from error
        if code:
            raise Exit(code=code)


def operations_collection(
    operations: Iterable[Operation], directory: Callable[[], str], words: Iterable[str]
) -> Collection:
    """Return the operations as one collection, nested by the dots in their names."""
    words = set(words)
    root = Collection(ALIAS_PREFIX)
    for operation in operations:
        named = operation.name in words or f"{ALIAS_PREFIX}.{operation.name}" in words
        place, leaf = place_for(root, operation.name)
        place.add_task(OperationTask(operation, directory, named=named), name=leaf)
    return root


def place_for(root: Collection, name: str) -> tuple[Collection, str]:
    """Return the collection below `root` that a dotted name belongs in, made where it is missing, and the last part."""
    *path, leaf = name.split(".")
    place = root
    for part in path:
        if part not in place.collections:
            place.add_collection(Collection(part))
        place = place.collections[part]
    return place, leaf


def _print(text: str) -> None:
    """Print `text`, whatever characters stdout has; a reader that has seen enough (``| head``) is no error."""
    show_any_text(sys.stdout)
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _argument(parameter: inspect.Parameter) -> Argument:
    kind = _kind(parameter.annotation)
    required = parameter.default is inspect.Parameter.empty
    says = described(parameter)
    default = None if required else parameter.default
    if kind is list:
        default = list(default or ())
    name = parameter.name.replace("_", "-")
    return Argument(
        names=(name,),
        kind=kind,
        default=default,
        help=says.help,
        positional=required and says.positional,
        attr_name=parameter.name if "_" in parameter.name else None,
    )


def _flag(parameter: inspect.Parameter) -> str:
    return "--" + parameter.name.replace("_", "-")


def _kind(annotation: Any) -> type:
    """The type that invoke parses a parameter as: the first that is not None in its annotation."""
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return next(_kind(part) for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) in (list, tuple):
        return list
    return annotation if annotation in (str, int, bool, float) else str


def _fault(operation: Operation, error: Exception) -> tuple[str, str]:
    """(message, hint) for a fault of the code behind an operation; the traceback is kept in a file where one can be."""
    whose = operation.function.partition(":")[0].partition(".")[0]
    message = f"{operation.name} failed, and that is a fault of {whose}, not yours: {type(error).__name__}: {error}"
    try:
        handle, path = tempfile.mkstemp(prefix="treescribe-fault-", suffix=".log")
        with os.fdopen(handle, "w") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return message, "".join(traceback.format_exception(error))
    return message, f"The traceback is in {path}"
