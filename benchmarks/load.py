"""Two hundred requests a second for a minute, of all kinds, to a real server whose worker is busy all the while.

The server is `afterglow serve` in a process of its own, on SQLite, with its worker folding the sessions that the same
requests make longer. Requests leave at their set times, whether or not earlier ones are answered, and each is timed from the
moment it was due: a server that stops for a while does not escape the count. The client is plain bytes on open connections,
so that what is measured is the server. Before the minute begins, the same comes for five seconds that are not counted: then
the embedder and what else is loaded at its first use are there.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import httpx

from afterglow.terms import terms
from benchmarks import arguments, environment, save, table, texts

PER_SECOND, SECONDS, PEOPLE, TURNS_BEFORE = 200, 60, 200, 20
WARM_SECONDS = 5
CONNECTIONS = 64
AGENT, CHANNEL = "kate", "web"
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
MIX = {
    "write a turn": 40,
    "context of a session": 15,
    "turns of a session": 10,
    "sessions": 10,
    "search by words": 5,
    "recall by words and meaning": 3,
    "facts": 5,
    "summaries": 5,
    "status": 2,
    "health": 3,
    "the page": 2,
}


_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Load:
    """The requests, their times, and what went wrong."""

    port: int
    token: str
    said: list[str]
    chance: random.Random = field(default_factory=lambda: random.Random(5))
    times_ms: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    faults: Counter[str] = field(default_factory=Counter[str])
    idle: asyncio.LifoQueue[_Connection] = field(default_factory=asyncio.LifoQueue[_Connection])

    async def one(self, kind: str, due: float) -> None:
        reader, writer = await self.idle.get()
        if reader.at_eof():  # the server ends a connection that nobody used for a while
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(self._request(kind))
            head = await reader.readuntil(b"\r\n\r\n")
            length = LENGTH.search(head)
            await reader.readexactly(int(length[1]) if length else 0)
            if head[9:12] not in (b"200", b"201"):
                self.faults[f"{kind}: HTTP {head[9:12].decode()}"] += 1
        except (OSError, asyncio.IncompleteReadError) as error:
            self.faults[f"{kind}: {type(error).__name__}"] += 1
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.times_ms.setdefault(kind, []).append((time.perf_counter() - due) * 1000)
        self.idle.put_nowait((reader, writer))

    async def run(self, per_second: int, seconds: int) -> None:
        for _ in range(CONNECTIONS):
            self.idle.put_nowait(await asyncio.open_connection("127.0.0.1", self.port))
        kinds = self.chance.choices(list(MIX), list(MIX.values()), k=per_second * seconds)
        begun = time.perf_counter()
        running: set[asyncio.Task[None]] = set()
        for number, kind in enumerate(kinds):
            due = begun + number / per_second
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            task = asyncio.create_task(self.one(kind, due))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.gather(*running)

    def _request(self, kind: str) -> bytes:
        sender = f"person-{self.chance.randrange(PEOPLE):03}"
        owner = quote(f"{AGENT}/{CHANNEL}/{sender}", safe="")
        words = quote(" ".join(word for word in self.chance.choice(self.said).split()[:12] if terms(word)))
        if kind == "write a turn":
            role = self.chance.choice(("user", "assistant"))
            body = turn(sender, role, self.chance.choice(self.said))
            return self._bytes("POST", "/api/v1/turns", body)
        path = {
            "context of a session": f"/api/v1/sessions/{sender}/context?owner={owner}",
            "turns of a session": f"/api/v1/sessions/{sender}/turns?owner={owner}&limit=50",
            "sessions": "/api/v1/sessions?limit=50",
            "search by words": f"/api/v1/search?owner={owner}&q={words}",
            "recall by words and meaning": f"/api/v1/recall?owner={owner}&q={words}",
            "facts": f"/api/v1/facts?owner={owner}",
            "summaries": f"/api/v1/summaries?owner={owner}",
            "status": "/api/v1/status",
            "health": "/healthz",
            "the page": "/",
        }[kind]
        return self._bytes("GET", path)

    def _bytes(self, method: str, path: str, body: bytes = b"") -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return head.encode() + b"\r\n" + body


def turn(sender: str, role: str, text: str) -> bytes:
    return json.dumps(
        {"agent": AGENT, "channel": CHANNEL, "sender": sender, "session": sender, "role": role, "text": text}
    ).encode()


def command(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "afterglow", "--data-dir", str(folder), *words]


def rss_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def fill(port: int, token: str, said: list[str]) -> None:
    """Sessions with something in them, so that there is something to read, fold and summarise."""
    head = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=head, timeout=60) as client:
        for number in range(TURNS_BEFORE):
            role = "assistant" if number % 2 else "user"
            await asyncio.gather(
                *(
                    client.post("/api/v1/turns", content=turn(f"person-{who:03}", role, said[(who + number) % 2000]))
                    for who in range(PEOPLE)
                )
            )


async def watched(pid: int, load: Load, running: asyncio.Task[None]) -> tuple[list[float], list[int]]:
    """The server's memory every second, and how much work waits every few seconds."""
    memory: list[float] = []
    waiting: list[int] = []
    head = {"authorization": f"Bearer {load.token}"}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{load.port}", headers=head, timeout=60) as client:
        while not running.done():
            memory.append(rss_mb(pid))
            if len(memory) % 10 == 1:
                text = (await client.get("/metrics")).text
                waiting.append(sum(int(n) for n in re.findall(r'^afterglow_work\{.*state="due"\} (\d+)', text, re.M)))
            await asyncio.sleep(1)
    return memory, waiting


