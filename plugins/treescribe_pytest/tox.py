"""Reads what the recorder in a tox wrote: envs that did not come to their commands, and so have no tests to show.

The one record of a file, an object with ``event`` = ``env-not-run``:

* ``env``, its name, and ``root``, the folder that tox runs for.
* ``kind``: ``skipped`` (an interpreter is missing), ``other-platform`` (the env is for another one) or ``failed``.
* ``message``: what tox says of it.
"""

from __future__ import annotations

from typing import Any

from treescribe.events import SuiteFinished, SuiteOutcome
from treescribe.run import Run

from treescribe_pytest.place import Place

TOX = "tox"
"""The suite that stands for a whole env."""

OTHER_PLATFORM = "other-platform"


class ToxReader:
    """A `treescribe.spool.SpoolReader`. Records that are not what a recorder writes are passed over.

    Where tox itself counts an env that it skipped as good (``skip_missing_interpreters``), the run does not: the tests
    that were asked for did not run. An env that is for another platform was not asked for here.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def record(self, source: str, record: dict[str, Any]) -> None:
        if record.get("event") != "env-not-run":
            return
        env, root, kind, message = (record.get(key) for key in ("env", "root", "kind", "message"))
        if not (isinstance(env, str) and isinstance(root, str) and isinstance(message, str)):
            return
        outcome = SuiteOutcome.NO_FRAMEWORK_MATCHED if kind == OTHER_PLATFORM else SuiteOutcome.ERRORED
        try:
            project = Place.of(root, self._run.workspace).project_in(env)
        except ValueError:  # a path with a NUL character
            return
        self._run.emit(SuiteFinished(project=project, suite=TOX, outcome=outcome, message=message))

    def caught_up(self) -> None:
        """Nothing goes on in an env that does not run."""

    def command_ended(self) -> None:
        """What is written is whole from the start."""

    def settle(self) -> None:
        """Nothing can be missing."""
