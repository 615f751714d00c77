"""The workspaces that an operator serves over HTTP: ids, and nothing of where they are."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from treescribe.errors import InvalidInput, TreescribeError
from treescribe.workspace import MARKERS, is_worktree

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Registry(Protocol):
    """Where the workspaces are, by id."""

    def workspaces(self) -> dict[str, str]:
        """Every id, and its directory."""


class Map:
    """Workspaces that the operator names one by one.

    :raises InvalidInput: where an id or a directory cannot be used.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        for name, place in places.items():
            if not _ID.fullmatch(name):
                raise InvalidInput(
                    f"{name!r} cannot be the id of a workspace.", "Letters, digits and . _ - are allowed."
                )
            if not os.path.isabs(place) or not os.path.isdir(place):
                raise InvalidInput(f"the workspace {name} is no directory: {place}.", "Give an absolute path.")
        self._places = dict(places)

    def workspaces(self) -> dict[str, str]:
        return self._places


class Root:
    """The children of one folder that are git worktrees or known to a backend; looked up anew for each call.

    :raises InvalidInput: where there is no such folder.
    """

    def __init__(self, folder: str) -> None:
        if not os.path.isabs(folder) or not os.path.isdir(folder):
            raise InvalidInput(f"the root of the workspaces is no directory: {folder}.", "Give an absolute path.")
        self._folder = folder

    def workspaces(self) -> dict[str, str]:
        real = os.path.realpath(self._folder)
        with os.scandir(self._folder) as entries:
            names = sorted(entry.name for entry in entries if _ID.fullmatch(entry.name) and entry.is_dir())
        places = {name: os.path.join(self._folder, name) for name in names}
        return {name: place for name, place in places.items() if _is_below(place, real) and _is_workspace(Path(place))}


def _is_below(place: str, folder: str) -> bool:
    """Whether a place is where it seems to be: a link may lead anywhere."""
    return os.path.realpath(place) == os.path.join(folder, os.path.basename(place))


def _is_workspace(place: Path) -> bool:
    return is_worktree(place) or any((place / marker).exists() for marker in MARKERS)


class Ids:
    """How clients over HTTP name workspaces: a `treescribe_mcp.faces.Face`."""

    argument = "workspace_id"

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": "Which workspace to act in: an id that the tool workspaces lists."}

    def renamed(self, directory: str) -> str:
        return directory.replace("directory", "workspace_id")

    def directory(self, value: str) -> str:
        """The directory of an id; nothing but an exact id names one."""
        place = self._registry.workspaces().get(value)
        if place is None:
            raise InvalidInput("there is no workspace of this id.", "The tool workspaces lists the ids.")
        return place

    def ids(self) -> list[str]:
        """Every id, sorted."""
        return sorted(self._registry.workspaces())

    def shown(self, answer: Any) -> Any:
        """An answer in which workspaces have their ids, wherever a path to one stands."""
        places = sorted(self._registry.workspaces().items(), key=lambda pair: -len(pair[1]))
        roots = [(spelt, name) for name, place in places for spelt in {place, os.path.realpath(place)}]
        return _replaced(answer, roots)

    def text(self, text: str) -> str:
        """A message without the places of workspaces."""
        shown: str = self.shown(text)
        return shown


def _replaced(value: Any, roots: list[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for place, name in roots:
            if place in value:
                value = re.sub(re.escape(place) + r"(?![\w-]|\.\w)", name, value)
        return value
    if isinstance(value, list | tuple):
        return [_replaced(part, roots) for part in value]
    if isinstance(value, dict):
        return {key: _replaced(part, roots) for key, part in value.items()}
    return value


def read_map(text: str) -> dict[str, str]:
    """Workspaces written as ``ID=PATH``, separated by commas.

    :raises InvalidInput: where a part is written otherwise, or an id is given twice.
    """
    places: dict[str, str] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        name, sign, place = part.partition("=")
        if not sign or name in places:
            raise InvalidInput(f"workspaces are written ID=PATH,ID=PATH, each id once: {part!r}.")
        places[name] = place
    return places


def make_registry(root: str, workspaces: str) -> Registry:
    """The registry that the operator's settings describe.

    :raises TreescribeError: where they describe none, or two.
    """
    if bool(root) == bool(workspaces):
        raise TreescribeError(
            "the HTTP server needs to know its workspaces: a root folder or a map, one of the two.",
            "Give --root FOLDER, or --workspaces ID=PATH,ID=PATH.",
        )
    return Root(root) if root else Map(read_map(workspaces))
