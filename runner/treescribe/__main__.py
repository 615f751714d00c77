"""``python -m treescribe``."""

from treescribe.cli import main

main()
