"""Validation of records into dataclasses, by pydantic's core.

For classes whose fields have plain types the core's schema is written here, which takes microseconds: having
pydantic derive it costs its whole import, half of what starting invoke does. Whatever else a class has (a third
party's event with nested models, a ``__post_init__``) is left to pydantic.
"""

from __future__ import annotations

import types
from dataclasses import MISSING, Field, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema, SchemaValidator, core_schema

_SCALARS: dict[Any, CoreSchema] = {
    str: core_schema.str_schema(strict=True),
    int: core_schema.int_schema(strict=True),
    bool: core_schema.bool_schema(strict=True),
    float: core_schema.float_schema(),
    type(None): core_schema.none_schema(),
    Any: core_schema.any_schema(),
}


class Validator:
    """Makes instances of one dataclass from JSON objects. Unknown members are ignored; text is never a number.

    The methods raise pydantic's ``ValidationError``, a ValueError; `first_problem` tells what it says in a few words.
    """

    def __init__(self, cls: type[Any]) -> None:
        schema = _plain_schema(cls) or _schema_by_pydantic(cls)
        self._one = SchemaValidator(schema)
        self._list = SchemaValidator(core_schema.list_schema(schema))

    def from_python(self, record: Any) -> Any:
        return self._one.validate_python(record)

    def from_json_list(self, data: bytes) -> list[Any]:
        instances: list[Any] = self._list.validate_json(data)
        return instances


def first_problem(error: ValueError) -> str:
    """What a ValidationError complains of first: the place and the reason, without the value."""
    problems = getattr(error, "errors", None)
    if problems is None:
        return str(error)
    first = problems(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the record"
    return f"{place}: {first['msg']}"


def _plain_schema(cls: type[Any]) -> CoreSchema | None:
    """The core's schema of a dataclass with plain fields; None where it has more than that."""
    if hasattr(cls, "__post_init__"):
        return None
    hints = get_type_hints(cls)
    arguments = []
    for field in fields(cls):
        schema = _of_type(hints[field.name])
        if schema is None or not field.init:
            return None
        arguments.append(core_schema.dataclass_field(field.name, _with_default(schema, field), kw_only=True))
    return core_schema.dataclass_schema(
        cls,
        core_schema.dataclass_args_schema(cls.__name__, arguments),
        [field.name for field in fields(cls)],
        slots="__slots__" in cls.__dict__,
        frozen=True,
    )


def _with_default(schema: CoreSchema, field: Field[Any]) -> CoreSchema:
    if field.default is not MISSING:
        return core_schema.with_default_schema(schema, default=field.default)
    if field.default_factory is not MISSING:
        return core_schema.with_default_schema(schema, default_factory=field.default_factory)
    return schema


def _of_type(annotation: Any) -> CoreSchema | None:
    """The core's schema of a scalar, or of unions, tuples, lists and dicts of them; None for any other type."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    parts = [_of_type(part) for part in arguments if part is not Ellipsis]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    if origin in (Union, types.UnionType):
        others = [part for part, argument in zip(known, arguments, strict=True) if argument is not type(None)]
        one = others[0] if len(others) == 1 else core_schema.union_schema(list(others))
        return core_schema.nullable_schema(one) if len(others) < len(known) else one
    if origin is tuple:
        return core_schema.tuple_schema(known, variadic_item_index=0 if Ellipsis in arguments else None)
    if origin is list:
        return core_schema.list_schema(known[0])
    if origin is dict:
        return core_schema.dict_schema(*known)
    return None


def _schema_by_pydantic(cls: type[Any]) -> CoreSchema:
    from pydantic import TypeAdapter

    return TypeAdapter(cls).core_schema
