"""What a project can set under ``treescribe`` in its invoke configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from treescribe.effects import ADDITIVE, DESTRUCTIVE, READ_ONLY
from treescribe.errors import InvalidInput
from treescribe.output import OutputLimits

SUMMARY = ("auto", "always", "never")
CONFIGURATION_SUFFIXES = ("yaml", "yml", "json", "py")


class Settings(NamedTuple):
    """The settings, with their defaults.

    :ivar summary: when the line at the end of a run is shown: always, never, or auto (with ``treescribe``, and with
        plain ``inv`` on a terminal).
    :ivar history_keep: how many finished runs are kept, besides the pinned ones.
    :ivar history_bytes: how many bytes of these are kept.
    :ivar redact: regular expressions; what they match is masked.
    :ivar effects: target name → read-only, additive or destructive (which all are unless told).
    :ivar output: how much of a command's output is kept, in bytes per stream.
    :ivar junit, sarif: glob patterns, from the workspace's root, of reports that are read where a run writes them.
    """

    summary: str = "auto"
    history_keep: int = 32
    history_bytes: int = 64 * 1024 * 1024
    redact: tuple[str, ...] = ()
    effects: Mapping[str, str] = {}
    output: OutputLimits = OutputLimits()
    junit: tuple[str, ...] = ()
    sarif: tuple[str, ...] = ()

    @classmethod
    def read(cls, configured: Any) -> Settings:
        """Return the settings that the mapping under ``treescribe`` gives.

        :raises InvalidInput: naming the key that cannot be used, and what is expected there.
        """
        values = _mapping("treescribe", configured)
        history = _mapping("treescribe.history", values.pop("history", None))
        output = _mapping("treescribe.output", values.pop("output", None))
        default = cls()
        settings = cls(
            summary=_choice("summary", values.pop("summary", default.summary), SUMMARY),
            history_keep=_positive("history.keep", history.pop("keep", default.history_keep)),
            history_bytes=_positive("history.bytes", history.pop("bytes", default.history_bytes)),
            redact=_patterns(values.pop("redact", ())),
            effects=_effects(values.pop("effects", None)),
            output=OutputLimits(
                _positive("output.head", output.pop("head", default.output.head)),
                _positive("output.tail", output.pop("tail", default.output.tail)),
            ),
            junit=_globs("junit", values.pop("junit", ())),
            sarif=_globs("sarif", values.pop("sarif", ())),
        )
        unknown = [*values, *(f"history.{key}" for key in history), *(f"output.{key}" for key in output)]
        if unknown:
            raise InvalidInput(
                f"unknown setting treescribe.{unknown[0]}.",
                "Known: summary, history.keep, history.bytes, redact, effects, output.head, output.tail, junit, sarif.",
            )
        return settings


def load_settings(root: Path) -> Settings:
    """Return the settings of the project at `root`; invoke is imported only where there is a configuration file.

    :raises InvalidInput: where a file cannot be read or a setting cannot be used.
    """
    folders = (("/etc/", "invoke"), (os.path.expanduser("~/"), ".invoke"), (f"{root}{os.sep}", "invoke"))
    files = [f"{folder}{name}.{suffix}" for folder, name in folders for suffix in CONFIGURATION_SUFFIXES]
    if not any(os.path.exists(file) for file in files):
        return Settings()
    from invoke.config import Config

    try:
        config = Config(project_location=root)
        config.load_project()
        config.load_shell_env()
        return Settings.read(config.get("treescribe"))
    except InvalidInput:
        raise
    except Exception as error:  # a configuration file is a program of the user's, or broken in ways YAML knows
        raise InvalidInput(f"the invoke configuration of {root} cannot be read: {error}") from error


def plain(value: Any) -> Any:
    """Return a configuration value with invoke's proxies turned into dicts."""
    if hasattr(value, "items"):
        return {str(key): plain(part) for key, part in value.items()}
    return value


def _mapping(name: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    found = plain(value)
    if not isinstance(found, dict):
        raise InvalidInput(f"the setting {name} must be a mapping, not {type(value).__name__}.")
    return dict(found)


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise InvalidInput(f"the setting treescribe.{name} must be one of {', '.join(choices)}.")
    return str(value)


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"the setting treescribe.{name} must be a whole number of at least 1.")
    return value


def _patterns(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        raise InvalidInput("the setting treescribe.redact must be a list of regular expressions.")
    for pattern in value:
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise InvalidInput(
                f"the setting treescribe.redact holds {pattern!r}, which is no regular expression: {error}."
            ) from None
        if compiled.search("") is not None:
            raise InvalidInput(f"the setting treescribe.redact holds {pattern!r}, which matches the empty text.")
    return tuple(value)


def _globs(name: str, value: Any) -> tuple[str, ...]:
    patterns = [value] if isinstance(value, str) else value
    if not isinstance(patterns, list | tuple) or not all(isinstance(part, str) and part for part in patterns):
        raise InvalidInput(f"the setting treescribe.{name} must be a glob pattern or a list of them.")
    for pattern in patterns:
        if os.path.isabs(pattern) or ".." in pattern.split("/"):
            raise InvalidInput(
                f"the setting treescribe.{name} holds {pattern!r}, which leads out of the workspace.",
                "Give a pattern relative to the workspace's root, such as build/reports/*.xml or **/TEST-*.xml.",
            )
    return tuple(patterns)


def _effects(value: Any) -> dict[str, str]:
    effects = _mapping("treescribe.effects", value)
    for target, effect in effects.items():
        _choice(f"effects.{target}", effect, (READ_ONLY, ADDITIVE, DESTRUCTIVE))
    return effects
