"""invoke and stream: every way through the graph, what each reads, and what each leaves behind."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool as langchains
from pydantic import BaseModel

from afterglow.agent import Agent, Done, Text, ToolUsed
from afterglow.agent.graph import graph
from afterglow.errors import BadInput, ModelBadOutput, ModelBusy, ModelStopped
from afterglow.model import Completion, Request, scripted
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import ScriptedModel, calls
from afterglow.store.transaction import EVERYONE
from afterglow.work import Due
from tests.agent.conftest import OpenAgent
from tests.kit.agents import model_of, session_of, turns_of, until_asked
from tests.kit.models import Calendar, echo, said_last, summary
from tests.kit.records import KATE, OTHER


class Next(BaseModel):
    """When to go on."""

    hour: int
    why: str


def marks_of(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is marked due from now on by itself, not with a turn: each as its kind and reason."""
    marked: list[tuple[str, str]] = []
    real = agent.memory.store.mark_due

    async def mark_due(owner: str, due: Due) -> None:
        marked.append((due.kind, due.reason))
        await real(owner, due)

    monkeypatch.setattr(agent.memory.store, "mark_due", mark_due)
    return marked


@pytest.mark.spec("AGENT-2")
def test_the_graph_has_the_nodes_and_ways_that_the_contract_names() -> None:
    drawn = graph().get_graph()
    ways = {(edge.source, edge.target) for edge in drawn.edges}
    assert ways == {
        ("__start__", "model"),
        ("__start__", "utility"),
        ("__start__", "summarise_all"),
        ("model", "tools"),
        ("tools", "model"),
        ("model", "summarise"),
        ("model", "__end__"),
        ("summarise", "__end__"),
        ("summarise_all", "__end__"),
        ("utility", "__end__"),
    }


@pytest.mark.spec("AGENT-1", "AGENT-3", "AGENT-4")
async def test_a_message_is_answered_from_the_context_and_both_are_written_down(agent_with: OpenAgent) -> None:
    agent = agent_with()
    assert await agent.invoke("My cat is called Mia.") == "You said: My cat is called Mia."
    await agent.invoke("What is she called?")
    shown = model_of(agent).requests[-1]
    assert [each.role for each in shown.messages] == ["user", "assistant", "user"]
    assert "Mia" in shown.messages[0].text and "(now: Monday 2026-03-02 12:00 UTC)" in shown.messages[-1].text
    assert "You are kate" in shown.instructions and shown.purpose == "agent"
    turns = await turns_of(agent)
    assert [(turn.role, turn.trust, turn.origin) for turn in turns] == [
        ("user", "owner", "person"),
        ("assistant", "agent", "agent"),
    ] * 2
    assert turns[1].model == "scripted" and (turns[1].usage or {})["input_tokens"] > 0
    assert "now: Monday" not in turns[2].text, "the time is shown to the model and not written down"


@pytest.mark.spec("AGENT-3", "AGENT-4", "LOG-2")
async def test_a_scheduled_task_is_answered_in_the_session_and_is_no_sign_of_life(agent_with: OpenAgent) -> None:
    agent = agent_with()
    await agent.invoke("Hello")
    before = (await session_of(agent)).real_at
    assert await agent.invoke("Look at the mail.", "scheduled_task") == "You said: Look at the mail."
    turn = (await turns_of(agent))[2]
    assert (turn.origin, turn.trust) == ("task", "agent")
    assert (await session_of(agent)).real_at == before
    assert len(model_of(agent).requests[-1].messages) == 3, "it sees the session's context"


@pytest.mark.spec("AGENT-3", "AGENT-4")
async def test_complex_reschedule_answers_the_given_messages_alone_and_changes_nothing(agent_with: OpenAgent) -> None:
    agent = agent_with(lambda request: '{"hour": 9, "why": "morning"}' if request.schema else echo(request))
    await agent.invoke("Hello")
    given: list[Any] = [SystemMessage("Plan."), HumanMessage("When?"), AIMessage("Hm."), ("user", "Well?")]
    given += [{"role": "user", "content": [{"type": "text", "text": "Now."}]}]
    result = await agent.invoke("", "complex_reschedule", messages=given, schema=Next)
    assert Next.model_validate_json(result) == Next(hour=9, why="morning")
    shown = model_of(agent).requests[-1]
    assert [(each.role, each.text) for each in shown.messages] == [
        ("system", "Plan."),
        ("user", "When?"),
        ("assistant", "Hm."),
        ("user", "Well?"),
        ("user", "Now."),
    ]
    assert len(await turns_of(agent)) == 2, "nothing of it is written down"


