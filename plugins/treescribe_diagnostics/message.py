"""A message as a compiler or linter printed it, and the lines around the one that is looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from treescribe.events import Severity


class Message(NamedTuple):
    """What a format read.

    :ivar path: as printed.
    :ivar line, column: from 1; 0 where none was printed.
    :ivar sure: whether it is a diagnostic whatever the path names; otherwise only where it names a file.
    """

    severity: Severity
    path: str
    line: int
    column: int
    message: str
    code: str = ""
    tool: str = ""
    sure: bool = True


class Lines(NamedTuple):
    """A line that may belong to a message, and its neighbours, without colours and line ends."""

    all: Sequence[str]
    at: int

    @property
    def line(self) -> str:
        return self.all[self.at]

    def before(self, number: int) -> list[str]:
        """Up to so many lines before it, the nearest first."""
        return list(reversed(self.all[max(0, self.at - number) : self.at]))

    def after(self, number: int) -> list[str]:
        """Up to so many lines after it."""
        return list(self.all[self.at + 1 : self.at + 1 + number])


class Format(Protocol):
    """Knows how one or several tools print a message. One instance reads one stream of one command."""

    def read(self, lines: Lines) -> Message | None:
        """The message that is told by this line, with what its neighbours add."""


SEVERITIES = {
    "fatal error": Severity.ERROR,
    "error": Severity.ERROR,
    "warning": Severity.WARNING,
    "information": Severity.INFO,
    "info": Severity.INFO,
}
"""What tools call a severity."""


def message_of(found: re.Match[str], position: re.Match[str] | None = None) -> Message:
    """A message out of a match's groups; an error where it names no severity.

    :param position: where path, line and column stand, if not in the same match.
    """
    groups = found.groupdict()
    place = (position or found).groupdict()
    severity = SEVERITIES[(groups.get("severity") or "error").lower()]
    path, line, column = place["path"], int(place["line"]), int(place["column"])
    return Message(severity, path, line, column, groups["message"], groups.get("code") or "")
