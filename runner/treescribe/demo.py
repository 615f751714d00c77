"""``treescribe demo``: a whole session in a throw-away git worktree, with real commands and what they print."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from importlib.util import find_spec
from pathlib import Path

from treescribe.saying import say
from treescribe.terminal import show_any_text

_FILES = {
    "tasks.py": '''\
from invoke import task


@task
def test(c):
    """Run the tests."""
    c.run("python -m pytest -q --no-header")
''',
    "cart.py": """\
def total(prices):
    return sum(prices)


def discounted(price, percent):
    return price - price * percent // 100
""",
    "tests/test_cart.py": """\
from cart import discounted, total


def test_total():
    assert total([2, 3, 5]) == 10


def test_total_of_nothing():
    assert total([]) == 0


def test_discounted():
    assert discounted(200, 10) == 180
""",
    "conftest.py": "",
}
_GIT_SETTINGS = (
    "user.name=Demo",
    "user.email=demo@example.invalid",
    "commit.gpgsign=false",
    "core.hooksPath=/dev/null",
)
_RIGHT, _WRONG = "price - price * percent // 100", "price - percent"


def play(*, keep: bool) -> int:
    """Make a small project in a throw-away git worktree and go through a session with it; returns the exit code.

    :param keep: leave the worktree where it is.
    """
    show_any_text(sys.stdout)
    folder = Path(tempfile.mkdtemp(prefix="treescribe-demo-"))
    try:
        return _Session(folder).play()
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"treescribe: the demonstration cannot go on: {error}")
        return 1
    finally:
        if keep:
            print(f"\nThe worktree is kept: {folder / 'shop'}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


class _Session:
    """The steps of the demonstration, in a worktree below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._root = folder / "shop"
        self._python = self._python_with_pytest(folder)
        path = f"{self._python.parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("TREESCRIBE", "PYTEST"))}
        self._environment = {**inherited, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def play(self) -> int:
        self._make_project()
        codes = [self._run("test"), self._run("history.list")]
        self._edit("that breaks a test", _RIGHT, _WRONG)
        codes += [self._run("test"), self._run("history.diff", "1", "2")]
        self._edit("that mends it", _WRONG, _RIGHT)
        codes += [self._run("test"), self._run("history.diff", "1", "3"), self._run("history.timing", "1", "3")]
        return 0 if codes == [0, 0, 1, 0, 0, 0, 0] else 1

    def _make_project(self) -> None:
        for name, text in _FILES.items():
            path = self._root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        settings = (
            "user.name=Demo",
            "user.email=demo@example.invalid",
            "commit.gpgsign=false",
            "core.hooksPath=/dev/null",
        )
        git = ("git", *(word for setting in settings for word in ("-c", setting)), "-C", str(self._root))
        subprocess.run((*git, "init", "-q"), check=True)
        subprocess.run((*git, "add", "."), check=True)
        subprocess.run((*git, "commit", "-q", "-m", "A shop"), check=True)
        print(f"# A git worktree with a tasks.py and three pytest tests, in {self._root}")

    def _edit(self, why: str, before: str, after: str) -> None:
        path = self._root / "cart.py"
        print(f"\n# In cart.py, `{before}` becomes `{after}`: {why}.")
        path.write_text(path.read_text().replace(before, after))

    def _run(self, *words: str) -> int:
        print(f"\n$ treescribe {' '.join(words)}", flush=True)
        command = (sys.executable, "-m", "treescribe", *words)
        return subprocess.run(
            command, cwd=self._root, env=self._environment, stderr=subprocess.STDOUT, check=False
        ).returncode

    def _python_with_pytest(self, folder: Path) -> Path:
        """An interpreter that has pytest: this one, or a virtualenv made for the demonstration."""
        if find_spec("pytest") is not None:
            return Path(sys.executable)
        print("# Installing pytest into a virtualenv of the demonstration …", flush=True)
        environment = folder / "venv"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        self._call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pytest")
        return python

    @staticmethod
    def _call(*command: str | Path) -> None:
        subprocess.run(command, check=True)
