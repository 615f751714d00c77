"""``treescribe mcp``: the relay, which needs little, or what the command line says instead."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from treescribe.errors import TreescribeError
from treescribe.saying import say

from treescribe_mcp import options

REFUSED = 2


def main(words: list[str]) -> int:
    """Run the command line after ``mcp``; returns the exit code."""
    told = options.read(words)
    try:
        return _serve(told, words)
    except TreescribeError as error:
        say(f"treescribe: {error}")
        return REFUSED


def _serve(told: options.Options, words: list[str]) -> int:
    if told.print_config:
        from treescribe_mcp import registration

        registration.print_config(told.print_config, words)
        return 0
    if find_spec("mcp") is None:
        raise TreescribeError("treescribe mcp needs the MCP SDK.", "Install it with: pip install 'treescribe[mcp]'")
    if told.http:
        from treescribe_mcp import http

        return http.main(told)
    if told.serve:
        from treescribe_mcp import stdio

        return stdio.main(told)
    return _relay([sys.executable, "-m", "treescribe_mcp", "--serve", *words])


def _relay(command: list[str]) -> int:
    """Start the server, which takes its time, before we import what relaying to it needs."""
    import subprocess

    first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    from treescribe_mcp.relay import Relay

    return Relay(command, first).run()
