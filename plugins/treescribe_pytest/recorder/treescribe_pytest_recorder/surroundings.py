"""What the environment says of this process: where to record, if anywhere, and below which tox env or nox session."""

from __future__ import annotations

import os

SPOOL_VARIABLE = "TREESCRIBE_SPOOL"
CURRENT_TEST_VARIABLE = "TREESCRIBE_PYTEST_CURRENT_TEST"
"""The run's own ``PYTEST_CURRENT_TEST``: a process that sees another one was started by a test."""
TOX_VARIABLE = "TREESCRIBE_PYTEST_TOX_ENV_DIR"
"""The run's own ``TOX_ENV_DIR``: a process that sees another one is below a tox env that the run has started."""
NOX_VARIABLE = "TREESCRIBE_PYTEST_NOX_SESSION"
"""The run's own ``NOX_CURRENT_SESSION``, likewise."""


def spool() -> str:
    """The folder to record to; empty where there is none, and below a test, whose business its children are."""
    current = os.environ.get("PYTEST_CURRENT_TEST", "")
    if current not in ("", os.environ.get(CURRENT_TEST_VARIABLE, "")):
        return ""
    return os.environ.get(SPOOL_VARIABLE, "")


def environment_name() -> str:
    """The tox env or nox session that the run has started and this process is below; ``env/session`` below both."""
    names = []
    if os.environ.get("TOX_ENV_DIR", "") != os.environ.get(TOX_VARIABLE, ""):
        names.append(os.environ.get("TOX_ENV_NAME", ""))
    if os.environ.get("NOX_CURRENT_SESSION", "") != os.environ.get(NOX_VARIABLE, ""):
        names.append(os.environ.get("NOX_CURRENT_SESSION", ""))
    return "/".join(name for name in names if name)