@pytest.mark.spec("AGENT-4")
async def test_what_does_not_fit_the_schema_is_asked_for_once_more_and_then_refused(agent_with: OpenAgent) -> None:
    agent = agent_with(["no json", '{"hour": 7, "why": "x"}'])
    got = await agent.invoke("", "complex_reschedule", messages=[("user", "When?")], schema=Next)
    assert Next.model_validate_json(got).hour == 7
    assert "could not be used" in model_of(agent).requests[1].messages[-1].text
    with pytest.raises(ModelBadOutput, match="no valid JSON of a Next"):
        await agent_with(["no", "no"]).invoke("", "complex_reschedule", messages=[("user", "When?")], schema=Next)


@pytest.mark.spec("AGENT-4", "IDLE-1")
async def test_a_timeout_folds_the_whole_session_into_its_summary(agent_with: OpenAgent) -> None:
    agent = agent_with(settings={"compaction": {"interval": 0}})
    for number in range(4):
        await agent.invoke(f"FACT-{number} {'so to speak ' * 40}")
    text = await agent.invoke("", "session_timeout")
    assert "FACT-3" in text
    session = await session_of(agent)
    assert session.state == "idle" and session.folded.to_seq == session.turns
    context = await agent.memory.context(session)
    assert len(context.messages) == 1 and "FACT-3" in context.messages[0].text, "the summary alone is left"
    assert await agent.invoke("", "session_timeout") == "", "there is nothing more to fold"
    await agent.invoke("And now?")
    assert (await session_of(agent)).id == session.id, "it goes on where it was"
    assert await agent.invoke("", "session_timeout", to=OTHER) == "", "nor where no person ever wrote"


@pytest.mark.spec("AGENT-4", "P6")
async def test_a_summary_that_fails_at_a_timeout_loses_nothing_and_says_so(agent_with: OpenAgent) -> None:
    agent = agent_with(lambda request: echo(request) if request.messages else scripted.SERVER_ERROR)
    await agent.invoke("so to speak " * 100)
    with pytest.raises(ModelBusy, match="HTTP 500"):
        await agent.invoke("", "session_timeout")
    session = await session_of(agent)
    assert session.state == "open" and len(await turns_of(agent)) == 2


@pytest.mark.spec("AGENT-2", "AGENT-4", "CTX-1", "P5")
async def test_over_the_limit_the_compaction_is_due_behind_the_reply(
    agent_with: OpenAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"context": {"context_limit_tokens": 1500}, "compaction": {"interval": 0, "block_budget_tokens": 600}}
    agent = agent_with(settings={**limits, "answering": {"tools": ()}})
    marked = marks_of(agent, monkeypatch)
    words = "so to speak " * 60
    for number in range(12):
        asked = len(model_of(agent).requests)
        await agent.invoke(f"FACT-{number} {words}")
        assert model_of(agent).requests[asked].messages, "the reply comes first"
        await agent.memory.settle()
    session = await session_of(agent)
    assert marked and set(marked) == {("context", "threshold")}
    assert session.folded.to_seq > 0 and session.folded.waits == 0, "folded, and no answer waited for it"
    kept = await agent.memory.turns(session, first_seq=session.folded.to_seq + 1)
    assert kept[0].role == "user" and len(kept) >= 2, "the last exchange stays as it was said"
    assert (await agent.memory.context(session)).tokens <= 1500


