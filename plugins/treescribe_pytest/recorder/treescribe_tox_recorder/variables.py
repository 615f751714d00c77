"""What the commands of a tox env need so that a pytest among them is recorded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DISTRIBUTION = "treescribe-pytest-recorder"
RECORDER = "treescribe_pytest_recorder"
AUTOLOAD_OFF = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


def added(environment: Mapping[str, str], outer: Mapping[str, str]) -> dict[str, str]:
    """The variables to set in a tox env of this `environment`, in a tox whose own environment is `outer`.

    Lists are added to as ``treescribe_pytest.plugin`` adds to those of a run's commands: at their end, once.
    """
    result = {
        name: value for name, value in outer.items() if name.startswith("TREESCRIBE_") and name not in environment
    }
    result["PYTHONPATH"] = _joined(environment.get("PYTHONPATH", ""), FOLDER, os.pathsep)
    result["PIP_EXCLUDE"] = _joined(environment.get("PIP_EXCLUDE", ""), DISTRIBUTION, " ")
    if environment.get(AUTOLOAD_OFF):
        result["PYTEST_PLUGINS"] = _joined(environment.get("PYTEST_PLUGINS", ""), RECORDER, ",")
    return result


def _joined(before: str, value: str, separator: str) -> str:
    if not before:
        return value
    return before if value in before.split(separator) else before + separator + value
