"""How long a source still has, and whether one is being asked: known to everything that runs on its behalf."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

SECONDS = 20.0
"""What a source has when nobody says how long."""

_end: ContextVar[float | None] = ContextVar("afterglow_source_end", default=None)


def is_asking() -> bool:
    """Whether this runs on behalf of a source. Then no source may be asked again, or they would ask each other for ever."""
    return _end.get() is not None


def seconds_left() -> float:
    """How long the source that runs now still has; never less than a moment."""
    end = _end.get()
    return SECONDS if end is None else max(0.05, end - asyncio.get_running_loop().time())


@contextmanager
def asking(seconds: float) -> Generator[None]:
    """From here on a source is being asked, for at most so long."""
    token = _end.set(asyncio.get_running_loop().time() + seconds)
    try:
        yield
    finally:
        _end.reset(token)


async def in_thread(work: Callable[[], T], *, stop: Callable[[], None] = lambda: None) -> T:
    """The work's result, from a thread of its own.

    Not from asyncio's pool: a thread that hangs would take one of its few places and hold up the end of the process. When
    the caller is cancelled, `stop` is called, which should end whatever the thread waits for.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def give(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # pyright: ignore[reportArgumentType] - without an error there is a result

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as raised:  # noqa: BLE001 - whatever it is, it goes to the caller
            # A StopIteration cannot be put into a future, and nothing in a thread may end the process.
            is_plain = isinstance(raised, Exception) and not isinstance(raised, StopIteration)
            error = raised if is_plain else RuntimeError(f"{type(raised).__name__}: {raised}")
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(give, result, error)

    context = copy_context()
    threading.Thread(target=lambda: context.run(run), name="afterglow-source", daemon=True).start()
    try:
        return await done
    except asyncio.CancelledError:
        stop()
        raise
