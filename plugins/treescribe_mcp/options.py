"""What ``treescribe mcp`` can be told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from treescribe.effects import ADDITIVE, DESTRUCTIVE, READ_ONLY

if TYPE_CHECKING:
    import argparse

SERVER_SETTINGS = "TREESCRIBE_MCP_"


class Options(NamedTuple):
    """The options, with their defaults.

    :ivar toolsets: which tools are served; none named: all.
    :ivar max_effect: tools of a stronger effect are not served.
    :ivar slots: how many runs go on at a time on this machine.
    :ivar program: the treescribe that makes runs, instead of the workspace's own.
    :ivar print_config: tell how clients are told of the server instead: all of them, or one.
    :ivar serve: be the server itself, and not the relay before it.
    :ivar http: the address of the HTTP server; empty for standard input and output. The rest is for it alone.
    :ivar root, workspaces: the registry: a folder, or ``ID=PATH`` separated by commas.
    :ivar hosts, origins: what may stand in the headers of these names, separated by commas.
    :ivar ready: the id of the workspace that ``/ready`` asks.
    :ivar allow_exec: whether ``exec``, and jobs of commands, are served.
    """

    toolsets: frozenset[str] = frozenset()
    max_effect: str = DESTRUCTIVE
    slots: int = 2
    program: str = ""
    print_config: str = ""
    serve: bool = False
    http: str = ""
    root: str = ""
    workspaces: str = ""
    hosts: str = ""
    origins: str = ""
    ready: str = ""
    allow_exec: bool = False


def default_slots() -> int:
    """As many runs at a time as there are processors, two at least."""
    return max(2, os.cpu_count() or 1)


def parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    """The command line of ``treescribe mcp``; each setting of the HTTP server may stand in the environment instead."""
    import argparse

    from treescribe_mcp.registration import CLIENTS

    made = argparse.ArgumentParser(
        prog="treescribe mcp",
        description="Serve treescribe's operations and projects' tasks to MCP clients, on standard input and output.",
        epilog="The HTTP server's clients show a token: TREESCRIBE_MCP_TOKEN, or TREESCRIBE_MCP_TOKEN_FILE. "
        "Its other settings may be given as TREESCRIBE_MCP_ROOT and so on, too.",
    )
    made.add_argument("--toolsets", default="", metavar="A,B", help="serve only these: run, history, …")
    made.add_argument(
        "--max-effect",
        default=DESTRUCTIVE,
        choices=(READ_ONLY, ADDITIVE, DESTRUCTIVE),
        help="serve no tool of a stronger effect",
    )
    made.add_argument("--slots", type=int, default=default_slots(), help="runs at a time on this machine")
    made.add_argument("--program", default="", metavar="PATH", help="the treescribe that makes runs, from the root")
    made.add_argument(
        "--print-config",
        nargs="?",
        const="all",
        default="",
        choices=("all", *CLIENTS),
        metavar="CLIENT",
        help=f"print how to register this server, with its other options, and end: {', '.join(CLIENTS)}",
    )
    made.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    http = made.add_argument_group("over HTTP")
    http.add_argument("--http", default="", metavar="HOST:PORT", help="serve many clients there instead")
    for name, metavar, text in _HTTP_SETTINGS:
        default = environment.get(SERVER_SETTINGS + name.upper(), "")
        http.add_argument(f"--{name}", default=default, metavar=metavar, help=text)
    http.add_argument("--allow-exec", action="store_true", help="serve exec, and jobs of commands")
    return made


_HTTP_SETTINGS = (
    ("root", "FOLDER", "the workspaces are its children"),
    ("workspaces", "ID=PATH,…", "or these"),
    ("hosts", "NAME,…", "names of this server, as in the Host header; loopback has its own"),
    ("origins", "ORIGIN,…", "web pages that may ask"),
    ("ready", "ID", "the workspace that /ready asks"),
)


def read(words: list[str], environment: Mapping[str, str] = os.environ) -> Options:
    """The options that a command line gives; ends the process where it is wrong, as argparse does."""
    if words in ([], ["--serve"]) and not any(name.startswith(SERVER_SETTINGS) for name in environment):
        return Options(slots=default_slots(), serve=bool(words))  # the usual way, without what it takes to read others
    told = parser(environment).parse_args(words)
    toolsets = frozenset(name for name in told.toolsets.split(",") if name)
    values = {name: value for name, value in vars(told).items() if name in Options._fields}
    return Options(**values | {"toolsets": toolsets, "slots": max(1, told.slots)})
