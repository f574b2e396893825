"""Graphs of LangGraph's, with a node that remembers."""

from __future__ import annotations

import inspect
import operator
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.runtime import Runtime
from langgraph.types import Command, StreamWriter, interrupt
from pydantic import BaseModel

from afterglow.adapters.langgraph import remembering
from afterglow.errors import BadInput
from afterglow.memory import Memory
from tests.adapters.chat_model import Chat, calls
from tests.generated import ROOT
from tests.kit.examples import RunExample, here_and_alone
from tests.kit.talks import said

ANA: Any = {"configurable": {"thread_id": "ana"}}
OWNER = "agent/langgraph/ana"
EXAMPLE = ROOT / "examples" / "langgraph_app.py"


def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def graph_of(node: Any, memory: Memory, state: Any = MessagesState, saver: Any = None, **more: Any) -> Any:
    """The graph of a node that remembers, with a loop of tools."""
    builder: Any = StateGraph(state)
    builder.add_node("chatbot", remembering(node, memory, **more))
    builder.add_node("tools", ToolNode([weather]))
    builder.add_edge(START, "chatbot")
    builder.add_conditional_edges("chatbot", tools_condition)
    builder.add_edge("tools", "chatbot")
    return builder.compile(checkpointer=saver)


def node_of(chat: Chat) -> Any:
    async def chatbot(state: MessagesState) -> Any:
        return {"messages": [await chat.ainvoke(state["messages"])]}

    return chatbot


@pytest.mark.spec("LOG-1", "CTX-11")
@pytest.mark.parametrize("saver", [None, InMemorySaver], ids=["alone", "with a checkpointer"])
async def test_a_node_that_remembers_writes_all_once_and_is_shown_the_context(memory: Memory, saver: Any) -> None:
    chat = Chat(answers=["Hello.", calls(("weather", {"city": "Oslo"}), text="Let me see."), "Rain.", "Bye."])
    graph = graph_of(node_of(chat), memory, saver=saver and saver())
    for text in ("I am Ana.", "Weather?", "Thanks."):
        done = await graph.ainvoke({"messages": [("user", text)]}, ANA)
    assert done["messages"][-1].text == "Bye."
    assert await said(memory) == [
        *("user: I am Ana.", "assistant: Hello.", "user: Weather?", "assistant: Let me see."),
        *("tool: rain in Oslo", "assistant: Rain.", "user: Thanks.", "assistant: Bye."),
    ]
    assert chat.texts(2)[-3:] == ["human: Weather?", "ai: Let me see.", "tool: rain in Oslo"]
    assert chat.texts() == [
        *("human: I am Ana.", "ai: Hello.", "human: Weather?", "ai: Let me see.", "tool: rain in Oslo"),
        *("ai: Rain.", "human: Thanks."),
    ]


@pytest.mark.spec("LOG-1")
async def test_a_message_that_a_node_gave_without_an_id_is_known_again(memory: Memory) -> None:
    saver = InMemorySaver()
    for text in ("one", "two"):
        graph = graph_of(lambda _: {"messages": [("ai", "Yes.")]}, memory, saver=saver)
        await graph.ainvoke({"messages": [("user", text)]}, ANA)
    assert await said(memory) == ["user: one", "assistant: Yes.", "user: two", "assistant: Yes."]


@pytest.mark.spec("LOG-1", "CTX-11")
async def test_another_process_writes_what_came_after_the_last_word_of_the_node(memory: Memory) -> None:
    saver, chat = InMemorySaver(), Chat(answers=[calls(("weather", {"city": "Oslo"}), text="See:"), "Rain."])
    for text in ("Weather?", "Well?"):
        builder: Any = StateGraph(MessagesState)
        builder.add_node("chatbot", remembering(node_of(chat), memory))
        builder.add_node("tools", ToolNode([weather]))
        builder.add_edge(START, "chatbot")
        builder.add_conditional_edges("chatbot", tools_condition)
        await builder.compile(checkpointer=saver).ainvoke({"messages": [("user", text)]}, ANA)
    assert await said(memory) == [
        *("user: Weather?", "assistant: See:", "tool: rain in Oslo", "user: Well?", "assistant: Rain.")
    ]


class Own(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages] = []
    mood: str = "calm"


@dataclass
class Plain:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)
    mood: str = "calm"


