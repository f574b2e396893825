"""What the nursery's children do. Each task is told its number among them, and its order; it speaks through `voice`."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
from pathlib import Path
from typing import Any

from afterglow.clock import Clock, FixedClock, SystemClock
from afterglow.errors import ClaimLost, StoreUnusable
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.turns import Binding, Turn
from afterglow.work import Due, Limits
from tests.conftest import NOON, said
from tests.faults import verbs
from tests.faults.nursery import Voice

SHARED = Binding(agent="kate", channel="group", sender="everybody")
HURRIED = Limits(lease_seconds=0.05, attempts_max=10**6)


async def open_store(address: str, clock: Clock | None = None) -> Store:
    """The database at a path or at PostgreSQL's address."""
    if address.startswith("postgresql:"):
        return await PostgresStore.open(address, clock or SystemClock())
    return await SQLiteStore.open(Path(address), clock or SystemClock())


def binding(number: int) -> Binding:
    return Binding(agent="kate", channel="telegram", sender=f"sender-{number}")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


async def open_only(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Open the database, which brings its schema up to date, and close it again."""
    store = await open_store(order["address"])
    voice.say("opened")
    await store.close()


async def rest(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Open the database and do nothing: what the store does in quiet moments is done now."""
    store = await open_store(order["address"])
    await asyncio.sleep(60)
    await store.close()


async def run_verb(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Run one verb of verbs.py on a database with its scenario, as at noon."""
    store = await open_store(order["address"], FixedClock(NOON, order["seed"]))
    await verbs.VERBS[order["verb"]](store)
    voice.say("returned")
    await store.close()


async def write_keyed(store: Store, sender: int, key: str, text: str) -> Turn:
    """Append a turn that asks for work about its session, and for work that is its own."""
    now = store.clock.now()
    entry = said(text, "user" if text[0] < "a" else "assistant", at=now, key=key, origin="agent")
    due = [Due(kind="context", at=now, reason="interval"), Due(kind="summary", at=now, reason="idle", subject=key)]
    return await store.append(binding(sender).owner, binding(sender), entry, due)


async def write_until_killed(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Write with eight callers at once and work besides, saying what was begun and what was acknowledged."""
    store = await open_store(order["address"])
    chance = random.Random(order["seed"])
    first = True

    async def write(sender: int, key: str, text: str) -> None:
        nonlocal first
        turn = await write_keyed(store, sender, key, text)
        voice.say(["acknowledged", turn.owner, turn.session, turn.seq, key, digest(turn.text)])
        if first:
            voice.ready()
            first = False

    async def caller(sender: int) -> None:
        for count in range(10**6):
            key = f"{order['seed']}-{sender}-{count}"
            text = f"{chance.getrandbits(64):016x} " * chance.choice((1, 3, 30, 1000))
            voice.say(["begun", sender, key, text])
            await write(sender, key, text)

    async def worker() -> None:
        while True:
            for claim in await store.claim(("context",), limit=4, holder="worker", limits=HURRIED):
                try:
                    await store.finish(claim)
                    voice.say(["finished", claim.token])
                except ClaimLost:  # the machine was slow and the lease short
                    pass
            await store.wait_for_work(0.01)

    for sender, key, text in order["unanswered"]:
        await write(sender, key, text)
    await asyncio.gather(*(caller(sender) for sender in range(8)), worker())


async def write_beside_others(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Open the file together with all the others; write to a session of one's own and to one that all share."""
    store = await open_store(order["address"])

    async def own(count: int) -> None:
        at = store.clock.now()
        turn = await store.append(binding(number).owner, binding(number), said(f"own {number} {count}", at=at))
        voice.say([turn.owner, turn.session, turn.seq, turn.text])

    async def shared(count: int) -> None:
        at, due = store.clock.now(), [Due(kind="context", at=store.clock.now(), reason="interval")]
        turn = await store.append(SHARED.owner, SHARED, said(f"shared {number} {count}", at=at), due)
        voice.say([turn.owner, turn.session, turn.seq, turn.text])

    async def keyed(count: int) -> None:
        at = store.clock.now()
        turn = await store.append(SHARED.owner, SHARED, said(f"keyed {count}", key=f"key-{count}", at=at))
        voice.say([turn.owner, turn.session, turn.seq, turn.text])

    for start in range(0, order["turns"], 5):
        counts = range(start, start + 5)
        await asyncio.gather(*(write(count) for count in counts for write in (own, shared, keyed)))
    await store.close()


async def use_after_fork(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Open a store, fork, and try to use it in the new process, where its threads do not run."""
    store = await open_store(order["address"])
    pid = os.fork()
    if pid == 0:
        try:
            for use in (store.append(SHARED.owner, SHARED, said("hello")), store.sessions(SHARED.owner)):
                try:
                    await use
                except StoreUnusable as error:
                    voice.say(str(error))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)  # noqa: ASYNC222 - nothing else happens in this process
    await store.close()
