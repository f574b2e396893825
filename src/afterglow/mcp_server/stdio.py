"""MCP over the standard input and output of a process that the client has started."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from afterglow.mcp_server.caller import Caller
from afterglow.mcp_server.pipes import Input, Output, claimed
from afterglow.mcp_server.server import SessionMessage, make, no_message, read, types
from afterglow.memory import Memory

FINISH_SECONDS_MAX = 5
"""So long what was asked before the input ended is still answered."""

_log = logging.getLogger(__name__)


async def serve(memory: Memory, caller: Caller) -> None:
    """Answer until the input ends."""

    async def who(_: Any) -> Caller:
        return caller

    server = make(memory, who)
    incoming_fd, outgoing_fd = claimed()
    unanswered = _Unanswered()
    lines = Input(incoming_fd)
    outgoing = _Outgoing(Output(outgoing_fd), lines, unanswered)
    incoming = _Incoming(lines, outgoing, unanswered)
    try:
        await server.run(incoming, outgoing, server.create_initialization_options())
    except ExceptionGroup:
        if _is_told_to_stop():  # what the SDK's tasks say of being broken off is nothing new
            raise asyncio.CancelledError from None
        raise


def _is_told_to_stop() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _Unanswered:
    """The requests that are not answered yet."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._none = asyncio.Event()
        self._none.set()

    def add(self, request: str | int) -> None:
        self._ids.add(request)
        self._none.clear()

    def remove(self, request: Any) -> None:
        self._ids.discard(request)
        if not self._ids:
            self._none.set()

    async def wait(self, seconds: float) -> None:
        """Wait until all are answered, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._none.wait()


class _Closing:
    """What the SDK wants of a stream beside its messages: it closes it, and there is nothing to close."""

    async def aclose(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class _Outgoing(_Closing):
    """Messages to the client. When it reads no more, the input is over too."""

    def __init__(self, output: Output, lines: Input, unanswered: _Unanswered) -> None:
        self._output = output
        self._lines = lines
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        await self.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._unanswered.remove(message.id)

    async def write(self, line: bytes) -> None:
        try:
            await self._output.write(line)
        except OSError as error:
            _log.info("the client reads no more: %s", error)
            self._lines.end()


class _Incoming(_Closing):
    """Messages from the client. A line that is none is answered as such, and passed over."""

    def __init__(self, lines: Input, outgoing: _Outgoing, unanswered: _Unanswered) -> None:
        self._lines = lines
        self._outgoing = outgoing
        self._unanswered = unanswered

    def __aiter__(self) -> _Incoming:
        return self

    async def __anext__(self) -> SessionMessage:
        while (line := await self._lines.line()) is not None:
            if not line.strip():
                continue
            try:
                message = read(line)
            except ValueError:
                await self._outgoing.write(no_message())
                continue
            self._note(message)
            return SessionMessage(message)
        await self._unanswered.wait(FINISH_SECONDS_MAX)
        raise StopAsyncIteration

    async def receive(self) -> SessionMessage:
        return await anext(self)

    def _note(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._unanswered.remove((message.params or {}).get("requestId"))
