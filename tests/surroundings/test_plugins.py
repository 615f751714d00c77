"""Twenty plugins that were installed, one of which fails: a run passes, is recorded, and the one is told by name."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path

import pytest
from programs import Project
from treescribe import spec
from treescribe.events import LogMessage, RunFinished

NO_PART_OF_A_RUN = ("treescribe_run_abandoned", "treescribe_workspace_status")
HOOKS = {
    name: hook for name, hook in vars(spec).items() if name.startswith("treescribe_") and name not in NO_PART_OF_A_RUN
}
NUMBER = 20
FAILING = "acme-13"

MODULE = """
import os, sys
from treescribe import hookimpl

NAME = {name!r}

def called(hook):
    with open(os.environ["ACME_CALLED"], "a") as file:
        file.write(NAME + " " + hook + "\\n")
    if os.environ["ACME_FAILS_IN"] == hook and NAME == {failing!r}:
        raise ZeroDivisionError("on purpose")
"""

IMPLEMENTATION = """
@hookimpl
def {hook}({arguments}):
    called({hook!r})
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed distributions, each with one plugin that has every hook."""
    folder = tmp_path_factory.mktemp("site")
    for number in range(NUMBER):
        name, module = f"acme-{number:02}", f"acme_{number:02}"
        implementations = [
            IMPLEMENTATION.format(hook=name, arguments=", ".join(inspect.signature(hook).parameters))
            for name, hook in HOOKS.items()
        ]
        text = MODULE.format(name=name, failing=FAILING) + "".join(implementations)
        (folder / f"{module}.py").write_text(text)
        metadata = folder / f"{module}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[treescribe]\n{name} = {module}\n")
    return folder


ASKING = "from treescribe.host import host; host().operations(); host().backends(); host().codec()"
"""What a run need not ask of plugins."""

BEFORE_ANY_RUN = ("treescribe_backends", "treescribe_event_types", "treescribe_operations")


def called(project: Project, environment: dict[str, str | None], hook: str) -> set[str]:
    """The plugins whose hook was called."""
    lines = Path(str(environment["ACME_CALLED"])).read_text().splitlines()
    return {name for name, called_hook in map(str.split, lines) if called_hook == hook}


@pytest.mark.parametrize("hook", HOOKS)
def test_the_run_passes_and_is_recorded_whatever_hook_of_a_plugin_fails(
    hook: str, installed: Path, project: Project
) -> None:
    environment: dict[str, str | None] = {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(installed), os.environ.get("PYTHONPATH")])),
        "ACME_FAILS_IN": hook,
        "ACME_CALLED": str(project.configuration.with_name("called")),
    }
    found = project.start(project.recorded("treescribe", "echo done; exit 3"), env=environment)
    assert (found.code, found.stdout) == (3, b"done\n")
    if hook in BEFORE_ANY_RUN:
        asked = project.start([sys.executable, "-c", ASKING], env=environment)
        assert (asked.code, asked.stdout) == (0, b"")
        told = asked.stderr.splitlines()
    else:
        told = found.warnings
    assert called(project, environment, hook) == {f"acme-{number:02}" for number in range(NUMBER)}
    text = f"plugin {FAILING} failed in {hook}: ZeroDivisionError: on purpose"
    assert told == [f"treescribe: {text}".encode()]
    (run,) = project.runs()
    assert [event.exit_code for event in run.events if isinstance(event, RunFinished)] == [3]
    within = "run" in inspect.signature(HOOKS[hook]).parameters and hook != "treescribe_run_finished"
    assert [event.message for event in run.events if isinstance(event, LogMessage)] == [text] * within
    assert b"Traceback" not in found.stderr