@pytest.mark.spec("AGENT-2", "CTX-1")
async def test_instructions_that_are_over_the_limit_alone_are_not_folded_for_ever(
    agent_with: OpenAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"context": {"context_limit_tokens": 1500}, "compaction": {"interval": 0, "block_budget_tokens": 600}}
    agent = agent_with(settings=limits, instructions="Be kind to everybody you meet. " * 400)
    marked = marks_of(agent, monkeypatch)
    for number in range(6):
        await agent.invoke(f"FACT-{number} {'so to speak ' * 20}")
        await agent.memory.settle()
    assert min((turn.usage or {})["input_tokens"] for turn in await turns_of(agent) if turn.role == "assistant") > 1500
    assert not marked and not await agent.memory.store.work_list(KATE.owner, kind="context")
    assert {request.purpose for request in model_of(agent).requests} == {"agent"}, "no model is asked to summarise"


@pytest.mark.spec("AGENT-2", "CTX-6")
async def test_a_context_that_would_not_fit_the_models_window_is_folded_before_the_call(agent_with: OpenAgent) -> None:
    model = ScriptedModel(echo, window_tokens=6_000)
    agent = agent_with(model, settings={"compaction": {"interval": 0}, "answering": {"tools": (), "tokens_max": 1000}})
    for number in range(12):
        await agent.memory.append(KATE, "user", f"FACT-{number} {'so to speak ' * 200}")
        await agent.memory.append(KATE, "assistant", "I see.")
    await agent.invoke("And now?")
    assert model.requests[-1].given_tokens + 1000 <= 6_000
    assert (await session_of(agent)).folded.waits == 1


@pytest.mark.spec("AGENT-2", "P6")
async def test_where_the_provider_says_too_long_it_is_folded_and_tried_once_more(agent_with: OpenAgent) -> None:
    refused: list[Request] = []

    def script(request: Request) -> scripted.Step:
        if request.messages and sum(each.tokens for each in request.messages) > 2_000:
            refused.append(request)
            return scripted.TOO_LONG
        return echo(request)

    agent = agent_with(script, settings={"compaction": {"interval": 0}})
    for number in range(12):
        await agent.memory.append(KATE, "user", f"FACT-{number} {'so to speak ' * 100}")
        await agent.memory.append(KATE, "assistant", "I see.")
    assert await agent.invoke("And now?") == "You said: And now?"
    assert len(refused) == 1


@pytest.mark.spec("AGENT-8", "AGENT-2")
async def test_tools_are_used_and_their_results_go_back_to_the_model(agent_with: OpenAgent) -> None:
    @langchains
    def weather(city: str, days: int = 1) -> str:
        """The weather of a city."""
        return f"rain in {city} for {days}"

    async def double(number: int) -> int:
        """Twice a number."""
        return 2 * number

    wanted = calls(("weather", {"city": "Oslo", "days": 2}), ("double", {"number": 21}), text="I look.")
    agent = agent_with([wanted, "Rain, and 42."], tools=[weather, double])
    events = [event async for event in agent.stream("Weather?")]
    used = {event.name: event for event in events if isinstance(event, ToolUsed)}
    assert used["weather"].result == "rain in Oslo for 2" and used["double"].result == "42"
    assert "".join(event.text for event in events if isinstance(event, Text)) == "I look.Rain, and 42."
    assert isinstance(events[-1], Done) and events[-1].text == "Rain, and 42."
    assert [turn.role for turn in await turns_of(agent)] == ["user", "assistant", "tool", "tool", "assistant"]
    again = model_of(agent).requests[1].messages
    assert [(each.role, each.answers) for each in again[1:]] == [
        ("assistant", None),
        ("tool", "call1"),
        ("tool", "call2"),
    ]
    assert [call.name for call in again[1].calls] == ["weather", "double"]
    assert [spec.name for spec in model_of(agent).requests[0].tools][-2:] == ["weather", "double"]


