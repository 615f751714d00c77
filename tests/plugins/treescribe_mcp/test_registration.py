"""What ``treescribe mcp --print-config`` prints is what clients take, and starts the server."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from mcp_clients import Connect

pytestmark = pytest.mark.once

TREESCRIBE = shutil.which("treescribe", path=str(Path(sys.executable).parent)) or "treescribe"


def printed(*words: str) -> str:
    command = [TREESCRIBE, "mcp", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def words_for(client: str, *options: str) -> list[str]:
    """The command that a client would start."""
    text = printed("--print-config", client, *options).partition("\n")[2]
    if client == "claude":
        words = shlex.split(text)
        assert words[:7] == ["claude", "mcp", "add", "--scope", "user", "treescribe", "--"]
        return words[7:]
    if client == "vscode":
        code, add, entry = shlex.split(text)
        assert (code, add) == ("code", "--add-mcp")
        found = json.loads(entry)
    elif client == "codex":
        found = tomllib.loads(text)["mcp_servers"]["treescribe"]
    else:
        (servers,) = json.loads(text).values()
        found = servers["treescribe"]
    return [found["command"], *found["args"]]


@pytest.mark.anyio
@pytest.mark.parametrize("client", ["claude", "codex", "vscode", "cursor", "zed"])
async def test_what_a_client_is_told_starts_the_server(client: str, connect: Connect) -> None:
    words = words_for(client, "--max-effect", "read-only")
    assert words[-3:] == ["mcp", "--max-effect", "read-only"]
    async with connect(command=words) as server:
        assert "history_list" in {tool.name for tool in (await server.client.list_tools()).tools}


def test_all_clients_are_told_of_at_once() -> None:
    text = printed("--print-config")
    for name in ("Claude Code", "Codex", "VS Code", "Cursor", "Zed"):
        assert f"# {name}: " in text


def test_printing_needs_no_sdk() -> None:
    code = "import sys; from treescribe_mcp.command import main; main(['--print-config', 'zed']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"mcp", "pydantic", "asyncio", "invoke", "anyio"}


@pytest.mark.parametrize("words", [[], ["--serve"], ["--http", "127.0.0.1:0", "--root", "/"]])
def test_without_the_sdk_it_says_what_to_install(words: list[str]) -> None:
    code = f"import sys; sys.modules['mcp'] = None; from treescribe_mcp.command import main; sys.exit(main({words}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "pip install 'treescribe[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr
