"""Masking of secrets: what must not reach a transcript, and what a masked event looks like.

Secrets are the values, of eight characters or more, of environment variables that are named like secrets, and
whatever the configured patterns match. They are replaced before an event is handed to any observer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from treescribe.events import Event, Output, UnknownEvent

MASK = "***"
SHORTEST_SECRET = 8

SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PAT|CREDENTIALS?|(?:API|ACCESS|PRIVATE|SECRET|SIGNING|ENCRYPTION)[_-]?KEY|AUTH)"
    r"(?:[_-]|$)|(?:TOKEN|SECRET|PASSWORD|APIKEY)$",
    re.IGNORECASE,
)
"""Names of environment variables whose values are secrets."""


class Masker:
    """Replaces secrets in text. One masker serves a whole run; `learn` adds what a child's environment brings."""

    def __init__(self, environment: Mapping[str, str] = {}, patterns: Iterable[str] = ()) -> None:
        self._patterns = tuple(patterns)
        self._values: frozenset[str] = frozenset()
        self._regex: re.Pattern[str] | None = None
        self._longest = 0
        self.learn(environment)
        self._build()

    @property
    def longest(self) -> int:
        """The length of the longest known value: how much text must be seen at once to find it."""
        return self._longest

    def learn(self, environment: Mapping[str, str]) -> None:
        """Take the secrets of an environment into account from here on."""
        values = {
            str(value)
            for name, value in environment.items()
            if SECRET_NAME.search(name) and len(str(value)) >= SHORTEST_SECRET
        }
        if not values <= self._values:
            self._values |= values
            self._build()

    def _build(self) -> None:
        values = sorted(self._values, key=len, reverse=True)
        alternatives = [re.escape(value) for value in values] + [f"(?:{pattern})" for pattern in self._patterns]
        self._regex = re.compile("|".join(alternatives)) if alternatives else None
        self._longest = max((len(value) for value in values), default=0)

    def text(self, text: str) -> str:
        """Return `text` with every secret replaced by ``***``."""
        return self._regex.sub(MASK, text) if self._regex is not None and text else text

    def event(self, event: Event) -> Event:
        """Return `event` with the fields that may hold a secret masked. `Output` is masked as a stream instead."""
        if self._regex is None or not event.masked or isinstance(event, Output | UnknownEvent):
            return event
        changes = {}
        for name in event.masked:
            before = getattr(event, name)
            after = self._value(before)
            if after != before:
                changes[name] = after
        return replace(event, **changes) if changes else event

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, tuple):
            return tuple(self._value(part) for part in value)
        return value

    def split(self, text: str) -> tuple[str, str]:
        """Mask a stream's next piece: (what is safe to write, what must wait for more of the stream).

        What waits is the last line if it is not whole (patterns match within lines), and as much before it as
        could be the beginning of a secret of several lines.
        """
        if self._regex is None:
            return text, ""
        end = text.rfind("\n") + 1
        hold = min(end, len(text) - self._longest + 1) if self._longest else end
        hold = max(hold, 0)
        if len(text) - hold > 4 * max(self._longest, 1 << 14):  # one endless line: only known values are held for
            hold = len(text) - self._longest
        for match in self._regex.finditer(text):
            if match.start() < hold < match.end():
                hold = match.start()
                break
        return self.text(text[:hold]), text[hold:]
