"""How an agent answers: its model, its instructions and its tools, from the settings and from what it was given."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from afterglow.agent.mcp_tools import McpTools
from afterglow.agent.own_tools import own_tools
from afterglow.agent.tools import Tool, adopted
from afterglow.memory import Memory
from afterglow.model import Model
from afterglow.model.metered import Metered
from afterglow.model.offline import NAME as OFFLINE
from afterglow.prompts import load
from afterglow.settings import AnsweringSettings
from afterglow.tokens import estimate

_ROOM_MIN_TOKENS = 500
"""However much instructions and tools take of a model's window, so much is left for the talk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How one agent answers."""

    answering: AnsweringSettings
    model: Metered
    instructions: str
    tools: Mapping[str, Tool]
    window_tokens: int
    """What the model's window has left for the talk."""


class Manners:
    """How each agent answers, put together when it first does."""

    def __init__(self, memory: Memory, model: Model | None, tools: Sequence[Any], instructions: str | None) -> None:
        self._memory = memory
        self.model = None if model is None else memory.means_of.metered(model)
        self._given = adopted(tools)
        self._instructions = instructions
        self._made: dict[str, Manner] = {}
        self._mcp = McpTools(memory.settings.mcp_servers, os.environ)

    def of(self, agent: str) -> Manner:
        """Without the tools of MCP servers, which need not be there."""
        if agent not in self._made:
            answering = self._memory.settings.answering_of(agent)
            model = self.model or self._memory.means_of.answering(agent)
            tools = adopted([*(each for each in own_tools() if each.name in answering.tools), *self._given])
            instructions = self._instructions or answering.instructions or load("agent").filled(agent=agent)
            taken = estimate(instructions) + sum(each.spec.tokens for each in tools) + answering.tokens_max
            self._made[agent] = Manner(
                answering=answering,
                model=model,
                instructions=instructions,
                tools={each.name: each for each in tools},
                window_tokens=max(_ROOM_MIN_TOKENS, model.window_tokens - taken),
            )
        return self._made[agent]

    async def equipped(self, agent: str) -> Manner:
        """With the tools of the MCP servers that are there now."""
        manner = self.of(agent)
        if manner.model.name == OFFLINE:
            return manner
        found = await self._mcp.tools(manner.answering.mcp_servers, taken=manner.tools)
        room = manner.window_tokens - sum(each.spec.tokens for each in found)
        tools = {**manner.tools, **{each.name: each for each in found}}
        return replace(manner, tools=tools, window_tokens=max(_ROOM_MIN_TOKENS, room))

    async def close(self) -> None:
        """End the connections to MCP servers."""
        await self._mcp.close()
