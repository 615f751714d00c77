"""Programs for other processes that record runs, and folders that other users may look into."""

from __future__ import annotations

import sys
from pathlib import Path

PRELUDE = f"""
import os, sys
sys.path[:0] = {[path for path in sys.path if path]!r}
import treescribe_history.plugin
from pathlib import Path
from treescribe.events import TestFinished
from treescribe.host import Host
from treescribe.request import Outcome, RunRequest
from treescribe.run import Run
from treescribe.workspace import Workspace
host = Host([])
host.register(treescribe_history.plugin, "history")
def begin():
    run = Run(Workspace.open(sys.argv[1]), RunRequest("invoke", ("test",)), host=host)
    run.start()
    return run
"""

KILLED = (
    PRELUDE
    + """
run = begin()
run.command_started("sleep 60")
for number in range(100):
    run.emit(TestFinished(suite="s", test=f"test_{number}", status="passed"))
print("ready", flush=True)
sys.stdin.read()
"""
)


def open_to_all(path: Path) -> None:
    """Let other users reach `path`, which pytest keeps for its own user."""
    for place in (path, *path.parents):
        if "pytest-of-" in str(place):
            place.chmod(place.stat().st_mode | 0o055)
