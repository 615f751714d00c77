"""The command line's entry: commands with arguments of their own go without invoke, the rest through it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from treescribe.collector import collector_paused
from treescribe.environment import FOLLOWER_VARIABLE

COMMANDS_GROUP = "treescribe.commands"
"""The entry-point group of commands: a name, and a function that takes the words after it and returns the exit code."""


def main() -> None:
    """Run the `treescribe` command line; ends the process with its exit code."""
    if FOLLOWER_VARIABLE in os.environ:
        from treescribe.follower import take_follower

        take_follower(os.environ)
    with collector_paused():
        command = _command(sys.argv[1]) if sys.argv[1:] else None
    if command is not None:
        sys.exit(command(sys.argv[2:]))
    with collector_paused():
        from treescribe.program import Program
    Program().run()


def is_command(word: str) -> bool:
    """Whether a word is a command, and no name of a target, where it comes first."""
    return _command(word) is not None


def _command(word: str) -> Callable[[list[str]], Any] | None:
    """The command that is called by this word; none for the names of tasks and operations."""
    if word == "exec":
        from treescribe.exec_command import main as exec_main

        return exec_main
    if not word.isidentifier():
        return None
    from importlib.metadata import entry_points

    for point in entry_points(group=COMMANDS_GROUP, name=word):
        command: Callable[[list[str]], Any] = point.load()
        return command
    return None


if __name__ == "__main__":
    main()
