"""Answers that come in pieces: real clients of LangChain against a server on this machine that streams as providers do."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.errors import ModelBadOutput, ModelBusy, ModelError, ModelStopped, ModelTooLong
from afterglow.model import CallLost, Completion, PaidAnswer, Request, Said, ToolCall, ToolSpec
from afterglow.model.answers import Thoughts
from afterglow.model.langchain import LangChainModel
from afterglow.model.metered import Metered
from afterglow.model.providers import PROVIDERS, Provider
from afterglow.model.scripted import SERVER_ERROR, ScriptedModel
from afterglow.spend import SpendLimits, Usage
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE
from tests.kit.loops import for_each
from tests.kit.provider import KEY, Server, openai_at, server
from tests.kit.records import NOON

__all__ = ["server"]
SEARCH = ToolSpec(
    name="search", description="Looks.", schema={"type": "object", "properties": {"q": {"type": "string"}}}
)
TALK = (
    Said(role="user", text="Where is it?"),
    Said(role="assistant", text="", calls=(ToolCall(id="c1", name="search", arguments={"q": "it"}),)),
    Said(role="tool", text="on the stove", answers="c1"),
    Said(role="user", text="And now?"),
)


def talking(tools: tuple[ToolSpec, ...] = (), deadline_seconds: float = 30) -> Request:
    return Request(
        purpose="agent",
        instructions="You are Kate.",
        messages=TALK,
        tools=tools,
        tokens_max=50,
        deadline_seconds=deadline_seconds,
    )


def pieces(*deltas: Any, finish: str | None = "stop", usage: bool = True) -> str:
    """A stream as OpenAI gives it; a text stands for a piece of the answer."""
    chunks: list[dict[str, Any]] = [
        {
            "choices": [
                {"index": 0, "delta": {"content": each} if isinstance(each, str) else each, "finish_reason": None}
            ]
        }
        for each in deltas
    ]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage:
        counted = {"prompt_tokens": 120, "completion_tokens": 9, "total_tokens": 129}
        chunks.append({"choices": [], "usage": {**counted, "prompt_tokens_details": {"cached_tokens": 64}}})
    about = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    lines = [f"data: {json.dumps({**about, **chunk})}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"])


def called(*parts: str, name: str = "search", id: str = "call_9", index: int = 0) -> list[dict[str, Any]]:
    """A call of a tool, its arguments in pieces."""
    first = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
    more = [{"index": index, "function": {"arguments": part}} for part in parts]
    return [{"tool_calls": [each]} for each in (first, *more)]


async def heard(model: Any, request: Request) -> tuple[list[str], Completion]:
    got = [piece async for piece in model.stream(request)]
    assert isinstance(got[-1], Completion) and all(isinstance(each, str) for each in got[:-1])
    return got[:-1], got[-1]


@pytest.mark.spec("AGENT-8")
async def test_words_come_as_they_are_said_and_then_the_whole(server: Server) -> None:
    server.headers, server.body = {"Content-Type": "text/event-stream"}, pieces("On ", "the ", "stove.")
    words, done = await heard(openai_at(server), talking())
    assert words == ["On ", "the ", "stove."] and done.text == "On the stove."
    assert done.usage == Usage(input_tokens=120, output_tokens=9, cached_tokens=64)
    (asked,) = server.asked
    assert asked["stream"] is True and asked["stream_options"] == {"include_usage": True}
    assert [each["role"] for each in asked["messages"]] == ["system", "user", "assistant", "tool", "user"]
    call = asked["messages"][2]["tool_calls"][0]
    assert call["function"] == {"name": "search", "arguments": '{"q": "it"}'}
    assert asked["messages"][3] == {"role": "tool", "content": "on the stove", "tool_call_id": "c1"}
    assert "tools" not in asked


@pytest.mark.spec("AGENT-8")
async def test_calls_of_tools_are_put_together_and_bad_ones_say_what_is_wrong(server: Server) -> None:
    deltas = [*called('{"q": ', '"kettle"}'), *called("kettle, please", id="call_10", index=1)]
    server.body = pieces("I look. ", *deltas, finish="tool_calls")
    words, done = await heard(openai_at(server), talking((SEARCH,)))
    assert words == ["I look. "]
    good, bad = done.calls
    assert (good.id, good.name, good.arguments, good.fault) == ("call_9", "search", {"q": "kettle"}, "")
    assert bad.id == "call_10" and "not a JSON object" in bad.fault
    (asked,) = server.asked
    assert asked["tools"][0]["function"]["name"] == "search"
    server.body = pieces(*called('{"q": "x"}'), finish="tool_calls")
    _, done = await heard(openai_at(server), talking((SEARCH,)))
    assert done.text == "" and len(done.calls) == 1, "an answer may be a call alone"


@pytest.mark.spec("AGENT-8")
async def test_tools_that_may_not_be_used_any_more_are_named_as_such(server: Server) -> None:
    server.body = pieces("Then without.")
    await heard(openai_at(server), replace(talking((SEARCH,)), may_call=False))
    (asked,) = server.asked
    assert asked["tools"][0]["function"]["name"] == "search" and asked["tool_choice"] == "none"


@for_each("provider", PROVIDERS.values())
def test_every_provider_is_told_in_its_own_way_not_to_use_tools(provider: Provider) -> None:
    """As its package takes it; ollama's cannot be told, and is then given none."""
    options = {} if provider.id == "ollama" else {"api_key": KEY}
    model = LangChainModel(
        provider, provider.small or "m", clock=FixedClock(NOON), window_tokens=8_000, options=options
    )
    chat = model._equipped(model._build(), replace(talking((SEARCH,)), may_call=False))  # pyright: ignore[reportPrivateUsage]
    said = getattr(chat, "kwargs", {})
    assert bool(said.get("tools")) is (provider.id != "ollama")
    assert not said or "none" in str(said.get("tool_choice") or said.get("tool_config")).lower()


