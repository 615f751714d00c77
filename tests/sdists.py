"""Source distributions from the package index, unpacked into git worktrees."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path


def unpack(name: str, version: str, folder: Path) -> Path:
    """Downloads the source distribution of `name` at `version` into `folder`; returns the worktree it became."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    requirement = f"{name}=={version}"
    command = [*pip, "download", "--no-deps", "--no-binary", ":all:", "-d", str(folder), requirement]
    subprocess.run(command, check=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    root = folder / f"{name}-{version}"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root
