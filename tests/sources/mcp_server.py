"""A real MCP server for the tests: `python mcp_server.py [port]`, over stdio or streamable HTTP."""

from __future__ import annotations

import json
import os
import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("test")


@server.tool()
def changes(since: str, until: str, query: str, limit: int = 5) -> str:
    """What changed."""
    return json.dumps({"since": since, "until": until, "query": query, "limit": limit})


@server.tool()
def told(prompt: str, now: str) -> list[str]:
    """What it is told, in two parts, and what it sees of the environment."""
    return [prompt, now, os.environ.get("TOKEN", "no token"), os.environ.get("OTHER_SECRET", "no secret")]


@server.tool()
def fails() -> str:
    """Always."""
    raise ToolError("the database is away")


@server.tool()
def demands(account: str) -> str:
    """Something that nobody is told."""
    return account


@server.tool()
async def hangs() -> str:
    """For ever."""
    await anyio.sleep_forever()
    return ""


@server.tool()
def huge() -> str:
    """More than anybody wants."""
    return "x" * 8_000_000


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
