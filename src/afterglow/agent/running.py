"""One run of the graph, which is loaded when it is first needed: LangGraph takes seconds to import."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any

from afterglow.agent.events import Event, Reason
from afterglow.agent.manner import Manner
from afterglow.conversation import Reply
from afterglow.errors import MissingPackage
from afterglow.memory import Memory

if TYPE_CHECKING:
    from afterglow.agent.graph import Talk

_loaded: Any = None


async def graph() -> Any:
    """The graph; imported in a thread, the first time."""
    global _loaded
    if _loaded is None:
        _loaded = await asyncio.to_thread(_load)
    return _loaded


def _load() -> Any:
    try:
        from afterglow.agent import graph
    except ImportError as error:
        raise MissingPackage(
            f"the agent needs the package {error.name or 'langgraph'}; install it with: pip install '.[agent]' in "
            "Afterglow's folder"
        ) from None
    return graph.graph()


def talk(memory: Memory, manner: Manner, emit: Callable[[Event], None], **more: Any) -> Talk:
    """What the nodes of one run work with. Only where the graph is loaded."""
    from afterglow.agent.graph import Talk

    return Talk(
        memory=memory,
        model=manner.model,
        answering=manner.answering,
        instructions=manner.instructions,
        tools=manner.tools,
        window_tokens=manner.window_tokens,
        emit=emit,
        **more,
    )


@contextmanager
def apart() -> Generator[None]:
    """Within this a run is nobody's part. Only where the graph is loaded.

    Called from a node of a host's graph, it would be taken for a part of that: resumed from its checkpoints, which would hold
    what was said here, stopped by its limit, and heard in its stream.
    """
    from langchain_core.runnables.config import var_child_runnable_config

    before = var_child_runnable_config.set(None)
    try:
        yield
    finally:
        var_child_runnable_config.reset(before)


def _limits(run: Talk) -> dict[str, Any]:
    """Two steps for each round of tools, the answer, and what is done behind it; with room for LangGraph's own."""
    return {"recursion_limit": 2 * run.answering.tool_rounds_max + 4}


async def replies(run: Talk, reason: Reason) -> AsyncGenerator[Reply]:
    """The replies of a run as they come. The next step begins when the one before is written down."""
    ways = await graph()
    async with aclosing(ways.astream({"reason": reason}, _limits(run), context=run, stream_mode="updates")) as updates:
        async for update in updates:
            changes: list[Mapping[str, Any] | None] = list(update.values())
            for reply in [reply for change in changes for reply in (change or {}).get("replies", ())]:
                yield reply


async def result(run: Talk, reason: Reason) -> str:
    """What comes of a run that is no talk."""
    ways = await graph()
    with apart():
        state = await ways.ainvoke({"reason": reason}, _limits(run), context=run)
    return str(state.get("result", ""))
