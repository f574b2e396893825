"""The agent: one way in to the model, on LangGraph, with a queue for each session and tasks at set times.

    async with open_agent() as agent:
        print(await agent.invoke("When is my next appointment?", to=binding))

LangGraph is imported when the first call is made: it takes seconds.
"""

from __future__ import annotations

from afterglow.agent.agent import Agent
from afterglow.agent.events import REASONS, Done, Event, Reason, Text, ToolUsed
from afterglow.agent.opening import open_agent
from afterglow.agent.tools import Tool, Used, tool

__all__ = ["REASONS", "Agent", "Done", "Event", "Reason", "Text", "Tool", "ToolUsed", "Used", "open_agent", "tool"]
