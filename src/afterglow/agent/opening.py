"""Opening an agent together with its memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from afterglow.agent.agent import Agent
from afterglow.clock import Clock
from afterglow.memory import Memory, open_memory
from afterglow.model import Model
from afterglow.settings import Settings
from afterglow.sources import Source
from afterglow.telling import Deliver
from afterglow.turns import Binding
from afterglow.work import Kind
from afterglow.worker import Act


@asynccontextmanager
async def open_agent(
    given: Settings | Path | str | None = None,
    *,
    binding: Binding | None = None,
    model: Model | None = None,
    tools: Sequence[Any] = (),
    instructions: str | None = None,
    sources: Mapping[str, Source] | None = None,
    deliver: Deliver | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[Agent]:
    """Open a memory and the agent on it, and go on with messages that wait since before.

    `given`, `sources`, `deliver` and `clock` are as for `afterglow.open`; `model` answers, and summarises too. While the
    settings' `primary` says so, tasks are done here.
    """
    opened: list[Agent] = []

    def begin(memory: Memory) -> Mapping[Kind, Act]:
        # The memory has the model, and one meter for it; the agent finds it there.
        opened.append(Agent(memory, binding=binding, tools=tools, instructions=instructions, deliver=deliver))
        return opened[0].acts

    try:
        async with open_memory(given, clock=clock, model=model, sources=sources, deliver=deliver, also=begin):
            try:
                await opened[0].resume()
                yield opened[0]
            finally:
                await opened[0].finish()
    finally:
        for agent in opened:
            await agent.let_go()  # when the tasks under way have come to their end