@pytest.mark.spec("AGENT-8")
async def test_a_tool_that_fails_in_any_way_is_an_answer_to_the_model(agent_with: OpenAgent) -> None:
    async def hang() -> str:
        """Never ends."""
        await asyncio.Event().wait()
        return ""

    def burst() -> str:
        """Raises."""
        raise RuntimeError("the pipe burst")

    def huge() -> str:
        """Much."""
        return "x" * 300_000

    async def cancelled() -> str:
        """Cancels something of its own."""
        own: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        own.cancel()
        return await own

    def deep() -> str:
        """Never comes up again."""
        raise RecursionError("maximum recursion depth exceeded")

    wanted = calls(
        ("burst", {}), ("hang", {}), ("nobody", {}), ("file_read", {"path": "../../etc/passwd"}), ("huge", {}),
        ("memory_search", {"query": "", "limit": 99}), ("cancelled", {}), ("deep", {}),
    )  # fmt: skip
    agent = agent_with(
        [wanted, "I could not."],
        tools=[hang, burst, huge, cancelled, deep],
        settings={"answering": {"tool_seconds_max": 0.2}},
    )
    assert await agent.invoke("Do it all.") == "I could not."
    results = [turn.text for turn in await turns_of(agent) if turn.role == "tool"]
    assert "RuntimeError: the pipe burst" in results[0] and "0.2 seconds" in results[1]
    assert "no tool 'nobody'" in results[2] and "refused" in results[3]
    assert "more characters were left out" in results[4]
    assert "query" in results[5] and "limit" in results[5] and "Call it again" in results[5]
    assert "failed: CancelledError" in results[6] and "failed: RecursionError" in results[7]


@pytest.mark.spec("AGENT-8", "P8")
async def test_only_so_many_calls_of_one_reply_are_made_and_few_at_once(agent_with: OpenAgent) -> None:
    live, most, made = 0, 0, 0

    async def look(number: int) -> str:
        """Looks."""
        nonlocal live, most, made
        live, made = live + 1, made + 1
        most = max(most, live)
        await asyncio.sleep(0.01)
        live -= 1
        return f"seen {number}"

    wanted = calls(*[("look", {"number": number}) for number in range(1, 61)])
    agent = agent_with([wanted, "Done."], tools=[look], settings={"answering": {"tool_calls_max": 40}})
    assert await agent.invoke("Look everywhere.") == "Done."
    results = [turn.text for turn in await turns_of(agent) if turn.role == "tool"]
    assert results[:40] == [f"seen {number}" for number in range(1, 41)], "in the order of the calls"
    assert results[40:] == ["Not made, nor were any calls after this one: too many at once; make 40 at most."]
    assert made == 40 and most == 8
    again = model_of(agent).requests[1].messages
    assert [call.id for call in again[1].calls] == [each.answers for each in again[2:]], "each call has its result"


@pytest.mark.spec("AGENT-8", "P8")
async def test_after_so_many_rounds_of_tools_the_model_must_answer(agent_with: OpenAgent) -> None:
    def script(request: Request) -> scripted.Step:
        assert request.tools, "they are named to the last, for providers refuse a talk with tools that were not named"
        return calls(("file_list", {})) if request.may_call else "Then without."

    agent = agent_with(script, settings={"answering": {"tool_rounds_max": 3}})
    assert await agent.invoke("Go on and on.") == "Then without."
    assert len(model_of(agent).requests) == 4
    stubborn = agent_with(lambda request: calls(("file_list", {})), settings={"answering": {"tool_rounds_max": 2}})
    assert "could not finish" in await stubborn.invoke("Go on and on.", to=OTHER)
    assert [turn.role for turn in await turns_of(stubborn, OTHER)][-1] == "assistant"


@pytest.mark.spec("AGENT-8", "CTX-6")
async def test_inside_a_long_loop_of_tools_the_model_is_never_shown_more_than_fits(agent_with: OpenAgent) -> None:
    def long_page(number: int) -> str:
        """A page."""
        return f"page {number}: " + "and so it goes on and on " * 400

    def script(request: Request) -> scripted.Step:
        seen = sum(each.role == "tool" for each in request.messages)
        return calls(("long_page", {"number": seen})) if request.tools and seen < 12 else "Read."

    settings = {"answering": {"tool_rounds_max": 12, "tools": ()}}
    agent = agent_with(script, settings=settings, tools=[long_page])
    assert await agent.invoke("Read it all.") == "Read."
    assert len(model_of(agent).requests) == 13
    assert max(sum(each.tokens for each in request.messages) for request in model_of(agent).requests) <= 8_100


