"""How much is looked at, which file a path means, and what is no diagnostic."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from treescribe.events import CommandStarted, Diagnostic
from treescribe.workspace import Workspace
from treescribe_diagnostics import reader as module
from treescribe_diagnostics.reader import DiagnosticsReader

WARNING = "cart.c:{0}:7: warning: unused variable [-Wunused-variable]\n"


def read(workspace: Workspace, *pieces: str, cwd: str = "") -> tuple[list[Diagnostic], list[str]]:
    """The diagnostics that are read off these pieces of standard error, and what is reported of the reading."""
    reports: list[str] = []
    command = CommandStarted(command=1, line="make", cwd=cwd or str(workspace.root))
    reader = DiagnosticsReader(workspace, command, reports.append)
    events = [event for piece in pieces for event in reader.read("stderr", piece)]
    return [event for event in (*events, *reader.end()) if isinstance(event, Diagnostic)], reports


def lines_of(found: list[Diagnostic]) -> list[int]:
    return [diagnostic.line for diagnostic in found]


# -- how much -------------------------------------------------------------------------------------------------


def test_of_a_flood_the_beginning_and_the_end_are_looked_at_and_what_lies_between_is_told(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_CHARACTERS", 1000)
    monkeypatch.setattr(module, "TAIL_CHARACTERS", 1000)
    noise = ["nothing to see here\n"] * 200
    found, reports = read(
        workspace, WARNING.format(1), *noise, WARNING.format(2), *noise, WARNING.format(3), "make: done\n"
    )
    assert lines_of(found) == [1, 3]
    assert reports == ["diagnostics were not looked for in 6,157 characters of make"]


def test_of_what_just_passes_the_limit_nothing_is_lost(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_CHARACTERS", 1000)
    found, reports = read(workspace, *(WARNING.format(number) for number in range(100)))
    assert lines_of(found) == list(range(100))
    assert reports == []


def test_no_more_are_kept_than_the_limit_and_that_is_told(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_DIAGNOSTICS", 10)
    found, reports = read(workspace, *(WARNING.format(number) for number in range(100)))
    assert lines_of(found) == list(range(10))
    assert reports == ["no more than 10 diagnostics of make are kept"]


def test_a_line_that_is_too_long_is_none(workspace: Workspace) -> None:
    found, _ = read(workspace, f"a.c:1:2: error: {'x' * 5000}\na.c:3:4: error: short\n")
    assert lines_of(found) == [3]


# -- which file -----------------------------------------------------------------------------------------------


def paths(workspace: Workspace, *pieces: str, cwd: str = "") -> list[str]:
    found, _ = read(workspace, *pieces, cwd=cwd)
    return [diagnostic.path.removeprefix(f"{workspace.root}/") for diagnostic in found]


@pytest.fixture
def sources(workspace: Workspace) -> Path:
    for name in ("cart/main.c", "orders/main.c", "orders/deep/only.c", "top.c"):
        (workspace.root / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / name).touch()
    return workspace.root


def test_a_path_is_looked_for_where_the_command_ran_and_at_the_root(workspace: Workspace, sources: Path) -> None:
    text = "main.c:1:2: error: no\ntop.c:1:2: error: no\n"
    assert paths(workspace, text, cwd=str(sources / "orders")) == ["orders/main.c", "top.c"]


def test_make_says_where_it_is(workspace: Workspace, sources: Path) -> None:
    def entering(word: str, folder: str) -> str:
        return f"make[1]: {word} directory '{sources}/{folder}'\n"

    error = "main.c:1:2: error: no\n"
    text = [
        entering("Entering", "cart"),
        entering("Entering", "orders"),
        error,
        entering("Leaving", "orders"),
        error,
        entering("Leaving", "cart"),
        error,
    ]
    assert paths(workspace, *text) == ["orders/main.c", "cart/main.c", "main.c"]


def test_the_one_file_whose_path_ends_alike_is_meant_and_of_two_none(workspace: Workspace, sources: Path) -> None:
    text = "".join(f"{path}:1:2: error: no\n" for path in ("../deep/only.c", "only.c", "main.c", "nowhere.c"))
    assert paths(workspace, text) == ["orders/deep/only.c", "orders/deep/only.c", "main.c", "nowhere.c"]


def test_a_path_is_spelt_like_the_workspace_whatever_links_a_tool_resolved(
    workspace: Workspace, sources: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    os.symlink(sources, link)
    found, _ = read(Workspace.open(link), f"{os.path.realpath(sources)}/top.c:1:2: error: no\n")
    assert [diagnostic.path for diagnostic in found] == [f"{link}/top.c"]


def test_ignored_files_are_not_searched(workspace: Workspace, sources: Path) -> None:
    (sources / ".gitignore").write_text("orders/\n")
    assert paths(workspace, "only.c:1:2: error: no\n") == ["only.c"]


# -- what is none ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "12:30:01: error: no answer",
        "2026-12-01 10:22:33: error: no answer",
        "make: *** [Makefile:2: all] Error 1",
        "    cart_test.go:7: expected 1",
        "\t/usr/local/go/src/testing/testing.go:1974 +0x232",
        "tests/test_cart.py:5: AssertionError",
        "nowhere.py:1:1: F401 unused",
        "nowhere.go:1:2: undefined: x",
        "main.c:3:5: note: declared here",
        'error: could not compile `shop` (bin "shop") due to 1 previous error',
        "  1:2  error  a row below no file  semi",
        "0:00:12 elapsed",
        "http://localhost:8080: error",
    ],
)
def test_what_only_looks_like_one(workspace: Workspace, line: str) -> None:
    assert read(workspace, f"{line}\n")[0] == []
