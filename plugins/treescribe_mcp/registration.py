"""How clients are told of the server: what to run, or to put into which file.

https://code.claude.com/docs/en/mcp, https://developers.openai.com/codex/mcp,
https://code.visualstudio.com/docs/copilot/customization/mcp-servers, https://cursor.com/docs/context/mcp,
https://zed.dev/docs/ai/mcp
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from typing import NamedTuple

NAME = "treescribe"


class Registration(NamedTuple):
    """How one client is told.

    :ivar where: a command to run, or a file to put `text` into.
    """

    client: str
    where: str
    text: str


def registrations(words: list[str]) -> dict[str, Registration]:
    """How each client is told of a server that is started by these words."""
    return {key: make(words) for key, make in _CLIENTS.items()}


def render(told: list[Registration]) -> str:
    """What is printed: a heading for each client, where it goes, and the text."""
    return "\n\n".join(f"# {one.client}: {one.where}\n{one.text}" for one in told)


def print_config(client: str, words: list[str]) -> None:
    """Print how a client is told of the server, or how all are.

    :param words: the command line after ``mcp``.
    """
    options = _without(words, "--print-config", CLIENTS)
    told = registrations(server_words(options))
    print(render([*told.values()] if client == "all" else [told[client]]))


def _without(words: list[str], flag: str, values: tuple[str, ...]) -> list[str]:
    """The words without a flag and the value that may follow it."""
    kept: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if word.partition("=")[0] != flag and not (before == flag and word in ("all", *values)):
            kept.append(word)
    return kept


def server_words(options: list[str]) -> list[str]:
    """The words that start the server: this very treescribe, by its absolute path."""
    script = os.path.abspath(sys.argv[0])
    program = [script] if os.path.basename(script) == NAME else [sys.executable, "-m", NAME]
    return [*program, "mcp", *options]


def _claude(words: list[str]) -> Registration:
    return Registration(
        "Claude Code", "run", shlex.join(["claude", "mcp", "add", "--scope", "user", NAME, "--", *words])
    )


def _codex(words: list[str]) -> Registration:
    command, *arguments = words
    lines = [f"[mcp_servers.{NAME}]", f"command = {json.dumps(command)}", f"args = {json.dumps(arguments)}"]
    return Registration("Codex", "add to ~/.codex/config.toml", "\n".join([*lines, "tool_timeout_sec = 3600"]))


def _vscode(words: list[str]) -> Registration:
    command, *arguments = words
    entry = {"name": NAME, "type": "stdio", "command": command, "args": arguments}
    return Registration("VS Code", "run", shlex.join(["code", "--add-mcp", json.dumps(entry)]))


def _cursor(words: list[str]) -> Registration:
    command, *arguments = words
    servers = {"mcpServers": {NAME: {"command": command, "args": arguments}}}
    return Registration("Cursor", "put into ~/.cursor/mcp.json", json.dumps(servers, indent=2))


def _zed(words: list[str]) -> Registration:
    command, *arguments = words
    servers = {"context_servers": {NAME: {"command": command, "args": arguments, "env": {}}}}
    return Registration("Zed", "put into ~/.config/zed/settings.json", json.dumps(servers, indent=2))


_CLIENTS: dict[str, Callable[[list[str]], Registration]] = {
    "claude": _claude,
    "codex": _codex,
    "vscode": _vscode,
    "cursor": _cursor,
    "zed": _zed,
}
CLIENTS = tuple(_CLIENTS)
