"""Tells the treescribe run that it was started below what pytest does.

Any pytest, in any virtualenv, finds this package through the metadata beside it when the folder of both is on
``PYTHONPATH``. It uses the standard library only and works with Python 3.8 and pytest 7, and newer. Whatever
goes wrong in it, pytest goes on as if it were not there; an interpreter too old to read it included, which is why
this module is written for all of them.

PYTEST_DONT_REWRITE: there is nothing to rewrite here, and pytest would warn if it came too late to do so.
"""

try:
    from .hooks import pytest_configure, pytest_load_initial_conftests
except Exception:  # noqa: BLE001 - never break a pytest
    __all__ = []
else:
    __all__ = ["pytest_configure", "pytest_load_initial_conftests"]
