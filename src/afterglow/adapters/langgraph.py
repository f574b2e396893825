"""LangGraph: a node of any graph with a list of messages, wrapped so that it is shown Afterglow's context.

    builder.add_node("chatbot", remembering(chatbot, memory))

The node gets the state with the context in place of its messages. What is new among the messages is written down before,
and what the node says after, so that whatever fails, what was said is in the log.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import partial, wraps
from typing import Any, cast

from afterglow.adapters.messages import BaseMessage
from afterglow.adapters.threads import BindingOf, Thread, Threads
from afterglow.errors import BadInput, MissingPackage
from afterglow.memory import Memory
from afterglow.turns import check_name

try:
    from langchain_core.messages import RemoveMessage, convert_to_messages
    from langchain_core.runnables import Runnable
    from langgraph.config import get_config
    from langgraph.types import Command
except ImportError:
    raise MissingPackage(
        "this adapter needs the package langgraph; install it with: pip install '.[agent]' in Afterglow's folder"
    ) from None

Node = Callable[..., Awaitable[Any]]


def remembering(
    node: Any,
    memory: Memory,
    binding: BindingOf | None = None,
    *,
    agent: str = "agent",
    channel: str = "langgraph",
    messages: str = "messages",
) -> Node:
    """The node, for `add_node`: shown the context, and with all that is said written down.

    `node` is a function, sync or async, or any runnable. Without a `binding` the config of each run says whose conversation
    it is, by `thread_id` and `user_id`; `agent` and `channel` are the rest of the binding then. `messages` is where the
    state has them. Run the graph by `ainvoke` or `astream`.
    """
    check_name(agent, "agent")
    check_name(channel, "channel")
    threads = Threads(memory, binding, agent=agent, channel=channel)
    call = _callable(node)

    async def remembered(state: Any, *args: Any, **injected: Any) -> Any:
        thread = threads.thread(cast("Mapping[str, Any]", get_config()))
        said = convert_to_messages(_listed(_held(state, messages)))
        shown = await threads.context(said, thread)
        result = await call(_with(state, messages, shown), *args, **injected)
        return await _written(result, messages, threads, thread)

    # LangGraph looks at a node's parameters and types for what to hand it, and where it may lead: they are the node's own.
    return remembered if isinstance(node, Runnable) else cast("Node", wraps(_function(node))(remembered))


def _callable(node: Any) -> Node:
    """The node as an async function."""
    if isinstance(node, Runnable):
        runnable = cast("Runnable[Any, Any]", node)

        async def run(state: Any) -> Any:
            return await runnable.ainvoke(state, get_config())

        return run
    if not callable(node):
        raise BadInput(f"a node is a function or a runnable; this is a {type(node).__name__}")
    if inspect.iscoroutinefunction(node) or inspect.iscoroutinefunction(_function(node)):
        return cast("Node", node)

    async def call(*args: Any, **injected: Any) -> Any:
        given = await asyncio.to_thread(cast("Callable[..., Any]", node), *args, **injected)
        return await given if inspect.isawaitable(given) else given

    return call


def _function(node: Any) -> Any:
    """What has the parameters of a callable: itself, or the method by which an object is called."""
    is_one = inspect.isroutine(node) or isinstance(node, partial)
    return cast("Any", node) if is_one else node.__call__


def _held(state: Any, name: str) -> Any:
    held = state.get(name, ()) if isinstance(state, Mapping) else getattr(state, name, None)  # pyright: ignore
    if held is None:
        raise BadInput(
            f"the state of this graph has no {name!r}; say where its messages are: remembering(…, messages=…)"
        )
    return cast("Any", held)


def _with(state: Any, name: str, messages: Sequence[BaseMessage]) -> Any:
    """The state with other messages, of whichever kind it is."""
    if isinstance(state, Mapping):
        return {**cast("Mapping[str, Any]", state), name: messages}
    if is_dataclass(state) and not isinstance(state, type):
        return replace(state, **{name: messages})
    return cast("Any", state).model_copy(update={name: messages})


async def _written(result: Any, name: str, threads: Threads, thread: Thread) -> Any:
    """What a node gave, with its messages written down, and with the ids by which they are known."""
    if isinstance(result, Command):
        command = cast("Command[Any]", result)
        return replace(command, update=await _written(command.update, name, threads, thread))
    if isinstance(result, list):
        return [await _written(each, name, threads, thread) for each in cast("list[Any]", result)]
    if not isinstance(result, Mapping) or name not in result:
        return cast("Any", result)
    update = cast("Mapping[str, Any]", result)
    given = convert_to_messages(_listed(update[name]))
    await threads.write([each for each in given if not isinstance(each, RemoveMessage)], thread)
    return {**update, name: given}


def _listed(messages: Any) -> list[Any]:
    """A list of messages; one alone is a list as well."""
    return list(cast("Sequence[Any]", messages)) if isinstance(messages, list) else [messages] if messages else []
