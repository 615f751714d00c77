"""The command line's entry: commands with arguments of their own go without invoke, the rest through it."""

from __future__ import annotations

import os
import sys

from treescribe.collector import collector_paused
from treescribe.commands import command_of
from treescribe.environment import FOLLOWER_VARIABLE


def main() -> None:
    """Run the `treescribe` command line; ends the process with its exit code."""
    if FOLLOWER_VARIABLE in os.environ:
        from treescribe.follower import take_follower

        take_follower(os.environ)
    with collector_paused():
        command = command_of(sys.argv[1]) if sys.argv[1:] else None
    if command is not None:
        sys.exit(command(sys.argv[2:]))
    with collector_paused():
        from treescribe.program import Program
    Program().run()


if __name__ == "__main__":
    main()
