"""A provider of models on this machine, for real clients to talk to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.model import Model
from afterglow.model.choice import choose
from tests.kit.records import NOON

KEY = "sk-proj-averysecretkeythatnobodymaysee1234567890"


@dataclass
class Server:
    """A provider on this machine: gives the same answer to everything, and keeps what it was asked."""

    address: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = ""
    hangs: bool = False
    disconnects: bool = False
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    paths: list[str] = field(default_factory=list[str])
    answers: Callable[[dict[str, Any]], tuple[int, str]] | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, with one request after the other."""
        try:
            while not self.disconnects or not self.asked:
                await self._take(reader)
                if self.hangs:
                    await asyncio.sleep(60)
                if not self.disconnects:
                    await self._answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _take(self, reader: asyncio.StreamReader) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lengths = [line.split(":")[1] for line in head.splitlines() if line.lower().startswith("content-length")]
        self.paths.append(head.split()[1])
        self.asked.append(json.loads(await reader.readexactly(int(lengths[0]))))

    async def _answer(self, writer: asyncio.StreamWriter) -> None:
        status, body = self.answers(self.asked[-1]) if self.answers else (self.status, self.body)
        content = body.encode()
        lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    one = Server()
    listening = await asyncio.start_server(one.serve, "127.0.0.1", 0)
    one.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    yield one
    listening.close()


def openai_at(server: Server, model: str = "llama-of-ours") -> Model:
    return choose(model, environ={"OPENAI_API_KEY": KEY}, base_url=f"{server.address}/v1", clock=FixedClock(NOON))
