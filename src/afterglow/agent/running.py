"""One run of the graph, which is loaded when it is first needed: LangGraph takes seconds to import."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
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


async def replies(run: Talk, reason: Reason) -> AsyncGenerator[Reply]:
    """The replies of a run as they come. The next step begins when the one before is written down."""
    async with aclosing((await graph()).astream({"reason": reason}, context=run, stream_mode="updates")) as updates:
        async for update in updates:
            changes: list[Mapping[str, Any] | None] = list(update.values())
            for reply in [reply for change in changes for reply in (change or {}).get("replies", ())]:
                yield reply


async def result(run: Talk, reason: Reason) -> str:
    """What comes of a run that is no talk."""
    state = await (await graph()).ainvoke({"reason": reason}, context=run)
    return str(state.get("result", ""))
