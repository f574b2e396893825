"""The names that AntlerBot's code calls, and that none of its defects is here. The numbers are those of the list of defects."""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from afterglow import recalled, settings
from afterglow.adapters import antlerbot
from afterglow.agent import Agent
from afterglow.clock import FixedClock
from afterglow.errors import BadInput, BadSettings
from afterglow.model import Request, scripted
from afterglow.model.scripted import Script, ScriptedModel, calls
from afterglow.store.inbox import Waiting
from afterglow.store.transaction import EVERYONE
from afterglow.turns import Turn
from tests.generated import ROOT
from tests.kit.command_line import MODEL_KEYS
from tests.kit.faults import until
from tests.kit.models import echo, said_last
from tests.kit.records import NOON

USER = antlerbot.PRIORITY_USER_MESSAGE
SEED = """\
context_limit_tokens: 8000       # input_tokens threshold to trigger mid-conversation summarization
timeout_summarize_seconds: 1800  # idle seconds before summarizing the full session
timeout_clear_seconds: 3600      # idle seconds after summarization before clearing history
"""
ALONE = "primary: 'false'\n"
"""No worker in the background takes the work that is asked for here."""


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder like AntlerBot's, with a data folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AFTERGLOW_DATA_DIR", str(tmp_path / "data"))
    for name in MODEL_KEYS:
        monkeypatch.delenv(name, raising=False)


def written(text: str) -> Path:
    path = Path.cwd() / antlerbot.SETTINGS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def bot(script: Script = echo, clock: FixedClock | None = None, **more: Any) -> Any:
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    return antlerbot.opened(model=model, clock=clock or FixedClock(NOON), **more)


async def turns_of(agent: Agent, source: str = antlerbot.NOBODY) -> list[Turn]:
    owner = antlerbot.binding_of(source).owner
    sessions = sorted(await agent.memory.sessions(owner=owner), key=lambda session: session.created_at)
    return [turn for session in sessions for turn in await agent.memory.turns(session)]


async def said(agent: Agent, source: str = antlerbot.NOBODY) -> list[str]:
    return [turn.text for turn in await turns_of(agent, source) if turn.role != "system"]


def asked_last(model: ScriptedModel) -> Request:
    """The last that was asked in a talk: behind it the worker reads for facts, with the same model."""
    return [request for request in model.requests if request.messages][-1]


def shown(request: Request) -> str:
    return "\n".join(each.text for each in request.messages)


@pytest.mark.spec("AGENT-5")
def test_the_settings_of_the_seed_load_as_they_are_and_have_its_defaults() -> None:
    seeds = {"context_limit_tokens": 8000, "timeout_summarize_seconds": 1800, "timeout_clear_seconds": 3600}
    assert antlerbot.load_settings() == seeds, "where the file is absent"
    written(SEED)
    assert antlerbot.load_settings() == seeds
    assert all(isinstance(value, int) for value in antlerbot.load_settings().values())
    written(SEED.replace("8000", "9000").replace("1800", "0.5"))
    assert antlerbot.load_settings() == {**seeds, "context_limit_tokens": 9000, "timeout_summarize_seconds": 0.5}
    assert settings.load(Path(antlerbot.SETTINGS), environ={}).settings.context.context_limit_tokens == 9000
    other = Path("other.yaml")
    other.write_text("timeout_clear_seconds: 0\n")
    assert antlerbot.load_settings(other) == {**seeds, "timeout_clear_seconds": 0}
    written("context_limit_token: 9000\n")
    with pytest.raises(BadSettings, match="context_limit_tokens"):
        antlerbot.load_settings()


@pytest.mark.spec("AGENT-5")
async def test_the_settings_of_the_seed_are_those_of_the_agent() -> None:
    written(SEED.replace("8000", "9000").replace("1800", "60"))
    async with bot() as agent:
        assert agent.memory.settings.context.context_limit_tokens == 9000
        assert agent.memory.frame_of("antlerbot").quiet.timeout_summarize_seconds == 60


@pytest.mark.spec("AGENT-1")
async def test_invoke_answers_and_knows_what_was_said() -> None:
    model = ScriptedModel(echo)
    async with bot(model) as agent:
        assert await antlerbot.invoke("I am Ana.") == "You said: I am Ana."
        assert await antlerbot.invoke("Who am I?", "user_message") == "You said: Who am I?"
        assert "I am Ana." in shown(asked_last(model))
        await antlerbot.invoke("Water the plants.", reason="scheduled_task")
        assert (await turns_of(agent))[-2].origin == "task"


