"""What tox calls: stays out of sight, and prepares the envs that it runs where a run asks for records."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tox.plugin import impl
from treescribe_pytest_recorder.surroundings import spool

if TYPE_CHECKING:
    from tox.config.cli.parser import ToxParser
    from tox.config.sets import ConfigSet
    from tox.session.state import State
    from tox.tox_env.api import ToxEnv

_PACKAGE = "treescribe_tox_recorder"


@impl(optionalhook=True)
def tox_add_option(parser: ToxParser) -> None:
    """Leave the list of plugins, before ``tox --version`` shows it."""
    try:
        from tox.plugin.manager import MANAGER

        # list_plugin_distinfo() returns a copy; what is shown is this list
        shown = MANAGER.manager._plugin_distinfo
        shown[:] = [entry for entry in shown if getattr(entry[0], "__name__", "") != _PACKAGE]
    except Exception:  # noqa: BLE001 - being seen is no reason to break a tox
        pass


@impl(optionalhook=True)
def tox_add_core_config(core_conf: ConfigSet, state: State) -> None:
    """See to it that envs that cannot be set up are told of: no hook is called for them."""
    try:
        folder = spool()
        if folder:
            from .setups import tell_failures

            tell_failures(folder)
    except Exception:  # noqa: BLE001 - never break a tox
        pass


@impl(optionalhook=True)
def tox_before_run_commands(tox_env: ToxEnv) -> None:
    """Give the env's commands what the recorder of pytest needs; what sets the env up has not got it."""
    try:
        if spool():
            from .variables import added

            tox_env.conf["set_env"].update(added(tox_env.environment_variables, os.environ))
    except Exception:  # noqa: BLE001 - never break a tox
        pass
