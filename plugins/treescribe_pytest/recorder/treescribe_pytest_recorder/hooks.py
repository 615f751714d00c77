"""What pytest calls in every process it is in: stays out of sight, and records where a run asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .surroundings import environment_name, spool

if TYPE_CHECKING:
    import pytest

_PACKAGE = "treescribe_pytest_recorder"


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Leave pytest's list of plugins, before anything shows it."""
    try:
        # list_plugin_distinfo() returns a copy; what the header and `pytest -VV` show is this list
        shown = early_config.pluginmanager._plugin_distinfo
        shown[:] = [entry for entry in shown if getattr(entry[0], "__name__", "") != _PACKAGE]
    except Exception:  # noqa: BLE001 - being seen is no reason to break a pytest
        pass


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record, unless this is no process to record."""
    folder = spool()
    if not folder or hasattr(config, "workerinput"):  # xdist's controller reports for workers
        return
    try:
        from .journal import Journal
        from .recorder import Recorder

        config.pluginmanager.register(Recorder(Journal(folder, "pytest"), environment_name()), _PACKAGE + "_session")
    except Exception:  # noqa: BLE001 - never break a pytest
        pass
