"""What tests of the agent look at: its model, the sessions of people, and whether a message still waits."""

from __future__ import annotations

import asyncio

from afterglow.agent import Agent
from afterglow.model.scripted import ScriptedModel
from afterglow.turns import Binding, Session, Turn
from tests.kit.records import KATE


def person(number: int) -> Binding:
    """One of many people who write to the agent."""
    return Binding(agent="kate", channel="telegram", sender=f"person-{number}")


def model_of(agent: Agent) -> ScriptedModel:
    return agent.memory.means_of._model  # pyright: ignore[reportPrivateUsage, reportReturnType]


async def session_of(agent: Agent, binding: Binding = KATE) -> Session:
    found = await agent.memory.store.current_session(binding)
    assert found is not None
    return found


async def turns_of(agent: Agent, binding: Binding = KATE) -> list[Turn]:
    return await agent.memory.turns(await session_of(agent, binding))


async def until_nothing_waits(agent: Agent, seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while await agent.memory.store.waiting_places():  # noqa: ASYNC110 - the store has no event for it
            await asyncio.sleep(0.02)


async def until_asked(asked: Agent | ScriptedModel, times: int) -> None:
    """Until the model, or that of the agent, was asked so often; the graph is loaded when it is first needed."""
    model = model_of(asked) if isinstance(asked, Agent) else asked
    async with asyncio.timeout(60):
        while len(model.requests) < times:  # noqa: ASYNC110 - nor has the model
            await asyncio.sleep(0.01)
