"""Agents of LangChain's `create_agent`, with the middleware."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from afterglow import recalled
from afterglow.adapters.langchain import AfterglowMiddleware
from afterglow.clock import FixedClock
from afterglow.errors import BadInput
from afterglow.memory import EVERYONE, Memory, open_memory
from afterglow.settings import Settings
from afterglow.store.sqlite import SQLiteStore
from afterglow.turns import Binding
from tests.adapters.chat_model import Chat, calls
from tests.generated import ROOT
from tests.kit.examples import RunExample, here_and_alone
from tests.kit.talks import log, said

ANA: Any = {"configurable": {"thread_id": "t1", "user_id": "ana"}}
KATE = Binding(agent="kate", channel="langchain", sender="ana")


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


@tool
def broken(city: str) -> str:
    """It fails."""
    raise OSError("no line to the station")


def agent_of(memory: Memory, chat: Chat, tools: Any = (), others: Any = (), saver: Any = None, **more: Any) -> Any:
    ours = AfterglowMiddleware(memory, agent="kate")
    return create_agent(chat, list(tools), middleware=[ours, *others], checkpointer=saver, **more)


@pytest.mark.spec("LOG-1", "CTX-5")
@pytest.mark.parametrize("saver", [None, InMemorySaver], ids=["alone", "with a checkpointer"])
async def test_each_message_is_written_once_and_shown_to_the_model(memory: Memory, saver: Any) -> None:
    chat = Chat(answers=["Hello Ana.", "You are Ana."])
    agent = agent_of(memory, chat, saver=saver and saver(), system_prompt="Be kind.")
    await agent.ainvoke({"messages": [("user", "I am Ana.")]}, ANA)
    await agent.ainvoke({"messages": [("user", "Who am I?")]}, ANA)
    told = ["human: I am Ana.", "ai: Hello Ana.", "human: Who am I?"]
    assert await said(memory) == [
        "user: I am Ana.",
        "assistant: Hello Ana.",
        "user: Who am I?",
        "assistant: You are Ana.",
    ]
    assert chat.texts() == ["system: Be kind.", *told]
    (session,) = await memory.sessions(owner=KATE.owner)
    assert session.id == "t1" and session.binding == KATE


@pytest.mark.spec("LOG-1")
async def test_a_past_that_is_given_again_is_not_written_again(memory: Memory, clock: FixedClock) -> None:
    chat = Chat(answers=["One.", "Two.", "Three."])
    past: list[Any] = [{"role": "user", "content": "first"}]
    for n, word in enumerate(("second", "third", ""), 1):
        # Each time another process, in which nothing is remembered, and messages that have no ids.
        await agent_of(memory, chat).ainvoke({"messages": list(past)}, ANA)
        past += [("assistant", ["One.", "Two.", "Three."][n - 1]), ("user", word)]
    assert await said(memory) == [
        *("user: first", "assistant: One.", "user: second", "assistant: Two.", "user: third", "assistant: Three.")
    ]


@pytest.mark.spec("LOG-1")
async def test_the_past_of_a_thread_is_taken_over_once(memory: Memory) -> None:
    saver, chat = InMemorySaver(), Chat(answers=["One.", "Two.", "Three.", "Four."])
    before: Any = create_agent(chat, [], checkpointer=saver)
    await before.ainvoke({"messages": [("user", "first")]}, ANA)
    await before.ainvoke({"messages": [("user", "second")]}, ANA)
    await agent_of(memory, chat, saver=saver).ainvoke({"messages": [("user", "third")]}, ANA)
    await agent_of(memory, chat, saver=saver).ainvoke({"messages": [("user", "fourth")]}, ANA)
    assert [turn.text for turn in await log(memory)] == [
        *("first", "One.", "second", "Two.", "third", "Three.", "fourth", "Four.")
    ]


@pytest.mark.spec("CTX-6")
async def test_the_context_stays_small_and_knows_what_was_said_long_ago(memory: Memory, clock: FixedClock) -> None:
    chat = Chat(answers=["Noted, and kept."] * 60)
    agent = agent_of(memory, chat, saver=InMemorySaver())
    await agent.ainvoke(
        {"messages": [("user", "We decided that the key of the shed lies under the third flower pot.")]}, ANA
    )
    for n in range(40):
        clock.move(60)
        await agent.ainvoke(
            {"messages": [("user", f"On day {n} we saw {n * 7} birds at the lake, most of them ducks.")]}, ANA
        )
        await memory.settle()
    state = await agent.aget_state(ANA)
    assert len(state.values["messages"]) == 82
    assert len(chat.seen[-1]) < 20 and "third flower pot" in chat.texts()[0]
    assert (await memory.sessions(owner=KATE.owner))[0].folded.to_seq > 60


@pytest.mark.spec("CTX-11")
async def test_calls_side_by_side_are_written_with_their_results_as_they_come(memory: Memory) -> None:
    @tool
    async def slow(city: str) -> str:
        """It ends when the other's result is in the log."""
        for _ in range(3_000):
            if "tool: rain in Oslo" in await said(memory):
                break
            await asyncio.sleep(0.01)
        return f"sun in {city}"

    @tool
    async def quick(city: str) -> str:
        """It ends at once."""
        return f"rain in {city}"

    chat = Chat(answers=[calls(("slow", {"city": "Rome"}), ("quick", {"city": "Oslo"})), "Both."])
    await agent_of(memory, chat, [slow, quick]).ainvoke({"messages": [("user", "Weather?")]}, ANA)
    turns = await log(memory)
    assert [turn.text for turn in turns] == ["Weather?", "", "rain in Oslo", "sun in Rome", "Both."]
    assert [part["id"] for part in turns[1].parts] == ["c1", "c2"]
    assert chat.texts() == ["human: Weather?", "ai: ", "tool: sun in Rome", "tool: rain in Oslo"]
    assert [message.tool_call_id for message in chat.seen[-1] if isinstance(message, ToolMessage)] == ["c1", "c2"]


