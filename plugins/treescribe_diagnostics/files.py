"""Which file a printed path means."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from treescribe import Workspace

GIT_SECONDS = 10


class Files:
    """Finds the files of one workspace.

    A path is looked for in the folders that are given. Where it is in none (a script that changed its directory), the
    one file of the worktree whose path ends like it is meant; where there are several, none is.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._root = os.fspath(workspace.worktree or workspace.root)
        self._spelt = {os.path.realpath(place): os.fspath(place) for place in (workspace.root, self._root)}
        self._found: dict[tuple[str, str], str] = {}

    def find(self, path: str, folders: Iterable[str]) -> str:
        """The absolute path of the file that `path` names, spelt like the workspace's root; empty where none is."""
        for folder in folders:
            if found := self._in(folder, path):
                return found
        return self._ending_like(path)

    def _in(self, folder: str, path: str) -> str:
        key = folder, path
        if key not in self._found:
            whole = os.path.normpath(os.path.join(folder, path))
            self._found[key] = self._as_spelt(whole) if os.path.isfile(whole) else ""
        return self._found[key]

    def _as_spelt(self, path: str) -> str:
        """A path below the root the way the workspace spells its root, whatever links a tool resolved."""
        for real, spelt in self._spelt.items():
            if path.startswith(real + os.sep):
                return spelt + path[len(real) :]
        return path

    def _ending_like(self, path: str) -> str:
        steps = [step for step in os.path.normpath(path).split(os.sep) if step != os.pardir]
        if os.path.isabs(path) or not steps:
            return ""
        meant = [known for known in self._by_name.get(steps[-1], ()) if known.split("/")[-len(steps) :] == steps]
        return os.path.join(self._root, meant[0]) if len(meant) == 1 else ""

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        """The worktree's files, tracked or not ignored, by the last part of their paths."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        by_name: dict[str, list[str]] = defaultdict(list)
        try:
            done = subprocess.run(command, cwd=self._root, capture_output=True, timeout=GIT_SECONDS, check=True)
        except (OSError, subprocess.SubprocessError):
            return by_name
        for path in {os.fsdecode(path) for path in done.stdout.split(b"\0") if path}:
            by_name[path.rpartition("/")[2]].append(path)
        return by_name
