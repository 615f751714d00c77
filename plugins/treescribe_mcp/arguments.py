"""Arguments as strict JSON: nothing is coerced, nothing unknown is passed over, and no value is repeated."""

from __future__ import annotations

import json
import types
from collections.abc import Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from treescribe.errors import InvalidInput

_SHOWN = 3
_UNKNOWN = "extra_forbidden"
_LONGEST_PLACE = 100


def validated(model: type[BaseModel], arguments: dict[str, Any], extra: Sequence[str], build: str) -> BaseModel:
    """Return the arguments as an instance of `model`.

    :param extra: names that are known beside the model's own.
    :param build: which server this is; a client that has the schema of another one learns it here.
    :raises InvalidInput: naming every place that is wrong, by its path, and what is known there. Values are not told.
    """
    try:
        return model.model_validate_json(json.dumps(arguments), strict=True, extra="forbid")
    except ValidationError as error:
        errors = error.errors(include_input=False, include_url=False)
        errors.sort(key=lambda found: found["type"] != _UNKNOWN)  # what is misspelt explains what is missing
        problems = [_problem(model, found, extra) for found in errors]
    more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
    raise InvalidInput("; ".join([*problems[:_SHOWN], *more]) + ".", f"(treescribe {build})")


def _problem(model: type[BaseModel], found: Any, extra: Sequence[str]) -> str:
    place, kind, context = found["loc"], found["type"], found.get("ctx", {})
    where = place_text(place)
    if kind == _UNKNOWN:
        known = _known(model, place[:-1])
        names = [*(extra if len(place) == 1 else ()), *known]
        return f"unknown argument {where}; known there: {', '.join(names) or 'none'}"
    if kind == "missing":
        return f"{where} is missing"
    if kind in ("literal_error", "enum"):
        return f"{where} must be {context.get('expected', 'one of the values in the schema')}"
    return f"{where}: {_EXPECTED.get(kind) or _bound(kind, context) or 'a value of another kind is expected'}"


_EXPECTED = {
    "int_type": "a whole number is expected, not a text or a boolean",
    "int_from_float": "a whole number is expected",
    "float_type": "a number is expected",
    "string_type": "a text is expected",
    "bool_type": "true or false is expected",
    "list_type": "a list is expected",
    "tuple_type": "a list is expected",
    "dict_type": "an object is expected",
    "model_type": "an object is expected",
    "model_attributes_type": "an object is expected",
    "string_unicode": "a text that is valid Unicode is expected",
}


def _bound(kind: str, context: dict[str, Any]) -> str:
    """A limit that the schema gives, where it is one."""
    bounds = {
        "greater_than_equal": ("at least", "ge"),
        "greater_than": ("more than", "gt"),
        "less_than_equal": ("at most", "le"),
        "less_than": ("less than", "lt"),
        "too_short": ("at least this many parts:", "min_length"),
        "too_long": ("at most this many parts:", "max_length"),
        "string_too_short": ("at least this many characters:", "min_length"),
        "string_too_long": ("at most this many characters:", "max_length"),
    }
    if kind not in bounds:
        return ""
    words, name = bounds[kind]
    return f"{words} {context.get(name)}"


def place_text(place: Sequence[str | int]) -> str:
    """A place as one would write it.

    >>> place_text(("patches", 0, "imports"))
    'patches[0].imports'
    """
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text if len(text) <= _LONGEST_PLACE else text[:_LONGEST_PLACE] + "…"


def _known(model: type[BaseModel], place: Sequence[str | int]) -> list[str]:
    """The names that an object at `place` may have."""
    current: Any = model
    for part in place:
        current = _inside(current, part)
    found = _model_in(current)
    return list(found.model_fields) if found is not None else []


def _inside(annotation: Any, part: str | int) -> Any:
    model = _model_in(annotation)
    if model is not None and isinstance(part, str) and part in model.model_fields:
        return model.model_fields[part].annotation
    arguments = [argument for argument in get_args(_plain(annotation)) if argument is not Ellipsis]
    return arguments[-1] if arguments else None


def _plain(annotation: Any) -> Any:
    """An annotation without what says more about it, and without None."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        others = [part for part in get_args(annotation) if part is not type(None)]
        return _plain(others[0])
    return annotation


def _model_in(annotation: Any) -> type[BaseModel] | None:
    plain = _plain(annotation)
    return plain if isinstance(plain, type) and issubclass(plain, BaseModel) else None