@pytest.mark.spec("AGENT-6", "CTX-11")
async def test_what_was_said_is_in_the_log_when_the_model_fails(memory: Memory) -> None:
    chat = Chat(answers=[ConnectionError("gone"), "Here I am."])
    agent = agent_of(memory, chat, saver=InMemorySaver())
    with pytest.raises(ConnectionError):
        await agent.ainvoke({"messages": [("user", "Hello?")]}, ANA)
    assert await said(memory) == ["user: Hello?"]
    await agent.ainvoke({"messages": [("user", "Hello again?")]}, ANA)
    assert await said(memory) == ["user: Hello?", "user: Hello again?", "assistant: Here I am."]
    assert chat.texts() == ["human: Hello?", "human: Hello again?"]


@pytest.mark.spec("LOG-1")
async def test_a_run_that_goes_on_where_it_failed_writes_nothing_twice(memory: Memory) -> None:
    chat = Chat(answers=[ConnectionError("gone"), "Here I am."])
    agent = agent_of(memory, chat, saver=InMemorySaver())
    with pytest.raises(ConnectionError):
        await agent.ainvoke({"messages": [("user", "Hello?")]}, ANA)
    await agent.ainvoke(None, ANA)
    assert await said(memory) == ["user: Hello?", "assistant: Here I am."]


@pytest.mark.spec("CTX-11")
async def test_a_tool_that_fails_leaves_a_talk_that_goes_on(memory: Memory) -> None:
    chat = Chat(answers=[calls(("broken", {"city": "Oslo"}), ("weather", {"city": "Rome"})), "Never mind."])
    agent = agent_of(memory, chat, [broken, weather], saver=InMemorySaver())
    with pytest.raises(OSError, match="no line"):
        await agent.ainvoke({"messages": [("user", "Weather?")]}, ANA)
    await agent.ainvoke({"messages": [("user", "Leave it.")]}, ANA)
    spoken = await said(memory)
    assert spoken[0] == "user: Weather?" and spoken[-2:] == ["user: Leave it.", "assistant: Never mind."]
    asked = chat.seen[-1]
    assert [message.type for message in asked] == ["human", "ai", "tool", "tool", "human"]
    assert [message.tool_call_id for message in asked if isinstance(message, ToolMessage)] == ["c1", "c2"]


