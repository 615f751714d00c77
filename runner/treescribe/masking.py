"""Masking of secrets: what must not reach a transcript, and what a masked event looks like.

Secrets are the values, of eight characters or more, of environment variables that are named like secrets, and
whatever the configured patterns match. They are replaced before an event is handed to any observer.
"""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from treescribe.events import Event

MASK = "***"
SHORTEST_SECRET = 8
LONGEST_LINE = 1 << 16

SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:TOKEN|SECRETS?|PASS|PASSWORDS?|PASSWD|PASSPHRASE|PWD|PAT|CREDENTIALS?|KEYS?|AUTH)\d*(?:[_-]|$)"
    r"|(?:TOKEN|SECRET|PASSWORD|PASS|(?:API|ACCESS|SECRET|PRIVATE)KEY)\d*$",
    re.IGNORECASE,
)
"""Names of environment variables whose values are secrets."""

NO_SECRET_NAME = re.compile(r"^(?:OLD)?PWD$|^GIT_CONFIG_KEY_\d+$|ASKPASS$|AUTH_SOCK$")
"""Names that read like it, of values that are none: directories, programs, sockets, and git's names of settings."""


_CUT = re.compile(r"(\s*(?:…[^…\n]*…|…|\.\.\.)\s*)")
"""Where texts are cut: by treescribe ("… 7 characters left out …"), and by pytest, which shortens with three dots."""


def is_secret_name(name: str) -> bool:
    """Whether the value of an environment variable of this name is taken for a secret."""
    return bool(SECRET_NAME.search(name)) and not NO_SECRET_NAME.search(name)


def forms(value: str) -> set[str]:
    """How a secret can be written: as it is, quoted for Python, JSON or a shell, and each of its lines by itself."""
    quoted = {
        value.strip(),  # what a shell makes of it unquoted
        repr(value)[1:-1],
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        shlex.quote(value).strip("'"),
        value.replace("'", "\\'"),
        value.replace("'", "'\\''"),  # a shell that traces (set -x)
    }
    lines = {line for line in value.splitlines() if len(line) >= SHORTEST_SECRET}
    return {form for form in {value, value.replace("\n", "\r\n"), *quoted, *lines} if len(form) >= SHORTEST_SECRET}


class _Known(NamedTuple):
    """The secrets that are known: all of a masker's state, replaced as one."""

    values: frozenset[str]
    search: re.Pattern[str] | None
    longest: int

    @classmethod
    def of(cls, values: frozenset[str]) -> _Known:
        longest_first = sorted(values, key=len, reverse=True)
        return cls(values, re.compile("|".join(map(re.escape, longest_first))), len(longest_first[0]))


class Masker:
    """Replaces secrets in text. One masker serves a whole run; `learn` adds what a child's environment brings."""

    def __init__(self, environment: Mapping[str, str] = {}, patterns: Iterable[str] = ()) -> None:
        self._patterns = tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)
        self._lock = threading.Lock()
        self._known = _Known(frozenset(), None, 0)
        self.learn(environment)

    def learn(self, environment: Mapping[str, str]) -> None:
        """Take the secrets of an environment into account from here on."""
        values = {
            form
            for name, value in environment.items()
            if is_secret_name(name) and len(str(value)) >= SHORTEST_SECRET
            for form in forms(str(value))
        }
        with self._lock:
            if not values <= self._known.values:
                self._known = _Known.of(self._known.values | values)

    def text(self, text: str) -> str:
        """Return `text` with every secret replaced by ``***``, also one of which a cut left only a part."""
        for search in self._searches:
            text = search.sub(MASK, text)
        return self._without_parts(text) if self._known.values and _CUT.search(text) else text

    def _without_parts(self, text: str) -> str:
        """Mask what stands on either side of a cut and is the beginning or the end of a secret."""
        pieces = _CUT.split(text)
        for index in range(0, len(pieces), 2):
            if index + 2 < len(pieces):
                pieces[index] = self._without_beginning(pieces[index])
            if index:
                pieces[index] = self._without_end(pieces[index])
        return "".join(pieces)

    def _without_beginning(self, text: str) -> str:
        for value in self._known.values:
            for length in range(min(len(value), len(text)), SHORTEST_SECRET - 1, -1):
                if text.endswith(value[:length]):
                    return text[:-length] + MASK
        return text

    def _without_end(self, text: str) -> str:
        for value in self._known.values:
            for length in range(min(len(value), len(text)), SHORTEST_SECRET - 1, -1):
                if text.startswith(value[-length:]):
                    return MASK + text[length:]
        return text

    @property
    def _searches(self) -> tuple[re.Pattern[str], ...]:
        known = self._known.search
        return self._patterns if known is None else (known, *self._patterns)

    def event(self, event: Event) -> Event:
        """Return `event` with the fields that may hold a secret masked."""
        if not self._searches:
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
        if isinstance(value, list):
            return [self._value(part) for part in value]
        if isinstance(value, dict):
            return {key: self._value(part) for key, part in value.items()}
        return value

    @property
    def reach(self) -> int:
        """How many characters before a text may decide what is masked in it."""
        return LONGEST_LINE + self._known.longest if self._searches else 0

    def unsure_beginning(self, text: str) -> int:
        """How long the beginning is, of a text out of the middle of a stream, that may be the end of something masked.

        What has begun before it is over by the end of a line, or, in a line that is too long, of the longest value.
        """
        if not self._searches:
            return 0
        longest = self._known.longest
        place = text.find("\n", longest, self.reach) + 1 or min(longest, len(text))
        over = _match_over(place, text, self._searches)
        return over.end() if over else place

    def split(self, text: str) -> tuple[str, str]:
        """Mask a stream's next piece: (what is safe to write, what must wait for more of the stream).

        What waits is the last line if it is not whole (patterns match within lines), and the lines before it that
        could hold the beginning of a secret of several lines. Of a line longer than `LONGEST_LINE` only known values
        are sure to be found.
        """
        known, searches = self._known, self._searches
        if not searches:
            return text, ""
        hold = text.rfind("\n", 0, max(0, len(text) - known.longest + 1)) + 1
        while over := _match_over(hold, text, searches):
            hold = text.rfind("\n", 0, over.start()) + 1
        if len(text) - hold > LONGEST_LINE + known.longest:
            hold = len(text) - known.longest
            over = _match_over(hold, text, (known.search,) if known.search else ())
            hold = over.start() if over else hold
        return self.text(text[:hold]), text[hold:]


def _match_over(place: int, text: str, searches: Iterable[re.Pattern[str]]) -> re.Match[str] | None:
    """The match that `place` stands within; None where it stands in none."""
    for search in searches:
        for match in search.finditer(text):
            if match.start() < place < match.end():
                return match
            if match.start() >= place:
                break
    return None
