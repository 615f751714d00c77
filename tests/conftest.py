"""What every test stands on: surroundings of its own, and a git workspace where it asks for one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from recording_processes import Nursery, nursery
from support import git
from treescribe.workspace import Workspace

collect_ignore = ["example_plugin"]  # a project of its own: see test_example_plugin.py

settings.register_profile("treescribe", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("treescribe")  # no test fails because the machine is busy


CACHES = {"PIP_CACHE_DIR": "~/.cache/pip", "npm_config_cache": "~/.npm"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take minutes, so that no worker is left alone with one in the end."""
    items.sort(key=lambda item: item.get_closest_marker("index") is None)


@pytest.fixture(autouse=True)
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home folder and a git configuration of the test's own; nothing of a run, or a pytest, around it."""
    with pytest.MonkeyPatch.context() as patch:
        for name in tuple(os.environ):
            ours = name.startswith(("TREESCRIBE_", "INVOKE_", "GIT_", "PYTEST_"))
            if ours and name != "PYTEST_CURRENT_TEST":  # which pytest itself keeps account of
                patch.delenv(name)
        for name, folder in CACHES.items():  # what was downloaded once need not be again
            patch.setenv(name, os.environ.get(name) or os.path.expanduser(folder))
        home = str(tmp_path_factory.mktemp("home"))
        patch.setenv("HOME", home)
        patch.setenv("PYTEST_DEBUG_TEMPROOT", home)  # a pytest below closes the usual one to others
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        configured = {
            "user.name": "Ana",
            "user.email": "ana@example.invalid",
            "init.defaultBranch": "main",
            "protocol.file.allow": "always",
        }
        patch.setenv("GIT_CONFIG_COUNT", str(len(configured)))
        for index, (key, value) in enumerate(configured.items()):
            patch.setenv(f"GIT_CONFIG_KEY_{index}", key)
            patch.setenv(f"GIT_CONFIG_VALUE_{index}", value)
        yield


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The root of a git worktree with one commit and nothing in it that makes it a project."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    (root / "README").write_text("hello\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Begin")
    return root


@pytest.fixture
def read_only_workspace(repository: Path) -> Iterator[Workspace]:
    """A workspace that can be read and not written by an `unprivileged` process."""
    with TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        root = shutil.copytree(repository, Path(folder) / "project")
        root.chmod(0o555)
        yield Workspace.open(root)
        root.chmod(0o755)


@pytest.fixture
def workspace(repository: Path) -> Workspace:
    """`repository` as a workspace."""
    return Workspace.open(str(repository))


@pytest.fixture
def processes() -> Iterator[Nursery]:
    """Processes that record and read runs as they are told."""
    with nursery() as made:
        yield made
