"""The MCP door in tests: the official client in the same process, and messages over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx
from mcp import Client

from afterglow import Binding, Memory
from afterglow.mcp_server.caller import Caller
from afterglow.mcp_server.server import make
from afterglow.store.access import AccessScope
from tests.kit.records import KATE
from tests.kit.web import PROTECTION

READING = {"context", "file_list", "file_read", "memory_search", "get_all_summaries", "digest", "health"}
WRITING = {"add_turn", "sunset", "forget"}
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
PATH = f"/mcp?owner={quote(KATE.owner, safe='')}"


@asynccontextmanager
async def client_of(memory: Memory, binding: Binding = KATE, *, may: AccessScope = "owner") -> AsyncIterator[Client]:
    async def who(_: Any) -> Caller:
        return Caller(binding=binding, may=may)

    async with Client(make(memory, who)) as client:
        yield client


async def asked(client: Client, tool: str, *, fails: bool = False, **arguments: Any) -> str:
    """The text of a tool's answer; `fails` where it is to be an error."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error == fails, result.content
    (content,) = result.content
    assert content.type == "text"
    assert "Traceback" not in content.text
    return content.text


# --- over HTTP


def message(method: str = "tools/list", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return message("tools/call", name=tool, arguments=arguments)


async def post(client: httpx.AsyncClient, body: Any, path: str = PATH, **headers: str) -> httpx.Response:
    answer = await client.post(path, json=body, headers={**ACCEPT, **headers})
    for name, value in PROTECTION.items():
        assert answer.headers.get_list(name) == [value], name
    assert not [name for name in answer.headers if name.startswith(("access-control", "mcp-session"))]
    assert "Traceback" not in answer.text
    return answer


def text_of(answer: httpx.Response) -> str:
    """What a tool answered over HTTP."""
    return answer.json()["result"]["content"][0]["text"]