@pytest.mark.parametrize("state", [Own, Plain])
async def test_a_state_may_be_of_any_kind(memory: Memory, state: Any) -> None:
    chat, moods = Chat(answers=["One.", "Two."]), list[str]()

    def chatbot(given: Any) -> Any:
        moods.append(given.mood)
        return {"messages": chat.invoke(given.messages), "mood": "glad"}

    graph = graph_of(chatbot, memory, state)
    await graph.ainvoke({"messages": [("user", "first")]}, ANA)
    done = await graph.ainvoke({"messages": [("user", "second")]}, ANA)
    assert done["mood"] == "glad" and moods == ["calm", "calm"]
    assert chat.texts() == ["human: first", "ai: One.", "human: second"]
    assert await said(memory) == ["user: first", "assistant: One.", "user: second", "assistant: Two."]


async def test_a_node_is_given_what_it_asks_for(memory: Memory) -> None:
    given: dict[str, Any] = {}

    async def chatbot(
        state: MessagesState, config: RunnableConfig, *, runtime: Runtime[Any], writer: StreamWriter
    ) -> Any:
        given.update(config=config["configurable"]["thread_id"], context=runtime.context)
        writer("on its way")
        return {"messages": [("ai", "Yes.")]}

    graph = graph_of(chatbot, memory)
    happened = [
        each
        async for each in graph.astream({"messages": [("user", "Well?")]}, ANA, context="kept", stream_mode="custom")
    ]
    assert given == {"config": "ana", "context": "kept"} and happened == ["on its way"]
    assert await said(memory) == ["user: Well?", "assistant: Yes."]


class Chatbot:
    """A node that is an object."""

    def __init__(self, word: str) -> None:
        self.word = word

    async def __call__(self, state: MessagesState) -> Any:
        return {"messages": [("ai", self.word)]}

    def method(self, state: MessagesState) -> Any:
        return {"messages": ("ai", self.word)}


def by_partial(word: str, state: MessagesState) -> Any:
    return {"messages": [("ai", word)]}


@pytest.mark.parametrize(
    "node",
    [Chatbot("Yes."), Chatbot("Yes.").method, partial(by_partial, "Yes."), lambda _: {"messages": [("ai", "Yes.")]}],
)
async def test_a_node_may_be_any_callable(memory: Memory, node: Any) -> None:
    await graph_of(node, memory).ainvoke({"messages": [("user", "Well?")]}, ANA)
    assert await said(memory) == ["user: Well?", "assistant: Yes."]


async def test_a_node_may_be_a_runnable(memory: Memory) -> None:
    chat = Chat(answers=["Yes."])
    inner: Any = StateGraph(MessagesState)
    inner.add_node("model", node_of(chat))
    inner.add_edge(START, "model")
    outer: Any = StateGraph(MessagesState)
    outer.add_node("chatbot", remembering(inner.compile(), memory))
    outer.add_edge(START, "chatbot")
    done = await outer.compile().ainvoke({"messages": [("user", "Well?")]}, ANA)
    assert [message.text for message in done["messages"]] == ["Well?", "Yes."]
    assert await said(memory) == ["user: Well?", "assistant: Yes."]


async def test_a_node_may_lead_on_by_a_command(memory: Memory) -> None:
    def chatbot(state: MessagesState) -> Command[Literal["last"]]:
        return Command(goto="last", update={"messages": [("ai", "Over to the last.")]})

    builder: Any = StateGraph(MessagesState)
    builder.add_node("chatbot", remembering(chatbot, memory))
    builder.add_node("last", lambda _: {"messages": [("ai", "Done.")]})
    builder.add_edge(START, "chatbot")
    builder.add_edge("last", END)
    graph = builder.compile()
    assert {(edge.source, edge.target) for edge in graph.get_graph().edges} >= {("chatbot", "last")}
    done = await graph.ainvoke({"messages": [("user", "Go.")]}, ANA)
    assert [message.text for message in done["messages"]] == ["Go.", "Over to the last.", "Done."]
    assert await said(memory) == ["user: Go.", "assistant: Over to the last."]


@pytest.mark.spec("LOG-1")
async def test_what_nodes_around_it_say_is_written_when_it_runs_next(memory: Memory) -> None:
    builder: Any = StateGraph(MessagesState)
    builder.add_node("first", lambda _: {"messages": [("ai", "A plan.")]})
    builder.add_node("chatbot", remembering(lambda _: {"messages": [("ai", "An answer.")]}, memory))
    builder.add_edge(START, "first")
    builder.add_edge("first", "chatbot")
    graph = builder.compile()
    for text in ("one", "two"):
        await graph.ainvoke({"messages": [("user", text)]}, ANA)
    assert await said(memory) == [
        *("user: one", "assistant: A plan.", "assistant: An answer."),
        *("user: two", "assistant: A plan.", "assistant: An answer."),
    ]


