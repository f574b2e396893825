"""An agent that uses a tool: calls and results are written down with the reply, and stay together in every context.

Run it, no key is needed: a few rules stand in for the model.
"""

from __future__ import annotations

import asyncio
import sys

import afterglow

WEATHER = {"Oslo": "rain, 4 °C", "Lagos": "sun, 31 °C"}


def answer(context: afterglow.Context) -> str | list[afterglow.Reply]:
    """Your agent stands here. What it did on the way to its answer comes as replies of their own, in order."""
    asked = context.messages[-1].text
    city = next((name for name in WEATHER if name in asked), None)
    if city is None:
        return "Which city?"
    call = {"type": "tool_call", "id": "call-1", "name": "weather", "arguments": {"city": city}}
    result = {"type": "tool_result", "id": "call-1", "name": "weather", "content": WEATHER[city]}
    return [
        afterglow.Reply(text="", parts=[call]),
        afterglow.Reply(text="", role="tool", parts=[result]),
        afterglow.Reply(text=f"In {city}: {WEATHER[city]}.", model="rules", usage={"input_tokens": context.tokens}),
    ]


async def main(folder: str) -> None:
    async with afterglow.open(folder) as memory:
        ana = afterglow.Binding(agent="kate", channel="terminal", sender="ana")
        for text in ("How is the weather?", "In Oslo, I mean.", "And in Lagos?"):
            done = await memory.exchange(ana, text, answer)
            print(f"{text:20} → {done.text}")
        session = await memory.open_session(ana)
        for message in (await memory.context(session)).messages:
            print(f"{message.seq:>3} {message.role:10} {message.text or message.parts[0]['type']}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "./notes"))
