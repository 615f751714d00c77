"""What operations may do to the world: one reviewed table. What is not in it is unknown, and never safe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

READ_ONLY = "read-only"
ADDITIVE = "additive"
DESTRUCTIVE = "destructive"


class Effect(NamedTuple):
    """The effect of an operation, in MCP's terms.

    :ivar kind: read-only, additive (adds, removes nothing) or destructive.
    :ivar idempotent: a second call with the same arguments changes nothing more.
    :ivar open_world: it may reach beyond this machine.
    """

    kind: str
    idempotent: bool = False
    open_world: bool = False


_STRENGTH = (READ_ONLY, ADDITIVE, DESTRUCTIVE)


def strongest(kinds: Iterable[str]) -> str:
    """The effect of things done together; of none, read-only."""
    return max(kinds, key=_STRENGTH.index, default=READ_ONLY)


def within(kind: str, limit: str) -> bool:
    """Whether an effect of `kind` is no stronger than `limit`."""
    return _STRENGTH.index(kind) <= _STRENGTH.index(limit)


UNKNOWN = Effect(DESTRUCTIVE, idempotent=False, open_world=True)

EFFECTS: dict[str, Effect] = {
    "check": Effect(ADDITIVE),
    "demo": Effect(ADDITIVE, open_world=True),
    "exec": Effect(DESTRUCTIVE, open_world=True),
    "history.diff": Effect(READ_ONLY, idempotent=True),
    "history.list": Effect(READ_ONLY, idempotent=True),
    "history.pin": Effect(ADDITIVE, idempotent=True),
    "history.show": Effect(READ_ONLY, idempotent=True),
    "history.summary": Effect(READ_ONLY, idempotent=True),
    "history.timing": Effect(READ_ONLY, idempotent=True),
    "history.unpin": Effect(DESTRUCTIVE, idempotent=True),
    "init": Effect(ADDITIVE, idempotent=True),
    "job.list": Effect(READ_ONLY, idempotent=True),
    "job.start": Effect(DESTRUCTIVE, open_world=True),
    "job.status": Effect(READ_ONLY, idempotent=True),
    "job.stop": Effect(DESTRUCTIVE, idempotent=True),
    "plugins": Effect(READ_ONLY, idempotent=True),
    "run": Effect(DESTRUCTIVE),
    "targets": Effect(READ_ONLY, idempotent=True),
    "workspace.status": Effect(READ_ONLY, idempotent=True),
}


def effect_of(operation: str) -> Effect:
    """Return the reviewed effect of an operation; `UNKNOWN` for one that nobody reviewed."""
    return EFFECTS.get(operation, UNKNOWN)