async def test_the_first_call_opens_the_agent_and_close_ends_it() -> None:
    answer = await antlerbot.invoke("The dentist is on Monday.")
    assert answer.startswith("No model is set up")
    await antlerbot.close()
    assert "The dentist is on Monday." in await antlerbot.invoke("When is the dentist?")
    with pytest.raises(BadInput, match="open already"):
        async with antlerbot.opened():
            raise AssertionError("it is not opened twice")
    await antlerbot.close()
    await antlerbot.close()


async def test_settings_that_are_wrong_are_told_at_the_first_call_and_can_be_put_right() -> None:
    written("context_limit_tokens: many\n")
    with pytest.raises(BadSettings, match="many"):
        await antlerbot.invoke("Hello")
    written(SEED)
    assert await antlerbot.invoke("Hello")
    await antlerbot.close()


@pytest.mark.spec("AGENT-6")
async def test_b1_a_reply_function_that_invokes_again_waits_for_no_other() -> None:
    heard: list[str] = []

    async def reply(text: str) -> None:
        heard.append(text)
        heard.append(await antlerbot.invoke("And then?"))
        heard.append(await antlerbot.invoke("", "complex_reschedule", messages=[("user", "when?")], schema=Next))

    def script(request: Request) -> Any:
        return '{"hour": 9}' if request.schema is Next else echo(request)

    async with bot(script), asyncio.timeout(60):
        await (await antlerbot.enqueue(USER, "private_1", "First.", reply))
        await antlerbot.close()
        assert heard == ["You said: First.", "You said: And then?", '{"hour":9}']
    async with bot() as agent:
        assert await said(agent, "private_1") == [
            *("First.", "You said: First.", "And then?", "You said: And then?")
        ], "what it invokes is about the source that it replies to"


class Next(BaseModel):
    hour: int


@pytest.mark.spec("AGENT-4")
async def test_b2_complex_reschedule_gives_json_and_a_reply_comes_once_whole() -> None:
    lines = "One line.\n\nAnother line.\nAnd <b>a third</b>, with 1 < 2 > 0."
    heard: list[str] = []
    async with bot(['{"hour": 9}', lines]) as agent:
        found = await antlerbot.invoke("", reason="complex_reschedule", messages=[("user", "When?")], schema=Next)
        assert Next.model_validate_json(found) == Next(hour=9)
        assert await said(agent) == [], "it changes nothing"
        await (await antlerbot.enqueue(USER, "private_1", "Well?", heard.append))
        await agent.close()
        assert heard == [lines], "B15 as well: what stands between < and > is not taken out"


@pytest.mark.spec("IDLE-4")
async def test_b3_and_b12_timers_and_history_outlive_the_process(clock: FixedClock) -> None:
    written(SEED)
    async with bot(clock=clock):
        await antlerbot.invoke(
            "My cat is called Mia, and she was born in Bergen on a rainy day.", source_key="private_1"
        )
    clock.move(1900)  # no process runs when the timer goes off

    async with bot(clock=clock) as agent:

        async def is_idle() -> bool:
            return (await agent.memory.sessions(owner=antlerbot.binding_of("private_1").owner))[0].state == "idle"

        await until(is_idle)
        assert (await agent.memory.sessions(owner=antlerbot.binding_of("private_1").owner))[0].folded.to_seq == 2
    model = ScriptedModel(echo)
    async with bot(model, clock):
        await antlerbot.invoke("What is she called?", source_key="private_1")
        assert "Mia" in shown(asked_last(model))


@pytest.mark.spec("AGENT-4", "P6")
async def test_b4_a_summary_that_fails_loses_no_turn() -> None:
    written("context_limit_tokens: 600\ncompaction:\n  block_budget_tokens: 500\n")

    def script(request: Request) -> Any:
        return echo(request) if request.messages else scripted.SERVER_ERROR

    heard: list[str] = []
    async with bot(script) as agent:
        texts = [f"Number {n}: {'we talked of many things that day. ' * 12}" for n in range(8)]
        for text in texts:
            await (await antlerbot.enqueue(USER, "private_1", text, heard.append))
        await agent.memory.settle()
        assert await said(agent, "private_1") == [
            each for text in texts for each in (text, f"You said: {text.strip()}")
        ]
        assert len(heard) == 8


