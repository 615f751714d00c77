"""How clients name workspaces: by a directory (stdio), or by an id out of the operator's registry (HTTP)."""

from __future__ import annotations

from typing import Any, Protocol

from treescribe.errors import InvalidInput
from treescribe.workspace import Workspace


class Face(Protocol):
    """The way in which one server's clients name workspaces.

    :ivar argument: the name of the argument that names one.
    """

    argument: str

    def schema(self) -> dict[str, Any]:
        """The JSON schema of that argument."""

    def renamed(self, directory: str) -> str:
        """The name of another argument that is a directory."""

    def directory(self, value: str) -> str:
        """The directory that a value names.

        :raises TreescribeError: where there is none.
        """

    def shown(self, answer: dict[str, Any]) -> dict[str, Any]:
        """An answer as these clients may see it."""

    def text(self, text: str) -> str:
        """A message as these clients may see it."""


class Directories:
    """Clients on this machine name absolute directories."""

    argument = "directory"

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "description": "Absolute path of the checkout to act in, or of a folder in it."}

    def renamed(self, directory: str) -> str:
        return directory

    def directory(self, value: str) -> str:
        return value

    def shown(self, answer: dict[str, Any]) -> dict[str, Any]:
        return answer

    def text(self, text: str) -> str:
        return text


def workspace_of(face: Face, arguments: dict[str, Any], build: str) -> tuple[str, Workspace]:
    """Take the workspace out of a call's arguments.

    :raises TreescribeError: saying what is wrong with it.
    """
    value = arguments.pop(face.argument, None)
    if value is None:
        raise InvalidInput(f"{face.argument} is missing: every call names its workspace.", f"(treescribe {build})")
    if not isinstance(value, str):
        raise InvalidInput(f"{face.argument}: a text is expected.", f"(treescribe {build})")
    directory = face.directory(value)
    return directory, Workspace.open(directory)
