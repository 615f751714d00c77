"""Formats of linters that have no word for the severity, or print the file once for all its messages."""

from __future__ import annotations

import re

from treescribe.events import Severity

from treescribe_diagnostics.message import SEVERITIES, Lines, Message


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
        line, column = int(found["line"]), int(found["column"])
        code, text = found["code"].rstrip(":"), found["message"].removeprefix("[*] ")
        return Message(Severity.ERROR, found["path"], line, column, text, code, self._tool, sure=False)


class EslintStylish:
    """eslint's own format: the file on a line of its own, then a line for each message."""

    _ROW = re.compile(
        r"\s+(?P<line>\d+):(?P<column>\d+)\s+(?P<severity>error|warning)\s+(?P<message>\S.*?)(?:\s{2,}(?P<code>\S+))?"
    )

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
        severity, code = SEVERITIES[found["severity"]], found["code"] or ""
        return Message(severity, self._file, line, column, found["message"], code, "eslint", sure=False)


class EslintUnix:
    """``path:line:column: message [Error/rule]``: eslint's format ``unix``."""

    _LINE = re.compile(
        r"(?P<path>\S[^:]*):(?P<line>\d+):(?P<column>\d+): "
        r"(?P<message>.+) \[(?P<severity>Error|Warning)(?:/(?P<code>[^\]\s]+))?\]"
    )

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        if found is None:
            return None
        line, column = int(found["line"]), int(found["column"])
        severity, code = SEVERITIES[found["severity"].lower()], found["code"] or ""
        return Message(severity, found["path"], line, column, found["message"], code, "eslint")
