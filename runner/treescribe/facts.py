"""Facts: what two runs are compared by.

A fact has a key, which says what it is about, and a value, which says how it came out. Neither has a
place for a time or a duration, so no comparison can see one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

Value = str | int | bool | None | tuple[str, ...]


class WorkspacePath(str):
    """Text of a fact that is a path: compared relative to the workspace's root, with either separator."""

    __slots__ = ()


class Fact(NamedTuple):
    """One thing that a run established.

    ``kind`` names the family (``test``, ``suite``, ``compile``, ``diagnostic``, ``task``, ``command``,
    ``issue``, ``operation``, ``patch``, or a third party's own name).
    ``key`` says what it is about. Keys can repeat within a run; repeated facts are a multiset.
    ``value`` is what is compared, as (name, value) pairs.
    ``shown`` stands beside the fact in reports (a line number, a rule's code) and is never compared.
    ``merges``: a later fact of the same key updates the earlier one's value instead of standing beside it.
    """

    kind: str
    key: tuple[str, ...]
    value: tuple[tuple[str, Value], ...] = ()
    shown: tuple[tuple[str, Value], ...] = ()
    merges: bool = False


class FactSet(NamedTuple):
    """The facts of one side of a comparison, with their keys made independent of where the worktree stands.

    ``facts``: by kind, then by normalised key, every fact of that key in the order it was emitted.
    """

    facts: dict[str, dict[tuple[str, ...], list[Fact]]]


_NAME = r"[\w\-~+@]"  # what continues a file name, so that /ws/app is not found in /ws/app-fork


def root_pattern(root: str) -> re.Pattern[str] | None:
    """Return what finds `root` in a text at path boundaries, with either separator; None for a root of ``/``."""
    parts = [re.escape(part) for part in re.split(r"[/\\]", root.rstrip("/\\"))]
    if not any(parts):
        return None
    body = r"[/\\]".join(parts)
    return re.compile(rf"(?<![\w\-~+@./\\]){body}(?:[/\\]|(?!{_NAME})(?!\.{_NAME}))")


def normalise(text: str, pattern: re.Pattern[str] | None) -> str:
    """Return `text` as it would read in any worktree: mentions of the root dropped, paths with ``/``."""
    if isinstance(text, WorkspacePath):
        relative = pattern.sub("", text, count=1) if pattern else str(text)
        return relative.replace("\\", "/")
    if pattern is None:
        return text
    return pattern.sub("", text)


def normalise_value(value: Value, pattern: re.Pattern[str] | None) -> Value:
    """`normalise` for a fact's value: text, or a tuple of texts."""
    if isinstance(value, tuple):
        return tuple(normalise(part, pattern) for part in value)
    return normalise(value, pattern) if isinstance(value, str) else value


def collect(facts: Iterable[Fact], root: str) -> FactSet:
    """Gather the facts of one run whose worktree stands at `root`."""
    pattern = root_pattern(root)
    gathered: dict[str, dict[tuple[str, ...], list[Fact]]] = {}
    for fact in facts:
        key = tuple([normalise(part, pattern) for part in fact.key])
        value = tuple([(name, normalise_value(part, pattern)) for name, part in fact.value])
        fact = fact._replace(key=key, value=value)
        same = gathered.setdefault(fact.kind, {}).setdefault(key, [])
        if fact.merges and same:
            merged = dict(same[0].value) | dict(value)
            same[0] = same[0]._replace(value=tuple(sorted(merged.items())), shown=fact.shown or same[0].shown)
        else:
            same.append(fact)
    return FactSet(gathered)
