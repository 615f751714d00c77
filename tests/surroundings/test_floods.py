"""Floods of output: nothing is lost or altered, what is kept is bounded and adds up, and little memory is taken."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, NamedTuple

import pytest
from programs import SURFACES, Project, quoted_python
from treescribe.events import Output
from treescribe.masking import is_secret_name
from treescribe.output import OutputLimits

pytestmark = pytest.mark.once

MIB = 1024 * 1024
WRITE = "import os, sys\nw = sys.stdout.buffer.write\n"

FLOODS = {
    "100 MB of lines": "b = b'x' * 99 + b'\\n'\nfor i in range(1000): w(b * 1000)",
    "one line of 100 MB": "for i in range(100): w(b'x' * 1_000_000)",
    "100 MB of every byte": "b = bytes(range(256)) * 4_000\nfor i in range(100): w(b)",
    "1,000,000 updates of a progress bar": "for i in range(1_000_000): w(b'\\r%d of 1000000' % i)",
    "1,000,000 lines, each written by itself": "for i in range(1_000_000): os.write(1, b'line %d\\n' % i)",
}

BOTH = """
import threading
def flood(descriptor):
    for i in range(1000):
        os.write(descriptor, b"%d" % descriptor * 49_999 + b"\\n")
other = threading.Thread(target=flood, args=(2,))
other.start()
flood(1)
other.join()
"""

STARTER = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
peak = usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * 1024
with open(sys.argv[1], "w") as file:
    file.write(str(peak))
os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
"""
"""Starts a program from a small process: the memory of the one that forks counts as the child's."""


class Stream(NamedTuple):
    """What came out of a stream, without keeping it."""

    bytes: int
    digest: str


class Flooded(NamedTuple):
    code: int
    stdout: Stream
    stderr: Stream
    peak: int


def drained(pipe: IO[bytes]) -> Stream:
    count, digest = 0, hashlib.sha256()
    while data := pipe.read(1 << 16):
        count += len(data)
        digest.update(data)
    return Stream(count, digest.hexdigest())


def flood(project: Project, command: list[str], **environment: str) -> Flooded:
    """Run a command without any secret but those given, and take what it prints as fast as it comes."""
    peak = project.configuration.with_name("peak")
    inherited = {name: value for name, value in os.environ.items() if not is_secret_name(name)}
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", STARTER, str(peak), *command],
        cwd=project.root,
        env=inherited | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    found: dict[str, Stream] = {}
    errors = process.stderr

    def drain_errors() -> None:
        found["stderr"] = drained(errors)

    other = threading.Thread(target=drain_errors)
    other.start()
    found["stdout"] = drained(process.stdout)
    other.join()
    with process:
        code = process.wait()
    return Flooded(code, found["stdout"], found["stderr"], int(peak.read_text()))


def silent(project: Project) -> Project:
    """The project with nothing said at the end of its runs, so that stderr is the command's alone."""
    (project.root / "invoke.yaml").write_text("treescribe: {summary: never}\n")
    project.configuration.write_text("tasks: {executor_class: treescribe.Executor}\n")
    return project


