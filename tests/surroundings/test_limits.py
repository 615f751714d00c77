"""Limits that a run meets: the command meets its own, and no other, and its error and exit code stand."""

from __future__ import annotations

import os
import resource

import pytest
from programs import SURFACES, Project, as_user, quoted_python

OPENING = """
import os
try:
    for number in range(1000):
        os.open(os.devnull, os.O_RDONLY)
except OSError as error:
    print(number, error.strerror)
raise SystemExit(24)
"""

FORKING = """
import os, signal
children = []
try:
    while len(children) < 100:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except OSError as error:
    print(error.strerror, flush=True)
finally:
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
raise SystemExit(11)
"""

WRITING = """
import os
try:
    with open("big", "wb") as file:
        file.write(bytes(10_000))
except OSError as error:
    print(error.strerror)
print("x" * 20_000)
raise SystemExit(27)
"""


@pytest.mark.parametrize("surface", SURFACES)
def test_a_command_may_open_as_many_files_as_without_us(surface: str, project: Project) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    expected = project.start(project.plain(surface, quoted_python(OPENING)), before=limit)
    found = project.start(project.recorded(surface, quoted_python(OPENING)), before=limit)
    assert (expected.code, b"Too many open files" in expected.stdout) == (24, True)
    assert found.without_treescribe() == expected
    assert found.warnings == []
    assert len(project.runs()) == 1


@pytest.mark.parametrize("most", range(5, 12))
def test_where_there_is_no_room_beside_the_command_it_takes_our_place(most: int, project: Project) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    found = project.start(project.recorded("exec", "echo out; exit 3"), before=limit)
    assert (found.code, found.stdout) == (3, b"out\n")
    assert b"Traceback" not in found.stderr
    assert len(found.warnings) <= 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take a user whose processes are its own")
@pytest.mark.parametrize("most", [1, 2, 3])
def test_where_no_other_process_can_be_had_the_command_takes_our_place(most: int, project: Project) -> None:
    user = 50_000 + os.getpid() % 5_000 + most
    os.chown(project.root, user, user)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))

    command = [*as_user(user), *project.recorded("exec", "echo out; exit 3")]
    found = project.start(command, before=limit)
    assert (found.code, found.stdout) == (3, b"out\n")
    assert b"Traceback" not in found.stderr
    assert len(found.warnings) <= 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take a user whose processes are its own")
@pytest.mark.parametrize("surface", SURFACES)
def test_a_command_that_may_start_no_more_processes_ends_as_it_would(surface: str, project: Project) -> None:
    user = 60_000 + os.getpid() % 5_000 + SURFACES.index(surface)
    prefix = as_user(user)
    os.chown(project.root, user, user)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (12, 12))

    expected = project.start([*prefix, *project.plain(surface, quoted_python(FORKING))], before=limit)
    found = project.start([*prefix, *project.recorded(surface, quoted_python(FORKING))], before=limit)
    assert (expected.code, expected.stdout) == (11, b"Resource temporarily unavailable\n")
    assert found.without_treescribe() == expected
    assert found.warnings == []
    assert len(project.runs()) == 1


@pytest.mark.parametrize("surface", SURFACES)
def test_a_limit_on_the_size_of_files_costs_the_record_and_nothing_else(surface: str, project: Project) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    expected = project.start(project.plain(surface, quoted_python(WRITING)), before=limit)
    found = project.start(project.recorded(surface, quoted_python(WRITING)), before=limit)
    assert expected.code == 27
    assert len(expected.stdout) > 20_000
    assert found.without_treescribe() == expected
    assert found.warnings == [
        f"treescribe: this run is not recorded in {project.root}: File too large".encode(),
    ]
    assert found.closing_line.startswith(b"History: not recorded")
    assert project.runs() == []
