"""Where a pytest session stands in its workspace: the project's name, and paths as the workspace spells them."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple

from treescribe.workspace import Workspace


class Place(NamedTuple):
    """A rootdir, seen from a workspace.

    :ivar project: the rootdir relative to the workspace's root, empty where they are one. It never names where the
        worktree stands, since tests of two worktrees are compared by it: a rootdir outside is named by its folder.
    :ivar rootdir: absolute, spelt like the workspace's root where it is below that.
    :ivar above: what stands before the workspace's own paths where the rootdir is above its root; ``root`` is then
        that root, as the workspace spells it.
    """

    project: str
    rootdir: str
    above: str = ""
    root: str = ""

    @classmethod
    def of(cls, rootdir: str, workspace: Workspace) -> Place:
        """Return the place of `rootdir`, as pytest spells it, in `workspace`."""
        root = os.fspath(workspace.root)
        inside = _below(rootdir, root)
        if inside is not None:
            return cls(inside.replace(os.sep, "/"), os.path.join(root, inside) if inside else root)
        down = _below(root, rootdir)
        if down is not None:
            return cls("", rootdir, down.replace(os.sep, "/") + "/", root)
        if workspace.worktree is not None and _below(rootdir, os.fspath(workspace.worktree)) is not None:
            between = os.path.relpath(os.path.realpath(rootdir), os.path.realpath(root))
            return cls(between.replace(os.sep, "/"), os.path.normpath(os.path.join(root, between)))
        return cls(os.path.basename(rootdir.rstrip("/\\")), rootdir)

    def project_in(self, environment: str) -> str:
        """The project's name in a tox env or nox session: ``environment`` or ``project:environment``."""
        return ":".join(filter(None, (self.project, environment)))

    def suite(self, name: str) -> str:
        """A suite's name, relative to the workspace's root where pytest names it from above."""
        return name.removeprefix(self.above) if self.above else name

    def path(self, relative: str) -> str:
        """The absolute path of what pytest names relative to its rootdir."""
        if not relative:
            return ""
        if self.above and relative.startswith(self.above):
            return _joined(self.root, self.suite(relative))
        return _joined(self.rootdir, relative)


@lru_cache(maxsize=256)
def _joined(folder: str, relative: str) -> str:
    """A path below a folder; the many tests of a file ask for the same one."""
    return os.path.normpath(os.path.join(folder, relative))


def _below(path: str, root: str) -> str | None:
    """`path` relative to `root`, empty where they are one directory; None where it lies elsewhere."""
    path, root = os.path.realpath(path), os.path.realpath(root)
    if path == root:
        return ""
    prefix = root if root.endswith(os.sep) else root + os.sep
    return path[len(prefix) :] if path.startswith(prefix) else None
