"""Tox envs that do not come to their commands: skipped for want of an interpreter, or not to be created."""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING

from tox.tox_env.errors import Recreate, Skip
from tox.tox_env.runner import RunToxEnv
from treescribe_pytest_recorder.journal import Journal
from treescribe_pytest_recorder.verdict import one_line

if TYPE_CHECKING:
    from tox.tox_env.api import ToxEnv

OTHER_PLATFORM = "platform "
"""How tox begins to say that an env is for another platform."""


def tell_failures(folder: str) -> None:
    """Have every run env whose setup raises leave a record in `folder`; tox sees what it raised.

    Once for a process, in which tox may be called more than once.
    """
    setup = RunToxEnv.setup
    if hasattr(setup, "__wrapped__"):
        return

    @wraps(setup)
    def setup_and_tell(self: ToxEnv) -> None:
        try:
            setup(self)
        except (Recreate, KeyboardInterrupt):
            raise
        except BaseException as error:
            _tell(folder, self, error)
            raise

    RunToxEnv.setup = setup_and_tell  # type: ignore[method-assign]


def _tell(folder: str, env: ToxEnv, error: BaseException) -> None:
    try:
        journal = Journal(folder, "tox")
        journal.begin()
        journal.write(
            {
                "event": "env-not-run",
                "env": str(env.conf.name),
                "root": os.fspath(env.core["tox_root"]),
                "kind": _kind(error),
                "message": one_line(_message(error)),
            }
        )
        journal.close()
    except Exception:  # noqa: BLE001 - never break a tox
        pass


def _kind(error: BaseException) -> str:
    if not isinstance(error, Skip):
        return "failed"
    return "other-platform" if str(error).startswith(OTHER_PLATFORM) else "skipped"


def _message(error: BaseException) -> str:
    """What tox itself says of it."""
    if isinstance(error, Skip):
        return f"skipped because {error}"
    if isinstance(error, SystemExit):
        return f"its setup ended with exit code {error.code}"
    return f"failed with {error}"
