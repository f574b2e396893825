"""What the nursery's children do with tasks: set one, do what is due, be killed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import afterglow.agent.graph  # noqa: F401 - loaded here, before the children are forked
from afterglow.agent import Agent
from afterglow.memory import Memory
from afterglow.model import Request
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.work import Limits
from afterglow.worker import Worker
from afterglow.working import Beside, working
from tests.faults.nursery import Voice
from tests.faults.tasks import clock_of, open_store
from tests.kit.records import KATE

LIMITS = Limits(backoff_seconds=0.1)


async def _agent(voice: Voice, order: dict[str, Any], besides: Sequence[Beside] = ()) -> Agent:
    def answer(request: Request) -> str:
        voice.say(["model", any(beside.is_primary for beside in besides)])
        return "Hello."

    given = {"work": {"poll_seconds": 0.05, "lease_seconds": 1}}
    chosen = Settings.model_validate({"data_dir": order["data_dir"], "zone": "UTC", **given})
    store = await open_store(order["address"], clock_of(order))
    memory = Memory(store, chosen, model=ScriptedModel(answer), environ={}, folds=False)
    return Agent(memory, binding=KATE)


async def create(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Set a task that is due at once."""
    agent = await _agent(voice, order)
    now = agent.memory.store.clock.now()
    at = now + timedelta(seconds=0.1)
    task = await agent.tasks.create("Say hello", at=at, id="hello")
    voice.say(["set", task.id])
    await agent.memory.close()


async def drain(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Do what is due, also what a dead process held."""
    agent = await _agent(voice, order)
    worker = Worker(agent.memory.store, agent.acts, holder=f"w{number}", limits=LIMITS)
    for _ in range(100):
        await worker.drain()
        tasks = await agent.memory.store.tasks(KATE.owner)
        if not tasks:
            break
        await asyncio.sleep(0.1)
    await agent.memory.close()


async def work(voice: Voice, number: int, order: dict[str, Any]) -> None:
    """Be a candidate until the task has run, and a little longer."""
    besides: list[Beside] = []
    agent = await _agent(voice, order, besides)
    async with working(agent.memory.store, agent.acts, agent.memory.settings, "auto") as beside:
        besides.append(beside)
        for _ in range(200):
            if not await agent.memory.store.tasks(KATE.owner):
                break
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
    await agent.memory.close()
