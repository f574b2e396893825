"""MCP over streamable HTTP, behind the gate of the HTTP door.

Every request stands for itself and is answered with one JSON document: there is no session to take over and no stream to be
broken off when the server stops. Who is calling, the gate has found out before it comes here.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

from afterglow.errors import BadInput, StoreUnavailable
from afterglow.mcp_server.caller import Caller, of_token
from afterglow.memory import Memory

PATH = "/mcp"
BODY_BYTES_MAX = 4 * 1024 * 1024
ANSWER_SECONDS_MAX = 300
_TOO_LONG = f"the body may have {BODY_BYTES_MAX:,} bytes; send less"


class Mcp:
    """What answers at /mcp, as an ASGI application. The SDK takes a second to load, so it waits for the first request."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._sdk: Any = None
        self._server: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._server is None:
            self._sdk = await asyncio.to_thread(import_module, "afterglow.mcp_server.server")
            self._server = self._sdk.make(self._memory, self._who)
        try:
            async with asyncio.timeout(ANSWER_SECONDS_MAX):
                await self._answer(scope, receive, send)
        except TimeoutError:
            raise StoreUnavailable(f"this was not done within {ANSWER_SECONDS_MAX} seconds; repeat it later") from None

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        body = await _body(receive)
        if body is None:
            await _refuse(send, 413, self._sdk.no_message(_TOO_LONG))
            return
        try:
            self._sdk.read(body)
        except ValueError:
            await _refuse(send, 400, self._sdk.no_message())
            return
        # A manager's tasks live as long as it runs, so one for each request leaves none behind.
        manager = self._sdk.StreamableHTTPSessionManager(app=self._server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, _again(body, receive), send)

    async def _who(self, request: Any) -> Caller:
        given = parse_qs(request.url.query, keep_blank_values=True)
        asked = given.pop("owner", [None])[0]
        if given:
            raise BadInput(
                f"{next(iter(given))[:80]}: the address takes owner alone, as in /mcp?owner=kate/telegram/ana"
            )
        access = request.state.access
        return await of_token(self._memory, access.token, access.owners, asked)


async def _body(receive: Any) -> bytes | None:
    """The whole body; None as soon as it is known to be too long, or where it breaks off."""
    gathered, more = bytearray(), True
    while more:
        message = await receive()
        gathered += message.get("body", b"")
        more = message.get("more_body", False)
        if message["type"] == "http.disconnect" or len(gathered) > BODY_BYTES_MAX:
            return None
    return bytes(gathered)


def _again(body: bytes, receive: Any) -> Any:
    """What gives the body once more, and then whatever else comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return waiting.pop() if waiting else await receive()

    return receive_again


async def _refuse(send: Any, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
