"""Formats of linters that have no word for the severity, or print the file once for all its messages."""

from __future__ import annotations

import re

from treescribe_diagnostics.message import SEVERITIES, Lines, Message, message_of


class Coded:
    """``path:line:column: CODE message``: flake8, and ruff's concise format. All are errors, as their exit codes say.

    :param command: the command line, which may say which of them it is.
    """

    _LINE = re.compile(
        r"(?P<path>\S[^:]*):(?P<line>\d+):(?P<column>\d+): "
        r"(?P<code>[A-Z]{1,4}\d{1,5}|invalid-syntax:) (?P<message>.+)"
    )

    def __init__(self, command: str) -> None:
        self._tool = next((name for name in ("ruff", "flake8") if name in command), "")

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        if found is None:
            return None
        code, text = found["code"].rstrip(":"), found["message"].removeprefix("[*] ")
        return message_of(found)._replace(code=code, message=text, tool=self._tool, sure=False)


class EslintStylish:
    """eslint's own format: the file on a line of its own, then a line for each message."""

    _ROW = re.compile(r"\s+(?P<line>\d+):(?P<column>\d+)\s+(?P<severity>error|warning)\s+(?P<message>\S.*)")

    def __init__(self) -> None:
        self._file = ""

    def read(self, lines: Lines) -> Message | None:
        found = self._ROW.fullmatch(lines.line)
        if found is None:
            return None
        above = [*lines.before(2), "", ""]
        if above[0] and not above[0][0].isspace() and not above[1].strip():  # not the second line of a message
            self._file = above[0]
        if not self._file:
            return None
        line, column = int(found["line"]), int(found["column"])
        text, gap, code = found["message"].rpartition("  ")
        if not gap or " " in code:  # a message without a rule, such as a parsing error
            text, code = found["message"], ""
        severity = SEVERITIES[found["severity"]]
        return Message(severity, self._file, line, column, text.rstrip(), code, "eslint", sure=False)


class EslintUnix:
    """``path:line:column: message [Error/rule]``: eslint's format ``unix``."""

    _LINE = re.compile(
        r"(?P<path>\S[^:]*):(?P<line>\d+):(?P<column>\d+): "
        r"(?P<message>.+) \[(?P<severity>Error|Warning)(?:/(?P<code>[^\]\s]+))?\]"
    )

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        return message_of(found)._replace(tool="eslint") if found else None