@pytest.mark.spec("AGENT-8", "FACT-8", "FACT-9")
async def test_the_tools_of_memory_find_read_open_and_write(agent_with: OpenAgent) -> None:
    wanted = calls(
        ("memory_search", {"query": "red kettle"}),
        ("file_list", {"path": ""}),
        ("file_read", {"path": "facts/index.json"}),
        ("expand", {"first": 1, "last": 2}),
        ("record_goal", {"goal": "buy a kettle", "outcome": "needs_you", "note": "which colour?"}),
    )
    agent = agent_with([wanted, "Done."], settings={"facts": {"enabled": False}})
    await agent.memory.append(KATE, "user", "The red kettle is mine.")
    await agent.memory.append(KATE, "assistant", "I see.")
    await agent.memory.facts.add(KATE.owner, "Ana has a red kettle.")
    await agent.memory.facts.write_files(KATE.owner)
    assert await agent.invoke("What of it?") == "Done."
    results = [turn for turn in await turns_of(agent) if turn.role == "tool"]
    found, listed, read, opened, noted = (turn.text for turn in results)
    assert "The red kettle is mine." in found and "facts/" in listed and "Ana has a red kettle." in read
    assert "user" in opened.lower() and "The red kettle is mine." in opened and "needs_you" in noted
    assert all(turn.recalled for turn in (results[0], results[2], results[3])), "what is recalled is marked as such"
    events = await agent.memory.goals(KATE)
    assert [(event.goal, event.outcome, event.note) for event in events] == [
        ("buy a kettle", "needs_you", "which colour?")
    ]


@pytest.mark.spec("AGENT-3", "CTX-5")
async def test_answers_can_use_what_the_calendar_reports(agent_with: OpenAgent, memory_with: Any) -> None:
    def script(request: Request) -> str:
        if not request.messages:
            return summary(request)
        record = request.messages[0].text
        return "At three." if "Dentist at 15:00" in record else "I do not know."

    memory = memory_with(
        {"interval": 2, "keep_recent": 2}, answering=ScriptedModel(script), sources={"calendar": Calendar("Dentist at 15:00")}
    )  # fmt: skip
    agent = Agent(memory, binding=KATE)
    assert await agent.invoke(f"When is my next appointment? {'so to speak ' * 30}") == "I do not know."
    for _ in range(3):
        await agent.invoke("so to speak " * 40)
        await memory.settle()
    assert await agent.invoke("When is my next appointment?") == "At three."


@pytest.mark.spec("AGENT-1", "SAFE-4")
async def test_every_call_goes_through_the_one_meter(agent_with: OpenAgent) -> None:
    agent = agent_with([calls(("file_list", {})), "Done.", '{"hour": 1, "why": "x"}'])
    await agent.invoke("Go.")
    await agent.invoke("", "complex_reschedule", messages=[("user", "When?")], schema=Next)
    spent = await agent.memory.store.spend_calls(EVERYONE)
    assert sorted(each.call.purpose for each in spent) == ["agent", "agent", "reschedule"]
    of_talk = [each.call for each in spent if each.call.purpose == "agent"]
    assert all(call.owner == KATE.owner and call.session for call in of_talk)
    poor = agent_with(["never said"], settings={"spend": {"day_ceiling_tokens": 10}})
    with pytest.raises(ModelStopped, match="ceiling"):
        await poor.invoke("Hello", to=OTHER)
    assert [turn.role for turn in await turns_of(poor, OTHER)] == ["user"], "the message is in the log all the same"


@pytest.mark.spec("AGENT-1", "P6")
@pytest.mark.parametrize("failure", ["server_error", "rate_limited", "wrong_key", "empty", "refusal", "timeout"])
async def test_a_model_that_fails_loses_no_message_and_the_next_one_is_answered(
    agent_with: OpenAgent, failure: str
) -> None:
    agent = agent_with(
        [scripted.FAILURES[failure], "Here I am."],
        settings={"answering": {"deadline_seconds": 1}, "spend": {"breaker_failures": 5}},
    )
    with pytest.raises((ModelBusy, ModelStopped, ModelBadOutput)):
        await agent.invoke("Are you there?", key="m1")
    assert [turn.role for turn in await turns_of(agent)] == ["user"]
    assert await agent.invoke("Are you there?", key="m1") == "Here I am.", "it comes again, and is answered"
    assert [turn.role for turn in await turns_of(agent)] == ["user", "assistant"]
    assert await agent.invoke("Are you there?", key="m1") == "Here I am.", "and not twice"


