"""The MCP inspector's command line, from npm, on `afterglow mcp` and on a server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit.mcp_client import READING, WRITING
from tests.kit.records import KATE
from tests.kit.servers import add_token, starting

pytestmark = [pytest.mark.spec("DOOR-4"), pytest.mark.whole]

INSPECTOR = ["npx", "--yes", "--prefer-offline", "@modelcontextprotocol/inspector@2.12.0", "--cli"]
PATIENCE_SECONDS = 180


@pytest.fixture(scope="module", autouse=True)
def there() -> None:
    """Leave these tests out where the inspector cannot be had."""
    if shutil.which("npx") is None:
        pytest.skip(
            "npx is not here, so what the MCP inspector does over stdio and HTTP is left out; install Node.js to have it"
        )
    try:
        found = subprocess.run([*INSPECTOR, "--help"], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not answer in time, so the MCP inspector is left out")
    if found.returncode:
        pytest.skip(f"npm has no MCP inspector for us, so it is left out: {found.stderr.strip()[-200:]}")


def inspect(*words: str, code: int = 0) -> Any:
    own = {**os.environ, "MCP_CATALOG_PATH": os.devnull}
    patience = ["--connect-timeout", str(1000 * PATIENCE_SECONDS // 3)]  # on a busy machine a server is slow to start
    command = [*INSPECTOR, *words, *patience]
    found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=own)
    assert found.returncode == code, (found.returncode, found.stdout, found.stderr)
    return json.loads(found.stdout) if found.stdout else found.stderr


def over_stdio(folder: Path) -> list[str]:
    options = ["-e", f"AFTERGLOW_DATA_DIR={folder}", "-e", f"AFTERGLOW_MCP__OWNER={KATE.owner}"]
    return [*options, sys.executable, "-m", "afterglow", "mcp"]


def arguments(**given: str) -> list[str]:
    return [word for name, value in given.items() for word in ("--tool-arg", f"{name}={value}")]


def use(server: list[str]) -> None:
    """What a person does who tries it out."""
    tools = inspect(*server, "--method", "tools/list", "--strict")["tools"]  # it looks at the schemas, too
    assert {tool["name"] for tool in tools} == READING | WRITING
    called = [*server, "--method", "tools/call", "--tool-name"]
    added = inspect(*called, "add_turn", *arguments(role="user", text="I like the window seat.", session="s"))
    assert added["structuredContent"]["seq"] == 1
    found = inspect(*called, "memory_search", *arguments(query="window", limit="5"))
    assert "window seat" in found["content"][0]["text"]
    wrong = inspect(*called, "add_turn", *arguments(role="owner", text="x"), code=5)
    assert wrong["isError"] and "role: input should be" in wrong["content"][0]["text"]
    assert [each["uri"] for each in inspect(*server, "--method", "resources/list")["resources"]][:1] == [
        "afterglow://facts"
    ]
    assert {each["name"] for each in inspect(*server, "--method", "prompts/list")["prompts"]} == {"recap", "handover"}


def test_the_inspector_uses_it_over_stdio(tmp_path: Path) -> None:
    use(over_stdio(tmp_path))


async def test_the_inspector_uses_it_over_http(tmp_path: Path) -> None:
    with starting(tmp_path) as start:
        server = start()
        secret = await add_token(tmp_path, owner=KATE.owner)
        words = [f"{server.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {secret}"]
        use(words)
        assert "auth" in inspect(*words[:3], "--method", "tools/list", code=3), "without a token it is not let in"
