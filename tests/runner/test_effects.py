"""The table of effects: reviewed here, one by one, so that none changes by the way."""

from __future__ import annotations

from treescribe.effects import EFFECTS, UNKNOWN, Effect, effect_of
from treescribe.host import host

REVIEWED = {
    "check": Effect("additive", idempotent=False, open_world=False),
    "demo": Effect("additive", idempotent=False, open_world=True),
    "exec": Effect("destructive", idempotent=False, open_world=True),
    "history.diff": Effect("read-only", idempotent=True, open_world=False),
    "history.list": Effect("read-only", idempotent=True, open_world=False),
    "history.pin": Effect("additive", idempotent=True, open_world=False),
    "history.show": Effect("read-only", idempotent=True, open_world=False),
    "history.summary": Effect("read-only", idempotent=True, open_world=False),
    "history.timing": Effect("read-only", idempotent=True, open_world=False),
    "history.unpin": Effect("destructive", idempotent=True, open_world=False),
    "init": Effect("additive", idempotent=True, open_world=False),
    "job.list": Effect("read-only", idempotent=True, open_world=False),
    "job.start": Effect("destructive", idempotent=False, open_world=True),
    "job.status": Effect("read-only", idempotent=True, open_world=False),
    "job.stop": Effect("destructive", idempotent=True, open_world=False),
    "plugins": Effect("read-only", idempotent=True, open_world=False),
    "run": Effect("destructive", idempotent=False, open_world=False),
    "targets": Effect("read-only", idempotent=True, open_world=False),
    "workspace.status": Effect("read-only", idempotent=True, open_world=False),
}


def test_the_table_is_what_was_reviewed() -> None:
    assert EFFECTS == REVIEWED


def test_every_operation_stands_in_it_and_nothing_else_does() -> None:
    assert set(EFFECTS) == {*host().operations(), "exec", "demo", "run", "check"}


def test_what_does_not_stand_in_it_is_unknown_and_never_safe() -> None:
    assert effect_of("acme.deploy") == UNKNOWN == Effect("destructive", idempotent=False, open_world=True)


def test_read_only_operations_are_idempotent_and_stay_on_this_machine() -> None:
    for effect in EFFECTS.values():
        assert effect.kind in ("read-only", "additive", "destructive")
        assert effect.kind != "read-only" or (effect.idempotent and not effect.open_world)
