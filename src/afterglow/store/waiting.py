"""Those who wait for work to become due, each on its own event loop, and how a thread wakes them."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Waiters:
    """The workers that wait. Waking is a hint: who sleeps through it looks again when its time is over."""

    def __init__(self) -> None:
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    async def wait(self, seconds: float) -> None:
        """Return when woken, or after so many seconds."""
        waiter = (asyncio.get_running_loop(), asyncio.Event())
        self._waiting.add(waiter)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(waiter[1].wait(), seconds)
        finally:
            self._waiting.discard(waiter)

    def wake(self) -> None:
        """Wake them all, from any thread."""
        for loop, event in list(self._waiting):
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(event.set)