@pytest.mark.spec("LOG-1")
async def test_a_node_that_waits_for_a_person_writes_nothing_twice(memory: Memory) -> None:
    async def chatbot(state: MessagesState) -> Any:
        return {"messages": [("ai", f"You said {interrupt('Really?')}.")]}

    graph = graph_of(chatbot, memory, saver=InMemorySaver())
    await graph.ainvoke({"messages": [("user", "Delete it.")]}, ANA)
    assert await said(memory) == ["user: Delete it."]
    await graph.ainvoke(Command(resume="yes"), ANA)
    assert await said(memory) == ["user: Delete it.", "assistant: You said yes."]


@pytest.mark.spec("AGENT-6")
async def test_what_was_said_is_in_the_log_when_the_node_fails(memory: Memory) -> None:
    chat = Chat(answers=[ConnectionError("gone"), "Here."])
    graph = graph_of(node_of(chat), memory, saver=InMemorySaver())
    with pytest.raises(ConnectionError):
        await graph.ainvoke({"messages": [("user", "Hello?")]}, ANA)
    assert await said(memory) == ["user: Hello?"]
    await graph.ainvoke(None, ANA)
    assert await said(memory) == ["user: Hello?", "assistant: Here."]


async def test_messages_that_a_node_takes_out_of_the_state_stay_in_the_log(memory: Memory) -> None:
    chat = Chat(answers=["One.", "Two."])

    async def chatbot(state: MessagesState) -> Any:
        answer = await chat.ainvoke(state["messages"])
        return {"messages": [*(RemoveMessage(id=each) for each in kept.pop()), answer]}

    kept: list[list[str]] = [["h1"], []]
    graph = graph_of(chatbot, memory, saver=InMemorySaver())
    await graph.ainvoke({"messages": [HumanMessage("first", id="h1")]}, ANA)
    done = await graph.ainvoke({"messages": [("user", "second")]}, ANA)
    assert [message.text for message in done["messages"]] == ["One.", "second", "Two."]
    assert chat.texts() == ["human: first", "ai: One.", "human: second"]
    assert await said(memory) == ["user: first", "assistant: One.", "user: second", "assistant: Two."]


class Bare(TypedDict):
    talk: Annotated[list[Any], operator.add]


async def test_messages_may_have_another_place_and_no_ids(memory: Memory) -> None:
    chat = Chat(answers=["One.", "Two."])

    async def chatbot(state: Bare) -> Any:
        return {"talk": [await chat.ainvoke(state["talk"])]}

    builder: Any = StateGraph(Bare)
    builder.add_node("chatbot", remembering(chatbot, memory, messages="talk"))
    builder.add_edge(START, "chatbot")
    graph = builder.compile(checkpointer=InMemorySaver())
    for text in ("first", "second"):
        await graph.ainvoke({"talk": [HumanMessage(text)]}, ANA)
    assert await said(memory) == ["user: first", "assistant: One.", "user: second", "assistant: Two."]
    assert chat.texts() == ["human: first", "ai: One.", "human: second"]


async def test_a_state_without_messages_is_refused_with_what_to_say(memory: Memory) -> None:
    graph = graph_of(lambda _: {}, memory, state=Own, messages="talk")
    with pytest.raises(BadInput, match="no 'talk'"):
        await graph.ainvoke({"messages": [("user", "x")]}, ANA)
    with pytest.raises(BadInput, match="a node is a function"):
        remembering("chatbot", memory)


def test_without_a_loop_langgraph_says_which_way_to_run_it(memory: Memory) -> None:
    with pytest.raises(TypeError, match="ainvoke"):
        graph_of(node_of(Chat(answers=[])), memory).invoke({"messages": [("user", "x")]}, ANA)


@pytest.mark.spec("CTX-6")
@here_and_alone
def test_the_example_adopts_it_in_five_lines_and_knows_what_was_said_long_ago(run: RunExample, tmp_path: Path) -> None:
    lines = EXAMPLE.read_text().splitlines()
    assert len([line for line in lines if "# + Afterglow" in line]) == 5
    ours = [line for line in lines if re.search(r"afterglow|remembering", line) and not line.lstrip().startswith('"')]
    assert all("# + Afterglow" in line for line in ours), ours
    told = run(EXAMPLE, tmp_path)
    assert "There is rain, 4 °C." in told and "lies under the third flower pot" in told
    (shown,) = re.findall(r"I was shown (\d+) messages", told)
    assert int(shown) < 50 and "has 88 messages" in told


def test_the_wrapped_node_looks_like_the_node(memory: Memory) -> None:
    async def chatbot(state: MessagesState, config: RunnableConfig) -> Any: ...

    wrapped = remembering(chatbot, memory)
    assert wrapped.__name__ == "chatbot" and inspect.signature(wrapped) == inspect.signature(chatbot)
