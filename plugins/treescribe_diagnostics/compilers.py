"""Formats of compilers and type checkers.

Notes, help texts and the source lines under a message belong to it and are no messages of their own.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import ClassVar

from treescribe.events import Severity

from treescribe_diagnostics.message import SEVERITIES, Lines, Message, message_of


class Located:
    """``path:line:column: severity: message``, the column optional: gcc, clang, mypy, javac and many others.

    https://gcc.gnu.org/onlinedocs/gcc/Diagnostic-Message-Formatting-Options.html,
    https://mypy.readthedocs.io/en/stable/command_line.html#configuring-error-messages
    """

    _END = r"(?:\d+:\d+:|(?:\{[\d:,-]+\})+:)?"  # where a place ends, as mypy and clang tell it if asked
    _LINE = re.compile(
        rf"(?P<path>[^\s:][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)?{_END} "
        r"(?P<severity>fatal error|error|warning)(?:\[(?P<code>[\w-]+)\])?: (?P<message>.+)"  # cargo's short format
    )
    _MYPY_CODE = re.compile(r"(?P<message>.*\S)\s+\[(?P<code>[a-z0-9-]+)\]")
    _CC_CODE = re.compile(r"(?P<message>.*) \[(?P<code>-W[^\]\s]+|-f[^\]\s]+)\]")
    _JAVAC_CODE = re.compile(r"\[(?P<code>[a-z-]+)\] (?P<message>.*)")
    _TOOLS: ClassVar[dict[str, tuple[tuple[str, ...], re.Pattern[str] | None]]] = {
        "mypy": ((".py", ".pyi"), _MYPY_CODE),
        "javac": ((".java",), _JAVAC_CODE),
        "rustc": ((".rs",), None),
        "cc": ((".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".m", ".mm", ".s"), _CC_CODE),
    }
    _CARET = re.compile(r"(\s*)\^")

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        if found is None:
            return None
        path, text, column = found["path"], found["message"], int(found["column"] or 0)
        tool, pattern = self._tool(path)
        if tool == "mypy":
            text = self._whole(text, lines)
        elif tool == "javac":
            column = self._column_of_caret(lines)
        coded = pattern.fullmatch(text) if pattern else None
        text, code = (coded["message"], coded["code"]) if coded else (text, found["code"] or "")
        sure = bool(PurePath(path).suffix)  # "12:30:01: error: …" of a log is none
        return Message(SEVERITIES[found["severity"]], path, int(found["line"]), column, text, code, tool, sure)

    def _tool(self, path: str) -> tuple[str, re.Pattern[str] | None]:
        """Who speaks of files of this kind, and how the rule's name stands in its messages."""
        for name, (suffixes, pattern) in self._TOOLS.items():
            if path.lower().endswith(suffixes):
                return name, pattern
        return "", None

    def _whole(self, text: str, lines: Lines) -> str:
        """A message that was broken into lines (``mypy --pretty``): it goes on to the rule's name."""
        whole = text
        for line in lines.after(5):
            if self._MYPY_CODE.fullmatch(whole) or not line or line[0].isspace():
                break
            whole = f"{whole.rstrip()} {line}"
        return whole if self._MYPY_CODE.fullmatch(whole) else text

    def _column_of_caret(self, lines: Lines) -> int:
        """The column that javac shows by a caret below the source line."""
        for line in lines.after(3):
            if caret := self._CARET.fullmatch(line):
                return len(caret[1]) + 1
        return 0


class Parenthesised:
    """``path(line,column): severity CODE: message``: tsc, and the compilers of the .NET SDK."""

    _LINE = re.compile(
        r"(?P<path>\S[^()]*)\((?P<line>\d+),(?P<column>\d+)\): "
        r"(?P<severity>error|warning) (?P<code>[A-Z]+\d+): (?P<message>.+)"
    )

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        return message_of(found) if found else None


