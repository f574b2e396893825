"""An agent of LangChain's `create_agent` with Afterglow as its memory: the middleware is all it takes.

Run it, no key is needed: a few rules stand in for the model. Put your own in place of `Rules()`, as in
`create_agent("anthropic:claude-haiku-4-5", …)`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import afterglow
from afterglow.adapters.langchain import AfterglowMiddleware


def weather(city: str) -> str:
    """The weather in a city."""
    return {"Oslo": "rain, 4 °C", "Lagos": "sun, 31 °C"}.get(city, "unknown")


class Rules(BaseChatModel):
    """Your model stands here. This one uses a tool for the weather, and quotes what it is shown of the shed."""

    @property
    def _llm_type(self) -> str:
        return "rules"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

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


async def main(folder: str) -> None:
    async with afterglow.open(folder) as memory:
        agent: Any = create_agent(
            Rules(),
            tools=[weather],
            system_prompt="You are Kate. Answer in one sentence.",
            middleware=[AfterglowMiddleware(memory, agent="kate")],
        )

        async def say(text: str) -> str:
            where = {"configurable": {"thread_id": "holidays", "user_id": "ana"}}
            return (await agent.ainvoke({"messages": [("user", text)]}, where))["messages"][-1].text

        await say("Please keep in mind: we decided that the key of the shed lies under the third flower pot.")
        for day in range(1, 41):
            await asyncio.sleep(0.02)  # people take longer than this to write; what was said is folded meanwhile
            await say(f"On day {day} we saw {day * 7} birds at the lake, and most of them were ducks.")
        print("Weather in Oslo?   →", await say("How is the weather in Oslo?"))
        session = await memory.open_session(afterglow.Binding(agent="kate", channel="langchain", sender="ana"))
        print(f"The log of {session.id} has {session.turns} turns.")
        print("Where is the key?  →", await say("Where is the key of the shed?"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "./notes"))
