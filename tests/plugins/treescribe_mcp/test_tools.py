"""The tools as they are listed: what a client needs, in few bytes, with the effects of the one table."""

from __future__ import annotations

import json
from typing import Any

import pytest
from treescribe.effects import EFFECTS, effect_of
from treescribe.host import host
from treescribe_mcp.faces import Directories
from treescribe_mcp.registry import Ids, Map
from treescribe_mcp.server import Tools, all_tools
from treescribe_mcp.slots import Slots

BACKENDS = ("bd", "bleep", "dagger")


def listed(face: Any = None) -> dict[str, dict[str, Any]]:
    tools = all_tools(Slots(1), allow_exec=True)
    served = Tools(tools, face or Directories(), "1.2.3")
    return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in served.listed()}


def test_every_operation_is_a_tool_beside_those_that_run_something() -> None:
    assert set(listed()) == {"run", "check", "exec", *(name.replace(".", "_") for name in host().operations())}


def test_the_core_is_less_than_25_kilobytes_and_each_backend_less_than_12() -> None:
    sizes = {name: len(json.dumps(tool, separators=(",", ":"))) for name, tool in listed().items()}
    assert sum(size for name, size in sizes.items() if not name.startswith(BACKENDS)) < 25_000, sizes
    for backend in BACKENDS:
        assert sum(size for name, size in sizes.items() if name.startswith(backend)) < 12_000, sizes


def test_the_instructions_fit_into_what_clients_show() -> None:
    for face in (Directories(), Ids(Map({}))):
        tools = Tools(all_tools(Slots(1), allow_exec=True), face, "1")
        assert len(tools.instructions().encode()) < 2048
        assert face.argument in tools.instructions()


@pytest.mark.parametrize("name", listed())
def test_a_tool_refuses_unknown_arguments_and_requires_its_workspace(name: str) -> None:
    schema = listed()[name]["inputSchema"]
    assert schema["additionalProperties"] is False
    operation = host().operations().get(name.replace("_", ".", 1))
    if operation is None or operation.needs_workspace:
        assert schema["required"][0] == next(iter(schema["properties"])) == "directory"


@pytest.mark.parametrize("name", listed())
def test_its_annotations_are_its_effect(name: str) -> None:
    told = listed()[name]["annotations"]
    dotted = next(effect for effect in EFFECTS if effect.replace(".", "_") == name)
    effect = effect_of(dotted)
    assert told["readOnlyHint"] == (effect.kind == "read-only")
    assert told["openWorldHint"] == effect.open_world
    if effect.kind != "read-only":
        assert told["destructiveHint"] == (effect.kind == "destructive")
        assert told["idempotentHint"] == effect.idempotent


@pytest.mark.parametrize("name", listed())
def test_its_answer_has_a_summary_first(name: str) -> None:
    schema = listed()[name]["outputSchema"]
    assert next(iter(schema["properties"])) == "summary" == schema["required"][0]


def test_over_http_no_argument_is_a_path() -> None:
    for name, tool in listed(Ids(Map({}))).items():
        names = list(tool["inputSchema"]["properties"])
        assert not [argument for argument in names if "directory" in argument or "path" in argument], name
    assert "base_workspace_id" in listed(Ids(Map({})))["history_diff"]["inputSchema"]["properties"]
