"""A memory and its agent in an event loop behind the thread that waits for keys.

Ctrl-C reaches the first thread alone, so that it stops what is waited for there and nothing else: what is folded behind the
replies goes on, and so do the timers, while nobody types.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")
E = TypeVar("E")
H = TypeVar("H")

_STOP_SECONDS = 5.0
"""How long somebody who pressed Ctrl-C waits until what was under way is wound up."""
_CLOSE_SECONDS = 15.0


class Backstage(Generic[H]):
    """Something that is open in an event loop of its own, and what is done with it from here."""

    def __init__(self, loop: asyncio.AbstractEventLoop, held: H) -> None:
        self._loop = loop
        self.held = held

    def run(self, act: Callable[[H], Awaitable[T]]) -> T:
        """Do this there, and wait for it. Who is interrupted stops it."""

        async def whole() -> T:
            return await act(self.held)

        with self._under_way(whole()) as done:
            return done.result()

    def hear(self, act: Callable[[H, Callable[[E], None]], Coroutine[Any, Any, None]]) -> Generator[E]:
        """Do this there, and give what it says as it says it. Who stops listening stops it."""
        said: SimpleQueue[tuple[E] | None] = SimpleQueue()
        with self._under_way(act(self.held, lambda event: said.put((event,)))) as done:
            done.add_done_callback(lambda _: said.put(None))
            while (event := said.get()) is not None:
                yield event[0]
            done.result()

    def begin(self, work: Callable[..., object], *given: object) -> None:
        """Have this done in a thread, for which nobody waits; what goes wrong is seen by who needs it later."""
        self._loop.call_soon_threadsafe(lambda: self._loop.run_in_executor(None, partial(_quietly, work, *given)))

    def end(self, over: asyncio.Event) -> None:
        """Let the loop know that it is over."""
        self._loop.call_soon_threadsafe(over.set)

    @contextmanager
    def _under_way(self, act: Coroutine[Any, Any, T]) -> Generator[Future[T]]:
        started: Future[asyncio.Task[T]] = Future()
        done: Future[T] = Future()

        def ended(task: asyncio.Task[T]) -> None:
            if task.cancelled():
                done.set_exception(asyncio.CancelledError())
            elif error := task.exception():
                done.set_exception(error)
            else:
                done.set_result(task.result())

        def start() -> None:
            task = self._loop.create_task(act)
            task.add_done_callback(ended)
            started.set_result(task)

        self._loop.call_soon_threadsafe(start)
        try:
            yield done
        finally:
            if not done.done():
                self._loop.call_soon_threadsafe(started.result().cancel)
                wait([done], timeout=_STOP_SECONDS)


def _quietly(work: Callable[..., object], *given: object) -> None:
    with suppress(Exception):
        work(*given)


@contextmanager
def backstage(opening: AbstractAsyncContextManager[H]) -> Generator[Backstage[H]]:
    """Open it in an event loop of its own; closed, it has a while to end in peace."""
    ready: Future[Backstage[H]] = Future()
    over = asyncio.Event()
    failed: list[BaseException] = []

    async def hold() -> None:
        async with opening as held:
            ready.set_result(Backstage(asyncio.get_running_loop(), held))
            await over.wait()

    def live() -> None:
        try:
            asyncio.run(hold())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised in the thread that waits
            failed.append(error)
            if not ready.done():
                ready.set_exception(error)

    thread = threading.Thread(target=live, name="afterglow-backstage", daemon=True)
    thread.start()
    stage = ready.result()
    try:
        yield stage
    finally:
        stage.end(over)
        thread.join(_CLOSE_SECONDS)
    if failed:
        raise failed[0]
