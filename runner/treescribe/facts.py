"""Facts: what two runs are compared by.

A fact has a key, which says what it is about, and a value, which says how it came out. Neither has a
place for a time or a duration, so no comparison can see one.

`collect` gathers the facts of one run so that those of another run, in another worktree, can be held against
them: where the worktree stands, how paths are separated and how a terminal coloured a text do not matter.
"""

from __future__ import annotations

import re
from collections import Counter
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
    ``value`` is what is compared, as (name, value) pairs. A tuple of texts in it is compared without its order.
    ``shown`` stands beside the fact in reports (a line number, a rule's code) and is never compared.
    ``merges``: a later fact of the same key updates the earlier one's value instead of standing beside it.
    """

    kind: str
    key: tuple[str, ...]
    value: tuple[tuple[str, Value], ...] = ()
    shown: tuple[tuple[str, Value], ...] = ()
    merges: bool = False


class FactSet(NamedTuple):
    """The facts of one run, fit to be compared with those of another.

    ``counts``: by kind, how often each fact occurred. These facts read the same in any worktree: see `compared`.
    ``originals``: the facts as they are told to people (see `told`), by the fact they are counted as; only where
    the two differ, so most facts have no entry.
    """

    counts: dict[str, dict[Fact, int]]
    originals: dict[Fact, list[Fact]]

    def told(self, fact: Fact) -> list[Fact]:
        """Every occurrence of `fact` as people read it, in an order that does not depend on the run's."""
        times = self.counts[fact.kind][fact]
        known = self.originals.get(fact, [])
        if len(known) > 1:
            known = sorted(known, key=lambda one: (rank(one.shown), rank(one.value), one.key))
        return known + [fact] * (times - len(known))


# ---- texts and paths ----------------------------------------------------------------------------------

_ESCAPE = "\x1b"
_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_NAME = r"[\w\-~+@]"  # what continues a file name, so that /ws/app is not found in /ws/app-fork
_BEFORE = (
    r"(?:(?<![\w\-~+@./\\])"  # /ws/app is not found in /mnt/ws/app
    r"|(?<=://)|(?<=file:///)"  # URLs
    r"|(?<=[\s'\"=,(]-[A-Za-z])|(?<=[\s'\"=,(]@))"  # cc -I/ws/app/include @/ws/app/arguments
)
_WINDOWS_ROOT = re.compile(r"[A-Za-z]:[/\\]|\\\\")


class RootPattern(NamedTuple):
    """What finds mentions of a worktree's root in a text.

    ``needle`` is in every text that has a mention, and quickly looked for. ``mention`` matches one at path boundaries;
    its group ``rest`` is the path below the root, None where the root alone is meant.
    """

    needle: str
    mention: re.Pattern[str]


def root_pattern(root: str) -> RootPattern:
    """Return what finds mentions of `root`; of ``/`` none are found.

    A Windows root is found in either letter case and with either separator, doubled ones (as in a quoted text) too.
    """
    windows = _WINDOWS_ROOT.match(root) is not None
    separators, separator = (r"/\\", r"[/\\]{1,2}") if windows else ("/", "/")
    parts = [re.escape(part) for part in re.split(f"[{separators}]", root.rstrip("/\\" if windows else "/"))]
    if not any(parts):
        return RootPattern("\0", re.compile("(?!)"))
    below = rf"{separator}(?P<rest>[\w\-~+@.{separators}]*)"
    pattern = rf"{_BEFORE}{separator.join(parts)}(?:{below}|(?!\.*{_NAME}))"
    if windows:
        return RootPattern("", re.compile(pattern, re.IGNORECASE))
    return RootPattern(root.rstrip("/"), re.compile(pattern))


def without_colours(text: str) -> str:
    """`text` without the escape sequences that colour a terminal."""
    return _COLOURS.sub("", text) if _ESCAPE in text else text


_VOLATILE = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b|\bpytest-of-(?P<user>[^/\\\s]+)[/\\]pytest-\d+")


def _may_be_volatile(text: str) -> bool:
    return "0x" in text or "pytest-" in text


def _steady(found: re.Match[str]) -> str:
    """What stands, for a comparison, in place of text that is another in every run: addresses, pytest's folders."""
    return f"pytest-of-{found['user']}/pytest-N" if found["user"] else "0x…"


def normalise(text: str, root: RootPattern) -> str:
    """Return `text` as it would read in any worktree: mentions of the root relative, paths with ``/``, no colours."""
    if isinstance(text, WorkspacePath):
        return _relative_path(text, root)
    text = _VOLATILE.sub(_steady, without_colours(text)) if _may_be_volatile(text) else without_colours(text)
    return root.mention.sub(_below_root, text) if root.needle in text else text


def _relative_path(path: str, root: RootPattern) -> str:
    """`path` relative to the root where it lies below it; other paths as they are, with ``/``."""
    found = root.mention.match(path)
    if found and found["rest"] is not None:
        path = path[found.start("rest") :].lstrip("/\\") or "."
    elif found and found.end() == len(path):
        path = "."
    return path.replace("\\", "/")


def _below_root(found: re.Match[str]) -> str:
    return re.sub(r"[/\\]+", "/", found["rest"] or "").lstrip("/") or "."


def normalise_value(value: Value, root: RootPattern) -> Value:
    """`normalise` for a fact's value: text, or a tuple of texts, which is put in order."""
    if isinstance(value, (tuple, list)):
        return tuple(sorted([normalise(part, root) for part in value]))
    return normalise(value, root) if isinstance(value, str) else value


# ---- facts --------------------------------------------------------------------------------------------


def compared(fact: Fact, root: RootPattern) -> Fact:
    """`fact` as it would read in any worktree, without what is only shown."""
    if _reads_alike(fact, root):
        return Fact(fact.kind, fact.key, fact.value) if fact.shown or fact.merges else fact
    key = tuple([normalise(part, root) for part in fact.key])
    return Fact(fact.kind, key, tuple([(name, normalise_value(value, root)) for name, value in fact.value]))


def told(fact: Fact, root: RootPattern) -> Fact:
    """`fact` as people read it: paths relative to the root, every other text as the run told it, without colours."""
    key = tuple([_told_text(part, root) for part in fact.key])
    value = tuple([(name, _told_value(value, root)) for name, value in fact.value])
    return Fact(fact.kind, key, value, fact.shown)


def _told_text(text: str, root: RootPattern) -> str:
    return _relative_path(text, root) if isinstance(text, WorkspacePath) else without_colours(text)


def _told_value(value: Value, root: RootPattern) -> Value:
    return _told_text(value, root) if isinstance(value, str) else normalise_value(value, root)


def collect(facts: Iterable[Fact], root: str) -> FactSet:
    """Gather the facts of one run whose worktree stands at `root`."""
    pattern = root_pattern(root)
    gathered: dict[str, list[Fact]] = {}
    merging: dict[tuple[str, tuple[str, ...]], Fact] = {}
    others: list[Fact] = []
    for fact in facts:
        if fact.merges:
            place = fact.kind, compared(fact, pattern).key
            merging[place] = _merge(merging[place], fact) if place in merging else fact
        elif fact.shown or not _reads_alike(fact, pattern):
            others.append(fact)
        else:
            gathered.setdefault(fact.kind, []).append(fact)
    originals: dict[Fact, list[Fact]] = {}
    for fact in (*others, *merging.values()):
        same = compared(fact, pattern)
        gathered.setdefault(fact.kind, []).append(same)
        originals.setdefault(same, []).append(told(fact, pattern))
    return FactSet({kind: dict(Counter(same)) for kind, same in gathered.items()}, originals)


def _reads_alike(fact: Fact, root: RootPattern) -> bool:
    """Whether `fact` surely reads the same in every worktree. Most facts do, and this costs little."""
    texts = list(fact.key)
    for _, value in fact.value:
        if type(value) is str:
            texts.append(value)
        elif value is not None and type(value) is not int:
            return False
    for text in texts:
        if type(text) is not str:
            return False
    together = "\n".join(texts)  # one search of all is several times as quick as one of each
    return not (root.needle in together or _ESCAPE in together or _may_be_volatile(together))


def _merge(earlier: Fact, later: Fact) -> Fact:
    """`earlier` updated by `later`: of a value that both have, the later one counts."""
    value = tuple(sorted((dict(earlier.value) | dict(later.value)).items()))
    return later._replace(value=value, shown=later.shown or earlier.shown)


def rank(value: object) -> tuple[object, ...]:
    """A sort key for any value of a fact, and for tuples of them: numbers by size, None first."""
    if isinstance(value, tuple):
        return (3, tuple([rank(part) for part in value]))
    if isinstance(value, int):
        return (1, value)
    return (0,) if value is None else (2, str(value))


def full_test_name(project: str, suite: str, test: str) -> str:
    """How a test is called wherever people or agents read of it: ``project: suite::test``."""
    name = f"{suite}::{test}" if suite else test
    return f"{project}: {name}" if project else name
