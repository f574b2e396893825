"""What the nursery's children do with messages that wait: take them, answer, be killed."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import afterglow.agent.graph  # noqa: F401 - loaded here, before the children are forked
from afterglow.agent import Agent, line
from afterglow.memory import Memory
from afterglow.model import Request, scripted
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.turns import Binding
from tests.faults.nursery import Voice
from tests.faults.tasks import clock_of, open_store
from tests.kit.agents import person
from tests.kit.models import echo

SOON = {"work": {"backoff_seconds": 0.05, "backoff_max_seconds": 0.2}, "spend": {"breaker_failures": 1000}}


async def talk(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Go on with what waits, take the messages that each person has yet to send, and be there until nothing waits any more.

    `sent` says of how many of each person's it was acknowledged before that they were taken.
    """
    line._LEASE_SECONDS = order.get("lease_seconds", line._LEASE_SECONDS)
    chance = random.Random(order["seed"])

    def script(request: Request) -> scripted.Step:
        failing = request.messages and chance.random() < 0.1
        return chance.choice([scripted.SERVER_ERROR, scripted.EMPTY]) if failing else echo(request)

    chosen = Settings.model_validate({"data_dir": order["data_dir"], "zone": "UTC", **SOON})
    store = await open_store(order["address"], clock_of(order))
    memory = Memory(store, chosen, model=ScriptedModel(script, delay_seconds=0.01), environ={})

    async def deliver(to: Binding, part: Any) -> None:
        voice.say(["heard", to.sender, part.text])

    agent = Agent(memory, deliver=deliver)
    voice.ready()
    await agent.resume()

    async def write(who: int) -> None:
        def reply(text: str) -> None:
            voice.say(["heard", person(who).sender, text])

        for message in range(order["sent"][who], order["messages"]):
            await agent.enqueue(f"message {message}", to=person(who), key=str(message), reply=reply)
            voice.say(["acknowledged", who, message])
            await asyncio.sleep(chance.random() * order["pause"])

    await asyncio.gather(*(write(who) for who in range(order["people"])))
    while await store.waiting_places():  # noqa: ASYNC110 - the store has no event for it
        await asyncio.sleep(0.05)
    await agent.close()
    await memory.close()
