"""Workspace: where an operation works, resolved from a directory at every call.

No operation knows a current directory; each is handed a `Workspace`. The root is the nearest directory, from
the given one upwards, that holds a marker of a backend, never above the git worktree around it; where there is
no marker, the git worktree's own root.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from treescribe.errors import WorkspaceError

MARKERS: tuple[str, ...] = (
    "tasks.py",
    "tasks/__init__.py",
    "invoke.yaml",
    "invoke.yml",
    "invoke.json",
    "invoke.py",
    "bleep.yaml",
    "dagger.json",
    ".beads",
)
"""What makes a directory a workspace's root. The host's list, so that the root does not depend on what is installed."""

STATE_FOLDER = ".treescribe"

_README = """\
treescribe keeps what it knows of this worktree here.

history/   one file of JSON lines for every recorded run; history/active/ holds runs that are going on
lock       held while a run may write compiled state

Nothing here belongs into version control, and everything may be deleted while no run is going on.
See: treescribe history.list
"""

_CACHEDIR_TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# This directory holds what treescribe can do without. See https://bford.info/cachedir/
"""


class Workspace(NamedTuple):
    """A directory to work in, as a value.

    :ivar root: the workspace's root, absolute, spelt as the caller spelt it.
    :ivar worktree: the root of the git worktree around it; None outside git.
    """

    root: Path
    worktree: Path | None

    @classmethod
    def open(cls, directory: str | os.PathLike[str]) -> Workspace:
        """Return the workspace that `directory` lies in.

        :param directory: an absolute path.
        :raises WorkspaceError: where it is not absolute, does not exist, is no directory, or lies in no workspace.
        """
        start = _checked(os.fspath(directory))
        worktree = next((place for place in (start, *start.parents) if is_worktree(place)), None)
        for place in (start, *start.parents):
            if any(os.path.exists(place / marker) for marker in MARKERS):
                return cls(place, worktree)
            if place == worktree:
                return cls(place, worktree)
        raise WorkspaceError(
            f"{start} lies in no workspace: no git worktree and none of {', '.join(MARKERS)} in it or above it.",
            "Give a directory of a project, or make this one a project: git init",
        )

    @property
    def state(self) -> Path:
        """The folder that treescribe keeps its files in. It may not exist: see `ensure_state`."""
        return self.root / STATE_FOLDER


def _checked(directory: str) -> Path:
    shown = directory.replace("\0", "\\0")
    if "\0" in directory:
        raise WorkspaceError(f"not a directory: {shown!r} holds a NUL character.")
    if not os.path.isabs(directory):
        raise WorkspaceError(f"not an absolute path: {shown!r}.", "Every call names its workspace by an absolute path.")
    try:
        os.stat(os.path.join(directory, "."))  # fails where nothing in it could be looked at, too
    except FileNotFoundError as error:
        problem = "a link to nothing" if os.path.islink(directory) else "no such directory"
        raise WorkspaceError(f"{problem}: {shown}") from error
    except NotADirectoryError as error:
        problem = "not a directory" if os.path.lexists(directory) else "no such directory"
        raise WorkspaceError(f"{problem}: {shown}") from error
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {shown}: {error.strerror}") from error
    path = Path(directory)
    return Path(os.path.realpath(path)) if ".." in path.parts else path


def current_directory() -> str:
    """The current directory, for surfaces that have one.

    :raises WorkspaceError: where it was removed.
    """
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        raise WorkspaceError("the current directory does not exist any more.", "Change to one that does.") from error


def is_worktree(place: Path) -> bool:
    """Whether a git worktree begins at `place`; a linked one has a file in place of the folder."""
    git = place / ".git"
    return os.path.isfile(git) or os.path.exists(git / "HEAD")


def same_directory(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are one directory, whatever links or letter case they are spelt with."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return os.path.abspath(one) == os.path.abspath(other)


def ensure_state(workspace: Workspace) -> Path:
    """Create the workspace's state folder if it is missing, in one step, and return it.

    It ignores itself in git, tells backup tools that it is a cache, and says what it is.

    :raises OSError: where nothing can be written; the caller decides what that means.
    """
    state = workspace.state
    if state.is_dir():
        return state
    staged = workspace.root / f"{STATE_FOLDER}.{os.urandom(6).hex()}"
    staged.mkdir()
    try:
        (staged / ".gitignore").write_text("*\n")
        (staged / "README").write_text(_README)
        (staged / "CACHEDIR.TAG").write_text(_CACHEDIR_TAG)
        staged.rename(state)
    except OSError:
        shutil.rmtree(staged, ignore_errors=True)
        if not state.is_dir():  # another process was not faster: a real failure
            raise
    return state
