"""What the agent adds to a call of the model, at several lengths of history, beside LangGraph with its own SqliteSaver.

The model is the same for both and answers at once, so what is measured is everything else: reading the context, the graph,
the meter, and writing both turns down. Both keep what was said in SQLite on the same disk.

    python -m benchmarks.agent [--calls 200] [--lengths 10 100 1000 5000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from afterglow.agent import Agent
from afterglow.memory import open_memory
from afterglow.model.scripted import ScriptedModel
from afterglow.settings import Settings
from afterglow.turns import Binding

RESULTS = Path(__file__).parent / "results" / "agent.json"
SAID = "This is about what people say in one message, a sentence or two of twenty words, give or take some."
ANSWER = "And this is about what an assistant answers to it, which is often somewhat longer than what it was asked."
Call = Callable[[], Awaitable[Any]]


async def timed(call: Call, times: int) -> list[float]:
    took: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        await call()
        took.append(1000 * (time.perf_counter() - began))
    return took


async def ours(folder: str, length: int, times: int) -> tuple[list[float], list[float]]:
    """With the memory folding behind the replies as it does; and the bare call of the same model."""
    model = ScriptedModel(lambda request: ANSWER)
    chosen = Settings.model_validate({"data_dir": folder, "zone": "UTC", "spend": {"day_ceiling_tokens": 10**12}})
    binding = Binding(agent="kate", channel="bench", sender="ana")
    async with open_memory(chosen, model=model) as memory:
        agent = Agent(memory, binding=binding)
        for _ in range(length):
            await memory.exchange(binding, SAID, lambda context: ANSWER)
        await memory.settle()
        await agent.invoke(SAID)
        await memory.settle()
        bare = await timed(lambda: model.complete(model.requests[-1]), times)
        took: list[float] = []
        for _ in range(times):
            took += await timed(lambda: agent.invoke(SAID), 1)
            await memory.settle()  # what is folded behind a reply is not part of it, and not left to pile up
        return took, bare


async def theirs(folder: str, length: int, times: int) -> list[float]:
    """A graph of one node with MessagesState and the saver of LangGraph."""

    def answers() -> Any:
        while True:
            yield AIMessage(ANSWER)

    model = GenericFakeChatModel(messages=answers())

    async def chatbot(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("chatbot", chatbot)
    builder.add_edge(START, "chatbot")
    async with AsyncSqliteSaver.from_conn_string(f"{folder}/checkpoints.db") as saver:
        graph: Any = builder.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "1"}}
        before = [message for _ in range(length) for message in (("user", SAID), ("assistant", ANSWER))]
        if before:
            await graph.aupdate_state(config, {"messages": before})
        await graph.ainvoke({"messages": [("user", SAID)]}, config)
        return await timed(lambda: graph.ainvoke({"messages": [("user", SAID)]}, config), times)


def row(length: int, took: list[float], bare: list[float], beside: list[float]) -> dict[str, Any]:
    base = median(bare)
    return {
        "exchanges_before": length,
        "invoke_p50_ms": round(median(took), 2),
        "invoke_p95_ms": round(quantiles(took, n=20)[-1], 2),
        "model_alone_p50_ms": round(base, 3),
        "overhead_p95_ms": round(quantiles(took, n=20)[-1] - base, 2),
        "langgraph_sqlite_p50_ms": round(median(beside), 2),
        "langgraph_sqlite_p95_ms": round(quantiles(beside, n=20)[-1], 2),
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--lengths", type=int, nargs="+", default=[0, 100, 1000, 5000])
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for length in given.lengths:
        with tempfile.TemporaryDirectory() as folder:
            took, bare = await ours(folder, length, given.calls)
            rows.append(row(length, took, bare, await theirs(folder, length, given.calls)))
            print(rows[-1], flush=True)
    RESULTS.write_text(json.dumps({"calls": given.calls, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
