"""The server in tests, in a process of its own, and tokens for it."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from afterglow import SystemClock
from afterglow.clock import new_token
from afterglow.store.access import AccessScope
from afterglow.store.sqlite import SQLiteStore
from tests.kit.processes import Process

PROGRAM = """
import asyncio, json, sys
from afterglow import daemon, settings
given = json.loads(sys.argv[1])
daemon.DRAIN_SECONDS_MAX = given.pop("drain_seconds", daemon.DRAIN_SECONDS_MAX)
loaded = settings.load(environ={}, overrides=given)
asyncio.run(daemon.serve(loaded, announce=lambda url: print(url, flush=True)))
"""
TURN = {"agent": "kate", "channel": "telegram", "sender": "ana", "role": "user", "text": "hello"}
PATIENCE_SECONDS = 60


class Server:
    """A server over the store of a folder."""

    def __init__(self, folder: Path, **overrides: Any) -> None:
        given = {"data_dir": str(folder), "server.port": 0, "server.open_locally": True, **overrides}
        self._errors = (folder / "errors.txt").open("a+")
        imports = ("afterglow.daemon", "afterglow.web")
        self.process = Process(json.dumps(given), script=PROGRAM, imports=imports, stderr=self._errors, cwd=folder)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rpartition(":")[2] or 0)

    def stop(self, sig: int = signal.SIGTERM) -> int:
        self.process.send_signal(sig)
        return self.process.wait(PATIENCE_SECONDS)

    @property
    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()

    def close(self) -> None:
        self.process.close()
        self._errors.close()


Start = Callable[..., Server]


@contextmanager
def starting(folder: Path) -> Iterator[Start]:
    """Start servers over the store of this folder; they end with the block."""
    started: list[Server] = []

    def one(**overrides: Any) -> Server:
        started.append(Server(folder, **overrides))
        return started[-1]

    yield one
    for each in started:
        each.close()


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[SQLiteStore]:
    store = await SQLiteStore.open(folder / "afterglow.db", SystemClock())
    try:
        yield store
    finally:
        await store.close()


async def add_token(folder: Path, scope: AccessScope = "owner", **bound: str) -> str:
    """A new token in the store of this folder."""
    async with opened(folder) as store:
        secret = new_token(store.clock)
        await store.add_token("test", scope, secret, **bound)
        return secret


def token(folder: Path, scope: AccessScope = "owner") -> str:
    return asyncio.run(add_token(folder, scope))
