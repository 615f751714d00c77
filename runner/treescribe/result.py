"""What operations return where starting up must be quick: frozen standard dataclasses that can be written as JSON.

pydantic, which makes schemas of them (`treescribe.operation.Operation.result_model`), is imported only where a
schema is asked for: importing it and building a few models takes half as long as starting invoke does.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, fields
from typing import TYPE_CHECKING, Any, get_type_hints

from treescribe.frozen import Frozen

if TYPE_CHECKING:
    from pydantic import BaseModel


class Result(Frozen):
    """Base of an operation's result that is a frozen dataclass. Its methods are pydantic's, as far as they are used."""

    __slots__ = ()

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        """Return the result as plain values, nested ones too; members that are None are left out if asked for."""

        def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            return {name: value for name, value in pairs if value is not None or not exclude_none}

        dumped: dict[str, Any] = asdict(self, dict_factory=members)
        return dumped

    def model_dump_json(self, *, exclude_none: bool = False) -> str:
        """Return the result as JSON. Lone surrogates (odd file names) are escaped, so that it can be encoded."""
        dumped = self.model_dump(exclude_none=exclude_none)
        text = json.dumps(dumped, ensure_ascii=False, separators=(",", ":"))
        try:
            text.encode()
        except UnicodeEncodeError:
            return json.dumps(dumped, separators=(",", ":"))
        return text


def model_of(cls: type[Any]) -> type[BaseModel]:
    """Return a pydantic model with the fields of a `Result`: for its schema, and to validate what is written of it."""
    from pydantic import Field, create_model

    hints = get_type_hints(cls, include_extras=True)
    members: dict[str, Any] = {}
    for field in fields(cls):
        if field.default_factory is not MISSING:
            default = Field(default_factory=field.default_factory)
        else:
            default = ... if field.default is MISSING else field.default
        members[field.name] = (hints[field.name], default)
    model: type[BaseModel] = create_model(cls.__name__, __doc__=cls.__doc__, **members)
    return model