@pytest.mark.spec("AGENT-1", "LOG-1")
async def test_who_died_among_the_tools_goes_on_from_there(agent_with: OpenAgent) -> None:
    wanted = calls(("record_goal", {"goal": "water the plants", "outcome": "completed"}))
    agent = agent_with([wanted, scripted.SERVER_ERROR, "The plants are watered."])
    with pytest.raises(ModelBusy):
        await agent.invoke("Water the plants.", key="m1")
    assert await agent.invoke("Water the plants.", key="m1") == "The plants are watered."
    again = model_of(agent).requests[-1].messages
    assert [each.role for each in again] == ["user", "assistant", "tool"], "it sees what was done"
    assert len(await agent.memory.goals(KATE)) == 1, "which is not done twice"
    assert [turn.role for turn in await turns_of(agent)] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.spec("AGENT-8")
async def test_who_stops_listening_stops_the_answer(agent_with: OpenAgent) -> None:
    go = asyncio.Event()

    class Halting(ScriptedModel):
        async def stream(self, request: Request) -> AsyncGenerator[str | Completion]:
            async for piece in super().stream(request):
                yield piece
                await go.wait()

    agent = agent_with(Halting(["one two three four five six", "Yes."]))
    events = agent.stream("Count.")
    assert await anext(events) == Text(text="one ")
    await events.aclose()
    go.set()
    assert await agent.invoke("Are you there?") == "Yes."
    assert [turn.role for turn in await turns_of(agent)] == ["user", "user", "assistant"], "the count came to no end"


@pytest.mark.spec("AGENT-8", "AGENT-9")
async def test_without_a_model_it_answers_from_memory_and_says_so(
    agent_with: OpenAgent, store: Any, tmp_path: Any
) -> None:
    from afterglow.memory import Memory
    from afterglow.settings import Settings

    chosen = Settings.model_validate({"data_dir": str(tmp_path), "zone": "UTC"})
    agent = Agent(Memory(store, chosen, model=OfflineModel(), environ={}), binding=KATE)
    text = await agent.invoke("Where is the red kettle?")
    assert "No model is set up" in text and "Nothing there fits" in text
    await agent.memory.append(KATE, "user", "The red kettle is on the stove.")
    text = await agent.invoke("Where is the red kettle?")
    assert "No model is set up" in text and "on the stove" in text
    assert "No model is set up" in await agent.invoke("the?")
    pieces = [event.text async for event in agent.stream("kettle") if isinstance(event, Text)]
    assert "on the stove" in "".join(pieces)
    await agent.memory.settle()


@pytest.mark.spec("AGENT-1")
async def test_what_is_asked_wrongly_is_refused_with_a_sentence(agent_with: OpenAgent) -> None:
    agent = agent_with(binding=None)
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("Hi", {}, "say whom it is about"),
        ("Hi", {"to": "ana"}, "a Binding or a Session; this is a str"),
        ("Hi", {"to": KATE, "reason": "because"}, "no reason 'because'"),
        ("Hi", {"to": KATE, "messages": [("user", "x")]}, "`messages` are for complex_reschedule"),
        ("", {"reason": "complex_reschedule"}, "needs them"),
        ("", {"reason": "complex_reschedule", "messages": []}, "no message"),
        ("", {"reason": "complex_reschedule", "messages": [42]}, "message 1 is a int"),
        ("", {"reason": "complex_reschedule", "messages": [("user", [5])]}, "message 1 is a tuple that cannot be read"),
        ("", {"reason": "complex_reschedule", "messages": 5}, "given as a list; this is a int"),
        ("", {"reason": "complex_reschedule", "messages": [("user", "x")], "schema": dict}, "BaseModel"),
        ("Hi", {"to": KATE, "schema": Next}, "a schema is for complex_reschedule"),
        ("  ", {"to": KATE}, "empty"),
    ]
    for message, given, sentence in wrong:
        with pytest.raises(BadInput, match=sentence):
            await agent.invoke(message, **given)
    with pytest.raises(BadInput, match="two tools of the name"):
        agent_with(tools=[Next, Next])
    with pytest.raises(BadInput, match="this is a int"):
        agent_with(tools=[42])
    with pytest.raises(BadInput, match="two tools of the name 'file_list'"):

        def file_list() -> str:
            """Another one."""
            return ""

        await agent_with(tools=[file_list]).invoke("Hi")
    assert not model_of(agent).requests


