"""``treescribe init``: one setting into the file that invoke reads, and nothing else changed in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invoke.config import Config
from support import unprivileged
from treescribe.errors import InvalidInput
from treescribe.initialise import EXECUTOR, init, render
from treescribe.terminal import Style
from treescribe.workspace import Workspace


def write(workspace: Workspace, name: str, text: str) -> Path:
    file = workspace.root / name
    file.write_bytes(text.encode())
    return file


def as_invoke_reads_it(workspace: Workspace) -> Config:
    config = Config(project_location=workspace.root)
    config.load_project()
    return config


LINE = f"executor_class: {EXECUTOR}"

ADDED: list[tuple[str, str, str]] = [
    # YAML without a section of tasks
    ("invoke.yaml", "", f"tasks:\n  {LINE}\n"),
    ("invoke.yml", "run:\n  echo: true\n", f"run:\n  echo: true\ntasks:\n  {LINE}\n"),
    ("invoke.yaml", "run: {echo: true}", f"run: {{echo: true}}\ntasks:\n  {LINE}\n"),
    ("invoke.yaml", "# ours\n", f"# ours\ntasks:\n  {LINE}\n"),
    ("invoke.yaml", "---\nrun:\n  echo: true\n", f"---\nrun:\n  echo: true\ntasks:\n  {LINE}\n"),
    ("invoke.yaml", "run:\r\n  echo: true\r\n", f"run:\r\n  echo: true\r\ntasks:\r\n  {LINE}\r\n"),
    ("invoke.yaml", "note: |\n  tasks:\n    none\n", f"note: |\n  tasks:\n    none\ntasks:\n  {LINE}\n"),
    # YAML with one
    (
        "invoke.yaml",
        "tasks:\n  auto_dash_names: false\nrun:\n  echo: true\n",
        f"tasks:\n  {LINE}\n  auto_dash_names: false\nrun:\n  echo: true\n",
    ),
    (
        "invoke.yaml",
        "# a\ntasks:  # b\n\n    # c\n    auto_dash_names: false  # d\n",
        f"# a\ntasks:  # b\n    {LINE}\n\n    # c\n    auto_dash_names: false  # d\n",
    ),
    ("invoke.yaml", "tasks:\nrun:\n  echo: true\n", f"tasks:\n  {LINE}\nrun:\n  echo: true\n"),
    ("invoke.yaml", "tasks:", f"tasks:\n  {LINE}"),
    (
        "invoke.yaml",
        "tasks:\r\n    auto_dash_names: false\r\n",
        f"tasks:\r\n    {LINE}\r\n    auto_dash_names: false\r\n",
    ),
    # JSON
    ("invoke.json", "", json.dumps({"tasks": {"executor_class": EXECUTOR}}, indent=2) + "\n"),
    (
        "invoke.json",
        '{\n    "run": {\n        "echo": true\n    },\n    "name": "café"\n}\n',
        '{\n    "run": {\n        "echo": true\n    },\n    "name": "café",\n    "tasks": {\n'
        f'        "executor_class": "{EXECUTOR}"\n    }}\n}}\n',
    ),
    (
        "invoke.json",
        '{\r\n\t"tasks": {}\r\n}',
        f'{{\r\n\t"tasks": {{\r\n\t\t"executor_class": "{EXECUTOR}"\r\n\t}}\r\n}}\r\n',
    ),
    ("invoke.json", "null", json.dumps({"tasks": {"executor_class": EXECUTOR}}, indent=2) + "\n"),
    # Python
    ("invoke.py", "", f'tasks = {{"executor_class": "{EXECUTOR}"}}\n'),
    (
        "invoke.py",
        'run = {"echo": True}  # loud',
        f'run = {{"echo": True}}  # loud\ntasks = {{"executor_class": "{EXECUTOR}"}}\n',
    ),
    (
        "invoke.py",
        "def of(): return {}\r\nrun = of()\r\n",
        f'def of(): return {{}}\r\nrun = of()\r\ntasks = {{"executor_class": "{EXECUTOR}"}}\r\n',
    ),
]


@pytest.mark.parametrize(("name", "before", "after"), ADDED)
def test_the_setting_is_added_and_the_rest_stays(workspace: Workspace, name: str, before: str, after: str) -> None:
    file = write(workspace, name, before)
    result = init(workspace)
    assert (result.workspace, result.file, result.changed) == (str(workspace.root), str(file), True)
    assert file.read_bytes().decode() == after
    assert as_invoke_reads_it(workspace).tasks.executor_class == EXECUTOR
    again = init(workspace)
    assert not again.changed
    assert file.read_bytes().decode() == after
    assert {path.name for path in workspace.root.iterdir()} - {"__pycache__"} == {".git", "README", name}


def test_where_there_is_no_file_a_yaml_file_is_made(workspace: Workspace) -> None:
    result = init(workspace)
    assert result.file == str(workspace.root / "invoke.yaml")
    assert (workspace.root / "invoke.yaml").read_text() == f"tasks:\n  {LINE}\n"
    assert (workspace.root / "invoke.yaml").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "names", [["invoke.json", "invoke.py"], ["invoke.yml", "invoke.json"], ["invoke.yaml", "invoke.yml"]]
)
def test_of_several_files_the_one_that_invoke_reads_is_written(workspace: Workspace, names: list[str]) -> None:
    for name in names:
        write(workspace, name, "")
    assert init(workspace).file == str(workspace.root / names[0])
    assert (workspace.root / names[1]).read_text() == ""


BY_HAND = f"Add it by hand: under `tasks`, set `executor_class` to `{EXECUTOR}`."
UNSAFE = "is written in a way that cannot be added to safely; it is unchanged."
REFUSED: list[tuple[str, str, str]] = [
    ("invoke.yaml", "tasks: {auto_dash_names: false}\n", UNSAFE),
    ("invoke.yaml", "tasks: {}\n", UNSAFE),
    ("invoke.yaml", "'tasks': {}\n", UNSAFE),
    ("invoke.yaml", "{run: {echo: true}}\n", UNSAFE),
    ("invoke.yaml", "  run:\n    echo: true\n", UNSAFE),
    ("invoke.yaml", "run:\n  echo: true\n...\n", UNSAFE),
    ("invoke.yaml", "tasks:\n  executor_class:\n", UNSAFE),
    ("invoke.yaml", "defaults: &d\n  a: 1\ntasks: *d\n", UNSAFE),
    ("invoke.py", "tasks = dict(auto_dash_names=False)\n", UNSAFE),
    (
        "invoke.yaml",
        "tasks:\n  executor_class: acme.Executor\n",
        "names another executor class already: acme.Executor.",
    ),
    ("invoke.json", '{"tasks": {"executor_class": "acme.E"}}', "names another executor class already: acme.E."),
    ("invoke.py", 'tasks = {"executor_class": "acme.E"}', "names another executor class already: acme.E."),
    ("invoke.yaml", "a: [1", "cannot be read: while parsing a flow sequence"),
    ("invoke.json", '{"a": 1,}', "cannot be read: "),
    ("invoke.py", "1 / 0", "cannot be read: division by zero"),
    ("invoke.py", "raise SystemExit(3)", "cannot be read: 3"),
    ("invoke.yaml", "- a\n", "is no invoke configuration: a mapping is expected; it is unchanged."),
    ("invoke.json", "[]", "is no invoke configuration: a mapping is expected; it is unchanged."),
    ("invoke.yaml", "tasks: [a]\n", "is no invoke configuration: a mapping is expected; it is unchanged."),
]


@pytest.mark.parametrize(("name", "text", "message"), REFUSED)
def test_what_cannot_be_added_to_is_refused_and_unchanged(
    workspace: Workspace, name: str, text: str, message: str
) -> None:
    file = write(workspace, name, text)
    with pytest.raises(InvalidInput) as caught:
        init(workspace)
    assert caught.value.message.startswith(f"{file} {message}")
    assert caught.value.hint
    assert file.read_text() == text
    assert {path.name for path in workspace.root.iterdir()} - {"__pycache__"} == {".git", "README", name}


def test_a_file_that_is_no_text_is_refused(workspace: Workspace) -> None:
    file = workspace.root / "invoke.yaml"
    file.write_bytes(b"a: caf\xe9\n")
    with pytest.raises(InvalidInput, match="cannot be read: 'utf-8' codec can't decode"):
        init(workspace)
    assert file.read_bytes() == b"a: caf\xe9\n"


def test_a_link_to_nothing_is_followed(workspace: Workspace) -> None:
    (workspace.root / "invoke.json").symlink_to("shared.json")
    assert init(workspace).file == str(workspace.root / "invoke.json")
    assert json.loads((workspace.root / "shared.json").read_text()) == {"tasks": {"executor_class": EXECUTOR}}


def test_a_folder_in_its_place_is_refused(workspace: Workspace) -> None:
    (workspace.root / "invoke.yaml").mkdir()
    with pytest.raises(InvalidInput, match=r"cannot be read: .*Is a directory"):
        init(workspace)


def test_where_nothing_can_be_written_it_says_what_to_do_by_hand(read_only_workspace: Workspace) -> None:
    file = read_only_workspace.root / "invoke.yaml"
    with unprivileged(), pytest.raises(InvalidInput) as caught:
        init(read_only_workspace)
    assert caught.value.message == f"{file} cannot be written: Permission denied; it is unchanged."
    assert caught.value.hint == BY_HAND


def test_the_files_mode_is_kept(workspace: Workspace) -> None:
    file = write(workspace, "invoke.yaml", "run: {echo: true}\n")
    file.chmod(0o640)
    init(workspace)
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link_and_its_target_is_written(workspace: Workspace) -> None:
    shared = workspace.root.parent / "shared.yaml"
    shared.write_text("run: {echo: true}\n")
    (workspace.root / "invoke.yaml").symlink_to(shared)
    init(workspace)
    assert (workspace.root / "invoke.yaml").is_symlink()
    assert shared.read_text() == f"run: {{echo: true}}\ntasks:\n  {LINE}\n"


def test_what_was_done_is_told(workspace: Workspace) -> None:
    file = workspace.root / "invoke.yaml"
    told = render(init(workspace), Style())
    assert told.startswith(f"{file}: tasks.executor_class is {EXECUTOR}: plain inv records here too.\n")
    assert "needs treescribe from now on" in told
    assert render(init(workspace), Style()) == f"{file} names {EXECUTOR} already: plain inv records here."


TASKS = """
from invoke import task

@task
def build(c):
    c.run("echo built")
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [("invoke.yaml", "run: {pty: false}\n"), ("invoke.json", "{}"), ("invoke.py", "run = {'pty': False}\n")],
)
def test_plain_inv_records_afterwards_and_not_before(workspace: Workspace, name: str, text: str) -> None:
    write(workspace, "tasks.py", TASKS)
    write(workspace, name, text)
    inv = [str(Path(sys.executable).parent / "inv"), "build"]

    def run() -> list[str]:
        result = subprocess.run(inv, cwd=workspace.root, capture_output=True, text=True, check=True, timeout=60)
        assert result.stdout == "built\n"
        return sorted(path.name for path in (workspace.state / "history").glob("*.jsonl"))

    environment = dict(os.environ)
    assert run() == []
    init(workspace)
    assert run() == ["1.jsonl"]
    assert run() == ["1.jsonl", "2.jsonl"]
    assert dict(os.environ) == environment
