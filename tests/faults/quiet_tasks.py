"""What the nursery's children do with quiet and ended sessions: summarise them, be primary, be paused, be killed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
import signal
import tempfile
from pathlib import Path
from typing import Any

from afterglow.errors import NotAllowed
from afterglow.memory import Memory
from afterglow.model import Completion, Request
from afterglow.model.scripted import ScriptedModel
from afterglow.primary import Lease
from afterglow.settings import Settings
from afterglow.steward import Steward, Stewardship
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE
from afterglow.summaries import Filled, Summary
from afterglow.turns import Binding
from afterglow.work import Kind
from afterglow.worker import holder_name
from afterglow.working import working
from tests.faults.nursery import Voice
from tests.faults.tasks import open_store
from tests.kit.faults import until

HURRIED: dict[str, Any] = {
    "zone": "UTC",
    "primary_lease_seconds": 0.5,
    "sweep_interval_seconds": 0.1,
    "sweep_sessions": 100,
    "sweep_quiet_seconds": 0.2,
    "timeout_summarize_seconds": 0.3,
    "timeout_clear_seconds": 0.3,
    "work": {
        "lease_seconds": 0.5,
        "attempts_max": 1000,
        "backoff_seconds": 0.01,
        "backoff_max_seconds": 0.05,
        "poll_seconds": 0.1,
    },
}
"""Settings with which sessions go quiet and are cleared while one looks on, and a dead process's work passes on soon."""
PATIENT = {**HURRIED["work"], "lease_seconds": 60}
"""Limits of work with which no living process loses a claim, however slow the machine is."""


def sender(number: int) -> Binding:
    return Binding(agent="kate", channel="telegram", sender=f"sender-{number:03d}")


def answer(request: Request) -> str:
    """A summary of the right form, about the last fact that was shown."""
    facts = [word for word in request.material.replace(",", " ").split() if word.startswith("FACT-")]
    said = f"They talked about {facts[-1] if facts else 'this and that'}, and then they agreed on it."
    if request.schema is None:
        return said
    if request.purpose == "facts":
        return '{"facts": []}'
    return Filled(title="A talk about facts", summary=said, category="planning").model_dump_json()


class TellingModel(ScriptedModel):
    """Says what each call was for and cost as soon as it is made."""

    def __init__(self, voice: Voice | None, **more: Any) -> None:
        super().__init__(answer, usd_per_million_tokens=1.0, **more)
        self._voice = voice

    async def complete(self, request: Request) -> Completion:
        done = await super().complete(request)
        if self._voice is not None:
            self._voice.say(["paid", done.usage.tokens, request.purpose, request.session])
        return done


def quiet_memory(store: Store, model: ScriptedModel, **more: Any) -> Memory:
    """A memory whose sessions go quiet soon."""
    given = {**HURRIED, "data_dir": tempfile.gettempdir(), **more}
    return Memory(store, Settings.model_validate(given), model=model, environ={}, folds=False)


class _Telling(logging.Handler):
    def __init__(self, voice: Voice) -> None:
        super().__init__(logging.WARNING)
        self._voice = voice

    def emit(self, record: logging.LogRecord) -> None:
        self._voice.say(["warned", record.getMessage(), repr(record.exc_info and record.exc_info[1])])


def tell(voice: Voice, store: Store) -> None:
    """Say each warning, and each summary that was committed."""
    logging.getLogger("afterglow").addHandler(_Telling(voice))
    commit = store.commit_summary

    async def telling(owner: str, summary: Summary, **more: Any) -> Any:
        done = await commit(owner, summary, **more)
        voice.say(["made", summary.session, summary.last_seq, summary.trigger])
        return done

    store.commit_summary = telling  # type: ignore[method-assign]


async def is_done(store: Store) -> bool:
    """Whether every session has its summary, and no timer of an open one is left."""
    if await store.stale_sessions(EVERYONE, limit=1):
        return False
    kinds: tuple[Kind, ...] = ("idle", "summary", "clear", "context")
    left = [await store.backlog(EVERYONE, kind=kind) for kind in kinds]
    return not any(each.due + each.claimed + each.waiting for each in left)


