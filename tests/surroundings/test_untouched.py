"""What stays the user's own: runners, terminals, tasks of one shape, and facts that a secret happens to equal."""

from __future__ import annotations

import os
import pty
import select
import sys

import pytest
from programs import TASKS, Project
from treescribe.events import CommandFinished, SuiteFinished, TaskFinished, TestFinished

# -- tasks, runners and executors -----------------------------------------------------------------------------

TWINS = """
from invoke import Collection, task

@task
def check(c):
    print("checked one")

one = Collection("one", check)

@task
def check(c):
    print("checked two")

ns = Collection(one, Collection("two", check))
"""


@pytest.mark.parametrize("program", [["treescribe"], ["invoke", "-f", "recording.yaml"]], ids=["treescribe", "inv"])
def test_tasks_of_one_shape_in_two_collections_both_run_and_are_recorded(program: list[str], project: Project) -> None:
    (project.root / "tasks.py").write_text(TWINS)
    project.configuration.rename(project.root / "recording.yaml")
    found = project.start([sys.executable, "-m", *program, "one.check", "two.check"])
    assert (found.code, found.stdout) == (0, b"checked one\nchecked two\n")
    (run,) = project.runs()
    assert [event.name for event in run.events if isinstance(event, TaskFinished)] == ["one.check", "two.check"]


OWN = """
import sys

import invoke
from invoke import Collection, Executor, Local, task

class LoudRunner(Local):
    def start(self, command, shell, env):
        print("own runner starts", command, flush=True)
        super().start(command, shell, env)

class LoudExecutor(Executor):
    def execute(self, *tasks):
        print("own executor", flush=True)
        return super().execute(*tasks)

@task
def build(c):
    c.run("echo by the context")
    invoke.run("echo by the module")
    invoke.Context().run("echo by a fresh context")

ns = Collection(build)
ns.configure({"runners": {"local": LoudRunner}})
"""


@pytest.mark.parametrize("program", ["invoke", "treescribe"])
def test_own_runner_and_executor_classes_stay_in_use_and_invoke_run_is_seen(program: str, project: Project) -> None:
    (project.root / "own.py").write_text(OWN)
    (project.root / "tasks.py").write_text("from own import build, ns\n")
    (project.root / "invoke.yaml").write_text("tasks:\n  executor_class: own.LoudExecutor\n")
    found = project.start([sys.executable, "-m", program, "build"])
    assert found.code == 0
    assert found.stdout.decode().splitlines() == [
        "own executor",
        "own runner starts echo by the context",
        "by the context",
        "by the module",
        "by a fresh context",
    ]
    commands = [event.line for run in project.runs() for event in run.events if isinstance(event, CommandFinished)]
    expected = ["echo by the context", "echo by the module", "echo by a fresh context"]
    assert commands == (expected if program == "treescribe" else [])


# -- terminals ------------------------------------------------------------------------------------------------

ASKING = """
import sys
with open("/dev/tty", "r+b", buffering=0) as terminal:
    terminal.write(b"pass phrase: ")
    answer = b""
    while not answer.endswith(b"\\n"):
        answer += terminal.read(1)
print("out", answer.decode().strip()[::-1], flush=True)
sys.exit(6)
"""

ASKING_TASKS = """
import sys
from invoke import task

@task
def ask(c, terminal=False):
    c.run(f"{sys.executable} ask.py", pty=terminal, in_stream=None if terminal else False)
"""


PATIENCE = 20


def on_terminal(project: Project, command: list[str], question: bytes, answer: bytes) -> tuple[int, bytes]:
    """(exit code, all that was shown) of a command on a terminal of its own, of which a person answers a question."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(project.root)
        os.execv(command[0], command)
    shown, answered = b"", False
    try:
        while select.select([terminal], [], [], PATIENCE)[0] and (data := os.read(terminal, 1000)):
            shown += data
            if question in shown and not answered:
                answered = True
                os.write(terminal, answer)
    except OSError:
        pass  # nobody has the terminal open any more
    os.close(terminal)  # hangs up on whoever waits for more
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), shown


@pytest.mark.parametrize(
    "words",
    ["treescribe ask --terminal", "treescribe ask", "treescribe exec -- {python} ask.py"],
    ids=["a task with a pty", "a task without one", "exec"],
)
def test_a_program_may_ask_on_the_terminal_itself_as_ssh_does(words: str, project: Project) -> None:
    (project.root / "ask.py").write_text(ASKING)
    (project.root / "tasks.py").write_text(ASKING_TASKS)
    command = [sys.executable, "-m", *words.format(python=sys.executable).split()]
    code, shown = on_terminal(project, command, b"pass phrase: ", b"sesame\n")
    assert code == 6, shown
    assert b"out emases" in shown
    (run,) = project.runs()
    (finished,) = (event for event in run.events if isinstance(event, CommandFinished))
    assert finished.exit_code == 6


# -- secrets --------------------------------------------------------------------------------------------------

TESTS = """
import pytest

def test_checkout_of_the_cart():
    pass

@pytest.mark.parametrize("way", ["checkout_by_card"])
def test_failing(way):
    assert way == "nothing"

@pytest.mark.skip(reason="needs a network")
def test_skipped():
    pass
"""

SECRETS = {
    "SHORT_TOKEN": "test",
    "NAME_TOKEN": "test_checkout_of_the_cart",
    "PARAMETER_TOKEN": "checkout_by_card",
    "SUITE_TOKEN": "test_shopping.py",
    "STATUS_TOKEN": "executed",
    "TYPE_TOKEN": "TestFinished",
    "KEY_TOKEN": "duration_ms",
    "MESSAGE_TOKEN": "needs a network",
}


def facts(project: Project) -> list[tuple[object, ...]]:
    """What the tests, suites and tasks of the latest run came to, where they stand, and the run's own end."""
    *_, run = project.runs()
    found: list[tuple[object, ...]] = [(run.header.backend, run.header.workspace, run.state, run.problems)]
    for event in run.events:
        if isinstance(event, TestFinished):
            found.append((event.project, event.suite, event.test, event.status, event.path, event.line))
        elif isinstance(event, SuiteFinished):
            found.append((event.project, event.suite, event.outcome))
        elif isinstance(event, TaskFinished):
            found.append((event.name, event.status))
    return found


def test_secrets_that_equal_facts_spoil_none(project: Project) -> None:
    (project.root / "test_shopping.py").write_text(TESTS)
    (project.root / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider -p no:hypothesispytest\n")
    (project.root / "tasks.py").write_text(
        f"{TASKS}\n@task\ndef test(c):\n    c.run('{sys.executable} -m pytest -q', warn=True)\n"
    )
    command = [sys.executable, "-m", "treescribe", "test"]
    plain = project.start(command)
    expected = facts(project)
    found = project.start(command, env=dict(SECRETS))
    assert facts(project) == expected
    assert len(expected) == 6
    assert (found.code, found.stdout.count(b"\n")) == (plain.code, plain.stdout.count(b"\n"))
    *_, run = project.runs()
    messages = {event.test: event.message for event in run.events if isinstance(event, TestFinished)}
    assert messages["test_skipped"] == "***", "they were taken for secrets"
