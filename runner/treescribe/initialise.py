"""The operation ``init``: name `treescribe.Executor` in the invoke configuration that is there.

Only the file that invoke reads is written: another suffix beside it could shadow it. What is written is read back
and compared before it replaces the file.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from treescribe.errors import InvalidInput
from treescribe.settings import CONFIGURATION_SUFFIXES
from treescribe.terminal import Style
from treescribe.workspace import Workspace

EXECUTOR = "treescribe.Executor"
_BY_HAND = f"Add it by hand: under `tasks`, set `executor_class` to `{EXECUTOR}`."


class InitResult(BaseModel):
    """What `init` did. ``changed`` is false where the file said it already."""

    model_config = ConfigDict(frozen=True)

    workspace: str
    file: str
    changed: bool


def init(workspace: Workspace) -> InitResult:
    """Have plain inv record in this project, by naming treescribe.Executor in its invoke configuration.

    Writes into the invoke.yaml, .yml, .json or .py that is there, or a new invoke.yaml. Running it again changes
    nothing. From then on everyone who runs inv here needs treescribe installed.
    """
    candidates = [workspace.root / f"invoke.{suffix}" for suffix in CONFIGURATION_SUFFIXES]
    file = next((path for path in candidates if os.path.lexists(path)), candidates[0])
    before = _text_of(file)
    found, add = _FORMATS[file.suffix]
    configured = _executor_in(_read(file, before, found))
    if configured == EXECUTOR:
        return InitResult(workspace=str(workspace.root), file=str(file), changed=False)
    if configured is not None:
        raise InvalidInput(
            f"{file} names another executor class already: {configured}.",
            "The treescribe program records with it as it is. For plain inv, derive it from treescribe.Executor.",
        )
    after = add(before)
    expected = _with_executor(_read(file, before, found))
    if after is None or not _reads_as(file, after, found, expected):
        raise InvalidInput(f"{file} is written in a way that cannot be added to safely; it is unchanged.", _BY_HAND)
    _replace(file, after)
    return InitResult(workspace=str(workspace.root), file=str(file), changed=True)


def render(result: InitResult, style: Style) -> str:
    """What was done and what follows from it."""
    if not result.changed:
        return f"{result.file} names {EXECUTOR} already: plain inv records here."
    return (
        f"{result.file}: tasks.executor_class is {EXECUTOR}: plain inv records here too.\n"
        "Everyone who runs inv in this project needs treescribe from now on. To undo it, take that line out again.\n"
        "Agents are given treescribe by its MCP server, once for all projects: treescribe mcp --print-config"
    )


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}", "Mend it first; it is unchanged.") from error


def _reads_as(file: Path, text: str, found: Callable[[str], Any], expected: dict[str, Any]) -> bool:
    try:
        return _read(file, text, found) == expected
    except InvalidInput:
        return False


def _read(file: Path, text: str, found: Callable[[str], Any]) -> dict[str, Any]:
    try:
        data = found(text)
    except (
        Exception,
        SystemExit,
    ) as error:  # each format's parser has errors of its own, and a .py file can raise anything
        raise InvalidInput(f"{file} cannot be read: {error}", "Mend it first; it is unchanged.") from error
    data = {} if data is None else data
    if not isinstance(data, dict) or not isinstance(data.get("tasks") or {}, dict):
        raise InvalidInput(f"{file} is no invoke configuration: a mapping is expected; it is unchanged.", _BY_HAND)
    return data


def _executor_in(data: dict[str, Any]) -> Any:
    return (data.get("tasks") or {}).get("executor_class")


def _with_executor(data: dict[str, Any]) -> dict[str, Any]:
    return data | {"tasks": {**(data.get("tasks") or {}), "executor_class": EXECUTOR}}


def _replace(file: Path, text: str) -> None:
    """Write `text` in one step, keeping the file's mode, through a link where it is one."""
    target = Path(os.path.realpath(file))
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
        handle, staged = tempfile.mkstemp(prefix=f".{file.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode())
            os.chmod(staged, mode)
            os.replace(staged, target)
        except OSError:
            os.unlink(staged)
            raise
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}; it is unchanged.", _BY_HAND) from error


# -- formats: how a text is read, and how the setting is added to it (None: it cannot be) -------------------


def _read_yaml(text: str) -> Any:
    from invoke.util import yaml  # type: ignore[attr-defined]  # what invoke reads its configuration with

    return yaml.safe_load(text)  # type: ignore[no-untyped-call]


def _add_to_yaml(text: str) -> str | None:
    newline = _newline_of(text)
    section = re.search(r"^tasks:[ \t]*(?:#[^\r\n]*)?\r?$", text, re.MULTILINE)
    if section is None:
        if re.search(r"""^["']?tasks["']?[ \t]*:""", text, re.MULTILINE):  # all in one line
            return None
        gap = newline if text and not text.endswith("\n") else ""
        return f"{text}{gap}tasks:{newline}  executor_class: {EXECUTOR}{newline}"
    following = re.compile(r"(?:\r?\n[ \t]*(?:#[^\r\n]*)?)*\r?\n([ \t]+)\S").match(text, section.end())
    indent = following.group(1) if following else "  "
    line = f"{newline}{indent}executor_class: {EXECUTOR}"
    end = section.end() - (1 if text[section.start() : section.end()].endswith("\r") else 0)
    return text[:end] + line + text[end:]


def _newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _read_json(text: str) -> Any:
    return json.loads(text) if text.strip() else None


def _add_to_json(text: str) -> str:
    data = _with_executor((json.loads(text) if text.strip() else None) or {})
    indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    width = indent.group(1) if indent else 2
    return (json.dumps(data, indent=width, ensure_ascii=False) + "\n").replace("\n", _newline_of(text))


def _read_python(text: str) -> Any:
    """The settings that a ``.py`` configuration makes; its functions and classes are no settings."""
    names: dict[str, Any] = {"__name__": "invoke_configuration"}
    exec(compile(text, "invoke.py", "exec"), names)
    return {
        name: value
        for name, value in names.items()
        if not name.startswith("__") and not isinstance(value, type(os)) and not callable(value)
    }


def _add_to_python(text: str) -> str | None:
    if re.search(r"^tasks\b", text, re.MULTILINE):
        return None
    newline = _newline_of(text)
    gap = "" if not text or text.endswith("\n") else newline
    return f'{text}{gap}tasks = {{"executor_class": "{EXECUTOR}"}}{newline}'


_FORMATS: dict[str, tuple[Callable[[str], Any], Callable[[str], str | None]]] = {
    ".yaml": (_read_yaml, _add_to_yaml),
    ".yml": (_read_yaml, _add_to_yaml),
    ".json": (_read_json, _add_to_json),
    ".py": (_read_python, _add_to_python),
}
