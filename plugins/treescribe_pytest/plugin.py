"""Per-test events from any pytest below a recorded command; nothing has to be installed where it runs.

The folder ``recorder`` is put on the ``PYTHONPATH`` of commands: whatever pytest sees it finds the recorder there
through the metadata of its entry point, and one that does not see it (``PYTHONPATH=src pytest``, ``python -I``)
misses nothing. A tox finds its own recorder there, which leads the pytests in its envs to theirs.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from treescribe import hookimpl
from treescribe.environment import Variable

if TYPE_CHECKING:
    from treescribe.run import Run

RECORDER_FOLDER = Path(__file__).parent / "recorder"
RECORDER = "treescribe_pytest_recorder"
DISTRIBUTION = "treescribe-pytest-recorder"
CURRENT_TEST_VARIABLE = "TREESCRIBE_PYTEST_CURRENT_TEST"
TOX_VARIABLE = "TREESCRIBE_PYTEST_TOX_ENV_DIR"
NOX_VARIABLE = "TREESCRIBE_PYTEST_NOX_SESSION"
AUTOLOAD_OFF = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


@hookimpl
def treescribe_run_started(run: Run) -> None:
    """Read what recorders write."""
    from treescribe_pytest.reader import PytestReader
    from treescribe_pytest.tox import ToxReader

    run.follow("pytest", PytestReader(run))
    run.follow("tox", ToxReader(run))


@hookimpl
def treescribe_command_environment() -> Sequence[Variable]:
    """Lead pytest to the recorder, and tell it in which pytest, tox env and nox session this run was started.

    ``PIP_EXCLUDE`` keeps the recorder out of ``pip freeze`` and ``pip list``. With autoload off pytest reads no entry
    points: then, and only then, the recorder is named, since a name that cannot be imported fails the run.
    """
    return (
        Variable("PYTHONPATH", str(RECORDER_FOLDER), os.pathsep),
        Variable(CURRENT_TEST_VARIABLE, os.environ.get("PYTEST_CURRENT_TEST", "")),
        Variable(TOX_VARIABLE, os.environ.get("TOX_ENV_DIR", "")),
        Variable(NOX_VARIABLE, os.environ.get("NOX_CURRENT_SESSION", "")),
        Variable("PIP_EXCLUDE", DISTRIBUTION, " "),
        Variable("PYTEST_PLUGINS", RECORDER, ",", only_with=AUTOLOAD_OFF),
    )
