"""Which treescribe makes a workspace's runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_clients import Connect
from treescribe.errors import TreescribeError
from treescribe.follower import PROTOCOL
from treescribe.programs import Programs, without_settings
from treescribe.workspace import Workspace

OLDER = "treescribe 0.0.9 (invoke 3.0.3)"
OWN = (sys.executable, "-m", "treescribe")


def virtualenv(root: Path, says: str, name: str = ".venv") -> Path:
    """A virtualenv in the workspace with a treescribe that stands for one of another version: it says so, or works."""
    folder = root / name / "bin"
    folder.mkdir(parents=True)
    (folder / "python").symlink_to(sys.executable)
    script = folder / "treescribe"
    works = f'#!/bin/sh\ntouch {root}/used\nexec {sys.executable} -m treescribe "$@"\n'
    script.write_text(works if says == "" else f"#!/bin/sh\necho '{says}'\n")
    script.chmod(0o755)
    return script


def test_the_servers_own_where_the_workspace_has_none(treescribe_workspace: Workspace) -> None:
    assert Programs("", {}).of(treescribe_workspace).words == OWN


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_the_virtualenvs_where_it_is_there(treescribe_workspace: Workspace, name: str) -> None:
    script = virtualenv(treescribe_workspace.root, f"treescribe 9.9 (invoke 3.0.3, run protocol {PROTOCOL})", name)
    assert Programs("", {}).of(treescribe_workspace).words == (str(script),)


def test_a_configured_one_outranks_it(treescribe_workspace: Workspace) -> None:
    root = treescribe_workspace.root
    virtualenv(root, OLDER)
    (root / "tool").write_text(f"#!/bin/sh\necho 'treescribe 2 (invoke 3, run protocol {PROTOCOL})'\n")
    (root / "tool").chmod(0o755)
    assert Programs("tool", {}).of(treescribe_workspace).words == (str(root / "tool"),)
    with pytest.raises(TreescribeError, match="is not there"):
        Programs("missing", {}).of(treescribe_workspace)


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (OLDER, "the workspace's treescribe is 0.0.9 (run protocol none), this one is "),
        ("treescribe 3.0 (invoke 9, run protocol 99)", "is 3.0 (run protocol 99), this one is "),
        ("hello", "is no treescribe: it tells no version"),
    ],
)
def test_one_of_another_protocol_is_refused_with_both_versions(
    treescribe_workspace: Workspace, says: str, told: str
) -> None:
    virtualenv(treescribe_workspace.root, says)
    with pytest.raises(TreescribeError) as caught:
        Programs("", {}).of(treescribe_workspace)
    assert told in caught.value.message
    assert "run protocol" in caught.value.message or says == "hello"


def test_it_is_asked_again_once_another_is_installed(treescribe_workspace: Workspace) -> None:
    found = Programs("", {})
    script = virtualenv(treescribe_workspace.root, OLDER)
    with pytest.raises(TreescribeError):
        found.of(treescribe_workspace)
    script.write_text(f"#!/bin/sh\necho 'treescribe 0.1.0 (invoke 3.0.3, run protocol {PROTOCOL})'\n")
    assert found.of(treescribe_workspace).words == (str(script),)


def test_the_workspaces_virtualenv_is_active_in_its_children(treescribe_workspace: Workspace) -> None:
    virtualenv(treescribe_workspace.root, f"treescribe 1 (invoke 3, run protocol {PROTOCOL})")
    found = Programs("", {"PATH": "/usr/bin", "PYTHONHOME": "/elsewhere"})
    environment = found.environment(found.of(treescribe_workspace), "somebody")
    folder = treescribe_workspace.root / ".venv"
    assert environment == {
        "PATH": f"{folder}/bin:/usr/bin",
        "VIRTUAL_ENV": str(folder),
        "TREESCRIBE_CLIENT": "somebody",
    }


def test_settings_of_a_server_and_marks_of_a_run_are_left_out() -> None:
    told = {"TREESCRIBE_MCP_TOKEN": "x", "TREESCRIBE_RUN": "1", "TREESCRIBE_CLIENT": "x", "PATH": "/bin"}
    assert without_settings(told) == {"PATH": "/bin"}


@pytest.mark.anyio
async def test_a_run_is_made_by_the_workspaces_own(shop: Path, connect: Connect) -> None:
    virtualenv(shop, "")
    async with connect() as server:
        assert (await server.call("run", shop, targets=["look"]))["ok"]
    assert (shop / "used").exists()


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["run", "targets", "exec"])
async def test_or_refused(shop: Path, connect: Connect, name: str) -> None:
    virtualenv(shop, OLDER)
    arguments: dict[str, Any] = {"run": {"targets": ["look"]}, "exec": {"command": ["true"]}}.get(name, {})
    async with connect() as server:
        refusal = await server.refused(name, directory=str(shop), **arguments)
        assert (await server.call("history_list", shop))["total"] == 0
    assert "0.0.9 (run protocol none)" in refusal
    assert "Install the same treescribe there" in refusal


# ---- with the package index: one that really is older --------------------------------------------------------


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of this treescribe as they would be of version 0.0.9."""
    folder = tmp_path_factory.mktemp("older")
    here = Path(__file__).parents[3]
    for name in ("runner", "plugins"):
        shutil.copytree(here / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(here / name, folder / name)
    text = (folder / "pyproject.toml").read_text()
    version = re.search(r'^version = "(.+)"$', text, re.MULTILINE)
    assert version is not None
    (folder / "pyproject.toml").write_text(text.replace(version[0], 'version = "0.0.9"'))
    return folder


def installed(sources: Path, root: Path) -> None:
    """Give the workspace a virtualenv with the treescribe of these sources."""
    subprocess.run([sys.executable, "-m", "venv", str(root / ".venv")], check=True)
    pip = [str(root / ".venv" / "bin" / "pip"), "-q", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, str(sources)], check=True)


@pytest.mark.anyio
@pytest.mark.index
async def test_a_real_older_one_of_the_same_protocol_makes_the_run(shop: Path, older: Path, connect: Connect) -> None:
    installed(older, shop)
    async with connect() as server:
        answer = await server.call("run", shop, targets=["look"])
    assert answer["ok"]
    header = json.loads((shop / ".treescribe/history/1.jsonl").read_text().partition("\n")[0])
    assert header["writer"]["treescribe"] == "0.0.9"


@pytest.mark.anyio
@pytest.mark.index
async def test_a_real_older_one_of_another_protocol_is_refused(shop: Path, older: Path, connect: Connect) -> None:
    follower = older / "runner" / "treescribe" / "follower.py"
    follower.write_text(follower.read_text().replace(f"PROTOCOL = {PROTOCOL}", "PROTOCOL = 0"))
    installed(older, shop)
    async with connect() as server:
        refusal = await server.refused("run", directory=str(shop), targets=["look"])
    assert "the workspace's treescribe is 0.0.9 (run protocol 0), this one is " in refusal
    assert not (shop / ".treescribe").exists()