@pytest.mark.spec("AGENT-8")
async def test_what_is_thought_aloud_is_kept_back(server: Server) -> None:
    server.body = pieces("<thi", "nk>", "Hm, where", " was it?</th", "ink>\n\n", "On the ", "stove.")
    words, done = await heard(openai_at(server), talking())
    assert "".join(words) == done.text == "On the stove."


@for_each(
    "said, shown",
    [
        (["<", "b>bold</b>"], "<b>bold</b>"),
        (["", "  ", "Hello", " you"], "Hello you"),
        (["<think>x</think>y", " z"], "y z"),
        (["<thinking>never ends"], ""),
        (["<think>a</think><thought>b</thought>", "c"], "c"),
        (["I <think> so"], "I <think> so"),
    ],
)
def test_only_thoughts_at_the_beginning_are_kept_back(said: list[str], shown: str) -> None:
    thoughts = Thoughts()
    assert "".join(thoughts.spoken(piece) for piece in said) == shown


@pytest.mark.spec("AGENT-8", "P6")
async def test_a_stream_that_ends_wrongly_is_no_answer(server: Server) -> None:
    for body, kind in (
        (pieces("Half of ", finish=None, usage=False), CallLost),
        (pieces("", finish="stop"), PaidAnswer),
        (pieces("The", finish="content_filter"), PaidAnswer),
        ("data: {not json\n\n", ModelError),
        (
            pieces("Half. ", finish=None, usage=False).replace("[DONE]", '{"error": {"message": "overloaded"}}'),
            ModelError,
        ),
    ):
        server.body = body
        with pytest.raises(kind) as raised:
            await heard(openai_at(server), talking())
        assert KEY not in str(raised.value) and raised.value.__cause__ is None
    server.body = pieces("It is a long ", "stor", finish="length")
    _, done = await heard(openai_at(server), talking())
    assert done.text == "It is a long stor", "half an answer is better than none to somebody who reads it"


