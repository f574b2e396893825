"""What the nursery's children do. Each task is told its number among them, and its order; it speaks through `voice`."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from afterglow.clock import Clock, FixedClock, SystemClock
from afterglow.conversation import Reply
from afterglow.errors import ClaimLost, StoreUnusable
from afterglow.memory import Memory
from afterglow.model import Completion, Model, Request
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.turns import Binding, Turn
from afterglow.work import Due, Limits
from tests.faults import verbs
from tests.faults.nursery import Voice
from tests.kit.records import NOON, said

SHARED = Binding(agent="kate", channel="group", sender="all of them")
HOUR = 3600
HURRIED = Limits(lease_seconds=0.05, attempts_max=10**6)


async def open_store(address: str, clock: Clock | None = None) -> Store:
    """The database at a path or at PostgreSQL's address."""
    if address.startswith("postgresql:"):
        return await PostgresStore.open(address, clock or SystemClock())
    return await SQLiteStore.open(Path(address), clock or SystemClock())


class LaterClock(SystemClock):
    """So many seconds later than it is: the leases of killed processes are over, and a test need not wait for that."""

    fixed = True

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self._seconds)


def clock_of(order: dict[str, Any]) -> Clock:
    """The machine's time, or so many seconds `later`."""
    return LaterClock(order["later"]) if "later" in order else SystemClock()


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

    counts = range(order["first"], order["first"] + order["turns"])
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


# --- talking and folding


FOLDING: dict[str, Any] = {
    "zone": "UTC",
    "work": {"lease_seconds": 0.3, "attempts_max": 1000, "backoff_seconds": 0.01, "backoff_max_seconds": 0.05},
    "compaction": {"interval": 2, "keep_recent": 2, "fanout": 3},
}
"""Settings with which a few exchanges are enough to fold and merge, and a claim passes on soon."""


class TellingModel(ScriptedModel):
    """Says what each call cost as soon as it is made, so that the account of spend can be compared with it."""

    def __init__(self, voice: Voice | None, **more: Any) -> None:
        super().__init__(_summary, usd_per_million_tokens=1.0, **more)
        self._voice = voice

    async def complete(self, request: Request) -> Completion:
        done = await super().complete(request)
        if self._voice is not None:
            self._voice.say(["paid", done.usage.tokens])
        return done


class StallingModel(TellingModel):
    """Holds up its whole process for a while, so that no lease is renewed in it and claims pass on."""

    async def complete(self, request: Request) -> Completion:
        time.sleep(random.random() * 0.5)  # noqa: ASYNC251 - that is the point
        return await super().complete(request)


def _summary(request: Request) -> str:
    facts = [word for word in request.material.split() if word.startswith("FACT-")]
    said = f"They talked about {facts[-1] if facts else 'this and that'}, and then they agreed on it."
    return said + " They went through all of it once more." * (request.tokens_max // 25)


def folding_memory(store: Store, model: Model, **more: Any) -> Memory:
    """A memory that folds early and often."""
    given = {**FOLDING, "data_dir": tempfile.gettempdir(), **more}
    return Memory(store, Settings.model_validate(given), model=model, environ={})


def message(sender: int, number: int) -> str:
    return f"FACT-{sender}-{number:05d} " + "so to speak " * 12


def answer(sender: int, number: int) -> list[Reply]:
    """What is answered to the message of this number: every third time, tools are used."""
    said = Reply(text=f"I see {sender} {number}. " + "so to speak " * 12)
    if number % 3:
        return [said]
    call = {"type": "tool_call", "id": "call_0", "name": "look", "arguments": {"q": number}}
    found = {"type": "tool_result", "id": "call_0", "content": f"found {sender} {number}"}
    return [Reply(text="", parts=[call]), Reply(text="", role="tool", parts=[found]), said]


async def talk_and_fold(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Talk to each sender's session from the message of the given number on, each under its key, and fold behind it."""
    store = await open_store(order["address"])
    memory = folding_memory(store, TellingModel(voice))

    async def talk(sender: int, first: int) -> None:
        for count in range(first, order.get("until", 10**6)):
            replies = answer(sender, count)
            done = await memory.exchange(
                binding(sender), message(sender, count), lambda context, replies=replies: replies, key=f"m{count}"
            )
            voice.say(["answered", sender, count, done.message.seq])
            if order.get("settle"):
                await memory.settle()
            if count == first:
                voice.ready()

    await asyncio.gather(*(talk(sender, first) for sender, first in enumerate(order["firsts"])))
    await memory.settle()
    await store.close()


async def fold_with_others(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Talk on one session that all share and fold it by hand too, in a process that stalls and loses its claims."""
    store = await open_store(order["address"])
    memory = folding_memory(store, StallingModel(voice), work={**FOLDING["work"], "lease_seconds": 0.1})
    for count in range(order["exchanges"]):
        await memory.exchange(SHARED, message(number, count), lambda context, count=count: answer(number, count))
        if count % 4 == 3:
            await memory.compact(await memory.open_session(SHARED))
    await memory.settle()
    await store.close()


async def compact_by_hand(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Fold one session by hand, at the same moment as others do."""
    store = await open_store(order["address"])
    memory = folding_memory(store, StallingModel(voice), work={**FOLDING["work"], "lease_seconds": 0.1})
    await memory.compact(await memory.open_session(SHARED))
    await store.close()
