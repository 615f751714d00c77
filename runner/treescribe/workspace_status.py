"""The operation ``workspace.status``: what is going on in a workspace, a part from each plugin that has one."""

from __future__ import annotations

import subprocess
from typing import Any, NamedTuple

from treescribe.frozen import frozen
from treescribe.host import host
from treescribe.result import Result
from treescribe.terminal import Style
from treescribe.workspace import Workspace

_GIT_SECONDS = 20.0


class Status(NamedTuple):
    """One plugin's part of the status of a workspace.

    :ivar name: of what it is about, such as ``history``.
    :ivar summary: one phrase, without a full stop.
    :ivar details: plain JSON.
    """

    name: str
    summary: str
    details: dict[str, Any]


@frozen
class WorkspaceStatus(Result):
    """What is going on in a workspace, by what it is about."""

    summary: str
    workspace: str
    parts: dict[str, dict[str, Any]]


def workspace_status(workspace: Workspace) -> WorkspaceStatus:
    """Tell what is going on in a workspace: its branch and changes, its last run, what runs at the moment."""
    found = [status for status in reversed(host().hook.treescribe_workspace_status(workspace=workspace)) if status]
    return WorkspaceStatus(
        summary="; ".join(status.summary for status in found) or "nothing to tell",
        workspace=str(workspace.root),
        parts={status.name: {"summary": status.summary, **status.details} for status in found},
    )


def render(result: WorkspaceStatus, style: Style) -> str:
    """The root, then a line for each part."""
    width = max((len(name) for name in result.parts), default=0)
    lines = [f"  {name.ljust(width)}  {part['summary']}" for name, part in result.parts.items()]
    return "\n".join([style.paint(result.workspace, "strong"), *lines])


def git_status(workspace: Workspace) -> Status | None:
    """What git says of a worktree: its branch, its commit, and how many paths are changed; None outside of one."""
    if workspace.worktree is None:
        return None
    command = ["git", "--no-optional-locks", "-C", str(workspace.root), "status", "--porcelain=v2", "--branch", "-z"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_SECONDS, check=False)
    if done.returncode:
        return Status("git", "git has no status", {"problem": done.stderr.decode(errors="replace").strip()})
    lines = done.stdout.decode(errors="replace").split("\0")
    told = dict(line[2:].split(" ", 1) for line in lines if line.startswith("# branch.") and " " in line[2:])
    branch, commit = told.get("branch.head", ""), told.get("branch.oid", "")
    changed = sum(line[:2] in ("1 ", "2 ", "u ") for line in lines)
    untracked = sum(line.startswith("? ") for line in lines)
    clean = "clean" if not changed and not untracked else f"{changed} changed, {untracked} untracked"
    details = {"branch": branch, "commit": commit, "changed": changed, "untracked": untracked}
    return Status("git", f"{branch}: {clean}", details)
