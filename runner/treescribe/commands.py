"""Commands: first words of a command line that take all other words themselves, without invoke.

`exec` is treescribe's own. Plugins bring others by the entry-point group `GROUP`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module

GROUP = "treescribe.commands"
"""The entry-point group of commands: a name, and a function that takes the words after it and returns the exit code."""

Command = Callable[[list[str]], int]


def command_of(word: str) -> Command | None:
    """The command that is called by this word; None for the names of tasks and operations."""
    if word == "exec":
        from treescribe.exec_command import main

        return main
    if not word.isidentifier():
        return None
    return _written_down(word) or _registered(word)


def _written_down(word: str) -> Command | None:
    """The command as the metadata beside installed packages names it.

    It is read here since importing ``importlib.metadata``, which reads more, takes longer than all else that comes
    before a command begins. Where this finds nothing, that has the last word.
    """
    for line in _lines_of_the_group():
        name, _, place = line.partition("=")
        module, _, attribute = place.strip().partition(":")
        if name.strip() == word and attribute.isidentifier():
            command: Command = getattr(import_module(module), attribute)
            return command
    return None


def _lines_of_the_group() -> Iterator[str]:
    for folder in sys.path:
        try:
            names = sorted(name for name in os.listdir(folder or ".") if name.endswith((".dist-info", ".egg-info")))
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), encoding="utf-8") as file:
                    text = file.read()
            except OSError:
                continue
            _, _, rest = text.partition(f"[{GROUP}]\n")
            yield from rest.partition("\n[")[0].splitlines()


def _registered(word: str) -> Command | None:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=word):
        command: Command = point.load()
        return command
    return None
