"""A real MCP server for the tests: `python mcp_server.py [port]`, over stdio or streamable HTTP."""

from __future__ import annotations

import os
import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("test")


@server.tool()
def weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    return f"rain in {city} for {days} days"


@server.tool()
def parts() -> list[str]:
    """Something in two parts."""
    return ["one", "two"]


@server.tool()
def sees(names: list[str]) -> str:
    """What it sees of the environment."""
    return ",".join(os.environ.get(name, "nothing") for name in names)


@server.tool()
def fails() -> str:
    """Always."""
    raise ToolError("the barometer is broken")


@server.tool()
async def hangs() -> str:
    """For ever."""
    await anyio.sleep_forever()
    return ""


@server.tool()
def huge(size: int) -> str:
    """More than anybody wants."""
    return "x" * size


@server.tool()
def dies() -> str:
    """And takes the server with it."""
    os._exit(3)


@server.tool()
def which() -> str:
    """Which process this is."""
    return str(os.getpid())


@server.tool(name="odd name/with.dots")
def odd() -> str:
    """A name that no provider takes."""
    return "odd"


@server.tool(name="odd name_with.dots")
def odd_too() -> str:
    """And one that becomes the same."""
    return "odd too"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
