"""JSON schemas as they are served: what a client needs to call a tool and to read its answer, and nothing else."""

from __future__ import annotations

from dataclasses import MISSING, fields
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

_NOISE = frozenset({"title"})


def arguments_schema(model: type[BaseModel], extra: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments: `extra` properties first, which are required; unknown ones are refused."""
    schema = _without_noise(model.model_json_schema())
    properties = {**extra, **schema.pop("properties", {})}
    required = [*extra, *schema.pop("required", [])]
    schema.pop("description", None)
    whole = {"type": "object", "properties": properties, "additionalProperties": False, **_definitions(schema)}
    return whole | ({"required": required} if required else {})


def result_schema(result: type[Any]) -> dict[str, Any]:
    """The schema of a tool's structured result: ``summary`` first; ``cut`` says what did not fit.

    Its members are described, what lies deeper is not. It is made of the annotations alone: to have pydantic build
    every model of every answer would take longer than all else that the server does before its first word.
    """
    members = _members(result)
    properties = {"summary": {"type": "string"}, **{name: _type(kind) for name, (kind, _) in members.items()}}
    properties["cut"] = _type(list[str])
    required = [name for name, (kind, has_default) in members.items() if not has_default and not _may_be_none(kind)]
    others = [name for name in required if name != "summary"]
    return {"type": "object", "properties": properties, "required": ["summary", *others]}


def _members(result: type[Any]) -> dict[str, tuple[Any, bool]]:
    """(annotation, whether it has a default) of each member of a pydantic model or a dataclass."""
    hints = get_type_hints(result)
    if isinstance(result, type) and issubclass(result, BaseModel):
        return {name: (hints[name], not field.is_required()) for name, field in result.model_fields.items()}
    return {
        field.name: (hints[field.name], field.default is not MISSING or field.default_factory is not MISSING)
        for field in fields(result)
    }


_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


def _type(kind: Any) -> dict[str, Any]:
    """What JSON makes of a type; {} for what may be anything."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in (Union, UnionType):
        others = [_type(part) for part in arguments if part is not NoneType]
        return others[0] if len(others) == 1 else {"anyOf": others}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (list, tuple, set, frozenset):
        return {"type": "array", "items": _type(arguments[0])} if arguments else {"type": "array"}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if kind in _TYPES:
        return {"type": _TYPES[kind]}
    return {} if kind is Any else {"type": "object"}


def _may_be_none(kind: Any) -> bool:
    """Members that are None are not sent."""
    return get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)


def _definitions(schema: dict[str, Any]) -> dict[str, Any]:
    return {"$defs": schema["$defs"]} if "$defs" in schema else {}


def _without_noise(schema: Any, *, names: bool = False) -> Any:
    """The schema without what tells a reader nothing: titles, and that what may be left out may be null.

    :param names: whether the keys of this mapping are names of properties.
    """
    if isinstance(schema, list):
        return [_without_noise(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: _without_noise(value, names=key in ("properties", "$defs"))
        for key, value in schema.items()
        if names or (key not in _NOISE and not (key == "default" and value is None))
    }
    return found if names else _without_null(found)


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """One that may be null may be left out; saying so twice helps nobody."""
    if isinstance(schema.get("anyOf"), list):
        others = [part for part in schema["anyOf"] if part != {"type": "null"}]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**others[0], **rest} if len(others) == 1 else {"anyOf": others, **rest}
    return schema
