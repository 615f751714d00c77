"""Leads the pytests in the envs of a tox to the run that it was started below, and tells of envs that do not run.

Tox finds this package through the metadata beside it when the folder of both is on ``PYTHONPATH``. It uses the
standard library only and works with tox 4. Whatever goes wrong in it, tox goes on as if it were not there; a tox or
an interpreter too old for it included, which is why this module is written for all of them.
"""

try:
    from .hooks import tox_add_core_config, tox_add_option, tox_before_run_commands
except Exception:  # noqa: BLE001 - never break a tox
    __all__ = []
else:
    __all__ = ["tox_add_core_config", "tox_add_option", "tox_before_run_commands"]
