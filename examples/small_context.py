"""A hundred exchanges, and a context that stays small: run it, no key is needed.

Put your own model into `answer`, and set a provider's key (or `compaction.model`) for better summaries.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter

import afterglow


async def answer(context: afterglow.Context) -> str:
    """Your agent stands here: it gets what the model is to see, and gives the reply."""
    return f"Noted. I was shown {len(context.messages)} messages of {context.tokens} tokens in all."


async def main(folder: str) -> None:
    async with afterglow.open(folder) as memory:
        ana = afterglow.Binding(agent="kate", channel="terminal", sender="ana")
        for day in range(1, 101):
            text = f"On day {day} we visited place number {day * 7}, and it cost {day * 3} euros for the two of us."
            done = await memory.exchange(ana, text, answer)
            if day % 20 == 0:
                print(f"{day:>4} exchanges: {done.text}")
        await memory.settle()
        session = await memory.open_session(ana)
        context = await memory.context(session)
        levels = Counter(part.level for part in context.portions if part.name == "block")
        print(f"{session.turns} turns, {session.tokens} tokens in the log; {context.tokens} tokens in the context:")
        for level in sorted(levels, reverse=True):
            print(f"  {levels[level]} blocks of level {level}")
        print(f"  {session.turns - session.folded.to_seq} turns word for word")
        print(context.messages[0].text[:400], "…")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "./notes"))