@pytest.mark.spec("LOG-2")
async def test_a_tools_error_that_becomes_an_answer_is_written_as_one(memory: Memory) -> None:
    class Kind(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            try:
                return await handler(request)
            except OSError as error:
                return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")

    chat = Chat(answers=[calls(("broken", {"city": "Oslo"})), "It cannot be had."])
    await agent_of(memory, chat, [broken], [Kind()]).ainvoke({"messages": [("user", "Weather?")]}, ANA)
    result = (await log(memory))[2]
    assert result.text == "no line to the station" and result.parts[0]["status"] == "error"


class Forecast(BaseModel):
    city: str
    degrees: int


@pytest.mark.spec("CTX-11")
async def test_structured_output_is_written_with_the_call_it_came_by(memory: Memory) -> None:
    chat = Chat(
        answers=[calls(("Forecast", {"city": "Oslo"})), calls(("Forecast", {"city": "Oslo", "degrees": 4})), "Yes."]
    )
    agent = agent_of(memory, chat, response_format=ToolStrategy(Forecast))
    done = await agent.ainvoke({"messages": [("user", "Oslo?")]}, ANA)
    assert done["structured_response"] == Forecast(city="Oslo", degrees=4)
    turns = await log(memory)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant", "tool"]
    assert "degrees" in turns[2].text and "Forecast" in str(turns[3].parts)
    assert len({turn.key for turn in turns}) == 5


@pytest.mark.spec("AGENT-8")
async def test_replies_stream(memory: Memory) -> None:
    chat = Chat(answers=[calls(("weather", {"city": "Oslo"})), "It rains all day"])
    agent = agent_of(memory, chat, [weather])
    words: list[str] = []
    async for message, _ in agent.astream({"messages": [("user", "Weather?")]}, ANA, stream_mode="messages"):
        words += [message.text] if message.type == "AIMessageChunk" and message.text else []
    assert words == ["It ", "rains ", "all ", "day "]
    assert [turn.role for turn in await log(memory)] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.spec("LOG-2")
async def test_usage_and_model_are_kept(memory: Memory) -> None:
    usage: Any = {"input_tokens": 50, "output_tokens": 7, "total_tokens": 57, "input_token_details": {"cache_read": 20}}
    answer = AIMessage("Yes.", usage_metadata=usage, response_metadata={"model_name": "some-model-1"})
    await agent_of(memory, Chat(answers=[answer])).ainvoke({"messages": [("user", "Well?")]}, ANA)
    reply = (await log(memory))[-1]
    assert reply.model == "some-model-1"
    assert reply.usage == {"input_tokens": 50, "output_tokens": 7, "cached_tokens": 20}


@pytest.mark.spec("FACT-10", "LOG-3")
async def test_recalled_memory_is_marked_and_results_are_not_the_owners_words(memory: Memory) -> None:
    @tool
    def recall(about: str) -> str:
        """What is remembered."""
        return f"Found:\n{recalled.wrap('Ana likes tea.')}"

    chat = Chat(answers=[calls(("recall", {"about": "tea"})), "Tea."])
    await agent_of(memory, chat, [recall]).ainvoke({"messages": [("user", "What do I like?")]}, ANA)
    turns = await log(memory)
    ((start, end),) = turns[2].recalled
    assert "Ana likes tea." in turns[2].text[start:end]
    assert [turn.trust for turn in turns] == ["owner", "agent", "external", "agent"]


@pytest.mark.spec("LOG-4")
async def test_a_secret_is_kept_from_the_log_and_from_the_model(memory: Memory) -> None:
    chat = Chat(answers=["Noted."])
    key = "sk-ant-api03-" + "a1B2" * 22 + "-abcdefAA"
    await agent_of(memory, chat).ainvoke({"messages": [("user", f"My key is {key}")]}, ANA)
    assert key not in str(await log(memory)) and key not in str(chat.seen)
    assert "[redacted" in chat.texts()[0]


async def test_the_last_exchange_is_sent_as_it_is_with_what_only_providers_read(memory: Memory) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    picture = {"type": "image", "base64": "QUJD" * 2_000, "mime_type": "image/png"}
    call = {"name": "weather", "args": {"city": "Oslo"}, "id": "c1"}
    chat = Chat(
        answers=[AIMessage([thought, {"type": "text", "text": "Let me see."}], tool_calls=[call]), "Rain.", "Yes."]
    )
    agent = agent_of(memory, chat, [weather])
    shows = HumanMessage([{"type": "text", "text": "Is this Oslo?"}, picture])
    await agent.ainvoke({"messages": [shows]}, ANA)
    assert chat.seen[1][0].content == shows.content and thought in chat.seen[1][1].content
    await agent.ainvoke({"messages": [("user", "Sure?")]}, ANA)
    assert chat.texts()[0] == "human: Is this Oslo?\n[image that was sent with this]"
    assert chat.texts()[1] == "ai: Let me see."
    assert "QUJD" * 600 not in str(await log(memory)), "its bytes are not written down"


async def test_what_others_put_into_a_request_and_instructions_are_kept(memory: Memory) -> None:
    class Finds(AgentMiddleware[Any, Any, Any]):
        async def awrap_model_call(
            self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
        ) -> ModelResponse[Any]:
            found = HumanMessage("[found: the shop opens at nine]")
            return await handler(request.override(messages=[*request.messages, found]))

    chat = Chat(answers=["At nine."])
    outer = create_agent(chat, [], middleware=[Finds(), AfterglowMiddleware(memory, agent="kate")])
    await outer.ainvoke({"messages": [SystemMessage("Be brief."), HumanMessage("When?")]}, ANA)
    assert chat.texts() == ["system: Be brief.", "human: When?", "human: [found: the shop opens at nine]"]
    assert await said(memory) == ["user: When?", "assistant: At nine."]


@pytest.mark.spec("LOG-3")
async def test_a_summary_of_langchains_own_is_no_one_s_word(memory: Memory) -> None:
    chat = Chat(answers=["Yes."])
    summary = HumanMessage("Here is a summary: the user wants X.", additional_kwargs={"lc_source": "summarization"})
    await agent_of(memory, chat).ainvoke({"messages": [summary, HumanMessage("Well?")]}, ANA)
    assert await said(memory) == ["user: Well?", "assistant: Yes."]


@pytest.mark.spec("CTX-11")
async def test_a_call_that_a_person_refuses_is_answered_once(memory: Memory) -> None:
    chat = Chat(answers=[calls(("weather", {"city": "Oslo"})), "As you like."])
    agent = agent_of(memory, chat, [weather], [HumanInTheLoopMiddleware({"weather": True})], saver=InMemorySaver())
    await agent.ainvoke({"messages": [("user", "Weather?")]}, ANA)
    refused = {"decisions": [{"type": "reject", "message": "not now"}]}
    await agent.ainvoke(Command(resume=refused), ANA)
    turns = await log(memory)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"]
    assert "not now" in turns[2].text and "not now" in chat.texts()[-1]


@pytest.mark.spec("LOG-1")
async def test_what_a_tool_says_by_a_command_or_as_the_last_word_is_written(memory: Memory) -> None:
    @tool(return_direct=True)
    def final() -> str:
        """It has the last word."""
        return ""

    class Commands(AgentMiddleware[Any, Any, Any]):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            if request.tool_call["args"] == {"city": "Rome"}:
                return await handler(request)
            said = f"{request.tool_call['name']} by command"
            return Command(update={"messages": [ToolMessage(said, tool_call_id=request.tool_call["id"])]})

    both = calls(("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"}))
    agent = agent_of(memory, Chat(answers=[both, calls(("final", {}))]), [weather, final], [Commands()])
    await agent.ainvoke({"messages": [("user", "Go.")]}, ANA)
    assert await said(memory) == [
        *("user: Go.", "assistant: ", "tool: rain in Rome", "tool: weather by command"),
        *("assistant: ", "tool: final by command"),
    ]


