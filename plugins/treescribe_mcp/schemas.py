"""JSON schemas as they are served: what a client needs to call a tool and to read its answer, and nothing else."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

_DEPTH = 1
_NOISE = frozenset({"title", "default"})


def arguments_schema(model: type[BaseModel], extra: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments: `extra` properties first, which are required; unknown ones are refused."""
    schema = _without_noise(model.model_json_schema(), keep={"description", "default"})
    properties = {**extra, **schema.pop("properties", {})}
    required = [*extra, *schema.pop("required", [])]
    schema.pop("description", None)
    whole = {"type": "object", "properties": properties, "additionalProperties": False, **_definitions(schema)}
    return whole | ({"required": required} if required else {})


def result_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's structured result: ``summary`` first; ``cut`` says what did not fit.

    Its members are described, what lies deeper is not.
    """
    whole = _without_noise(model.model_json_schema(mode="serialization"), keep=set())
    schema = _shallow(whole, whole.get("$defs", {}), _DEPTH)
    properties = {"summary": {"type": "string"}, **schema.get("properties", {})}
    properties["cut"] = {"type": "array", "items": {"type": "string"}}
    required = [name for name in schema.get("required", []) if not _may_be_left_out(model, name)]
    others = [name for name in required if name != "summary"]
    return {"type": "object", "properties": properties, "required": ["summary", *others]}


def _shallow(schema: Any, definitions: dict[str, Any], depth: int) -> Any:
    """The schema with its references put in their places, objects below `depth` levels undescribed."""
    if isinstance(schema, list):
        return [_shallow(part, definitions, depth) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "properties" not in schema:
        return {key: _shallow(value, definitions, depth) for key, value in schema.items()}
    if depth == 0:
        return {"type": "object"}
    properties = {name: _shallow(part, definitions, depth - 1) for name, part in schema["properties"].items()}
    rest = {key: value for key, value in schema.items() if key != "properties"}
    return {**rest, "properties": properties}


def _definitions(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$defs": schema["$defs"]} if "$defs" in schema else {}


def _may_be_left_out(model: type[BaseModel], name: str) -> bool:
    """Members that are None are not sent."""
    field = model.model_fields.get(name)
    return field is not None and type(None) in getattr(field.annotation, "__args__", ())


def _without_noise(schema: Any, *, keep: set[str], names: bool = False) -> Any:
    """The schema without what tells a reader nothing: titles, nulls that are never sent.

    :param names: whether the keys of this mapping are names of properties.
    """
    if isinstance(schema, list):
        return [_without_noise(part, keep=keep) for part in schema]
    if not isinstance(schema, dict):
        return schema
    noise = set() if names else (_NOISE | {"description"}) - keep
    found = {
        key: _without_noise(value, keep=keep, names=key in ("properties", "$defs"))
        for key, value in schema.items()
        if key not in noise and not (key == "default" and value is None and not names)
    }
    return found if names else _without_null(found)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """One that may be null may be left out; saying so twice helps nobody."""
    if isinstance(schema.get("anyOf"), list):
        others = [part for part in schema["anyOf"] if part != {"type": "null"}]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**others[0], **rest} if len(others) == 1 else {"anyOf": others, **rest}
    return schema
