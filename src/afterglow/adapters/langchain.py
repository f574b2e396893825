"""LangChain: a middleware that gives any agent of `create_agent` Afterglow's context.

What is said is written down as it comes, and the model is shown blocks, reports and tail in place of all messages. Folding
happens behind the reply, as everywhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

from afterglow.adapters.messages import AnyMessage, BaseMessage, ToolMessage, is_instruction
from afterglow.adapters.threads import BindingOf, Threads
from afterglow.errors import BadInput, MissingPackage
from afterglow.memory import Memory
from afterglow.turns import check_name

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import ToolCallRequest
    from langgraph.config import get_config
    from langgraph.runtime import Runtime
    from langgraph.types import Command
except ImportError:
    raise MissingPackage(
        "this adapter needs the packages langchain and langgraph; install both with: pip install '.[agent]' in its folder"
    ) from None


class AfterglowMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Keeps what an agent and a person say to each other, and shows the agent's model our context.

    Put it first in the list: then it writes down what the others made of a reply.
    """

    def __init__(
        self, memory: Memory, binding: BindingOf | None = None, *, agent: str = "agent", channel: str = "langchain"
    ) -> None:
        """Without a `binding` the config of each run says whose conversation it is, by `thread_id` and `user_id`.

        `agent` and `channel` are the rest of the binding then.
        """
        super().__init__()
        check_name(agent, "agent")
        check_name(channel, "channel")
        self._threads = Threads(memory, binding, agent=agent, channel=channel)

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Somebody wrote: it is in the log before anything can fail."""
        await self._catch_up(state)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """The model is shown the context, and what it says is written down."""
        thread = self._threads.thread(_config())
        said: Sequence[AnyMessage] = request.state["messages"]
        context = await self._threads.context(said, thread)
        response = await handler(request.override(messages=_with_others(context, request.messages, said)))
        await self._threads.write(response.result, thread)
        return response

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """What a tool gave is written down. What it changes by a command is, before the model is asked again."""
        result = await handler(request)
        if isinstance(result, ToolMessage):
            await self._threads.write([result], self._threads.thread(_config()))
        return result

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """What came after the model's last word is written down as well."""
        await self._catch_up(state)

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> NoReturn:
        """There is no way to wait for the log here."""
        raise BadInput(
            "Afterglow's middleware is async only: run this agent by ainvoke or astream, not invoke or stream"
        )

    async def _catch_up(self, state: AgentState[Any]) -> None:
        await self._threads.catch_up(state["messages"], self._threads.thread(_config()))


def _config() -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", get_config())


def _with_others(
    context: Sequence[AnyMessage], asked: Sequence[AnyMessage], said: Sequence[BaseMessage]
) -> list[AnyMessage]:
    """The context, with what other middleware put into this one request around it: in front what stood in front of all."""
    ids = {message.id for message in said}
    others = [
        (place, message)
        for place, message in enumerate(asked)
        if message.id not in ids and not isinstance(message, ToolMessage)  # the results of calls stand in the context
    ]
    first = next((place for place, message in enumerate(asked) if message.id in ids), len(asked))
    before = [message for place, message in others if place < first or is_instruction(message)]
    return [*before, *context, *(message for _, message in others if message not in before)]