def serve(folder: Path) -> tuple[subprocess.Popen[str], int, str]:
    """A server that folds without a model, the port it listens on, and a token for it."""
    settings = folder / "afterglow.toml"
    settings.write_text('[server]\nport = 0\nrequests_per_second = 0\n[compaction]\nmodel = "offline"\n')
    environ = {**os.environ, "AFTERGLOW_SETTINGS": str(settings)}
    server = subprocess.Popen(
        command(folder, "serve"), env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert server.stdout is not None
    port = next(int(found[1]) for line in server.stdout if (found := re.search(r"http://127\.0\.0\.1:(\d+)", line)))
    create = command(folder, "token", "create", "load", "--scope", "owner")
    token = subprocess.run(create, env=environ, capture_output=True, text=True, check=True).stdout.strip()
    return server, port, token


async def run(folder: Path, seconds: int) -> dict[str, Any]:
    server, port, token = await asyncio.to_thread(serve, folder)
    said = texts(2_000)
    try:
        await fill(port, token, said)
        await Load(port=port, token=token, said=said).run(PER_SECOND, WARM_SECONDS)
        load = Load(port=port, token=token, said=said)
        running = asyncio.create_task(load.run(PER_SECOND, seconds))
        memory, waiting = await watched(server.pid, load, running)
        await running
    finally:
        server.terminate()
        server.wait(30)
    every = sorted(each for times in load.times_ms.values() for each in times)
    return {
        "environment": environment("uvicorn", "fastapi"),
        "requests": len(every),
        "seconds": seconds,
        "faults": dict(load.faults),
        "all": _figures(every),
        "kinds": {kind: _figures(sorted(times)) for kind, times in sorted(load.times_ms.items())},
        "memory_mb": {
            "after a sixth": round(memory[len(memory) // 6], 1),
            "half way": round(memory[len(memory) // 2], 1),
            "at the end": round(memory[-1], 1),
        },
        "work due": waiting,
    }


def _figures(times: list[float]) -> dict[str, float]:
    return {
        "n": len(times),
        "p50_ms": round(median(times), 1),
        "p95_ms": round(times[int(0.95 * len(times))], 1),
        "p99_ms": round(times[int(0.99 * len(times))], 1),
        "worst_ms": round(times[-1], 1),
    }


def report(figures: dict[str, Any]) -> str:
    rows = [(kind, *each.values()) for kind, each in [("all", figures["all"]), *figures["kinds"].items()]]
    more = [
        ("faults", figures["faults"] or "none"),
        ("memory, MB", figures["memory_mb"]),
        ("work due", figures["work due"]),
    ]
    whole = table(("request", "n", "p50, ms", "p95", "p99", "worst"), rows)
    return whole + "\n\n" + "\n".join(f"{name}: {value}" for name, value in more)


def main() -> None:
    asked = arguments(__doc__ or "").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(run(Path(folder), 10 if asked.quick else SECONDS))
    print(report(figures))
    if not asked.quick:
        save("load", figures)


if __name__ == "__main__":
    main()
