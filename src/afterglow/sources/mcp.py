"""A tool of an MCP server, started over stdio or reached over streamable HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

from afterglow.errors import MissingPackage, SourceError
from afterglow.sources import Window
from afterglow.sources.addresses import Access
from afterglow.sources.patience import seconds_left
from afterglow.sources.questions import question

try:
    from mcp import Client, MCPError, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import CallToolResult, TextContent

    from afterglow.sources.fetch import client
except ImportError:
    raise MissingPackage(
        "a tool of an MCP server needs the package mcp; install it with: pip install '.[sources]' in Afterglow's folder"
    ) from None

BYTES_MAX = 4 * 1024 * 1024
PAGES_MAX = 20

_NAMES = {
    "from": ("from", "from_timestamp", "start", "start_time", "since", "time_min", "timeMin", "begin"),
    "to": ("to", "to_timestamp", "end", "end_time", "until", "time_max", "timeMax"),
    "now": ("now", "current_time"),
    "request": ("request", "query", "question", "message", "text", "input"),
    "prompt": ("prompt", "instructions"),
    "tokens_max": ("tokens_max", "max_tokens"),
}
"""How tools call what we have to say."""


class McpTool:
    """Calls one tool, with those of our arguments that it has."""

    def __init__(
        self,
        tool: str,
        *,
        address: str | None = None,
        command: Sequence[str] = (),
        access: Access | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        assert bool(address) != bool(command), "an address or a command"
        self._tool = tool
        self._address = address
        self._command = tuple(command)
        self._access = access or Access()
        self._environ = dict(environ or {})

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        asked = question(window, prompt, tokens_max)
        try:
            result = await self._call(asked)
        except ExceptionGroup as group:  # what the client's own tasks raise comes up in groups
            raise _told(self._tool, _first(group)) from None
        except (MCPError, OSError, ValueError) as error:
            raise _told(self._tool, error) from None
        return _text(self._tool, result)

    async def _call(self, asked: Mapping[str, Any]) -> CallToolResult:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(self._client(stack))
            schema = await _schema(server, self._tool)
            return await server.call_tool(self._tool, arguments(schema, asked))

    def _client(self, stack: AsyncExitStack) -> Client:
        wait = seconds_left()
        if self._address is not None:
            web = client(self._access, bytes_max=BYTES_MAX)
            stack.push_async_callback(web.aclose)
            return Client(streamable_http_client(self._address, http_client=web), read_timeout_seconds=wait)
        server = StdioServerParameters(command=self._command[0], args=list(self._command[1:]), env=self._environ)
        silent = stack.enter_context(Path(os.devnull).open("w"))  # noqa: SIM115 - the stack closes it
        return Client(stdio_client(server, errlog=silent), read_timeout_seconds=wait)


def arguments(schema: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """What we have to say, under the names of the tool's own input schema; or SourceError where it demands more."""
    has: Mapping[str, Any] = schema.get("properties") or {}
    given = {next((name for name in names if name in has), ""): asked[key] for key, names in _NAMES.items()}
    given.pop("", None)
    demanded: Sequence[str] = schema.get("required") or ()
    if missing := [name for name in demanded if name not in given]:
        raise SourceError(f"the tool demands {', '.join(missing)}, which a source is not told; choose another tool")
    return given


async def _schema(server: Client, tool: str) -> Mapping[str, Any]:
    cursor: str | None = None
    names: list[str] = []
    for _ in range(PAGES_MAX):
        page = await server.list_tools(cursor=cursor)
        for found in page.tools:
            if found.name == tool:
                return found.input_schema
            names.append(found.name)
        if not (cursor := page.next_cursor):
            break
    raise SourceError(f"the server has no tool {tool!r}; it has: {', '.join(names[:20]) or 'none'}")


def _text(tool: str, result: CallToolResult) -> str:
    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    if result.is_error:
        raise SourceError(f"the tool {tool!r} failed: {' '.join(texts) or 'it does not say why'}")
    if not texts and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(texts)


def _told(tool: str, error: Exception) -> SourceError:
    if isinstance(error, SourceError):
        return error
    return SourceError(f"the tool {tool!r} cannot be called: {str(error) or type(error).__name__}")


def _first(group: ExceptionGroup[Exception]) -> Exception:
    inner = group.exceptions[0]
    return _first(cast("ExceptionGroup[Exception]", inner)) if isinstance(inner, ExceptionGroup) else inner
