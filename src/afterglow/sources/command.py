"""Any program on this machine: it is told the window and the prompt, and what it prints is the report."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress

from afterglow.errors import SourceError
from afterglow.sources import Window
from afterglow.sources.questions import question

OUTPUT_BYTES_MAX = 1024 * 1024
ENVIRON_BYTES_MAX = 100_000
_CHUNK = 64 * 1024
_REAP_SECONDS = 2.0


class Command:
    """Runs a program without a shell. It and all it started are killed when it is late."""

    def __init__(self, argv: Sequence[str], *, environ: Mapping[str, str]) -> None:
        self._argv = tuple(argv)
        self._environ = dict(environ)

    async def report(self, window: Window, prompt: str, *, tokens_max: int) -> str:
        asked = question(window, prompt, tokens_max)
        named = {f"AFTERGLOW_{key.upper()}": str(asked[key]) for key in ("from", "to", "now", "prompt")}
        told = {name: value for name, value in named.items() if _fits_environment(value)}
        process = await self._started({**self._environ, **told})
        try:
            out, err = await _talk(process, json.dumps(asked, ensure_ascii=False).encode())
            status = await process.wait()
        finally:
            await _end(process)
        if status:
            first = err.decode("utf-8", "replace").strip().partition("\n")[0]
            raise SourceError(f"{self._argv[0]} ended with status {status}: {first or 'it said nothing on stderr'}")
        return out.decode("utf-8", "replace")

    async def _started(self, environ: Mapping[str, str]) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *self._argv, stdin=pipe, stdout=pipe, stderr=pipe, env=environ, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise SourceError(f"{self._argv[0]} cannot be run: {error}") from None


def _fits_environment(value: str) -> bool:
    """Systems refuse long variables; what is left out here stands on stdin all the same."""
    return len(value.encode("utf-8", "replace")) <= ENVIRON_BYTES_MAX and "\0" not in value


async def _talk(process: asyncio.subprocess.Process, question: bytes) -> tuple[bytes, bytes]:
    """What it prints. One that prints too much is killed, and the beginning stands."""
    assert process.stdin and process.stdout and process.stderr
    err = asyncio.create_task(_read(process.stderr, process))
    try:
        with suppress(ConnectionError):  # it need not read what it is told
            process.stdin.write(question)
            await process.stdin.drain()
        process.stdin.close()
        out = await _read(process.stdout, process)
        return out, await err
    finally:
        err.cancel()


async def _read(stream: asyncio.StreamReader, process: asyncio.subprocess.Process) -> bytes:
    read = bytearray()
    while chunk := await stream.read(_CHUNK):
        read += chunk
        if len(read) > OUTPUT_BYTES_MAX:
            _kill(process)
            raise SourceError(f"it printed more than {OUTPUT_BYTES_MAX:,} bytes; print a short text")
    return bytes(read)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Nothing that it started goes on: the whole group is killed, also when it ended well."""
    _kill(process)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_REAP_SECONDS):
                await process.wait()
    finally:
        process._transport.close()  # pyright: ignore  # its pipes may be held open by one that left the group


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)  # it leads a session of its own, so this is its group
        else:
            process.kill()
