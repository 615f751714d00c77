"""The command line's entry: ``treescribe exec`` goes without invoke, the rest through it."""

from __future__ import annotations

import sys

from treescribe.collector import collector_paused


def main() -> None:
    """Run the `treescribe` command line; ends the process with its exit code."""
    if sys.argv[1:2] == ["exec"]:
        with collector_paused():
            from treescribe.exec_command import main as exec_main
        sys.exit(exec_main(sys.argv[2:]))
    with collector_paused():
        from treescribe.program import Program
    Program().run()


if __name__ == "__main__":
    main()
