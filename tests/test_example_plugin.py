"""A third party's plugin from its wheel to its end: installed beside treescribe, used, and taken away again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import git

pytestmark = pytest.mark.index

ROOT = Path(__file__).parent.parent
EXAMPLE = Path(__file__).parent / "example_plugin"
CHORES = "check: echo 'warning in cart.txt at line 3: no such item [unknown]'\nsweep: test ! -e dust\n"


class Installed:
    """A virtualenv with treescribe and the example in it, both from their wheels, and a worktree with chores."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "venv" / "bin"
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        source = shutil.copytree(EXAMPLE, folder / "example", ignore=shutil.ignore_patterns("__pycache__"))
        self.pip("wheel", "--no-deps", "-w", str(folder / "wheels"), str(ROOT), str(source))
        self.pip("install", "pytest", *map(str, sorted((folder / "wheels").glob("*.whl"))))
        self.tests = source / "tests"
        self.root = folder / "worktree"
        self.root.mkdir()
        git(self.root, "init", "-q")
        (self.root / "chores.txt").write_text(CHORES)

    def pip(self, *words: str) -> None:
        command = [str(self.bin / "pip"), "--quiet", "--disable-pip-version-check", *words]
        subprocess.run(command, check=True, timeout=300)

    def run(self, program: str, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(self.bin / program), *words]
        return subprocess.run(command, cwd=cwd or self.root, capture_output=True, text=True, timeout=120)

    def operation(self, *words: str) -> Any:
        done = self.run("treescribe", *words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"))


DUSTY = {
    "kind": "chore",
    "key": ["sweep"],
    "change": "changed",
    "before": {"status": "passed"},
    "after": {"status": "failed"},
}


def test_a_plugin_is_used_from_its_wheel_and_what_it_told_outlives_it(installed: Installed) -> None:
    uses_its_own_tests(installed)
    lists_and_runs_its_targets(installed)
    compares_its_facts(installed)
    before = installed.operation("history.show", "1")
    installed.pip("uninstall", "--yes", "treescribe-chores")
    reads_what_the_plugin_told(installed, before)


def uses_its_own_tests(installed: Installed) -> None:
    done = installed.run("python", "-m", "pytest", "-q", str(installed.tests), cwd=installed.tests)
    assert done.returncode == 0, done.stdout + done.stderr


def lists_and_runs_its_targets(installed: Installed) -> None:
    (plugin,) = (one for one in installed.operation("plugins")["plugins"] if one["name"] == "chores")
    assert (plugin["ok"], plugin["distribution"], plugin["version"]) == (True, "treescribe-chores", "0.1.0")
    listed = installed.run("treescribe", "--list").stdout
    assert "chores.list" in listed
    assert "chores.sweep" in listed
    assert installed.operation("chores.list", "dust") == {"chores": [{"name": "sweep", "line": "test ! -e dust"}]}
    assert installed.run("treescribe", "chores.list", "dust").stdout == "sweep  test ! -e dust\n"
    done = installed.run("treescribe", "chores.check", "chores.sweep")
    assert (done.returncode, done.stdout) == (0, "warning in cart.txt at line 3: no such item [unknown]\n")


def compares_its_facts(installed: Installed) -> None:
    (installed.root / "dust").touch()
    assert installed.run("treescribe", "chores.check", "chores.sweep").returncode == 1
    difference = installed.operation("history.diff", "1", "2")
    assert difference["other"] == [DUSTY]
    assert "diagnostics" not in difference, "the message is the same in both"
    (installed.root / "chores.txt").write_text(CHORES.replace("no such item", "no price"))
    installed.run("treescribe", "chores.check", "chores.sweep")
    assert "no price" in json.dumps(installed.operation("history.diff", "2", "3")["diagnostics"])


def reads_what_the_plugin_told(installed: Installed, before: Any) -> None:
    assert "chores" not in installed.run("treescribe", "--list").stdout
    shown = installed.operation("history.show", "1")
    assert (shown["run"], shown["outcome"], shown["targets"]) == (before["run"], "passed", ["check", "sweep"])
    assert installed.run("treescribe", "history.show", "1").returncode == 0
    difference = installed.operation("history.diff", "1", "2")
    assert "other" not in difference
    assert difference["not_compared"] == {"ChoreFinished": 4}
    assert difference["commands"], "what is treescribe's own is compared as ever"
    lines = (installed.root / ".treescribe" / "history" / "1.jsonl").read_text().splitlines()
    assert [json.loads(line)["chore"] for line in lines if '"type":"ChoreFinished"' in line] == ["check", "sweep"]
