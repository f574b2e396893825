"""The graph that every call of the answering model goes through: where it begins is said by the reason.

    START → route_by_reason
      ├─ user_message, scheduled_task → model → route_after_model
      │                                   ├─ it calls tools → tools → model
      │                                   ├─ over the limit → summarise → END
      │                                   └─ else           → END
      ├─ complex_reschedule → utility → END
      └─ session_timeout    → summarise_all → END

It is compiled once and keeps nothing: what was said is the store's context, read anew for each call of the model. Each reply
is written down before the next step begins, so that a process that dies leaves what its tools did in the log.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.runtime import Runtime
from pydantic import BaseModel

from afterglow.agent.events import Event, Reason, Text, ToolUsed
from afterglow.agent.remembered import remembered
from afterglow.agent.talk import reply_of, result_of, said_in
from afterglow.agent.times import zone_for, zone_of
from afterglow.agent.tools import Tool, Used, use
from afterglow.compaction import Limits, decide
from afterglow.context import Context
from afterglow.conversation import Reply
from afterglow.errors import ModelBadOutput, ModelTooLong
from afterglow.memory import Memory
from afterglow.model import Completion, Request, Said, ToolCall
from afterglow.model.metered import Metered
from afterglow.model.offline import NAME as OFFLINE
from afterglow.settings import AnsweringSettings
from afterglow.spend import Usage
from afterglow.turns import Binding, Session, tool_calls
from afterglow.work import Due

_STRICTER = "The last answer could not be used. Answer again: one JSON object that fits the schema, and nothing else."
_AT_ONCE = 8
"""So many tools are used side by side in one answer."""
_NO_MORE_TOOLS = "You have used tools long enough. Answer now with what you know."


class State(TypedDict):
    """What goes through the graph: why it runs, and what came of it so far."""

    reason: Reason
    replies: Annotated[list[Reply], operator.add]
    result: str


Change = dict[str, Any]
"""What a node changes of it."""


@dataclass(kw_only=True, slots=True)
class Talk:
    """What the nodes of one run work with."""

    memory: Memory
    model: Metered
    answering: AnsweringSettings
    instructions: str
    tools: Mapping[str, Tool]
    emit: Callable[[Event], None]
    binding: Binding | None = None
    session: Session | None = None
    context: Context | None = None
    """What was read for the first call; for later ones it is read anew."""
    window_tokens: int | None = None
    now: datetime | None = None
    """What time it is to the model, the same in all calls of a run."""
    messages: tuple[Said, ...] = ()
    schema: type[BaseModel] | None = None

    @property
    def limits(self) -> Limits:
        return self.memory.frame_of(self.somebody.agent).limits

    @property
    def somebody(self) -> Binding:
        assert self.binding is not None, "this reason is about somebody"
        return self.binding

    async def here(self) -> Session:
        """The session it is about, read when it is needed."""
        if self.session is None:
            assert self.context is not None, "who is answered has a context"
            self.session = await self.memory.session(self.context.session, owner=self.somebody.owner)
        return self.session


def route_by_reason(state: State) -> Literal["model", "utility", "summarise_all"]:
    """Where a run begins."""
    match state.get("reason"):
        case "complex_reschedule":
            return "utility"
        case "session_timeout":
            return "summarise_all"
        case _:
            return "model"


def route_after_model(state: State, runtime: Runtime[Talk]) -> Literal["tools", "summarise", "__end__"]:
    """Where it goes after the model spoke."""
    last = state["replies"][-1]
    if tool_calls(last.parts):
        return "tools"
    if (last.usage or {}).get("input_tokens", 0) > runtime.context.limits.context_limit_tokens:
        return "summarise"
    return "__end__"


async def model(state: State, runtime: Runtime[Talk]) -> Change:
    """The model answers, or says which tools it wants to use first."""
    talk = runtime.context
    if state.get("replies"):  # what tools gave is in the log by now
        talk.context = await talk.memory.context(await talk.here(), window_tokens=talk.window_tokens)
    rounds = sum(bool(tool_calls(reply.parts)) for reply in state.get("replies", ()))
    spent = rounds >= talk.answering.tool_rounds_max
    try:
        done = await _spoken(talk, may_use_tools=not spent)
    except ModelTooLong:  # its window is smaller than what was estimated: fold, and try once more
        await talk.memory.compact(await talk.here())
        talk.context = await talk.memory.context(await talk.here(), window_tokens=talk.window_tokens)
        done = await _spoken(talk, may_use_tools=not spent)
    if spent and done.calls:  # it goes on calling what it was not offered
        text = done.text or "I could not finish this with the tools I have."
        done = replace(done, calls=(), text=text)
    # Of too many calls one is kept beyond those that are made, so that the model is told of it.
    return {"replies": [reply_of(replace(done, calls=done.calls[: talk.answering.tool_calls_max + 1]))]}


async def tools(state: State, runtime: Runtime[Talk]) -> Change:
    """What the model wants done is done, side by side, and the results stand in the order of the calls."""
    talk = runtime.context
    used = Used(memory=talk.memory, binding=talk.somebody, session=await talk.here())
    calls = [_call(part) for part in state["replies"][-1].parts if part.get("type") == "tool_call"]

    at_once, most = asyncio.Semaphore(_AT_ONCE), talk.answering.tool_calls_max

    async def done(call: ToolCall, number: int) -> Reply:
        if number > most:
            result, failed = (
                f"Not made, nor were any calls after this one: too many at once; make {most} at most.",
                True,
            )
        else:
            async with at_once:
                result, failed = await use(call, talk.tools, used, talk.answering.tool_seconds_max)
        talk.emit(ToolUsed(name=call.name, arguments=call.arguments, result=result, failed=failed))
        return result_of(call, result)

    return {"replies": list(await asyncio.gather(*(done(call, number) for number, call in enumerate(calls, 1))))}


async def summarise(state: State, runtime: Runtime[Talk]) -> Change:
    """The context is over its limit: where folding helps, which `decide` says, it is to be folded behind the reply."""
    talk = runtime.context
    here = await talk.here()
    session = await talk.memory.session(here.id, owner=here.owner)  # as it is with the reply
    if reason := decide(session, talk.limits, complete=True):
        due = Due(kind="context", at=talk.memory.store.clock.now(), reason=reason, subject=session.id)
        await talk.memory.store.mark_due(session.owner, due)
    return {}


async def summarise_all(state: State, runtime: Runtime[Talk]) -> Change:
    """Nobody has written for a while: the whole session becomes its summary."""
    talk = runtime.context
    session = await talk.memory.go_idle(await talk.here())
    blocks = await talk.memory.blocks(session)
    return {"result": "\n".join(block.text for block in blocks)}


async def utility(state: State, runtime: Runtime[Talk]) -> Change:
    """The given messages alone are answered, by what fits the given schema. Nothing is written down."""
    talk = runtime.context
    request = _request(talk, "reschedule", talk.messages)
    try:
        done = await talk.model.complete(request)
    except ModelBadOutput:
        again = (*talk.messages, Said(role="user", text=_STRICTER))
        done = await talk.model.complete(replace(request, messages=again))
    return {"result": done.text if done.data is None else done.data.model_dump_json()}


async def _spoken(talk: Talk, *, may_use_tools: bool) -> Completion:
    assert talk.context is not None, "who is answered has a context"
    if talk.model.name == OFFLINE:
        return await _from_memory(talk)
    zone = zone_of(zone_for(talk.memory.settings, talk.somebody))
    messages = said_in(talk.context, talk.now or talk.memory.store.clock.now(), zone)
    if talk.tools and not may_use_tools:
        messages = (*messages, Said(role="user", text=_NO_MORE_TOOLS))
    specs = tuple(each.spec for each in talk.tools.values())
    request = replace(_request(talk, "agent", messages), tools=specs, may_call=may_use_tools)
    done: Completion | None = None
    async for piece in talk.model.stream(request):
        if isinstance(piece, Completion):
            done = piece
        else:
            talk.emit(Text(text=piece))
    assert done is not None, "a stream ends with its completion, or raises"
    return done


def _request(talk: Talk, purpose: str, messages: tuple[Said, ...]) -> Request:
    return Request(
        purpose=purpose,
        instructions=talk.instructions,
        messages=messages,
        tokens_max=talk.answering.tokens_max,
        deadline_seconds=talk.answering.deadline_seconds,
        schema=talk.schema,
        owner=None if talk.binding is None else talk.binding.owner,
        session=None if talk.context is None else talk.context.session,
    )


async def _from_memory(talk: Talk) -> Completion:
    """Without a model: what is remembered that fits what was asked last."""
    assert talk.context is not None, "who is answered has a context"
    asked = next((each.text for each in reversed(talk.context.messages) if each.role == "user" and each.seq), "")
    text = await remembered(talk.memory, talk.somebody, asked)
    talk.emit(Text(text=text))
    return Completion(text=text, model=OFFLINE, usage=Usage())


def _call(part: Mapping[str, Any]) -> ToolCall:
    return ToolCall(id=part["id"], name=part["name"], arguments=part["arguments"], fault=part.get("fault", ""))


@cache
def graph() -> Any:
    """The graph, compiled."""
    made: Any = StateGraph(State, context_schema=Talk)
    for node in (model, tools, summarise, summarise_all, utility):
        made.add_node(node.__name__, node)
    made.add_conditional_edges(START, route_by_reason, ["model", "utility", "summarise_all"])
    made.add_conditional_edges("model", route_after_model, ["tools", "summarise", END])
    made.add_edge("tools", "model")
    for last in (summarise, summarise_all, utility):
        made.add_edge(last.__name__, END)
    return made.compile(checkpointer=False)