@pytest.mark.spec("AGENT-8", "P6")
@for_each(
    "status, body, kind",
    [
        (500, '{"error": {"message": "no"}}', ModelBusy),
        (429, '{"error": {"message": "slow down"}}', ModelBusy),
        (401, '{"error": {"message": "who are you"}}', ModelStopped),
        (400, '{"error": {"message": "too long", "code": "context_length_exceeded"}}', ModelTooLong),
    ],
)
async def test_refusals_are_classed_as_they_are_elsewhere(
    server: Server, status: int, body: str, kind: type[ModelError]
) -> None:
    server.status, server.body = status, body
    with pytest.raises(kind):
        await heard(openai_at(server), talking())


@pytest.mark.spec("P8")
async def test_a_model_that_hangs_in_the_middle_is_given_up_at_the_deadline(server: Server) -> None:
    server.hangs = True
    with pytest.raises(CallLost, match="1 seconds"):
        await heard(openai_at(server), talking(deadline_seconds=1))


@pytest.mark.spec("AGENT-8")
async def test_anthropics_stream_is_understood(server: Server) -> None:
    model = LangChainModel(
        PROVIDERS["anthropic"],
        "claude-haiku-4-5",
        clock=FixedClock(NOON),
        window_tokens=200_000,
        options={"api_key": KEY},
        base_url=server.address,
    )
    usage = {"input_tokens": 20, "output_tokens": 1, "cache_read_input_tokens": 100}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": []}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t1", "name": "search", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"q": "a"}'},
        },
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {**usage, "output_tokens": 12}},
        {"type": "message_stop"},
    ]
    server.body = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    words, done = await heard(model, talking((SEARCH,)))
    assert words == ["I look."] and done.text == "I look."
    assert [(call.id, call.name, dict(call.arguments)) for call in done.calls] == [("t1", "search", {"q": "a"})]
    assert done.usage.input_tokens == 120 and done.usage.cached_tokens == 100
    assert [each["role"] for each in server.asked[0]["messages"]] == ["user", "assistant", "user"], (
        "results are the user's"
    )


def metered(model: Any, store: Store, **limits: Any) -> Metered:
    from zoneinfo import ZoneInfo

    return Metered(model, store, limits=SpendLimits(**limits), zone=ZoneInfo("UTC"), clock=store.clock)


@pytest.mark.spec("SAFE-4")
async def test_a_stream_is_counted_and_who_stops_listening_may_have_paid(store: Store) -> None:
    model = metered(ScriptedModel(["one two three", "four five six", SERVER_ERROR]), store)
    await heard(model, talking())
    async for _ in (stream := model.stream(talking())):
        break
    await stream.aclose()
    with pytest.raises(ModelBusy):
        await heard(model, talking())
    refused, broken_off, whole = await store.spend_calls(EVERYONE)
    assert whole.usage is not None and whole.usage.output_tokens > 0
    assert broken_off.usage is None and broken_off.amount.tokens >= 50, "the most it could cost stays reserved"
    assert refused.amount.tokens == 0, "what was refused costs nothing"


@pytest.mark.spec("SAFE-4")
async def test_the_breaker_stands_before_a_stream_too(store: Store) -> None:
    model = metered(ScriptedModel([SERVER_ERROR, SERVER_ERROR, "never"]), store, breaker_failures=2)
    for _ in range(2):
        with pytest.raises(ModelBusy, match="HTTP 500"):
            await heard(model, talking())
    with pytest.raises(ModelBusy, match="left alone"):
        await heard(model, talking())


class Plain:
    """A model of somebody's own that knows nothing of streams."""

    name, window_tokens = "plain", 1000

    async def complete(self, request: Request) -> Completion:
        await asyncio.sleep(0)
        return Completion(text="All at once.", model="plain", usage=Usage(input_tokens=1, output_tokens=1))


async def test_a_model_that_cannot_stream_says_it_all_at_once(store: Store) -> None:
    words, done = await heard(metered(Plain(), store), talking())
    assert words == ["All at once."] and done.text == "All at once."


async def test_useless_answers_are_counted_against_the_breaker(store: Store) -> None:
    model = metered(ScriptedModel(["", "fine"]), store)
    with pytest.raises(ModelBadOutput):
        await heard(model, talking())
    assert (await heard(model, talking()))[1].text == "fine"