async def test_threads_are_sessions_of_their_user_and_people_share_nothing(memory: Memory) -> None:
    chat = Chat(answers=["One.", "Two.", "Three.", "Four."])
    agent = agent_of(memory, chat, saver=InMemorySaver())

    async def write(text: str, **where: str) -> None:
        await agent.ainvoke({"messages": [("user", text)]}, {"configurable": where})

    await write("in the first", thread_id="a", user_id="ana")
    await write("in the second", thread_id="b", user_id="ana")
    await write("by another", thread_id="c", user_id="ben")
    await write("by no name", thread_id="d")
    assert [texts for texts in (chat.texts(n) for n in range(4))] == [
        ["human: in the first"],
        ["human: in the second"],
        ["human: by another"],
        ["human: by no name"],
    ]
    assert {session.id for session in await memory.sessions(owner="kate/langchain/ana")} == {"a", "b"}
    assert await said(memory, "kate/langchain/d") == ["user: by no name", "assistant: Four."]


async def test_the_binding_is_one_that_is_given_or_found(memory: Memory) -> None:
    chat, rosa = Chat(answers=["One.", "Two."]), Binding(agent="kate", channel="telegram", sender="rosa")
    given: Any = create_agent(chat, [], middleware=[AfterglowMiddleware(memory, rosa)])
    await given.ainvoke({"messages": [("user", "first")]})
    found: Any = create_agent(
        chat, [], middleware=[AfterglowMiddleware(memory, lambda config: config["configurable"]["who"])]
    )
    await found.ainvoke({"messages": [("user", "second")]}, {"configurable": {"who": rosa}})
    assert await said(memory, rosa.owner) == ["user: first", "assistant: One.", "user: second", "assistant: Two."]


