"""Frozen dataclasses that cost little to define.

The standard decorator writes and compiles six methods for every class: for the event catalogue that takes a seventh
of the time in which invoke starts. Here one set serves all classes. To `dataclasses.fields`,
``replace`` and ``asdict``, and to a class that derives from one with the standard decorator, they are frozen
dataclasses like any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from typing import Any, ClassVar, NoReturn, TypeVar, dataclass_transform

_Class = TypeVar("_Class", bound="Frozen")
_REQUIRED = object()
_put = object.__setattr__


class Frozen:
    """Base of the classes that `frozen` decorates: what the standard decorator would have written for each."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init__(self, **values: Any) -> None:
        given = 0
        for name, default, factory in _shape(type(self)):
            if name in values:
                _put(self, name, values[name])
                given += 1
            elif factory is not None:
                _put(self, name, factory())
            elif default is not _REQUIRED:
                _put(self, name, default)
            else:
                raise TypeError(f"{type(self).__name__}() needs {name}")
        if given < len(values):
            known = {name for name, _, _ in _shape(type(self))}
            raise TypeError(f"{type(self).__name__}() has no {', '.join(sorted(values.keys() - known))}")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name, _, _ in _shape(type(self)))
        return f"{type(self).__qualname__}({values})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash(_values(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), _values(self))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def frozen(cls: type[_Class]) -> type[_Class]:
    """Make a class with annotated fields a frozen dataclass with slots, whose fields are given by name."""
    bases = [base for base in cls.__mro__[1:] if "__dataclass_params__" in vars(base)]
    _call_frozen(bases, False)  # a dataclass that does not have its own `__setattr__` written may not derive from one
    try:
        made = dataclass(init=False, repr=False, eq=False, kw_only=True, slots=True)(cls)
    finally:
        _call_frozen(bases, True)
    _call_frozen([made], True)
    return made


def _call_frozen(classes: Iterable[type], is_frozen: bool) -> None:
    """Say of dataclasses whether they are frozen: which standard decorators of derived classes ask for."""
    for cls in classes:
        cls.__dataclass_params__.frozen = is_frozen  # type: ignore[attr-defined]


def with_field(instance: _Class, name: str, value: Any) -> _Class:
    """A copy of a dataclass's instance with another value of one field; several times as quick as `replace`."""
    made = object.__new__(type(instance))
    for member, _, _ in _shape(type(instance)):
        _put(made, member, value if member == name else getattr(instance, member))
    return made


_shapes: dict[type, tuple[tuple[str, Any, Any], ...]] = {}


def _shape(cls: type[Frozen]) -> tuple[tuple[str, Any, Any], ...]:
    """(name, default, factory of the default) of each field."""
    if cls not in _shapes:
        _shapes[cls] = tuple(
            (
                f.name,
                _REQUIRED if f.default is MISSING else f.default,
                None if f.default_factory is MISSING else f.default_factory,
            )
            for f in fields(cls)
        )
    return _shapes[cls]


def _values(instance: Any) -> tuple[Any, ...]:
    return tuple(getattr(instance, name) for name, _, _ in _shape(type(instance)))


def _restored(cls: type[Frozen], values: tuple[Any, ...]) -> Frozen:
    """An instance from its pickle."""
    return cls(**{name: value for (name, _, _), value in zip(_shape(cls), values, strict=True)})
