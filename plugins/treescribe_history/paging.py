"""Pages of what an operation lists."""

from __future__ import annotations

from treescribe.errors import InvalidInput

LIMIT_HELP = "how many are listed at most; 0 lists all"
OFFSET_HELP = "how many are passed over first"


def check_page(limit: int, offset: int) -> None:
    """Refuse a page that cannot be."""
    if limit < 0:
        raise InvalidInput(f"limit must be at least 0, which means all, not {limit}.")
    if offset < 0:
        raise InvalidInput(f"offset must be at least 0, not {offset}.")
