"""Operations: one typed function each, shown as an invoke task.

The function takes a `Workspace` first, then its parameters; it returns a frozen pydantic model, or a `Result`. Its
signature is the contract: invoke's arguments, the JSON schema of the parameters and the help of each come from it, so
that no surface can have an argument that another lacks. The function is named, not imported, until it is used.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

from treescribe.collector import collector_paused
from treescribe.effects import Effect, effect_of
from treescribe.errors import TreescribeError
from treescribe.result import model_of

if TYPE_CHECKING:
    from pydantic import BaseModel

    from treescribe.terminal import Style
    from treescribe.workspace import Workspace


class Parameter(NamedTuple):
    """What a parameter's `Annotated` type says beside the type itself.

    :ivar help: one line, shown by ``--help`` and in the tool's schema.
    :ivar positional: on the command line it may be given without its flag.
    :ivar command_line: it means something on the command line only, and no other surface has it.
    :ivar command: it is a command to be run; surfaces that run no commands do not have it.
    :ivar directory: it is a directory, absolute; on the command line one may be given relative to the current one.
    """

    help: str
    positional: bool = False
    directory: bool = False
    command_line: bool = False
    command: bool = False


@dataclass(frozen=True)
class Operation:
    """A named, typed operation.

    :ivar name: dotted, as on the command line.
    :ivar function: ``module:name`` of the function ``(workspace, **parameters) -> result``.
    :ivar render: ``module:name`` of the function ``(result, style) -> text`` for people.
    :ivar help: one line for lists of operations.
    :ivar needs_workspace: False where it works without one; the function then gets None.
    :ivar loads_tasks: it loads the project's own code; a server that is nobody's project has it done by a process of
        its own.
    :ivar exit_code: ``module:name`` of ``(result, parameters) -> int``, for operations whose exit code says something.
    """

    name: str
    function: str
    render: str
    help: str
    needs_workspace: bool = True
    loads_tasks: bool = False
    exit_code: str = ""

    @property
    def effect(self) -> Effect:
        """The effect that the reviewed table gives it."""
        return effect_of(self.name)

    def load(self) -> Callable[..., BaseModel]:
        """Import and return the function."""
        return _load(self.function)

    def parameters(self) -> dict[str, inspect.Parameter]:
        """The function's parameters without the workspace, their annotations resolved, in order."""
        function = self.load()
        hints = get_type_hints(function, include_extras=True)
        parameters = list(inspect.signature(function).parameters.values())[1:]
        return {p.name: p.replace(annotation=hints.get(p.name, Any)) for p in parameters}

    def parameters_model(self, *, commands: bool = True) -> type[BaseModel]:
        """A pydantic model of the parameters: strict, frozen, unknown names refused; command-line ones left out.

        :param commands: whether those are in it that are commands to be run.
        """
        from pydantic import ConfigDict, Field, create_model

        fields: dict[str, Any] = {}
        for name, parameter in self.parameters().items():
            says = described(parameter)
            if says.command_line or (says.command and not commands):
                continue
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            fields[name] = (parameter.annotation, Field(default, description=says.help))
        title = "".join(part.capitalize() for part in self.name.replace("_", ".").split(".")) + "Parameters"
        config = ConfigDict(strict=True, frozen=True, extra="forbid")
        model: type[BaseModel] = create_model(title, __config__=config, **fields)
        return model

    def result(self) -> type[Any]:
        """The class that the function returns."""
        returned: type[Any] = get_type_hints(self.load())["return"]
        return returned

    def result_model(self) -> type[BaseModel]:
        """The pydantic model that the function returns; of a `Result`, a model that validates it."""
        from pydantic import BaseModel

        returned = self.result()
        return returned if issubclass(returned, BaseModel) else model_of(returned)

    def load_render(self) -> Callable[..., str]:
        """Import and return the function that shows a result to people."""
        return _load(self.render)

    def text(self, result: BaseModel, style: Style) -> str:
        """`result` as people read it, without a final newline."""
        return self.load_render()(result, style)

    def code(self, result: BaseModel, parameters: dict[str, Any]) -> int:
        """The exit code that the command line ends with for `result`."""
        code: int = _load(self.exit_code)(result, parameters) if self.exit_code else 0
        return code

    def call(self, workspace: Workspace | None, **parameters: Any) -> BaseModel:
        """Run the operation."""
        with collector_paused():
            return self.load()(workspace, **parameters)


def described(parameter: inspect.Parameter) -> Parameter:
    """Return the `Parameter` in an annotation; an empty one where there is none."""
    for extra in get_args(parameter.annotation)[1:]:
        if isinstance(extra, Parameter):
            return extra
    return Parameter("")


def _load(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    try:
        loaded: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever a plugin's module does when it is loaded is the plugin's fault
        raise TreescribeError(
            f"{name} cannot be loaded: {type(error).__name__}: {error}",
            f"That is a fault of {module.partition('.')[0]}, not yours.",
        ) from error
    return loaded
