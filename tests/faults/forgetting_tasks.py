"""What the nursery's children do to forget, and to write while others forget."""

from __future__ import annotations

from typing import Any

from afterglow import forgetting
from afterglow.errors import NotFound
from afterglow.memory import Memory
from afterglow.model.offline import OfflineModel
from afterglow.settings import Settings
from afterglow.store import forgetting as verbs_of_forgetting
from tests.faults.nursery import Voice
from tests.faults.tasks import open_store
from tests.kit.records import KATE, said


async def forget(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Forget turns, a session or an owner, a few turns at a time."""
    verbs_of_forgetting.TURNS_AT_ONCE = order.get("at_once", 3)
    store = await open_store(order["address"])
    try:
        if order["what"] == "owner":
            await forgetting.forget_owner(store, KATE.owner, verify=order.get("verify", False))
        else:
            session = await store.session(KATE.owner, "talk")
            if order["what"] == "session":
                await forgetting.forget_session(store, session, verify=order.get("verify", False))
            else:
                await forgetting.forget_turns(store, session, 1, session.turns, verify=order.get("verify", False))
        voice.say("forgotten")
    except NotFound:
        voice.say("another was first")
    await store.close()


async def write_and_forget(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Children with an even number write to one session, and write each turn again under its key; the others forget them."""
    store = await open_store(order["address"])
    for count in range(order["turns"]):
        key = f"{number}-{count}" if number % 2 == 0 else f"{number - 1}-{count}"
        if number % 2 == 0:
            for _ in range(2):
                turn = await store.append(KATE.owner, "talk", said(f"canary{key}", key=key))
            voice.say([turn.seq, key])
        else:
            session = await store.session(KATE.owner, "talk")
            if session.turns:
                await store.forget_turns(KATE.owner, "talk", 1, session.turns)
    await store.close()


async def forget_statement(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Forget a fact that its owner stated."""
    store = await open_store(order["address"])
    chosen = Settings.model_validate({"data_dir": order["data_dir"], "zone": "UTC"})
    memory = Memory(store, chosen, model=OfflineModel(), environ={})
    await memory.facts.forget(KATE.owner, order["fact"])
    voice.say("forgotten")
    await store.close()


async def state(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """State a fact."""
    store = await open_store(order["address"])
    chosen = Settings.model_validate({"data_dir": order["data_dir"], "zone": "UTC"})
    memory = Memory(store, chosen, model=OfflineModel(), environ={})
    await memory.facts.add(KATE.owner, order["content"])
    voice.say("stated")
    await store.close()