@pytest.mark.spec("AGENT-6")
async def test_of_two_calls_for_one_session_the_second_sees_the_answer_to_the_first(agent_with: OpenAgent) -> None:
    agent = agent_with(ScriptedModel(echo, delay_seconds=0.05))
    await asyncio.gather(agent.invoke("one"), agent.invoke("two"), agent.invoke("here", to=OTHER))
    assert [turn.role for turn in await turns_of(agent)] == ["user", "assistant", "user", "assistant"]
    assert model_of(agent).requests[-1].messages[-2].role == "assistant"


class Counting(ScriptedModel):
    """Says how many answers were made at once in a session, at most."""

    def __init__(self) -> None:
        super().__init__(echo)
        self._live: Counter[str | None] = Counter()
        self.most_at_once: Counter[str | None] = Counter()
        self.asked: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """What was asked, by its text."""
        self.first: dict[str, str] = {}
        """What is answered only after something else was asked."""

    async def complete(self, request: Request) -> Completion:
        here, text = request.session, said_last(request)
        self._live[here] += 1
        self.most_at_once[here] = max(self.most_at_once[here], self._live[here])
        self.asked[text].set()
        if text in self.first:
            await self.asked[self.first[text]].wait()
        await asyncio.sleep(0.1)
        self._live[here] -= 1
        return await super().complete(request)


@pytest.mark.spec("AGENT-6")
@pytest.mark.parametrize("there", [True, False], ids=["one that is there", "a new session"])
async def test_calls_for_one_session_are_answered_one_by_one_however_they_name_it(
    agent_with: OpenAgent, there: bool
) -> None:
    model = Counting()
    agent = agent_with(model)
    if there:
        await agent.invoke("warm", session="a")
    async with asyncio.timeout(30):
        to_a = [agent.invoke(f"a{number}", session="a") for number in (1, 2)]
        await asyncio.gather(*to_a, agent.invoke("to the binding"), agent.invoke("to it too"))
    assert set(model.most_at_once.values()) == {1}
    assert not agent._order.live  # pyright: ignore[reportPrivateUsage]


@pytest.mark.spec("AGENT-6", "P7")
async def test_a_session_that_another_has_followed_is_still_answered_one_by_one(agent_with: OpenAgent) -> None:
    model = Counting()
    agent = agent_with(model)
    await agent.invoke("warm", session="a")
    model.first["a1"] = "b1"  # so that no session waits for the other
    async with asyncio.timeout(30):
        answering = [asyncio.create_task(agent.invoke("a1", session="a"))]
        await model.asked["a1"].wait()
        answering.append(asyncio.create_task(agent.invoke("b1", session="b")))
        await model.asked["b1"].wait()
        answering.append(asyncio.create_task(agent.invoke("a2", session="a")))
        answering.append(asyncio.create_task(agent.invoke("to the binding")))
        await asyncio.gather(*answering)
    assert model.most_at_once == {"a": 1, "b": 1}
    assert [turn.text for turn in await turns_of(agent)][2:] == ["to the binding", "You said: to the binding"]


