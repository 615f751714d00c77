"""What every section of a comparison is built with: paging, order, and the parts of an entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from treescribe_history.diff_facts import Change
from treescribe_history.diff_models import Kind, Listed, Moved, Names

LONGEST_TEXT = 500
"""How many characters of a message, a command line or a value an entry has at most."""

Entry = TypeVar("Entry")


class Pages:
    """Builds the entries that one page of each section shows, and counts all of them.

    :ivar limit: how many entries of a section a page has, 0 for all; ``offset``: how many come before it.
    :ivar totals: how many entries each section has; ``left_out``: how many of them the page does not show.
    """

    def __init__(self, limit: int = 0, offset: int = 0) -> None:
        self.limit = limit
        self.offset = offset
        self.totals: dict[str, int] = {}
        self.left_out: dict[str, int] = {}

    def take(self, section: str, changes: list[Change], build: Callable[[Change], Entry]) -> tuple[Entry, ...]:
        """Build the entries of `section` on this page."""
        shown = changes[self.offset : self.offset + self.limit] if self.limit else changes[self.offset :]
        if changes:
            self.totals[section] = len(changes)
        if len(shown) < len(changes):
            self.left_out[section] = len(changes) - len(shown)
        return tuple([build(change) for change in shown])

    def some(self, names: Names) -> Names:
        """The first of `names`, as many as a page has entries; the cut is marked."""
        if not self.limit or len(names) <= self.limit:
            return names
        return (*names[: self.limit], f"… and {len(names) - self.limit} more")


def cut(text: str) -> str:
    """`text`, or the beginning of a long one with the cut marked."""
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]} … ({len(text) - LONGEST_TEXT:,} more characters)"


def failing_first(changes: list[Change], name: str, fails: Callable[[str], bool]) -> list[Change]:
    """`changes` with those first that fail in the target, then those that failed in the base.

    :param name: the value that `fails` judges.
    """
    return sorted(
        changes,
        key=lambda change: (
            change.after is None or not fails(change.after.text(name)),
            change.before is None or not fails(change.before.text(name)),
        ),
    )


def kind_of(change: Change) -> Kind:
    """Whether the fact was changed, added or removed."""
    if change.before is None:
        return "added"
    return "removed" if change.after is None else "changed"


def before(change: Change, name: str) -> str:
    """The text of this name on the base's side; empty where it has none."""
    return cut(change.before.text(name)) if change.before else ""


def after(change: Change, name: str) -> str:
    """The text of this name on the target's side; empty where it has none."""
    return cut(change.after.text(name)) if change.after else ""


def moved(change: Change, name: str) -> Moved | None:
    """The text of this name on both sides, where it differs."""
    return Moved(before=before(change, name), after=after(change, name)) if change.differs(name) else None


def listed(change: Change, name: str, pages: Pages) -> Listed | None:
    """Which names only one side lists under this name, where they differ."""
    if change.before is None or change.after is None or not change.differs(name):
        return None
    old, new = (_names(side.compared.value, name) for side in (change.before, change.after))
    return Listed(added=pages.some(tuple(sorted(new - old))), removed=pages.some(tuple(sorted(old - new))))


def _names(pairs: tuple[tuple[str, object], ...], name: str) -> set[str]:
    value = dict(pairs).get(name)
    return set(value) if isinstance(value, tuple) else set()
