"""Finding ``tasks.py``: from the start upwards, and never above the git worktree that holds it."""

from __future__ import annotations

import os
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

from invoke.exceptions import CollectionNotFound
from invoke.loader import FilesystemLoader

from treescribe.workspace import is_worktree


class WorktreeLoader(FilesystemLoader):
    """invoke's search, ending at the worktree's root: in a linked worktree the main checkout's tasks must not run."""

    def find(self, name: str) -> ModuleSpec | None:
        """Return the nearest module or package `name`.

        :raises CollectionNotFound: where the worktree has none.
        """
        start = Path(os.path.abspath(self.start))
        for place in (start, *start.parents):
            module, package = place / f"{name}.py", place / name / "__init__.py"
            if module.is_file():
                return spec_from_file_location(name, module)
            if package.is_file():
                return spec_from_file_location(name, package, submodule_search_locations=[str(package.parent)])
            if is_worktree(place):
                break
        raise CollectionNotFound(name=name, start=str(start))
