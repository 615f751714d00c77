"""The server on standard input and output: one client, which names directories."""

from __future__ import annotations

import gc
import os
import signal
from typing import Any

import anyio
from treescribe.collector import collector_paused

from treescribe_mcp.options import Options


def main(options: Options) -> int:
    """Serve until the client closes our standard input, or a signal ends us; no run outlives that."""
    anyio.run(_serve, options)
    return 0


async def _serve(options: Options) -> None:
    with collector_paused():
        from mcp.server.stdio import stdio_server

        server = _make_server(options)
    gc.freeze()  # what was imported stays, and needs no looking through
    async with anyio.create_task_group() as group:
        group.start_soon(_end_by_signal, group.cancel_scope)
        async with stdio_server() as (read, write):
            await server.run(read, write, _what_changes(server))
        group.cancel_scope.cancel()


def _make_server(options: Options) -> Any:
    from treescribe.programs import Programs, use_programs, without_settings

    from treescribe_mcp.build import build
    from treescribe_mcp.faces import Directories
    from treescribe_mcp.server import Tools, all_tools, make_server, selected
    from treescribe_mcp.slots import Slots

    use_programs(Programs(options.program, without_settings(os.environ)))
    tools = selected(all_tools(Slots(options.slots), allow_exec=True), options.toolsets, options.max_effect)
    served = Tools(tools, Directories(), build())
    served.listed()
    return make_server(served)


def _what_changes(server: Any) -> Any:
    """What the handshake says: the list of tools may change, as the relay tells where treescribe is replaced."""
    from mcp.server.lowlevel import NotificationOptions

    return server.create_initialization_options(NotificationOptions(tools_changed=True))


async def _end_by_signal(scope: Any) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            scope.cancel()
            return