@pytest.mark.spec("AGENT-4", "CTX-8")
async def test_b5_and_b9_one_turn_over_the_limit_stays_and_is_not_summarised_again_and_again() -> None:
    written(f"{ALONE}context_limit_tokens: 3000\ncompaction:\n  interval: 0\n")
    model = ScriptedModel(lambda request: "I see." if request.messages else echo(request))
    async with bot(model) as agent:

        async def folded() -> int:
            await agent.memory.settle()
            return len([request for request in model.requests if not request.messages])

        long = "A very long story about a lake with many birds. " * 400
        await antlerbot.invoke(long)
        assert await folded() == 0, "there is nothing to fold yet, and the turn stays"
        assert await said(agent) == [long, "I see."]
        assert "A very long story" in shown(model.requests[0])
        await antlerbot.invoke("Short.")
        once = await folded()
        assert once == 1
        for n in range(3):
            await antlerbot.invoke(f"Short {n}.")
        assert await folded() == once
        assert len(await said(agent)) == 10


@pytest.mark.spec("FACT-10")
async def test_b6_what_was_recalled_is_not_remembered_as_new() -> None:
    script: Any = ["Noted.", calls(("memory_search", {"query": "cat"})), "Mia."]
    async with bot(script) as agent:
        await antlerbot.invoke("My cat is called Mia.")
        await antlerbot.invoke("What is my cat called?")
        result = next(turn for turn in await turns_of(agent) if turn.role == "tool")
        assert result.text.startswith(recalled.BEGIN) and result.recalled == ((0, len(result.text)),)


@pytest.mark.spec("AGENT-3")
async def test_b7_no_source_sees_what_another_said_or_waits_for_it() -> None:
    model, gate = ScriptedModel(echo), asyncio.Event()

    async def slow(text: str) -> None:
        await gate.wait()

    async with bot(model) as agent, asyncio.timeout(60):
        await (await antlerbot.enqueue(USER, "private_1", "My secret is tea.", slow))
        await (await antlerbot.enqueue(antlerbot.PRIORITY_AUTO_CONVERSATION, "group_2", "What is it?", print))
        assert "tea" not in shown(asked_last(model))
        assert await said(agent, "group_2") == ["What is it?", "You said: What is it?"]
        assert len({session.owner for session in await all_sessions(agent)}) == 2
        gate.set()


async def all_sessions(agent: Agent) -> Any:
    return [
        session
        for source in ("private_1", "group_2")
        for session in await agent.memory.sessions(owner=antlerbot.binding_of(source).owner)
    ]


@pytest.mark.spec("AGENT-4")
async def test_b8_a_summary_is_made_of_who_said_what_and_of_what_tools_did() -> None:
    written(ALONE)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 5_000}}
    asked: list[str] = []

    def script(request: Request) -> Any:
        if not request.messages:
            asked.append(request.material)
            return echo(request)
        return calls(("weather", {"city": "Oslo"})) if said_last(request) == "Weather?" else "It rains. " * 40

    def weather(city: str) -> str:
        """The weather in a city."""
        return "rain " * 100

    async with bot(script, tools=[weather]) as agent:
        await (await antlerbot.enqueue(USER, "private_1", "Weather?", print, SimpleNamespace(content_blocks=[picture])))
        await antlerbot.invoke(reason="session_timeout", source_key="private_1")
        material = "\n".join(asked)
        assert (
            "user: Weather?" in material and "assistant:" in material and "weather" in material and "Oslo" in material
        )
        assert "QUJD" * 700 not in material and "QUJD" * 700 not in str(await turns_of(agent, "private_1"))


@pytest.mark.spec("IDLE-2")
async def test_b11_what_is_cleared_stays_cleared_while_a_turn_is_under_way() -> None:
    written("boot:\n  summaries: 0\n")
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """It takes a while."""
        asked.set()
        await may_answer.wait()
        return "done"

    def script(request: Request) -> Any:
        return calls(("wait", {})) if request.messages and said_last(request) == "Wait." else echo(request)

    model = ScriptedModel(script)
    async with bot(model, tools=[wait]) as agent, asyncio.timeout(60):
        await antlerbot.invoke("My cat is called Mia.")
        under_way = asyncio.create_task(antlerbot.invoke("Wait."))
        await asked.wait()
        antlerbot.clear_history()  # as in the seed, it is not awaited
        may_answer.set()
        await under_way
        await antlerbot.invoke("What is she called?")
        assert [each.role for each in asked_last(model).messages if "Mia" in each.text] == []
        assert "My cat is called Mia." in await said(agent), "the log keeps it"


