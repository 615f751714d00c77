"""The command line's entry: ``treescribe exec`` goes without invoke, the rest through it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `treescribe` command line; ends the process with its exit code."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command == "exec":
        from treescribe.exec_command import main as exec_main

        sys.exit(exec_main(sys.argv[2:]))
    from treescribe.program import Program

    Program().run()


if __name__ == "__main__":
    main()
