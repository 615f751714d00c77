"""Which directories can be worked in, what their root is, and the state folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from support import git, unprivileged
from treescribe.errors import WorkspaceError
from treescribe.workspace import MARKERS, Workspace, ensure_state, same_directory


def refusal(directory: str | os.PathLike[str]) -> str:
    with pytest.raises(WorkspaceError) as caught:
        Workspace.open(directory)
    return caught.value.message


# -- refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directory", ["", ".", "relative/path", "~"])
def test_a_path_that_is_not_absolute_is_refused(directory: str) -> None:
    assert refusal(directory) == f"not an absolute path: {directory!r}."


def test_a_directory_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "missing") == f"no such directory: {tmp_path}/missing"
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file/below") == f"no such directory: {tmp_path}/file/below"


def test_a_file_is_refused(repository: Path) -> None:
    assert refusal(repository / "README") == f"not a directory: {repository}/README"
    (repository / "link").symlink_to("README")
    assert refusal(repository / "link") == f"not a directory: {repository}/link"


def test_a_link_to_nothing_and_a_link_to_itself_are_refused(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("missing")
    (tmp_path / "loop").symlink_to("loop")
    assert refusal(tmp_path / "dangling") == f"a link to nothing: {tmp_path}/dangling"
    assert refusal(tmp_path / "loop").startswith(f"cannot be read: {tmp_path}/loop: Too many levels")


def test_a_nul_character_is_refused_and_shown() -> None:
    assert refusal("/tmp/a\0b") == "not a directory: '/tmp/a\\\\0b' holds a NUL character."


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / ("x" * 300)).endswith(": File name too long")


def test_a_directory_that_cannot_be_looked_into_is_refused_as_that(read_only_workspace: Workspace) -> None:
    root = read_only_workspace.root
    root.chmod(0o444)
    with unprivileged():
        assert refusal(root) == f"cannot be read: {root}: Permission denied"


def test_a_directory_in_no_workspace_is_refused_naming_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError) as caught:
        Workspace.open(tmp_path)
    assert caught.value.message.startswith(f"{tmp_path} lies in no workspace: no git worktree and none of tasks.py, ")
    assert caught.value.hint == "Give a directory of a project, or make this one a project: git init"


def test_a_folder_called_git_that_is_no_repository_does_not_count(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert "lies in no workspace" in refusal(tmp_path)


# -- the root -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("marker", MARKERS)
def test_the_root_is_the_nearest_directory_with_a_marker(repository: Path, marker: str) -> None:
    below = repository / "service" / "src" / "deep"
    below.mkdir(parents=True)
    (repository / "tasks.py").touch()
    place = repository / "service" / marker
    place.parent.mkdir(exist_ok=True)
    if marker == ".beads":
        place.mkdir()
    else:
        place.touch()
    assert Workspace.open(below) == Workspace(repository / "service", repository)
    assert Workspace.open(repository / "service") == Workspace(repository / "service", repository)
    assert Workspace.open(repository) == Workspace(repository, repository)


def test_without_a_marker_the_root_is_the_git_worktrees(repository: Path) -> None:
    (repository / "src").mkdir()
    assert Workspace.open(repository / "src") == Workspace(repository, repository)


def test_a_marker_outside_git_makes_a_workspace_without_a_worktree(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").touch()
    (tmp_path / "src").mkdir()
    assert Workspace.open(tmp_path / "src") == Workspace(tmp_path, None)


def test_the_root_is_never_above_the_git_worktree(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "tasks.py").touch()
    assert Workspace.open(repository).root == repository


def test_a_linked_worktree_is_a_workspace_of_its_own(repository: Path) -> None:
    (repository / "tasks.py").touch()
    git(repository, "worktree", "add", "-q", "inside/fork")
    fork = repository / "inside" / "fork"
    assert Workspace.open(fork) == Workspace(fork, fork)
    assert Workspace.open(fork.parent) == Workspace(repository, repository)


def test_a_submodule_is_a_workspace_of_its_own(tmp_path: Path, repository: Path) -> None:
    library = tmp_path / "library"
    git(tmp_path, "clone", "-q", repository, library)
    git(repository, "submodule", "add", "-q", library, "vendored/library")
    (repository / "tasks.py").touch()
    module = repository / "vendored" / "library"
    assert Workspace.open(module) == Workspace(module, module)


def test_links_are_kept_as_the_caller_spelt_them(tmp_path: Path, repository: Path) -> None:
    (repository / "src").mkdir()
    (tmp_path / "link").symlink_to(repository)
    assert Workspace.open(tmp_path / "link" / "src").root == tmp_path / "link"


def test_dot_dot_leads_where_the_system_would_go(tmp_path: Path, repository: Path) -> None:
    (repository / "src").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "link").symlink_to(repository / "src")
    assert Workspace.open(f"{repository}/src/..").root == repository.resolve()
    assert Workspace.open(f"{elsewhere}/link/..").root == repository.resolve()


def test_a_trailing_slash_and_dots_make_no_difference(repository: Path) -> None:
    assert Workspace.open(f"{repository}//./").root == repository


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
def test_names_that_are_not_utf8_can_be_worked_in(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    root.mkdir()
    git(root, "init", "-q")
    workspace = Workspace.open(root)
    assert workspace.root == root
    assert ensure_state(workspace).parent == root


# -- identity -------------------------------------------------------------------------------------------------


def test_directories_are_the_same_by_identity_not_by_spelling(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (tmp_path / "link").symlink_to(one)
    assert same_directory(one, tmp_path / "link")
    assert same_directory(one, f"{tmp_path}/other/../one/")
    assert not same_directory(one, other)


def test_directories_that_are_gone_are_compared_by_name(tmp_path: Path) -> None:
    assert same_directory(tmp_path / "gone", f"{tmp_path}/./gone")
    assert not same_directory(tmp_path / "gone", tmp_path / "missing")
    assert not same_directory(tmp_path / "gone", tmp_path)


# -- the state folder -----------------------------------------------------------------------------------------


def test_the_state_folder_says_what_it_is_and_ignores_itself(workspace: Workspace) -> None:
    state = ensure_state(workspace)
    assert state == workspace.root / ".treescribe" == workspace.state
    assert sorted(path.name for path in state.iterdir()) == [".gitignore", "CACHEDIR.TAG", "README"]
    assert (state / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert "may be deleted" in (state / "README").read_text()
    assert git(workspace.root, "status", "--porcelain", "--untracked-files=all") == ""
    assert state.stat().st_mode & 0o777 == 0o755


def test_a_state_folder_that_is_there_is_left_as_it_is(workspace: Workspace) -> None:
    (ensure_state(workspace) / "README").write_text("mine")
    assert (ensure_state(workspace) / "README").read_text() == "mine"


def test_git_removes_a_worktree_with_a_state_folder_in_it(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "../fork")
    fork = repository.parent / "fork"
    ensure_state(Workspace.open(fork))
    git(repository, "worktree", "remove", fork)
    assert not fork.exists()


ENSURE = """
import sys
from treescribe.workspace import Workspace, ensure_state
print("ready", flush=True)
sys.stdin.readline()
state = ensure_state(Workspace.open(sys.argv[1]))
print(*sorted(path.name for path in state.iterdir()))
"""


def test_several_processes_at_once_all_see_it_whole(workspace: Workspace) -> None:
    command = [sys.executable, "-c", ENSURE, str(workspace.root)]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    with ThreadPoolExecutor(6) as pool:
        printed = list(pool.map(lambda process: process.communicate("go\n", timeout=60)[0], processes))
    assert printed == [".gitignore CACHEDIR.TAG README\n"] * 6
    assert [path.name for path in workspace.root.iterdir() if "treescribe" in path.name] == [".treescribe"]


def test_nobody_ever_sees_it_half_made(workspace: Workspace) -> None:
    for _ in range(50):
        maker = threading.Thread(target=ensure_state, args=(workspace,))
        seen: set[int] = set()
        maker.start()
        while maker.is_alive():
            with suppress(FileNotFoundError):
                seen.add(len(os.listdir(workspace.state)))
        assert seen <= {3}
        shutil.rmtree(workspace.state)


def test_where_nothing_can_be_written_it_raises_and_leaves_nothing(read_only_workspace: Workspace) -> None:
    with unprivileged(), pytest.raises(PermissionError):
        ensure_state(read_only_workspace)
    assert sorted(path.name for path in read_only_workspace.root.iterdir()) == [".git", "README"]


def test_a_file_in_its_place_is_an_error_that_leaves_nothing_else(workspace: Workspace) -> None:
    workspace.state.write_text("in the way")
    with pytest.raises(OSError):
        ensure_state(workspace)
    assert [path.name for path in workspace.root.iterdir() if "treescribe" in path.name] == [".treescribe"]