async def attend(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Be a candidate: do what is due, hold the lease in turn, until all is done or one is killed.

    With `talks` it writes to sessions and ends some of them meanwhile, for as long as it lives.
    """
    store = await open_store(order["address"])
    tell(voice, store)
    memory = quiet_memory(store, TellingModel(voice, delay_seconds=0.01), **order.get("settings", {}))
    chance = random.Random(order.get("seed", 0) * 1000 + number)
    async with working(store, memory.acts, memory.settings, order.get("primary", "auto")):
        voice.ready()
        while order.get("talks") or not await is_done(store):
            if order.get("talks"):
                await _talk(voice, memory, chance, order["talks"])
            await asyncio.sleep(0.05 if order.get("talks") else 0.2)
    await store.close()


async def _talk(voice: Voice, memory: Memory, chance: random.Random, senders: int) -> None:
    to = sender(chance.randrange(senders))
    said = await memory.append(to, "user", f"FACT-{chance.getrandbits(40)} so to speak")
    voice.say(["said", said.owner, said.session, said.seq])
    if chance.random() < 0.5:
        ended = await memory.sunset(await memory.session(said.session, owner=said.owner))
        voice.say(["ended", ended.owner, ended.id, ended.sunset_seq])


async def end_one(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Talk, end the session, and go: whether any process is primary is not its business."""
    store = await open_store(order["address"])
    memory = quiet_memory(store, TellingModel(voice), timeout_summarize_seconds=0)
    done = await memory.exchange(sender(order.get("sender", 0)), "FACT-LAST it was", lambda context: "And so it ends.")
    session = await memory.session(done.message.session, owner=done.message.owner)
    ended = await memory.sunset(session)
    voice.say([ended.owner, ended.id, ended.sunset_seq])
    await memory.close()


async def list_summaries(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Start, and look at the newest summaries."""
    store = await open_store(order["address"])
    memory = quiet_memory(store, TellingModel(voice))
    for summary in await memory.summaries(owner=EVERYONE, limit=5):
        voice.say([summary.session, summary.last_seq, summary.trigger])
    await memory.close()


async def end_all_ways(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """End one session by hand, clear another, leave a third to its timers and a fourth to the sweep; see it all done."""
    store = await open_store(order["address"])
    tell(voice, store)
    memory = quiet_memory(store, TellingModel(voice))
    for which in range(4):
        turns = 1 if which < 3 else 2
        to = sender(which)
        for count in range(turns):
            said = await memory.append(to, "user", f"FACT-{which}-{count} as one may put it", key=f"k{which}-{count}")
        session = await memory.session(said.session, owner=to.owner)
        if which == 0:
            await memory.sunset(session)
        elif which == 1 and session.state != "closed":
            await memory.clear(session)
    async with working(store, memory.acts, memory.settings, "auto"):
        await until(lambda: is_done(store))
    await store.close()


async def hold_until_killed(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Become primary and die."""
    store = await open_store(order["address"])
    chosen = Stewardship(primary=order.get("primary", "auto"), lease_seconds=order["lease_seconds"])
    steward = Steward(store, order.get("holder") or holder_name(), chosen)
    await steward.begin()
    assert steward.is_primary
    voice.say(holder_name())
    os.kill(os.getpid(), signal.SIGKILL)


async def be_primary(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Be told to be primary: say who one is, or why not. With `until_refused`, a primary stays until that file is there."""
    refused = Path(order["until_refused"]) if "until_refused" in order else None
    store = await open_store(order["address"])
    steward = Steward(store, holder_name(), Stewardship(primary="true", lease_seconds=order["lease_seconds"]))
    try:
        await steward.begin()
        voice.say(["primary", holder_name()])
        voice.ready()
        while refused and not refused.exists():  # noqa: ASYNC110 - the other child writes it
            await asyncio.sleep(0.02)
    except NotAllowed as error:
        voice.say(["refused", str(error)])
        if refused:
            refused.touch()
    await store.close()


async def sleep_as_primary(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Child 0 takes the lease and is stopped in the middle of a turn; child 1 takes over, works, and wakes it."""
    store = await open_store(order["address"])
    lease_seconds = 0.3 if number == 0 else 60
    steward = Steward(
        store, holder_name(), Stewardship(lease_seconds=lease_seconds, sweep_quiet_seconds=0, drift_days=30)
    )
    if number == 0:
        sweep = store.sweep

        async def stopped(*given: Any, **more: Any) -> int:
            voice.say(["stopped", steward.is_primary])
            os.kill(os.getpid(), signal.SIGSTOP)
            return await sweep(*given, **more)

        store.sweep = stopped  # type: ignore[method-assign]
        await steward.turn()
        before = await store.fleet()
        await steward.turn()
        voice.say(["woken", steward.is_primary, before.lease is not None and before.lease.holder == holder_name()])
        await store.close()
        return
    leases: list[Lease | None] = []

    async def is_held() -> bool:
        leases.append((await store.fleet()).lease)
        return leases[-1] is not None

    await until(is_held)
    assert leases[-1] is not None
    sleeper = int(leases[-1].holder.rpartition(":")[2])
    try:
        await _work_instead(voice, store, steward, sleeper)
    finally:
        with contextlib.suppress(ProcessLookupError):  # it has gone by itself, as it should
            os.kill(sleeper, signal.SIGCONT)
        await store.close()


async def _work_instead(voice: Voice, store: Store, steward: Steward, sleeper: int) -> None:
    while not steward.is_primary:
        await steward.turn()
        await asyncio.sleep(0.02)
    memory = quiet_memory(store, TellingModel(voice), timeout_summarize_seconds=0, work=PATIENT)
    tell(voice, store)
    keeping = asyncio.create_task(_keep(steward))
    async with working(store, memory.acts, memory.settings, "auto"):
        await until(lambda: is_done(store))
        os.kill(sleeper, signal.SIGCONT)
        while _is_running(sleeper):  # noqa: ASYNC110 - processes that end tell nobody
            await asyncio.sleep(0.02)
        await until(lambda: is_done(store))  # what it made due too
    keeping.cancel()


def _is_running(pid: int) -> bool:
    """Whether the process has not ended; the nursery reaps it later."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def _keep(steward: Steward) -> None:
    while True:
        await steward.turn()
        await asyncio.sleep(0.05)