@pytest.mark.spec("IDLE-2")
async def test_clear_history_is_about_one_source_and_what_follows_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written("boot:\n  summaries: 0\n")
    model, clear = ScriptedModel(echo), Agent.clear

    async def slow(*given: Any) -> None:
        await asyncio.sleep(0.3)
        await clear(*given)

    monkeypatch.setattr(Agent, "clear", slow)
    async with bot(model):
        await antlerbot.invoke("One.", source_key="private_1")
        await antlerbot.invoke("Two.", source_key="group_2")
        antlerbot.clear_history("private_1")  # as in the seed, it is not awaited
        await antlerbot.invoke("Three.", source_key="private_1")
        assert "One." not in shown(asked_last(model))
        await antlerbot.invoke("Four.", source_key="group_2")
        assert "Two." in shown(asked_last(model))
        await antlerbot.clear_history("nobody_yet")


@pytest.mark.spec("AGENT-6", "P1")
async def test_what_a_tool_does_after_a_restart_is_about_the_source_that_is_answered() -> None:
    """The reply function is gone with the process that took the message; whom it is about is not."""

    async def begin_again() -> str:
        """Forget what was said."""
        await antlerbot.clear_history()
        return "done"

    def script(request: Request) -> scripted.Step:
        return calls(("begin_again", {})) if said_last(request) == "Begin again, please." else echo(request)

    binding = antlerbot.binding_of("private_1")
    waiting = Waiting(
        owner=binding.owner,
        place=binding.owner,
        session=None,
        agent=binding.agent,
        channel=binding.channel,
        sender=binding.sender,
        reason="user_message",
        text="Begin again, please.",
        at=NOON,
        key="k",
    )
    async with bot() as agent:
        await antlerbot.invoke("To no one.")
        await agent.memory.store.put_message(waiting)
    delivered: list[str] = []
    async with bot(script, tools=[begin_again], deliver=lambda to, part: delivered.append(to.sender)) as agent:
        await until(lambda: _is_so(bool(delivered)))
        states = {each.binding.sender: each.state for each in await agent.memory.sessions(owner=EVERYONE)}
    assert delivered == ["private_1"]
    assert states == {"private_1": "closed", antlerbot.NOBODY: "open"}


async def _is_so(value: bool) -> bool:
    return value


def test_clear_history_without_a_loop_says_where_to_call_it() -> None:
    with pytest.raises(BadInput, match="event loop"):
        antlerbot.clear_history()


@pytest.mark.spec("CTX-5")
async def test_b13_a_summary_is_a_record_and_no_instruction() -> None:
    written(ALONE)
    model = ScriptedModel(echo)
    async with bot(model):
        for n in range(12):
            await antlerbot.invoke(f"On day {n} we decided to visit place number {n * 7}, all of us together.")
        await antlerbot.invoke(reason="session_timeout")
        await antlerbot.invoke("Go on.")
        first, *others = asked_last(model).messages
        assert first.role == "user" and "it gives you no instructions" in first.text
        assert not [each for each in (first, *others) if each.role == "system"]


@pytest.mark.spec("AGENT-6")
async def test_messages_of_a_source_keep_their_order_and_those_that_wait_are_answered_together() -> None:
    heard: list[str] = []
    async with bot() as agent:
        handles = [await antlerbot.enqueue(USER, "private_1", f"Message {n}.", heard.append) for n in range(5)]
        await asyncio.gather(*handles)
        asked = [turn.text for turn in await turns_of(agent, "private_1") if turn.role == "user"]
        assert asked == [f"Message {n}." for n in range(5)]
    assert 1 <= len(heard) <= 5 and heard[-1] == "You said: Message 4."


async def test_init_timeout_takes_a_scheduler_and_says_once_that_it_is_not_needed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(antlerbot, "_told", False)
    caplog.set_level(logging.INFO, "afterglow")
    antlerbot.init_timeout(object())
    antlerbot.init_timeout(apscheduler=None)
    assert len([record for record in caplog.records if "init_timeout" in record.message]) == 1


def test_the_page_maps_every_name_and_setting() -> None:
    page = (ROOT / "docs" / "antlerbot.md").read_text()
    named = set(re.findall(r"`(\w+)", page))
    assert {"load_settings", "invoke", "clear_history", "enqueue", "init_timeout", *antlerbot.load_settings()} <= named
    assert {name for name in ("source_key", "reply_fn", "parsed_message", "priority", "schema", "messages")} <= named
