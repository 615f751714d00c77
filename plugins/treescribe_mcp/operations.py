"""Operations as tools: one of each."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from anyio import to_thread
from treescribe.errors import TreescribeError
from treescribe.operation import Operation, described
from treescribe.terminal import Style

from treescribe_mcp.children import operation_in_child
from treescribe_mcp.tool import Call, Tool

PLAIN = Style()


def operation_tools(operations: Iterable[Operation], *, allow_commands: bool) -> Iterator[Tool]:
    """The tools of all operations that can be loaded; one that cannot is left to ``treescribe plugins`` to tell."""
    for operation in operations:
        try:
            yield _tool(operation, allow_commands=allow_commands)
        except TreescribeError as error:
            print(f"treescribe: the tool of {operation.name} is left out: {error}", file=sys.stderr)


def _tool(operation: Operation, *, allow_commands: bool) -> Tool:
    parameters = operation.parameters()
    description = inspect.getdoc(operation.load()) or operation.help
    return Tool(
        name=operation.name.replace(".", "_"),
        toolset=operation.name.partition(".")[0],
        description=description,
        effect=operation.effect,
        arguments=operation.parameters_model(commands=allow_commands),
        result=operation.result(),
        call=_in_child(operation) if operation.loads_tasks else _in_server(operation),
        needs_workspace=operation.needs_workspace,
        directories=frozenset(name for name, parameter in parameters.items() if described(parameter).directory),
        rest=_rest(parameters),
    )


def _rest(parameters: dict[str, inspect.Parameter]) -> str:
    """How more of an answer can be had."""
    ways = ["limit and offset"] if {"limit", "offset"} <= set(parameters) else []
    ways += ["query"] if "query" in parameters else []
    return f"for the rest, narrow it by {' or '.join(ways)}" if ways else ""


def _in_server(operation: Operation) -> Any:
    async def call(call: Call) -> dict[str, Any]:
        given = {name: getattr(call.arguments, name) for name in type(call.arguments).model_fields}

        def work() -> dict[str, Any]:
            result = operation.call(call.workspace, **given)
            answer: dict[str, Any] = result.model_dump(exclude_none=True)
            return with_summary(answer, operation, result)

        return await to_thread.run_sync(work, abandon_on_cancel=True)

    return call


def _in_child(operation: Operation) -> Any:
    async def call(call: Call) -> dict[str, Any]:
        given = call.arguments.model_dump(exclude_none=True)
        words = [f"treescribe.{operation.name}", *_words(given), "--json"]
        return await operation_in_child(call, words)

    return call


def _words(given: dict[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            yield flag
        elif value is not False:
            yield from (f"{flag}={part}" for part in (value if isinstance(value, list | tuple) else (value,)))


def with_summary(answer: dict[str, Any], operation: Operation, result: Any) -> dict[str, Any]:
    """An answer whose ``summary`` is the first line that people are shown, where it has none of its own."""
    if answer.get("summary"):
        return answer
    return {"summary": operation.text(result, PLAIN).strip().partition("\n")[0], **answer}