def kept(project: Project, stream: str) -> tuple[int, int]:
    """(bytes kept, bytes left out) of a stream in the latest run."""
    *_, run = project.runs()
    outputs = [event for event in run.events if isinstance(event, Output) and event.stream == stream]
    return sum(len(event.text.encode()) for event in outputs), sum(event.omitted_bytes for event in outputs)


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The memory that recording takes where nothing is printed, in bytes."""
    folder: Path = tmp_path_factory.mktemp("idle")
    project = silent(Project.make(folder / "project", folder / "recording.yaml"))
    return flood(project, project.recorded("exec", "true")).peak


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_passes_whole_and_is_kept_in_part_in_little_memory(name: str, project: Project, idle: int) -> None:
    silent(project)
    line = quoted_python(WRITE + FLOODS[name])
    expected = flood(project, ["/bin/sh", "-c", line])
    found = flood(project, project.recorded("exec", line))
    assert (found.code, found.stdout, found.stderr) == (0, expected.stdout, expected.stderr)
    text, omitted = kept(project, "stdout")
    assert sum(OutputLimits()) - 8 <= expected.stdout.bytes - omitted <= sum(OutputLimits()) < 10_000_000 < omitted
    assert text == expected.stdout.bytes - omitted or name == "100 MB of every byte"
    assert found.peak < idle + 60 * MIB


def test_two_floods_at_once_pass_whole_each_on_its_own_stream(project: Project, idle: int) -> None:
    silent(project)
    line = quoted_python(WRITE + BOTH)
    expected = flood(project, ["/bin/sh", "-c", line])
    found = flood(project, project.recorded("exec", line))
    assert (found.stdout, found.stderr) == (expected.stdout, expected.stderr)
    for stream, printed in (("stdout", expected.stdout), ("stderr", expected.stderr)):
        text, omitted = kept(project, stream)
        assert text == sum(OutputLimits())
        assert text + omitted == printed.bytes == 50_000_000
    assert found.peak < idle + 60 * MIB


def test_a_flood_is_searched_for_secrets_in_little_memory(project: Project, idle: int) -> None:
    silent(project)
    secret = "a-secret-of-the-shop"
    line = quoted_python(f"{WRITE}for i in range(20): w(b'x' * 999_000); w(b'{secret}')")
    found = flood(project, project.recorded("exec", line), SHOP_TOKEN=secret)
    assert found.stdout.bytes == 20 * (999_000 + len(secret))
    text, omitted = kept(project, "stdout")
    assert text + omitted == found.stdout.bytes - len(secret) + len("***"), "of the kept part one is masked"
    assert found.peak < idle + 60 * MIB


def test_ten_million_random_bytes_pass_through_both_ways(project: Project) -> None:
    data = os.urandom(10_000_000)
    found = project.start(project.recorded("exec", "tee /dev/stderr; exit 9"), stdin=data)
    assert found.code == 9
    assert found.stdout == data
    assert found.stderr.startswith(data)
    assert found.stderr[len(data) :].startswith(b"History: #1 failed")


TASK_FLOOD = """
import sys
from invoke import task

@task
def flood(c, hide=False):
    result = c.run({line!r}, hide=hide)
    print(len(result.stdout), len(result.stderr))
"""


@pytest.mark.parametrize("hide", [False, True], ids=["shown", "hidden"])
def test_a_flood_of_a_task_is_what_it_is_without_us_and_takes_little_more_memory(hide: bool, project: Project) -> None:
    silent(project)
    line = quoted_python(WRITE + BOTH.replace("1000", "20"))
    (project.root / "tasks.py").write_text(TASK_FLOOD.format(line=line))
    words = ["flood", *(["--hide"] if hide else [])]
    expected = flood(project, [sys.executable, "-m", "invoke", *words])
    found = flood(project, [sys.executable, "-m", "treescribe", *words])
    assert (found.code, found.stdout, found.stderr) == (0, expected.stdout, expected.stderr)
    for stream in ("stdout", "stderr"):
        text, omitted = kept(project, stream)
        assert text + omitted == 20 * 50_000
    assert found.peak < expected.peak + 60 * MIB


@pytest.mark.parametrize("surface", SURFACES)
def test_a_progress_bar_is_kept_as_it_was_printed(surface: str, project: Project) -> None:
    script = (
        f"printf 'begin\\r'; {shlex.quote(sys.executable)} -c 'for i in range(900): print(end=f\"\\r{{i}}\")'; echo"
    )
    project.start(project.recorded(surface, script))
    (run,) = project.runs()
    texts = [event.text for event in run.events if isinstance(event, Output)]
    assert "".join(texts) == "begin\r" + "".join(f"\r{number}" for number in range(900)) + "\n"
