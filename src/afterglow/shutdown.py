"""The end of a process: in order where that is possible, and in time whatever its threads do.

A thread cannot be stopped, and Python waits for every thread when an event loop ends. Leaving a thread that still computes
loses nothing: every acknowledged turn is on disk, and unfinished work stays due, as after kill -9.
"""

from __future__ import annotations

import asyncio
import faulthandler
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
_STDERR = 2


class _Threads(ThreadPoolExecutor):
    """The threads of an event loop. The end of the loop waits for none of them."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Do what `asyncio.run` does, but do not wait for threads at the end."""

    async def with_threads() -> T:
        asyncio.get_running_loop().set_default_executor(_Threads(thread_name_prefix="afterglow"))
        return await main

    return asyncio.run(with_threads())


@contextmanager
def bounded() -> Generator[Callable[[float], None]]:
    """Yield a function that limits the rest of the block: the process ends after that many seconds, with exit code 1.

    The limit is kept by a thread outside Python, so it holds also where a computing thread lets no other run. Stderr then
    says where each thread was.
    """

    def limit(seconds: float) -> None:
        faulthandler.dump_traceback_later(seconds, exit=True, file=_STDERR)

    try:
        yield limit
    finally:
        faulthandler.cancel_dump_traceback_later()
