"""The server: the tools of this installation behind the SDK's low-level server, one face at a time."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError
from treescribe.effects import READ_ONLY, Effect, within
from treescribe.errors import InvalidInput, TreescribeError
from treescribe.host import host
from treescribe.result import model_of

from treescribe_mcp.answers import fitted
from treescribe_mcp.arguments import place_text, validated
from treescribe_mcp.build import version
from treescribe_mcp.faces import Face, workspace_of
from treescribe_mcp.operations import operation_tools
from treescribe_mcp.running import running_tools
from treescribe_mcp.schemas import arguments_schema, result_schema
from treescribe_mcp.slots import Slots
from treescribe_mcp.tool import Call, Tool

log = logging.getLogger("treescribe.mcp")

INSTRUCTIONS = """\
treescribe runs a project's tasks (tasks.py) and commands, keeps every run as a record in its checkout, and compares \
two runs exactly.

Every call names its workspace: {argument}. There is no current directory; with several checkouts or worktrees, name \
the one that you edit.

- targets lists what can be run. run runs targets; check runs only those declared harmless{exec}.
- An answer has: summary, ok, run (its number), failing tests, and changes since the run before of the same targets. \
A failing build is an ordinary answer with ok: false; only refusals and faults are errors.
- history_show {{run, query}} has traces, output and messages of a run. history_diff compares two runs (base may be \
"previous"); durations are compared by history_timing. history_list lists the runs; history_pin keeps one as a baseline.
- Long answers are cut: cut says what is missing and how to get it.
"""


class Tools:
    """What is served: the tools by name, as one kind of clients sees them."""

    def __init__(self, tools: Iterable[Tool], face: Face, build: str) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._face = face
        self._build = build

    def instructions(self) -> str:
        """What a client's model is told of this server; less than 2,048 characters."""
        exec_text = "; exec runs any command and records it" if "exec" in self._tools else ""
        return INSTRUCTIONS.format(argument=self._face.argument, exec=exec_text)

    @cache  # noqa: B019 - one of these lives as long as its process
    def listed(self) -> tuple[types.Tool, ...]:
        """The tools as ``tools/list`` has them."""
        return tuple(self._listed(tool) for tool in self._tools.values())

    def _listed(self, tool: Tool) -> types.Tool:
        schema = arguments_schema(tool.arguments, self._workspace_schema(tool))
        for name in tool.directories:
            schema["properties"] = {
                self._face.renamed(key) if key == name else key: part for key, part in schema["properties"].items()
            }
        return types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=schema,
            output_schema=result_schema(tool.result),
            annotations=_annotations(tool.effect),
        )

    def _workspace_schema(self, tool: Tool) -> dict[str, Any]:
        return {self._face.argument: self._face.schema()} if tool.needs_workspace else {}

    async def call(self, name: str, arguments: dict[str, Any], client: str, report: Any) -> types.CallToolResult:
        """Call a tool; what it refuses, and what fails, is an answer that says what to do."""
        tool = self._tools.get(name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no such tool; tools/list has them (treescribe {self._build})"
            )
        try:
            answer = await tool.call(self._call(tool, dict(arguments), client, report))
        except TreescribeError as error:
            return _refusal(self._face.text(str(error)))
        except Exception as error:
            log.exception("the tool %s failed", name)
            return _refusal(
                f"{name} failed, and that is a fault of treescribe or a plugin, not yours: {type(error).__name__}."
            )
        structured = fitted(self._face.shown(answer), tool.ceiling, tool.rest)
        problem = self._invalid(name, structured)
        if problem:
            log.error("the answer of %s does not fit its schema: %s", name, problem)
            return _refusal(
                f"{name} answered what its schema does not allow ({problem}): a fault of the tool, not yours."
            )
        text = types.TextContent(type="text", text=structured["summary"])
        return types.CallToolResult(content=[text], structured_content=structured)

    def _call(self, tool: Tool, arguments: dict[str, Any], client: str, report: Any) -> Call:
        directory, workspace = "", None
        face = self._face
        extra = [face.argument] if tool.needs_workspace else []
        named = arguments.pop(face.argument, None) if tool.needs_workspace else None
        renamed = {face.renamed(name): name for name in tool.directories}
        for shown, name in renamed.items():
            if shown != name and name in arguments:
                raise InvalidInput(f"unknown argument {name}; it is {shown} here.", f"(treescribe {self._build})")
            if isinstance(arguments.get(shown), str):
                arguments[name] = face.directory(arguments.pop(shown))
        valid = validated(tool.arguments, arguments, extra, self._build)
        if tool.needs_workspace:
            directory, workspace = workspace_of(face, {face.argument: named}, self._build)
        return Call(valid, directory, workspace, client, report)

    def _invalid(self, name: str, structured: dict[str, Any]) -> str:
        """Where an answer does not fit its tool's result model; empty where it does."""
        try:
            self._model(name).model_validate(structured)
        except ValidationError as error:
            return "; ".join(f"{place_text(found['loc'])}: {found['type']}" for found in error.errors()[:3])
        return ""

    @cache  # noqa: B019
    def _model(self, name: str) -> type[BaseModel]:
        result = self._tools[name].result
        return result if issubclass(result, BaseModel) else model_of(result)


def _annotations(effect: Effect) -> types.ToolAnnotations:
    """An effect in MCP's words."""
    if effect.kind == READ_ONLY:
        return types.ToolAnnotations(read_only_hint=True, open_world_hint=effect.open_world)
    return types.ToolAnnotations(
        read_only_hint=False,
        destructive_hint=effect.kind != "additive",
        idempotent_hint=effect.idempotent,
        open_world_hint=effect.open_world,
    )


def all_tools(slots: Slots, *, allow_exec: bool) -> list[Tool]:
    """Every tool of this installation, those that run something first."""
    return [
        *running_tools(slots, allow_exec=allow_exec),
        *operation_tools(host().operations().values(), allow_commands=allow_exec),
    ]


def selected(tools: Iterable[Tool], toolsets: frozenset[str], max_effect: str) -> list[Tool]:
    """The tools of these toolsets (all, where none is named) whose effect is no stronger than told."""
    return [
        tool for tool in tools if (not toolsets or tool.toolset in toolsets) and within(tool.effect.kind, max_effect)
    ]


def make_server(tools: Tools) -> Server[Any]:
    """The low-level server that serves these tools."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(tools.listed()))

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        async def report(message: str, progress: float, total: float | None = None) -> None:
            await context.session.report_progress(progress, total, message)

        return await tools.call(params.name, params.arguments or {}, _client(context), report)

    return Server(
        "treescribe",
        version=version(),
        instructions=tools.instructions(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(InMemorySubscriptionBus()),
    )


def _client(context: Any) -> str:
    """What the client calls itself."""
    params = context.session.client_params
    name = params.client_info.name if params is not None else ""
    return "".join(sign for sign in name if sign.isprintable())[:64] or "mcp"


def _refusal(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
