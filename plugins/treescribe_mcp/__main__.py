"""``python -m treescribe_mcp``: the same as ``treescribe mcp``; the relay starts its servers by it."""

from __future__ import annotations

import sys

from treescribe_mcp.command import main

sys.exit(main(sys.argv[1:]))
