"""Handing an answer over: to whoever awaits a handle, to a caller's callback, or by the agent's way of sending."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator
from inspect import isawaitable
from typing import Any

from afterglow.store.inbox import Waiting
from afterglow.telling import Deliver, Sent
from afterglow.turns import Binding

OnReply = Callable[[str], Awaitable[Any] | Any]
"""What gets the answer."""
_DELIVER_SECONDS = 60.0
_log = logging.getLogger(__name__)


class Handle:
    """A message that waits. Awaited it gives the answer, or raises what went wrong; then it is tried again all the same."""

    def __init__(
        self, message: Waiting, reply: OnReply | None, take_back: Callable[[Waiting], Awaitable[bool]]
    ) -> None:
        self.message = message
        self.reply = reply
        self._take_back = take_back
        self.answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.answered.add_done_callback(_seen)

    def __await__(self) -> Generator[Any, None, str]:
        return asyncio.shield(self.answered).__await__()

    async def cancel(self) -> bool:
        """Have it not answered, or break off its answer; False where it was answered already. What was said stays."""
        return await self._take_back(self.message)

    @property
    def hears(self) -> bool:
        """Whether the answer still reaches somebody here; who awaited it and was told of a failure went away."""
        return self.reply is not None or not self.answered.done()

    def give(self, text: str) -> None:
        if not self.answered.done():
            self.answered.set_result(text)

    def fail(self, error: Exception) -> None:
        """It was tried in vain, or is not this process's any more."""
        if not self.answered.done():
            self.answered.set_exception(error)


def _seen(answered: asyncio.Future[str]) -> None:
    """Nobody need await a handle: an error that nobody looks at is no warning."""
    if not answered.cancelled():
        answered.exception()


def through(deliver: Deliver, binding: Binding) -> OnReply:
    """What sends an answer to somebody, within a while."""

    async def hear(text: str) -> None:
        async with asyncio.timeout(_DELIVER_SECONDS):
            await Sent().all(deliver, binding, text)

    return hear


async def heard(hear: OnReply, text: str, what: str = "a reply") -> None:
    """The text is given to this; where that fails it is only said so."""
    try:
        given = hear(text)
        if isawaitable(given):
            await given
    except Exception:  # noqa: BLE001 - the boundary: what somebody's callback raises; the log has the text
        _log.warning("%s could not be handed over; it is in the log", what, exc_info=True)
