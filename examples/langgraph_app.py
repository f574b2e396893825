"""An app on LangGraph with a loop of tools that has taken up Afterglow: the five lines that were added are marked.

Run it, no key is needed: a few rules stand in for the model. Put your own in place of `Rules()`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

import afterglow  # + Afterglow
from afterglow.adapters.langgraph import remembering  # + Afterglow


def weather(city: str) -> str:
    """The weather in a city."""
    return {"Oslo": "rain, 4 °C", "Lagos": "sun, 31 °C"}.get(city, "unknown")


class Rules(BaseChatModel):
    """Your model stands here. This one uses a tool for the weather, and quotes what it is shown of the shed."""

    @property
    def _llm_type(self) -> str:
        return "rules"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if last.type == "tool":
            return AIMessage(f"There is {last.text}.")
        if city := next((city for city in ("Oslo", "Lagos") if city in last.text), None):
            return AIMessage("", tool_calls=[{"name": "weather", "args": {"city": city}, "id": f"call-{city}"}])
        if last.text.startswith("Where"):
            known = [line for message in messages[:-1] for line in message.text.splitlines() if "the shed lies" in line]
            place = known[0].partition("the shed ")[2] if known else "is not known to me."
            return AIMessage(f"It {place} I was shown {len(messages)} messages.")
        return AIMessage("Noted.")


def build(memory: afterglow.Memory) -> Any:  # + Afterglow: the memory is given
    model = Rules()

    async def chatbot(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("chatbot", remembering(chatbot, memory))  # + Afterglow: before, it was `chatbot` alone
    builder.add_node("tools", ToolNode([weather]))
    builder.add_edge(START, "chatbot")
    builder.add_conditional_edges("chatbot", tools_condition)
    builder.add_edge("tools", "chatbot")
    return builder.compile(checkpointer=InMemorySaver())


async def main(folder: str) -> None:
    async with afterglow.open(folder) as memory:  # + Afterglow
        graph = build(memory)

        async def say(text: str) -> Any:
            return await graph.ainvoke({"messages": [("user", text)]}, {"configurable": {"thread_id": "ana"}})

        await say("Please keep in mind: we decided that the key of the shed lies under the third flower pot.")
        for day in range(1, 41):
            await asyncio.sleep(0.02)  # people take longer than this to write; what was said is folded meanwhile
            await say(f"On day {day} we saw {day * 7} birds at the lake, and most of them were ducks.")
        print("Weather in Oslo?   →", (await say("How is the weather in Oslo?"))["messages"][-1].text)
        done = await say("Where is the key of the shed?")
        print("Where is the key?  →", done["messages"][-1].text)
        print(f"The state of the graph has {len(done['messages'])} messages.")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "./notes"))