class Dashed:
    """``path:line:column - severity CODE: message (rule)``: pyright, and tsc where it prints for people."""

    _LINE = re.compile(
        r"\s*(?P<path>\S[^:]*):(?P<line>\d+):(?P<column>\d+) - "
        r"(?P<severity>error|warning|information)(?: (?P<code>[A-Z]+\d+))?: (?P<message>.+)"
    )
    _RULE = re.compile(r"(?P<message>.*\S)\s*\((?P<code>report\w+)\)")

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        if found is None:
            return None
        if found["code"]:
            return message_of(found)
        message = message_of(found)._replace(tool="pyright")
        if rule := self._RULE.fullmatch(message.message):
            return message._replace(message=rule["message"], code=rule["code"])
        return message._replace(code=self._rule_below(lines))

    def _rule_below(self, lines: Lines) -> str:
        """The rule of a message of several lines: those that go on are indented deeper, the last one names it."""
        for line in lines.after(6):
            if len(line) - len(line.lstrip()) < 4:  # spaces, and ones that do not break
                return ""
            if rule := self._RULE.fullmatch(line):
                return rule["code"]
        return ""


class Arrowed:
    """A headline, and after it an arrow with the position: rustc and cargo, and ruff where it prints for people."""

    _POSITION = re.compile(r"\s*--> (?P<path>\S.*?):(?P<line>\d+):(?P<column>\d+)")
    _RUSTC = re.compile(r"(?P<severity>error|warning)(?:\[(?P<code>[\w-]+)\])?: (?P<message>.+)")
    _RUFF = re.compile(r"(?P<code>[A-Z]+\d+|unformatted|[a-z]+(?:-[a-z]+)+):? (?:\[\*\] )?(?P<message>.+)")
    _NO_HEADLINE = re.compile(r"\s*(?:note|help|= )|\s*\d* *\||\s*:::")

    def read(self, lines: Lines) -> Message | None:
        position = self._POSITION.fullmatch(lines.line)
        if position is None:
            return None
        for line in lines.before(6):  # a headline may go on over several lines
            if not line.strip() or self._NO_HEADLINE.match(line):
                return None
            if found := self._RUSTC.fullmatch(line):
                return message_of(found, position)._replace(tool=self._tool(position["path"]))
            if position["path"].endswith((".py", ".pyi", ".ipynb", ".toml")) and (found := self._RUFF.fullmatch(line)):
                return message_of(found, position)._replace(tool="ruff", sure=False)
        return None

    def _tool(self, path: str) -> str:
        return "rustc" if path.endswith(".rs") else ""


class Maven:
    """``[ERROR] path:[line,column] message`` of Maven's compiler plugin, which tells every error twice."""

    _LINE = re.compile(
        r"\[(?P<severity>ERROR|WARNING)\] (?P<path>\S.*?):\[(?P<line>\d+),(?P<column>\d+)\] (?P<message>.+)"
    )

    def __init__(self) -> None:
        self._told: set[tuple[str, ...]] = set()

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        if found is None or found.groups() in self._told:
            return None
        self._told.add(found.groups())
        return message_of(found)._replace(tool="javac")


class Go:
    """``path.go:line:column: message`` of go build, go test and go vet, which have no word for the severity."""

    _LINE = re.compile(r"(?:vet: )?(?P<path>[^\s:][^:]*\.go):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)")

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        return message_of(found)._replace(tool="go", sure=False) if found else None


class Linker:
    """What a linker misses or has twice: ``path:(section+offset): message``, or ``path:line: message``."""

    _LINE = re.compile(
        r"(?:\S*\bld: )?(?P<path>[^\s:]+):(?:\([^)]*\)|(?P<line>\d+)): "
        r"(?P<message>(?:undefined reference to|multiple definition of) .+?)(?:; \S+:\([^)]*\): first defined here)?"
    )

    def read(self, lines: Lines) -> Message | None:
        found = self._LINE.fullmatch(lines.line)
        if found is None:
            return None
        return Message(Severity.ERROR, found["path"], int(found["line"] or 0), 0, found["message"], tool="ld")
