"""The errors a user can meet: what is wrong, where, and what to do."""

from __future__ import annotations


class TreescribeError(Exception):
    """Something a caller can mend.

    :param message: what was wrong and where, one sentence.
    :param hint: what to do about it; may be empty, may have several lines.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class WorkspaceError(TreescribeError):
    """A directory that cannot be worked in."""


class RunUnavailable(TreescribeError):
    """A run that was asked for and cannot be had: it never was, was evicted, is live, or is damaged."""


class InvalidInput(TreescribeError):
    """An argument or a setting that cannot be used as it stands."""


class LockTimeout(TreescribeError):
    """A lock that others held for longer than the caller would wait."""
