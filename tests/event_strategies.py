"""Hypothesis strategies for events: any values that a field of its type can have."""

from __future__ import annotations

import types
from dataclasses import fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from treescribe.events import Event

TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)))
"""Any text, with the lone surrogates that Python has for bytes of file names that are not UTF-8."""


def events_of(cls: type[Event]) -> st.SearchStrategy[Event]:
    """Events of one class."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{field.name: values_of(hints[field.name]) for field in fields(cls)})


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of a field's type."""
    arguments = get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        return st.one_of(*map(values_of, arguments))
    if get_origin(annotation) is tuple and Ellipsis in arguments:
        return st.lists(values_of(arguments[0]), max_size=4).map(tuple)
    if get_origin(annotation) is tuple:
        return st.tuples(*map(values_of, arguments))
    simple: dict[Any, st.SearchStrategy[Any]] = {str: TEXTS, int: st.integers(), bool: st.booleans()}
    return simple.get(annotation, st.none())