@pytest.mark.spec("AGENT-6", "P7")
async def test_first_messages_that_come_at_once_are_answered_one_by_one(agent_with: OpenAgent) -> None:
    model = Counting()
    agent = agent_with(model)
    model.first["hello"] = "waits"  # which another says: two people do not wait for each other
    async with asyncio.timeout(30):
        asked = [agent.invoke(text) for text in ("hello", "m1", "m2")]
        await asyncio.gather(*asked, await agent.enqueue("waits", to=OTHER), agent.invoke("m3", to=OTHER))
    assert set(model.most_at_once.values()) == {1} and len(model.most_at_once) == 2


@pytest.mark.spec("AGENT-6")
async def test_a_tool_that_talks_to_its_own_session_does_not_wait_for_itself(agent_with: OpenAgent) -> None:
    async def ask_again(text: str) -> str:
        """Ask the agent something."""
        return await agent.invoke(text)

    def script(request: Request) -> scripted.Step:
        return calls(("ask_again", {"text": "inner"})) if said_last(request) == "outer" else echo(request)

    agent = agent_with(script, tools=[ask_again])
    async with asyncio.timeout(30):
        await agent.invoke("outer")
    assert "inner" in [turn.text for turn in await turns_of(agent)]


@pytest.mark.spec("AGENT-6")
async def test_what_a_tool_began_and_left_running_waits_like_everybody_when_the_answer_is_given(
    agent_with: OpenAgent,
) -> None:
    go = asyncio.Event()
    begun: list[asyncio.Task[str]] = []

    async def remind() -> str:
        """Says something later."""

        async def later() -> str:
            await go.wait()
            return await agent.invoke("later")

        begun.append(asyncio.create_task(later()))
        return "begun"

    def script(request: Request) -> scripted.Step:
        return calls(("remind", {})) if said_last(request) == "start" else echo(request)

    agent = agent_with(ScriptedModel(script, delay_seconds=0.2), tools=[remind])
    await agent.invoke("start")
    now = asyncio.create_task(agent.invoke("now"))
    await until_asked(agent, 3)
    go.set()
    await asyncio.gather(now, *begun)
    said = [turn.text for turn in await turns_of(agent)]
    assert said[-4:] == ["now", "You said: now", "later", "You said: later"]


@pytest.mark.spec("AGENT-6", "P7")
async def test_two_people_whose_sessions_have_one_name_do_not_wait_for_each_other(agent_with: OpenAgent) -> None:
    both = asyncio.Barrier(2)

    class Meeting(ScriptedModel):
        async def complete(self, request: Request) -> Any:
            await both.wait()
            return await super().complete(request)

    agent = agent_with(Meeting(echo))
    async with asyncio.timeout(30):
        await asyncio.gather(*(agent.invoke("hello", to=binding, session="main") for binding in (KATE, OTHER)))


@pytest.mark.spec("AGENT-3")
async def test_the_model_knows_the_time_in_every_round_and_its_window_is_heeded_in_all(agent_with: OpenAgent) -> None:
    def long_page() -> str:
        """A page."""
        return "and so it goes on and on " * 1500

    model = ScriptedModel([calls(("long_page", {})), "Read."], window_tokens=6_000)
    agent = agent_with(model, tools=[long_page], settings={"answering": {"tools": (), "tokens_max": 500}})
    await agent.invoke("Read it.")
    first, second = model.requests
    assert first.messages[0].text == second.messages[0].text and "(now: Monday" in first.messages[0].text
    assert second.given_tokens + 500 <= 6_000


@pytest.mark.spec("AGENT-3")
async def test_a_message_without_words_is_not_empty_to_the_model(agent_with: OpenAgent) -> None:
    agent = agent_with()
    await agent.invoke("", parts=[{"type": "image", "url": "https://example.org/cat.png"}])
    assert said_last(model_of(agent).requests[0]) == "(image)"


@pytest.mark.spec("AGENT-4")
async def test_a_timeout_waits_for_the_answer_under_way(agent_with: OpenAgent) -> None:
    agent = agent_with(ScriptedModel(echo, delay_seconds=0.1))
    await agent.invoke("so to speak " * 60)
    answering = asyncio.create_task(agent.invoke("and now?"))
    await until_asked(agent, 2)
    await agent.invoke("", "session_timeout")
    assert answering.done()
    session = await session_of(agent)
    assert session.folded.to_seq == session.turns == 4
