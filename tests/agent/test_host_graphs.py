"""An agent that is called from a node of another program's LangGraph graph stays its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from afterglow.model import Request, scripted
from afterglow.model.scripted import calls
from tests.agent.conftest import OpenAgent
from tests.kit.agents import model_of, turns_of
from tests.kit.models import echo, said_last

THREAD: Any = {"configurable": {"thread_id": "one"}}


class Hour(BaseModel):
    """When to go on."""

    hour: int


def _newest(_: str, new: str) -> str:
    return new


class Said(TypedDict):
    """What goes through the host's graph."""

    said: Annotated[str, _newest]


def host(node: Callable[[Said], Awaitable[Said]], saver: InMemorySaver | None = None) -> Any:
    """A graph of one node."""
    made: Any = StateGraph(Said)
    made.add_node("talk", node)
    made.add_edge(START, "talk")
    made.add_edge("talk", END)
    return made.compile(checkpointer=saver)


@pytest.mark.spec("AGENT-1", "AGENT-4")
async def test_a_host_that_is_interrupted_and_goes_on_has_every_message_answered(agent_with: OpenAgent) -> None:
    agent = agent_with(lambda request: '{"hour": 9}' if request.schema else echo(request))

    async def node(state: Said) -> Said:
        first = await agent.invoke("one", key="k1")
        planned = await agent.invoke("", "complex_reschedule", messages=[("user", "When?")], schema=Hour)
        sure = interrupt("Are you sure?")
        return {"said": f"{first}|{planned}|{await agent.invoke(f'sure: {sure}')}"}

    saver = InMemorySaver()
    graph = host(node, saver)
    await graph.ainvoke({"said": ""}, THREAD)
    done = await graph.ainvoke(Command(resume="yes"), THREAD)
    assert done["said"] == 'You said: one|{"hour":9}|You said: sure: yes'
    assert len(model_of(agent).requests) == 4, "what has a key is not asked twice; what has none is"
    assert [turn.text for turn in await turns_of(agent)][2:] == ["sure: yes", "You said: sure: yes"]
    namespaces = {namespace for thread in saver.storage.values() for namespace in thread}
    assert namespaces == {""}, "the host's checkpoints hold nothing of the agent's"


@pytest.mark.spec("AGENT-1", "AGENT-8")
async def test_a_hosts_limit_and_stream_are_its_own(agent_with: OpenAgent) -> None:
    def script(request: Request) -> scripted.Step:
        return calls(("file_list", {})) if said_last(request).startswith("look") else "Nothing."

    agent = agent_with(script)

    async def node(state: Said) -> Said:
        return {"said": await agent.invoke("look around")}

    limit: Any = {"recursion_limit": 2}
    seen = [each async for each in host(node).astream({"said": ""}, limit, stream_mode="updates", subgraphs=True)]
    assert seen == [((), {"talk": {"said": "Nothing."}})]


@pytest.mark.spec("AGENT-8")
@pytest.mark.parametrize("rounds", [0, 1, 30])
async def test_as_many_rounds_of_tools_as_the_settings_allow_can_be_gone(agent_with: OpenAgent, rounds: int) -> None:
    limits = {"context": {"context_limit_tokens": 1100}, "compaction": {"block_budget_tokens": 600}}
    settings = {**limits, "answering": {"tool_rounds_max": rounds}}
    agent = agent_with(lambda request: calls(("file_list", {})) if request.may_call else "Enough.", settings=settings)
    assert await agent.invoke("Go on and on.") == "Enough."
    assert len(model_of(agent).requests) == rounds + 1
