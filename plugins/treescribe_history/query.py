"""Queries over what happened in a run: messages, traces, paths and names are searched, and nothing else."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

from treescribe.errors import InvalidInput

from treescribe_history.items import PATH_DETAILS, Item


def matching(items: Iterable[Item], query: str) -> list[Item]:
    """Return those items that the query, a regular expression, is found in; raises what `compile_query` raises."""
    pattern = compile_query(query)
    return [item for item in items if matches(item, pattern)]


def compile_query(query: str) -> re.Pattern[str]:
    """Return the compiled regular expression.

    :raises InvalidInput: where it is none, with the place marked by a caret.
    """
    try:
        with warnings.catch_warnings(
            action="ignore", category=FutureWarning
        ):  # of what a later Python may read otherwise
            return re.compile(query)
    except re.error as error:
        line = query.splitlines()[error.lineno - 1] if error.lineno and query.splitlines() else query
        marked = f"    {line}"
        if error.colno is not None:
            marked += f"\n    {' ' * (error.colno - 1)}^"
        raise InvalidInput(f"the query is not a regular expression: {error.msg}", marked) from None
    except (RecursionError, OverflowError) as error:
        raise InvalidInput(f"the query is too large a regular expression: {error}", f"    {query[:80]}") from None


def matches(item: Item, pattern: re.Pattern[str]) -> bool:
    """Whether the pattern is found in the item's name, message, trace or paths."""
    paths = ((item.details or {}).get(name) for name in PATH_DETAILS)
    texts = (item.name, item.message, item.trace, item.path, *paths)
    return any(text is not None and pattern.search(text) for text in texts)
