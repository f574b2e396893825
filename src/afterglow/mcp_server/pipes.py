"""The pipes to the program that started this one: lines in, lines out, each by a thread that nobody has to wait for.

A read from a pipe cannot be broken off, and a write to one that nobody empties neither. Both are done by daemon threads, so
that the process ends when it is told to, whatever the other side does.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from queue import SimpleQueue

LINE_BYTES_MAX = 16 * 1024 * 1024
"""A longer line is passed on cut short, which is no message any more, and is answered as such."""
LINES_WAITING_MAX = 16
_CHUNK_BYTES = 64 * 1024
_CUT_BYTES = 100


def lines_of(read: Callable[[], bytes], bytes_max: int = LINE_BYTES_MAX) -> Iterator[bytes]:
    """The lines of an input, without their ends, until it is over. Of one that is too long only the beginning is kept."""
    held, is_long = bytearray(), False
    while chunk := read():
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            held += b"" if is_long else end
            yield bytes(held[:_CUT_BYTES] if is_long or len(held) > bytes_max else held)
            held, is_long = bytearray(), False
        held += b"" if is_long else rest
        is_long = is_long or len(held) > bytes_max
        if is_long:
            del held[_CUT_BYTES:]
    if held:
        yield bytes(held)


class Input:
    """Lines from a file descriptor."""

    def __init__(self, fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(LINES_WAITING_MAX)
        threading.Thread(target=self._run, args=(fd,), daemon=True, name="mcp-input").start()

    async def line(self) -> bytes | None:
        """The next line; None where there is none any more, however often that is asked."""
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        self._room.release()
        return line

    def end(self) -> None:
        """As if the input were over."""
        self._put(None)

    def _run(self, fd: int) -> None:
        with suppress(OSError):
            for line in lines_of(partial(os.read, fd, _CHUNK_BYTES)):
                self._room.acquire()
                self._put(line)
        self._put(None)

    def _put(self, line: bytes | None) -> None:
        with suppress(RuntimeError):  # the loop is closed, and so nobody waits for it
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class Output:
    """Lines to a file descriptor."""

    def __init__(self, fd: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: SimpleQueue[tuple[bytes, asyncio.Future[None]]] = SimpleQueue()
        threading.Thread(target=self._run, args=(fd,), daemon=True, name="mcp-output").start()

    async def write(self, line: bytes) -> None:
        """Write one line, and wait until it is written; OSError where nobody reads any more."""
        written = self._loop.create_future()
        self._waiting.put((line + b"\n", written))
        await written

    def _run(self, fd: int) -> None:
        while True:
            line, written = self._waiting.get()
            problem: OSError | None = None
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(fd, rest) :]
            except OSError as error:
                problem = error
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_settle, written, problem)


def _settle(written: asyncio.Future[None], problem: OSError | None) -> None:
    if written.done():
        return
    if problem is None:
        written.set_result(None)
    else:
        written.set_exception(problem)


def claimed() -> tuple[int, int]:
    """Descriptors of stdin and stdout that nobody else has: what is printed by chance goes to stderr from here on."""
    own = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return own