async def test_a_run_of_no_person_is_refused_with_what_to_give(memory: Memory) -> None:
    with pytest.raises(BadInput, match="thread_id"):
        await agent_of(memory, Chat(answers=[])).ainvoke({"messages": [("user", "Hello")]})


def test_a_run_without_a_loop_says_which_to_use(memory: Memory) -> None:
    with pytest.raises(BadInput, match="ainvoke or astream"):
        agent_of(memory, Chat(answers=["x"])).invoke({"messages": [("user", "Hello")]}, ANA)


@pytest.mark.spec("IDLE-2")
async def test_a_thread_that_was_cleared_begins_again(memory: Memory) -> None:
    chat = Chat(answers=["One.", "Two.", "Three.", "Four."])
    saver = InMemorySaver()
    agent = agent_of(memory, chat, saver=saver)
    await agent.ainvoke({"messages": [("user", "first")]}, ANA)
    for word in ("second", "third"):
        (newest, *_) = await memory.sessions(owner=KATE.owner)
        await memory.clear(newest)
        await agent.ainvoke({"messages": [("user", word)]}, ANA)
        assert chat.texts() == [f"human: {word}"]
    await agent_of(memory, chat, saver=saver).ainvoke({"messages": [("user", "fourth")]}, ANA)
    assert chat.texts() == ["human: third", "ai: Three.", "human: fourth"]
    spoken = [turn.text for turn in await log(memory) if turn.role != "system"]
    assert spoken == ["first", "One.", "second", "Two.", "third", "Three.", "fourth", "Four."]


@pytest.mark.spec("P5")
async def test_a_past_over_the_window_is_folded_before_the_model_is_asked(tmp_path: Path, clock: FixedClock) -> None:
    chosen = Settings.model_validate(
        {
            "data_dir": str(tmp_path),
            "zone": "UTC",
            "compaction": {"block_budget_tokens": 500},
            "context": {"context_limit_tokens": 1_000, "window_tokens": 2_000},
        }
    )
    memory = Memory(await SQLiteStore.open(tmp_path / "afterglow.db", clock), chosen, environ={}, folds=False)
    past: list[Any] = [(role, f"{role} says number {n}. " * 12) for n in range(60) for role in ("user", "assistant")]
    chat = Chat(answers=["Yes."])
    await agent_of(memory, chat).ainvoke({"messages": [*past, ("user", "All there?")]}, ANA)
    assert (await memory.sessions(owner=KATE.owner))[0].turns == 122
    assert sum(len(message.text) for message in chat.seen[0]) < 10_000
    assert "Session summary" in chat.texts()[0] and chat.texts()[-1] == "human: All there?"
    await memory.close()


