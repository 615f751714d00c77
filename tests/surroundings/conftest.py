"""A project for real programs, recorded and not."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import Project
from support import git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.make(tmp_path / "project", tmp_path / "recording.yaml")
    git(made.root, "init", "-q")
    return made
