"""The tools of MCP servers, for the agent: started over stdio or reached over streamable HTTP, and held open.

Each server lives in a task of its own, which connects, waits until the connection is lost, and connects again after a wait
that grows. Whoever answers takes the tools that are there: a server that is not is told of once in the log, and delays
nobody for more than a few seconds.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import Context
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from afterglow.agent.tools import Tool, Used
from afterglow.errors import MissingPackage, SourceError
from afterglow.model import ToolSpec
from afterglow.settings import McpServerSettings
from afterglow.sources.addresses import Access

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult
    from mcp_types import Tool as Listed

_PATIENCE_SECONDS = 5.0
"""So long the first answers wait for a server that is starting; after that it is waited for no more."""
_CONNECT_SECONDS = 60.0
_CALL_SECONDS_MAX = 3600.0
"""Who calls a tool gives it up sooner, as the settings say; this is only no limit of its own."""
_AGAIN_SECONDS = 1.0
_AGAIN_MAX_SECONDS = 300.0
_STEADY_SECONDS = 60.0
"""A server that held for so long is tried again at once; one that keeps dying is left alone for longer and longer."""
_CLOSE_SECONDS = 5.0

_BYTES_MAX = 4 * 1024 * 1024
_PAGES_MAX = 20
_TOOLS_MAX = 100
_NAME_CHARS_MAX = 64
_DESCRIPTION_CHARS_MAX = 2_000
_SCHEMA_CHARS_MAX = 20_000
_ERROR_CHARS_MAX = 2_000

_log = logging.getLogger(__name__)


class McpTools:
    """The tools of all servers. Nothing is started before they are first asked for."""

    def __init__(self, servers: Mapping[str, McpServerSettings], environ: Mapping[str, str]) -> None:
        self._servers = {name: _Server(name, settings, environ) for name, settings in servers.items()}

    async def tools(self, servers: Collection[str] | None = None, *, taken: Collection[str] = ()) -> list[Tool]:
        """The tools that are there now, of these servers or of all, under names that are not `taken` and not the same."""
        wanted = [each for name, each in self._servers.items() if servers is None or name in servers]
        await asyncio.gather(*(each.begun() for each in wanted))
        names = set(taken)
        found: list[Tool] = []
        for server in wanted:
            for listed in server.listed:
                name = _unused(_clean(f"{server.name}_{listed.name}"), names)
                names.add(name)
                found.append(server.tool(name, listed))
        return found

    async def close(self) -> None:
        """Let go of all servers, and end those that were started."""
        await asyncio.gather(*(each.close() for each in self._servers.values()))


class _Server:
    """One server, and the task that holds it open."""

    def __init__(self, name: str, settings: McpServerSettings, environ: Mapping[str, str]) -> None:
        self.name = name
        self.listed: Sequence[Listed] = ()
        self._settings = settings
        self._environ = environ
        self._client: Client | None = None
        self._connecting = False
        self._holding: asyncio.Task[None] | None = None
        self._tried = asyncio.Event()
        self._lost = asyncio.Event()
        self._over = asyncio.Event()
        self._patient_until = 0.0
        self._told = ""

    async def begun(self) -> None:
        """See that it is being held; wait a little while it is started for the first time."""
        now = asyncio.get_running_loop().time
        if self._holding is None:
            self._patient_until = now() + _PATIENCE_SECONDS
            # Without the context of whoever asks first: it outlives them.
            self._holding = asyncio.create_task(self._hold(), context=Context())
        if not self._tried.is_set() and now() < self._patient_until:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._patient_until):
                    await self._tried.wait()
            if not self._tried.is_set():
                self._tell(f"it is not there after {_PATIENCE_SECONDS:g} seconds, and is waited for no longer")

    async def close(self) -> None:
        self._over.set()
        self._lost.set()
        if self._holding is None:
            return
        if not self._connecting:  # what is connected ends in peace; what is not may never be
            await asyncio.wait([self._holding], timeout=_CLOSE_SECONDS)
        self._holding.cancel()
        await asyncio.gather(self._holding, return_exceptions=True)

    def tool(self, name: str, listed: Listed) -> Tool:
        """A tool of it under this name."""

        async def run(arguments: Mapping[str, Any], used: Used) -> str:
            return _text(await self._call(listed.name, arguments))

        description = (listed.description or listed.title or listed.name)[:_DESCRIPTION_CHARS_MAX]
        return Tool(spec=ToolSpec(name=name, description=description, schema=_schema(listed)), run=run)

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        from mcp import MCPError
        from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

        client = self._client
        if client is None:
            raise SourceError(f"the server {self.name} is not there now; go on without it, or try again later")
        try:
            return await client.call_tool(tool, dict(arguments))
        except MCPError as error:
            if error.code not in (INVALID_PARAMS, METHOD_NOT_FOUND):
                self._lose(client, error)
            raise SourceError(f"the server {self.name} gave no answer: {_said(error)}") from None
        except Exception as error:  # noqa: BLE001 - the boundary: whatever a transport raises
            self._lose(client, error)
            raise SourceError(f"the server {self.name} gave no answer: {_said(error)}") from None

    def _lose(self, client: Client, error: Exception) -> None:
        """It is connected anew, unless that was done already."""
        if self._client is client:
            self._tell(f"it was lost: {_said(error)}")
            self._let_go()
            self._lost.set()

    def _let_go(self) -> None:
        """Nobody is offered its tools, also while it is still being left."""
        self._client, self.listed = None, ()

    async def _hold(self) -> None:
        now = asyncio.get_running_loop().time
        wait = _AGAIN_SECONDS
        while not self._over.is_set():
            began = now()
            try:
                await self._connected()
            except Exception as error:  # noqa: BLE001 - the boundary: whatever a server or the client does
                self._tell(f"it cannot be used: {_said(error)}")
                if isinstance(error, MissingPackage):
                    return
            finally:
                self._connecting = False
                self._let_go()
                self._tried.set()
            wait = _AGAIN_SECONDS if now() - began > _STEADY_SECONDS else min(2 * wait, _AGAIN_MAX_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._over.wait()

    async def _connected(self) -> None:
        """Connect, and stay until the connection is lost or nobody needs it any more. All of it happens in one task."""
        await asyncio.to_thread(_load)  # it takes a second, in which others go on
        self._lost = asyncio.Event()
        async with AsyncExitStack() as stack:
            self._connecting = True
            async with asyncio.timeout(_CONNECT_SECONDS):
                client = await stack.enter_async_context(self._opened(stack))
                self.listed = _usable(self.name, await _all_listed(client))
            self._connecting = False
            self._client, self._told = client, ""
            self._tried.set()
            _log.info("the MCP server %s is there, with %d tools", self.name, len(self.listed))
            await self._lost.wait()
            if self.listed and not self._over.is_set():
                self._tell("it ended by itself, and is started again")
            self._let_go()

    def _opened(self, stack: AsyncExitStack) -> Client:
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        from afterglow.sources.fetch import client

        given, password = self._settings, self._password()
        if given.address:
            web = client(Access(password=password, allow_private=given.allow_private), bytes_max=_BYTES_MAX)
            web.timeout = _CALL_SECONDS_MAX
            stack.push_async_callback(web.aclose)
            return Client(streamable_http_client(given.address, http_client=web))
        names = (*given.environment, *([given.password_env] if given.password_env else []))
        own = {name: self._environ[name] for name in names if name in self._environ}
        program = StdioServerParameters(command=given.command[0], args=list(given.command[1:]), env=own)
        silent = stack.enter_context(Path(os.devnull).open("w"))  # noqa: SIM115 - the stack closes it
        return Client(_watched(stdio_client(program, errlog=silent), self._lost))

    def _password(self) -> str | None:
        variable = self._settings.password_env
        if variable and not self._environ.get(variable):
            raise SourceError(
                f"the environment variable {variable}, which should hold its password, is not set; set it"
            )
        return self._environ[variable] if variable else None

    def _tell(self, why: str) -> None:
        """Say in the log why it is not there, once for each reason."""
        if why != self._told:
            self._told = why
            _log.warning("the tools of the MCP server %s are missing: %s", self.name, why)


def _load() -> None:
    try:
        for module in ("mcp.client.stdio", "mcp.client.streamable_http", "afterglow.sources.fetch"):
            import_module(module)
    except ImportError:
        raise MissingPackage(
            "the tools of an MCP server need the package mcp; install it with: pip install '.[sources]' in Afterglow's folder"
        ) from None


@asynccontextmanager
async def _watched(transport: Any, lost: asyncio.Event) -> AsyncGenerator[tuple[Any, Any]]:
    """The same transport, which says when what the server writes has come to its end: it is dead, though nobody asked it."""
    import anyio

    async with transport as (read, write):
        handed, received = anyio.create_memory_object_stream[Any](0)

        async def hand_on() -> None:
            async with handed:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    async for message in read:
                        await handed.send(message)
            lost.set()

        async with anyio.create_task_group() as group:
            group.start_soon(hand_on)
            try:
                yield received, write
            finally:
                group.cancel_scope.cancel()
                received.close()


async def _all_listed(client: Client) -> list[Listed]:
    found: list[Listed] = []
    cursor: str | None = None
    for _ in range(_PAGES_MAX):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        if not (cursor := page.next_cursor) or len(found) > _TOOLS_MAX:
            break
    return found


def _usable(server: str, listed: Sequence[Listed]) -> list[Listed]:
    """Those that a model can be told of: not too many, none with a schema that is longer than a conversation."""
    long = [each.name for each in listed if len(json.dumps(each.input_schema)) > _SCHEMA_CHARS_MAX]
    if long or len(listed) > _TOOLS_MAX:
        _log.warning(
            "the MCP server %s has %d tools, of which the first %d are offered, without those that need too many words: %s",
            *(server, len(listed), _TOOLS_MAX, ", ".join(long[:10]) or "none"),
        )
    return [each for each in listed[:_TOOLS_MAX] if each.name not in long]


def _schema(listed: Listed) -> Mapping[str, Any]:
    """The schema of its arguments; providers insist that it is an object's."""
    given = cast("Mapping[str, Any]", listed.input_schema or {})
    properties = given.get("properties")
    return {**given, "type": "object", "properties": properties if isinstance(properties, Mapping) else {}}


def _clean(name: str) -> str:
    """The name as every provider takes it."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:_NAME_CHARS_MAX]


def _unused(name: str, taken: Collection[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        end = f"_{number}"
        free = name[: _NAME_CHARS_MAX - len(end)] + end
    return free


def _text(result: CallToolResult) -> str:
    """What a tool said; SourceError where it says that it failed."""
    from mcp_types import TextContent

    texts = [part.text for part in result.content if isinstance(part, TextContent)]
    others = [part.type for part in result.content if not isinstance(part, TextContent)]
    if result.is_error:
        raise SourceError(f"it failed: {' '.join(texts)[:_ERROR_CHARS_MAX] or 'it does not say why'}")
    if not texts and result.structured_content is not None:
        texts = [json.dumps(result.structured_content, ensure_ascii=False)]
    shown = [*texts, *(f"[{kind}, which cannot be shown here]" for kind in others)]
    return "\n".join(shown)


def _said(error: BaseException) -> str:
    """What went wrong, in a line. What the client's own tasks raise comes up in groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, TimeoutError):
        return f"it did not answer in {_CONNECT_SECONDS:g} seconds"
    return " ".join((str(error) or type(error).__name__).split())[:_ERROR_CHARS_MAX]