async def test_odd_messages_do_no_harm(memory: Memory) -> None:
    odd = HumanMessage("a\0b\ud800", id="x" * 300)
    bad: Any = {"name": "weather", "args": "{not json", "id": "c9", "error": "bad", "type": "invalid_tool_call"}
    chat = Chat(answers=[AIMessage("Hm.", invalid_tool_calls=[bad]), AIMessage(""), "Well."])
    agent = agent_of(memory, chat, [weather], saver=InMemorySaver())
    await agent.ainvoke({"messages": [odd]}, ANA)
    await agent.ainvoke({"messages": [("user", "And?")]}, ANA)
    await agent.ainvoke({"messages": [("user", "Well?")]}, ANA)
    turns = await log(memory)
    assert turns[0].text == "ab?" and len(turns[0].key or "") == 64
    assert turns[1].parts[0]["fault"].startswith("its arguments")
    assert [turn.text for turn in turns][-3:] == ["And?", "Well?", "Well."], "an empty answer is no turn"


@pytest.fixture
async def twice(tmp_path: Path, clock: FixedClock) -> AsyncIterator[Callable[[], Awaitable[Memory]]]:
    """Open the same store again, as another process would."""
    opened: list[Memory] = []

    async def again() -> Memory:
        chosen = Settings.model_validate({"data_dir": str(tmp_path), "zone": "UTC"})
        memory = Memory(await SQLiteStore.open(tmp_path / "again.db", clock), chosen, environ={})
        opened.append(memory)
        return memory

    yield again
    for memory in opened:
        await memory.close()


@pytest.mark.spec("P1", "LOG-1")
async def test_another_process_goes_on_in_the_middle_of_a_run(twice: Callable[[], Awaitable[Memory]]) -> None:
    saver, first = InMemorySaver(), await twice()
    chat = Chat(answers=[calls(("weather", {"city": "Oslo"}), text="Let me see."), ConnectionError("killed"), "Rain."])
    with pytest.raises(ConnectionError):
        await agent_of(first, chat, [weather], saver=saver).ainvoke({"messages": [("user", "Weather?")]}, ANA)
    await agent_of(await twice(), chat, [weather], saver=saver).ainvoke(None, ANA)
    assert await said(first) == ["user: Weather?", "assistant: Let me see.", "tool: rain in Oslo", "assistant: Rain."]
    assert chat.texts() == ["human: Weather?", "ai: Let me see.", "tool: rain in Oslo"]


async def test_many_runs_at_once_keep_each_thread_in_order(memory: Memory) -> None:
    chat = Chat(answers=["Yes."] * 60)
    agent = agent_of(memory, chat, saver=InMemorySaver())

    async def talk(thread: str) -> None:
        for n in range(3):
            await agent.ainvoke({"messages": [("user", f"{thread} {n}")]}, {"configurable": {"thread_id": thread}})

    await asyncio.gather(*(talk(f"t{n}") for n in range(20)))
    for n in range(20):
        assert [turn.text for turn in await log(memory, f"kate/langchain/t{n}")] == [
            *(f"t{n} 0", "Yes.", f"t{n} 1", "Yes.", f"t{n} 2", "Yes.")
        ]


@pytest.mark.parametrize(
    "code", re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "langchain.md").read_text(), re.DOTALL)
)
async def test_the_lines_of_the_page_work_as_they_stand(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AFTERGLOW_DATA_DIR", str(tmp_path))
    chat, names = Chat(answers=["Under the pot."]), dict[str, Any]()
    exec(compile(code, "langchain.md", "exec"), names)
    if "chatbot" in code:
        await names["main"](lambda state: {"messages": [chat.invoke(state["messages"])]})
    else:
        await names["main"](chat, [weather])
    assert len(chat.seen) == 1
    async with open_memory(tmp_path) as memory:
        (session,) = await memory.sessions(owner=EVERYONE)
        assert session.turns == 2 and session.binding.agent == "kate"


EXAMPLE = ROOT / "examples" / "langchain_agent.py"


@pytest.mark.spec("CTX-6")
@here_and_alone
def test_the_example_runs_without_a_key(run: RunExample, tmp_path: Path) -> None:
    told = run(EXAMPLE, tmp_path)
    assert "There is rain, 4 °C." in told and "has 86 turns" in told
    assert "lies under the third flower pot" in told.splitlines()[-1]
    (shown,) = re.findall(r"I was shown (\d+) messages", told)
    assert int(shown) < 50
