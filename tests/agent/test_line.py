"""enqueue: one session's messages in order, sessions side by side, nothing lost, and no answer waits for itself."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from afterglow.agent import Agent, line
from afterglow.agent.handing import Handle
from afterglow.clock import SystemClock
from afterglow.conversation import reply_key
from afterglow.errors import BadInput, ModelBusy, ModelStopped, StoreUnavailable
from afterglow.model import Request, scripted
from afterglow.model.scripted import ScriptedModel
from afterglow.store import inbox
from afterglow.store.contract import Store
from afterglow.store.inbox import Waiting
from afterglow.turns import Binding
from afterglow.work import Claim, Limits
from afterglow.worker import holder_name
from tests.agent.conftest import OpenAgent
from tests.conftest import OpenStore
from tests.kit.agents import model_of, person, session_of, turns_of, until_asked, until_nothing_waits
from tests.kit.campaign import Campaign
from tests.kit.models import GatedModel, echo, said_last
from tests.kit.records import KATE, NOON, OTHER

SOON = {"work": {"backoff_seconds": 0.05, "backoff_max_seconds": 0.2}, "spend": {"breaker_failures": 1000}}
"""What failed is tried again at once, and no breaker stands before it."""


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    """With a clock that goes on: what failed waits for a while."""
    return await open_store(SystemClock())


@pytest.mark.spec("AGENT-6")
async def test_a_sessions_messages_are_answered_in_order_and_those_that_wait_together(agent_with: OpenAgent) -> None:
    agent = agent_with(model := GatedModel(echo))
    heard: list[str] = []
    handles = [await agent.enqueue("m0", reply=heard.append)]
    await until_asked(agent, 1)
    handles += [await agent.enqueue(f"m{number}", reply=heard.append) for number in range(1, 4)]
    model.gate.set()
    answers = await asyncio.gather(*handles)
    assert [turn.text for turn in await turns_of(agent) if turn.role == "user"] == ["m0", "m1", "m2", "m3"]
    assert answers[0] == "You said: m0", "the first was not made to wait for the others"
    assert answers[1:] == ["You said: m3"] * 3, "those that waited were answered together"
    await agent.close()
    assert heard == ["You said: m0", "You said: m3"], "and each answer was said once"


@pytest.mark.spec("AGENT-6", "P7")
async def test_sessions_are_answered_side_by_side(agent_with: OpenAgent) -> None:
    gate = asyncio.Event()
    released: list[str] = []

    class Slow(ScriptedModel):
        async def complete(self, request: Request) -> Any:
            if said_last(request) == "slow":
                await gate.wait()
            return await super().complete(request)

    agent = agent_with(Slow(echo))
    slow = await agent.enqueue("slow")
    quick = await agent.enqueue("quick", to=OTHER, reply=released.append)
    async with asyncio.timeout(30):
        assert await quick == "You said: quick"
    gate.set()
    assert await slow == "You said: slow"


@pytest.mark.spec("AGENT-6")
async def test_a_callback_may_invoke_the_same_session_or_enqueue_there(agent_with: OpenAgent) -> None:
    agent = agent_with()
    second: list[Any] = []
    heard = asyncio.Event()

    async def reply(text: str) -> None:
        second.append(await agent.invoke(f"again after {text}"))
        second.append(await (await agent.enqueue("and once more")))
        heard.set()

    await agent.enqueue("first", reply=reply)
    async with asyncio.timeout(30):
        await heard.wait()
    assert second == ["You said: again after You said: first", "You said: and once more"]


@pytest.mark.spec("AGENT-6", "P6")
async def test_a_callback_that_fails_harms_no_answer(agent_with: OpenAgent) -> None:
    agent = agent_with()

    def reply(text: str) -> None:
        raise RuntimeError("no way to send")

    assert await (await agent.enqueue("one", reply=reply)) == "You said: one"
    assert await (await agent.enqueue("two")) == "You said: two"


@pytest.mark.spec("AGENT-6", "P6")
async def test_what_fails_is_tried_again_and_the_answer_is_heard_then(agent_with: OpenAgent) -> None:
    agent = agent_with([scripted.SERVER_ERROR, scripted.RATE_LIMITED, "At last."], settings=SOON)
    heard: list[str] = []
    handle = await agent.enqueue("Are you there?", reply=heard.append)
    with pytest.raises(ModelBusy):
        await handle
    await until_nothing_waits(agent)
    await agent.close()
    assert heard == ["At last."]
    assert [turn.text for turn in await turns_of(agent)] == ["Are you there?", "At last."]


@pytest.mark.spec("AGENT-6", "P7")
async def test_a_message_that_can_never_be_answered_does_not_hold_up_its_session(agent_with: OpenAgent) -> None:
    def script(request: Request) -> scripted.Step:
        return scripted.REFUSAL if said_last(request) == "poison" else echo(request)

    agent = agent_with(script, settings=SOON)
    with pytest.raises(Exception, match="refused"):
        await (await agent.enqueue("poison"))
    await until_nothing_waits(agent)
    assert await (await agent.enqueue("fine")) == "You said: fine"
    assert [turn.text for turn in await turns_of(agent) if turn.role == "user"] == ["poison", "fine"]


@pytest.mark.spec("AGENT-6")
async def test_a_message_can_be_taken_back_while_it_waits_or_is_answered(agent_with: OpenAgent) -> None:
    agent = agent_with(model := GatedModel(echo))
    first = await agent.enqueue("one")
    await until_asked(agent, 1)
    second, third = [await agent.enqueue(text) for text in ("two", "three")]
    assert await second.cancel(), "it waited"
    assert await first.cancel(), "it was being answered"
    model.gate.set()
    assert await third == "You said: three"
    assert not await third.cancel(), "it was answered"
    said = [turn.text for turn in await turns_of(agent)]
    assert "two" not in said and said[-2:] == ["three", "You said: three"]
    with pytest.raises(asyncio.CancelledError):
        await second


@pytest.mark.spec("AGENT-6", "LOG-1")
async def test_the_same_message_again_under_its_key_is_one_message(agent_with: OpenAgent) -> None:
    agent = agent_with(ScriptedModel(echo, delay_seconds=0.1))
    handles = [await agent.enqueue("hello", key="update 7") for _ in range(3)]
    assert set(await asyncio.gather(*(asyncio.wait_for(each.answered, 30) for each in handles[-1:]))) == {
        "You said: hello"
    }
    assert await (await agent.enqueue("hello", key="update 7")) == "You said: hello"
    assert [turn.role for turn in await turns_of(agent)] == ["user", "assistant"]


@pytest.mark.spec("AGENT-6", "P3")
async def test_what_comes_again_is_not_answered_again_and_keeps_nothing_else_from_its_answer(
    agent_with: OpenAgent,
) -> None:
    """A platform delivers once more what was answered together with another, or what is then taken together with another."""
    agent = agent_with(model := GatedModel(echo))
    held = await agent.enqueue("hold the line")
    await until_asked(agent, 1)
    together = [await agent.enqueue(key, key=key) for key in ("one", "two")]
    model.gate.set()
    await asyncio.gather(held, *together)
    model.gate.clear()
    assert await (await agent.enqueue("one", key="one")) == "You said: two", "it was answered with the other"
    held = await agent.enqueue("hold it again")
    await until_asked(agent, 3)
    together = [await agent.enqueue(key, key=key) for key in ("three", "one")]
    model.gate.set()
    await asyncio.gather(held, *together)
    assert [turn.text for turn in await turns_of(agent)] == [
        "hold the line",
        "You said: hold the line",
        *("one", "two", "You said: two"),
        *("hold it again", "You said: hold it again"),
        *("three", "You said: three"),
    ]


@pytest.mark.spec("AGENT-6", "P1")
async def test_what_waits_when_the_agent_closes_is_answered_by_the_next_one(
    agent_with: OpenAgent, store: Store
) -> None:
    agent = agent_with(ScriptedModel(echo, delay_seconds=30))
    for number in range(3):
        await agent.enqueue(f"hello from {number}", to=person(number))
    await agent.close(0.1)
    with pytest.raises(BadInput, match="closed"):
        await agent.enqueue("too late")
    delivered: list[tuple[str, str]] = []

    async def deliver(to: Binding, part: Any) -> None:
        delivered.append((to.sender, part.text))

    again = agent_with(deliver=deliver)
    assert await again.resume() == 3
    await until_nothing_waits(again)
    await again.close()
    assert sorted(delivered) == [(f"person-{n}", f"You said: hello from {n}") for n in range(3)]


@pytest.mark.spec("AGENT-6")
async def test_only_messages_and_tasks_wait_and_secrets_wait_nowhere(agent_with: OpenAgent, store: Store) -> None:
    agent = agent_with(model := GatedModel(echo))
    with pytest.raises(BadInput, match="session_timeout"):
        await agent.enqueue("x", reason="session_timeout")
    with pytest.raises(BadInput, match="empty"):
        await agent.enqueue("   ")
    key = "sk-ant-" + "api03-" + "a1B2c3D4e5F6g7H8" * 6
    handle = await agent.enqueue(f"my key is {key}")
    (waiting,) = await store.waiting_messages(KATE.owner, KATE.owner)
    assert key not in waiting.text and "[redacted" in waiting.text
    model.gate.set()
    await handle


@pytest.mark.spec("AGENT-6", "P7")
async def test_tasks_and_people_are_not_answered_in_one_breath(agent_with: OpenAgent) -> None:
    agent = agent_with(model := GatedModel(echo))
    first = await agent.enqueue("hold the line")
    await until_asked(agent, 1)
    rest = [
        await agent.enqueue(text, reason=reason)
        for text, reason in (("a", "user_message"), ("b", "scheduled_task"), ("c", "user_message"))
    ]
    model.gate.set()
    await asyncio.gather(first, *rest)
    said = [(turn.text, turn.origin) for turn in await turns_of(agent) if turn.role == "user"]
    assert said == [("hold the line", "person"), ("a", "person"), ("b", "task"), ("c", "person")]


async def many_sessions(agent_with: OpenAgent, people: range, messages: int, chance: random.Random) -> None:
    """So many messages each: in order, none lost, none answered twice, and no deadlock, though callbacks invoke again."""
    failures = [scripted.SERVER_ERROR, scripted.RATE_LIMITED, scripted.DISCONNECTED, scripted.EMPTY, scripted.REFUSAL]

    def script(request: Request) -> scripted.Step:
        return chance.choice(failures) if request.messages and chance.random() < 0.15 else echo(request)

    agent = agent_with(ScriptedModel(script, delay_seconds=0.01), settings=SOON)
    invoked: set[int] = set()

    async def talk(number: int) -> None:
        async def reply(text: str) -> None:
            if number % 20 == 0 and number not in invoked:
                invoked.add(number)
                for _ in range(50):
                    try:
                        await agent.invoke("an aside", to=person(number), key="aside")
                        break
                    except Exception:  # noqa: BLE001 - it fails as often as any other call
                        continue
            if chance.random() < 0.1:
                raise RuntimeError("no way to send")

        for message in range(messages):
            await agent.enqueue(f"message {message}", to=person(number), reply=reply, key=f"m{message}")
            await asyncio.sleep(chance.random() * 0.05)

    await asyncio.gather(*(talk(number) for number in people))
    await until_nothing_waits(agent, 240)
    await agent.close(60)
    for number in people:
        turns = await turns_of(agent, person(number))
        in_line = [turn for turn in turns if turn.key != "aside" and turn.key != reply_key("aside", 1)]
        assert [turn.text for turn in in_line if turn.role == "user"] == [f"message {n}" for n in range(messages)]
        assert turns[-1].role == "assistant"
        assert not any(one.role == two.role == "assistant" for one, two in pairwise(in_line)), f"person {number}"


@pytest.mark.spec("AGENT-6", "P7")
async def test_many_sessions_at_once_with_failures_thrown_in(agent_with: OpenAgent) -> None:
    await many_sessions(agent_with, range(10), 5, random.Random(7))


@pytest.mark.spec("AGENT-6", "P7")
@pytest.mark.campaign
async def test_two_hundred_sessions_at_once_with_failures_thrown_in(agent_with: OpenAgent, campaign: Campaign) -> None:
    people = 0
    for _ in campaign.rounds():
        await many_sessions(agent_with, range(people, people + 200), 10, campaign.random)
        people += 200
    campaign.did(f"{people} sessions of 10 messages each")


@pytest.mark.spec("AGENT-6", "P6")
@pytest.mark.parametrize("failure", ["wrong_key", "settings"])
async def test_what_is_set_up_wrong_takes_no_message_away(agent_with: OpenAgent, failure: str) -> None:
    """However often it is tried: the message is in the log, and answered when that is put right."""
    agent = agent_with(lambda request: scripted.WRONG_KEY, settings=SOON)
    if failure == "settings":

        def memory_search() -> str:
            """A name that is taken."""
            return ""

        agent = agent_with(settings=SOON, tools=[memory_search])
    handle = await agent.enqueue("hello")
    with pytest.raises(Exception, match="key" if failure == "wrong_key" else "two tools"):
        await handle
    for _ in range(100):
        (work,) = [each for each in await agent.memory.store.work_list(KATE.owner, kind="reply")] or [None]
        if failure == "settings" or (work is not None and work.attempts >= 5):
            break
        await asyncio.sleep(0.1)
    await agent.close(1)
    assert [each.text for each in await agent.memory.store.waiting_messages(KATE.owner, KATE.owner)] == ["hello"]
    assert [turn.text for turn in await turns_of(agent)] == ["hello"], "it is in the log before anything can fail"
    repaired = agent_with(settings=SOON)
    await repaired.resume()
    await until_nothing_waits(repaired)
    assert [turn.text for turn in await turns_of(repaired)] == ["hello", "You said: hello"]


@pytest.mark.spec("AGENT-6")
async def test_the_caller_that_waits_for_a_message_is_told_all_that_becomes_of_it(agent_with: OpenAgent) -> None:
    agent = agent_with(ScriptedModel(echo, delay_seconds=0.3))
    twice = [await agent.enqueue("hello", key="update 7") for _ in range(2)]
    async with asyncio.timeout(30):
        assert await asyncio.gather(*twice) == ["You said: hello"] * 2
    slow = agent_with(ScriptedModel(echo, delay_seconds=30))
    left = await slow.enqueue("too late", to=OTHER)
    await slow.close(0.1)
    async with asyncio.timeout(30):
        with pytest.raises(BadInput, match="closed"):
            await left


async def taken_by_another(store: Store) -> Claim:
    """Another process is about this line, and has a message of its own there."""
    await store.put_message(replace(_waiting("zero"), listener="another"))
    claim = await store.claim_one(KATE.owner, "reply", KATE.owner, holder="another", limits=Limits())
    assert claim is not None
    return claim


async def answer_as_another(agent: Agent, claim: Claim, texts: list[str]) -> None:
    for text in texts:
        await agent.memory.append(KATE, "user", text, key=text)
    await agent.memory.append(KATE, "assistant", "To all.", key=reply_key(texts[-1], 1))
    await agent.memory.store.end_messages(claim, texts, by="another")


@pytest.mark.spec("AGENT-6")
async def test_what_another_process_answered_is_handed_over_once_by_the_one_that_took_it(
    agent_with: OpenAgent, store: Store
) -> None:
    claim = await taken_by_another(store)
    heard: list[str] = []
    delivered: list[str] = []
    agent = agent_with()
    third = agent_with(deliver=lambda to, part: delivered.append(part.text))
    handle = await agent.enqueue("one", key="one", reply=heard.append)
    await third.resume()
    await answer_as_another(agent, claim, ["zero", "one"])
    async with asyncio.timeout(30):
        assert await handle == "To all."
    await until_nothing_waits(agent)
    await agent.close()
    await third.close()
    assert (heard, delivered) == (["To all."], [])


@pytest.mark.spec("AGENT-6")
async def test_one_answer_to_messages_that_two_processes_took_is_handed_over_by_the_one_that_took_the_last(
    agent_with: OpenAgent, store: Store
) -> None:
    """Who awaits another of them gets it from the log."""
    claim = await taken_by_another(store)
    heard: list[str] = []
    agent = agent_with()
    handle = await agent.enqueue("one", key="one", reply=heard.append)
    await store.put_message(replace(_waiting("two"), listener="another"))
    await answer_as_another(agent, claim, ["zero", "one", "two"])
    async with asyncio.timeout(30):
        assert await handle == "To all."
    await agent.close()
    assert heard == []


@pytest.mark.spec("AGENT-6", "P7")
async def test_who_starts_does_not_hurry_the_line_of_a_process_that_lives(
    agent_with: OpenAgent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[line.Line] = []
    look = line.Line._looked_after

    async def counted(self: line.Line, place: tuple[str, str]) -> tuple[int, bool]:
        looked = await look(self, place)
        looks.append(self)
        return looked

    monkeypatch.setattr(line.Line, "_looked_after", counted)
    first = agent_with(lambda request: scripted.SERVER_ERROR, settings={"work": {"backoff_seconds": 60}})
    with pytest.raises(ModelBusy):
        await (await first.enqueue("hello"))
    second = agent_with()
    await second.resume()
    async with asyncio.timeout(60):
        while looks.count(second._line) < 2:  # noqa: ASYNC110 - it tells nothing of its looks
            await asyncio.sleep(0.01)
    assert len(await store.waiting_messages(KATE.owner, KATE.owner)) == 1
    await first.close(0)
    await agent_with().resume()
    await until_nothing_waits(second)


@pytest.mark.spec("AGENT-6")
async def test_the_answer_to_a_message_of_one_that_was_never_seen_again_is_delivered(
    agent_with: OpenAgent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivered: list[str] = []
    await store.put_message(replace(_waiting("hello"), at=SystemClock().now(), listener="x@another machine:7"))
    agent = agent_with(deliver=lambda to, part: delivered.append(part.text))
    await agent.resume()
    await until_asked(agent, 1)
    (waiting,) = await store.waiting_messages(KATE.owner, KATE.owner)
    assert delivered == [] and waiting.listener is not None, "it may yet come for it"
    monkeypatch.setattr(line, "_LISTENING", timedelta(0))
    await until_nothing_waits(agent)
    await agent.close()
    assert delivered == ["You said: hello"]


@pytest.mark.spec("AGENT-6", "P1")
async def test_the_answer_to_a_message_of_a_process_that_had_the_same_number_is_delivered_at_once(
    agent_with: OpenAgent, store: Store
) -> None:
    """In a container every process has the number 1."""
    delivered: list[str] = []
    before = f"before@{holder_name()}"
    await store.put_message(replace(_waiting("hello"), at=SystemClock().now(), listener=before))
    agent = agent_with(deliver=lambda to, part: delivered.append(part.text))
    await agent.resume()
    await until_nothing_waits(agent, 20)
    await agent.close()
    assert delivered == ["You said: hello"]


@pytest.mark.spec("AGENT-6")
async def test_an_answer_that_comes_after_its_awaiter_was_told_of_a_failure_is_delivered(agent_with: OpenAgent) -> None:
    delivered: list[str] = []
    agent = agent_with(
        [scripted.SERVER_ERROR, "At last."], settings=SOON, deliver=lambda to, part: delivered.append(part.text)
    )
    with pytest.raises(ModelBusy):
        await (await agent.enqueue("Are you there?"))
    await until_nothing_waits(agent)
    await agent.close()
    assert delivered == ["At last."]


@pytest.mark.spec("AGENT-6")
async def test_what_is_taken_back_when_its_answer_is_made_is_not_handed_over(
    agent_with: OpenAgent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending, gate = asyncio.Event(), asyncio.Event()
    end = store.end_messages

    async def slow(*given: Any, **more: Any) -> Any:
        ending.set()
        await gate.wait()
        return await end(*given, **more)

    monkeypatch.setattr(store, "end_messages", slow)
    heard: list[str] = []
    agent = agent_with(deliver=lambda to, part: heard.append(part.text))
    handle = await agent.enqueue("hello", reply=heard.append)
    async with asyncio.timeout(30):
        await ending.wait()
    taking = asyncio.create_task(handle.cancel())
    async with asyncio.timeout(30):
        while await store.waiting_messages(KATE.owner, KATE.owner):  # noqa: ASYNC110 - until it is taken back
            await asyncio.sleep(0.01)
    gate.set()
    assert await taking
    await agent.close()
    assert heard == []


@pytest.mark.spec("AGENT-6", "P6")
async def test_a_new_message_has_a_line_that_waits_after_a_failure_tried_again_soon(
    agent_with: OpenAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is well again: a person who writes does not wait for the end of a long pause."""
    monkeypatch.setattr(inbox, "HURRY_SECONDS", 0.1)
    agent = agent_with([scripted.SERVER_ERROR, "To one.", "To two."], settings={"work": {"backoff_seconds": 60}})
    with pytest.raises(ModelBusy):
        await (await agent.enqueue("one"))
    async with asyncio.timeout(30):
        assert await (await agent.enqueue("two")) == "To two."


@pytest.mark.spec("AGENT-6", "P8")
async def test_many_messages_do_not_have_a_dead_provider_asked_as_often(
    agent_with: OpenAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (inbox, line):
        monkeypatch.setattr(module, "HURRY_SECONDS", 0.5)
    agent = agent_with(
        lambda request: scripted.SERVER_ERROR,
        settings={"work": {"backoff_seconds": 60}, "spend": {"breaker_failures": 1000}},
    )
    with pytest.raises(ModelBusy):
        await (await agent.enqueue("first"))
    begun = time.monotonic()
    for number in range(60):
        await agent.enqueue(f"m{number}")
        await asyncio.sleep(0.01)
    at_most = 2 + (time.monotonic() - begun) / 0.5
    assert len(model_of(agent).requests) <= at_most, "once in so many seconds, however long the machine took"
    await agent.close(0)


@pytest.mark.spec("AGENT-6", "P6")
@pytest.mark.parametrize(("attempts_max", "at_most"), [(1, 300), (5, 60)])
async def test_a_person_waits_so_no_pause_of_a_line_is_long(
    agent_with: OpenAgent, store: Store, attempts_max: int, at_most: int
) -> None:
    work = {"backoff_seconds": 3600, "backoff_max_seconds": 7200, "attempts_max": attempts_max}
    agent = agent_with(lambda request: scripted.WRONG_KEY, settings={"work": work})
    with pytest.raises(ModelStopped):
        await (await agent.enqueue("hello"))
    await agent.close()
    (waiting,) = await store.work_list(KATE.owner, kind="reply")
    assert 0 < (waiting.ready_at - store.clock.now()).total_seconds() <= at_most


@pytest.mark.spec("AGENT-6")
async def test_taking_back_what_waits_leaves_the_answer_under_way_alone(agent_with: OpenAgent) -> None:
    used: list[str] = []
    gate = asyncio.Event()

    async def pay() -> str:
        """Pays."""
        used.append("paid")
        await gate.wait()
        return "paid"

    def script(request: Request) -> scripted.Step:
        return scripted.calls(("pay", {})) if request.messages[-1].role == "user" and not used else echo(request)

    agent = agent_with(script, tools=[pay])
    first = await agent.enqueue("pay")
    async with asyncio.timeout(30):
        while not used:  # noqa: ASYNC110 - until the tool is used
            await asyncio.sleep(0.01)
    second = await agent.enqueue("never mind")
    assert await second.cancel()
    gate.set()
    assert await first == "You said: paid" and used == ["paid"]


@pytest.mark.spec("AGENT-6", "P3")
async def test_what_was_answered_and_not_ended_is_handed_over_before_what_came_later(
    agent_with: OpenAgent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("the disk is away")

    heard: list[str] = []
    agent = agent_with(settings=SOON, deliver=lambda to, part: heard.append(part.text))
    with monkeypatch.context() as patch:
        patch.setattr(store, "end_messages", broken)
        await agent.enqueue("one")
        await until_asked(agent, 1)
        await agent.close(0.5)
    await agent_with(settings=SOON, deliver=lambda to, part: heard.append(part.text)).close(0)
    last = agent_with(settings=SOON, deliver=lambda to, part: heard.append(part.text))
    await store.put_message(replace(_waiting("two"), at=SystemClock().now()))
    await last.resume()
    await until_nothing_waits(last)
    await last.close()
    assert heard == ["You said: one", "You said: two"]
    assert len(model_of(agent).requests) == 1, "and one was asked once"


@pytest.mark.spec("AGENT-6", "P3")
@pytest.mark.parametrize("fails", ["answer", "end_messages"])
async def test_a_message_that_is_tried_again_stands_once_where_it_was_written_whatever_was_begun_since(
    agent_with: OpenAgent, store: Store, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("the disk is away")

    agent = agent_with([scripted.SERVER_ERROR] if fails == "answer" else echo, settings=SOON)
    with monkeypatch.context() as patch:
        patch.setattr(store, "end_messages", broken)
        await agent.enqueue("one", key="one")
        await until_asked(agent, 1)
        await agent.close(0.5)
    await agent.clear()
    await agent_with().invoke("two")
    delivered: list[str] = []
    again = agent_with(settings=SOON, deliver=lambda to, part: delivered.append(part.text))
    await again.resume()
    await until_nothing_waits(again)
    await again.close()
    assert delivered == ["You said: one"]
    sessions = sorted(await store.sessions(KATE.owner), key=lambda session: session.created_at)
    said = [
        [turn.text for turn in await store.turns(KATE.owner, each.id) if turn.role != "system"] for each in sessions
    ]
    assert said == [["one", "You said: one"], ["two", "You said: two"]]


def _waiting(text: str) -> Waiting:
    names = {"agent": KATE.agent, "channel": KATE.channel, "sender": KATE.sender}
    return Waiting(
        owner=KATE.owner, place=KATE.owner, session=None, reason="user_message", text=text, at=NOON, key=text, **names
    )


@pytest.mark.spec("AGENT-6")
async def test_what_a_tool_enqueues_waits_for_the_answer_under_way(agent_with: OpenAgent) -> None:
    async def later(text: str) -> str:
        """Says something later."""
        await agent.enqueue(text)
        await asyncio.sleep(0.2)
        return "it waits"

    def script(request: Request) -> scripted.Step:
        return scripted.calls(("later", {"text": "queued"})) if said_last(request) == "start" else echo(request)

    agent = agent_with(script, tools=[later])
    await agent.invoke("start")
    await until_nothing_waits(agent)
    said = [(turn.role, turn.text) for turn in await turns_of(agent)]
    assert [role for role, _ in said] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert said[-1][1] == "You said: queued"


@pytest.mark.spec("AGENT-6", "P8")
async def test_a_place_takes_so_many_messages_and_no_more(
    agent_with: OpenAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterglow.store.inbox.WAITING_MAX", 3)
    agent = agent_with(ScriptedModel(echo, delay_seconds=5))
    for number in range(3):
        await agent.enqueue(f"m{number}")
    with pytest.raises(BadInput, match="wait here already"):
        await agent.enqueue("one too many")
    await agent.close(0)


@pytest.mark.spec("P12", "SAFE-3")
async def test_what_is_forgotten_waits_no_more(agent_with: OpenAgent, store: Store) -> None:
    agent = agent_with(lambda request: scripted.SERVER_ERROR, settings={"work": {"backoff_seconds": 60}})
    with pytest.raises(ModelBusy):
        await (await agent.enqueue("my pin is 998877"))
    await agent.close(1)
    (turn,) = await turns_of(agent)
    session = await agent.memory.session(turn.session, owner=KATE.owner)
    await agent.memory.forget.turns(session, 1)
    assert not await store.waiting_messages(KATE.owner, KATE.owner)
    assert not await store.rows_holding(["998877"])


@pytest.mark.spec("AGENT-6")
async def test_what_is_delivered_again_after_its_answer_is_not_heard_twice(agent_with: OpenAgent) -> None:
    agent = agent_with()
    heard: list[str] = []
    assert await (await agent.enqueue("hello", key="m", reply=heard.append)) == "You said: hello"
    assert await (await agent.enqueue("hello", key="m", reply=heard.append)) == "You said: hello"
    await agent.close()
    assert heard == ["You said: hello"]


@pytest.mark.spec("AGENT-6")
async def test_an_answer_that_takes_its_own_message_back_ends_and_its_session_goes_on(agent_with: OpenAgent) -> None:
    handles: list[Handle] = []

    async def stop() -> str:
        """Stops everything."""
        return str(await handles[0].cancel())

    def script(request: Request) -> scripted.Step:
        return scripted.calls(("stop", {})) if said_last(request) == "stop yourself" else echo(request)

    agent = agent_with(script, tools=[stop])
    handles.append(await agent.enqueue("stop yourself"))
    await until_asked(agent, 1)
    handles.append(await agent.enqueue("and this?"))
    async with asyncio.timeout(30):
        with pytest.raises(asyncio.CancelledError):
            await handles[0].answered
        assert await handles[1] == "You said: and this?", "who waited behind it is answered"
        assert await agent.invoke("next") == "You said: next"
        await agent.close()


@pytest.mark.spec("AGENT-6", "P1")
async def test_a_message_that_comes_while_the_agent_closes_is_kept_and_its_awaiter_is_told(
    agent_with: OpenAgent, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, put, written, closed = agent_with(), store.put_message, asyncio.Event(), asyncio.Event()

    async def slow(message: Waiting) -> Waiting:
        kept = await put(message)
        written.set()
        await closed.wait()
        return kept

    with monkeypatch.context() as patched:
        patched.setattr(store, "put_message", slow)
        coming = asyncio.create_task(agent.enqueue("hello"))
        await written.wait()
        await agent.close(1)
        closed.set()
        handle = await coming
    async with asyncio.timeout(30):
        with pytest.raises(BadInput, match="answered when it runs again"):
            await handle
    (kept,) = await store.waiting_messages(KATE.owner, KATE.owner)
    assert kept.listener is None, "so that no process waits for this one to fetch the answer"
    following = agent_with()
    await following.resume()
    await until_nothing_waits(following)
    assert [turn.text for turn in await turns_of(following)] == ["hello", "You said: hello"]


@pytest.mark.spec("AGENT-6")
async def test_messages_to_a_session_and_to_its_binding_wait_in_one_line(agent_with: OpenAgent) -> None:
    agent = agent_with(model := GatedModel(echo))
    model.gate.set()
    await agent.invoke("first")
    model.gate.clear()
    session = await session_of(agent)
    handles = [await agent.enqueue("m1")]
    await until_asked(agent, 2)
    handles += [await agent.enqueue(f"m{n}", to=to) for n, to in enumerate((KATE, session, KATE, session), 2)]
    model.gate.set()
    answers = await asyncio.gather(*handles)
    said = [turn.text for turn in await turns_of(agent)]
    assert said[2:] == ["m1", "You said: m1", "m2", "m3", "m4", "m5", "You said: m5"]
    assert answers[1:] == ["You said: m5"] * 4


@pytest.mark.spec("AGENT-6")
async def test_a_message_to_a_session_stays_its_own_where_another_is_begun_meanwhile(agent_with: OpenAgent) -> None:
    agent = agent_with(model := GatedModel(echo))
    model.gate.set()
    await agent.invoke("first")
    model.gate.clear()
    session = await session_of(agent)
    handles = [await agent.enqueue("m1")]
    await until_asked(agent, 2)
    handles.append(await agent.enqueue("m2", to=session))
    await agent.memory.append(KATE, "user", "elsewhere", session="other")
    handles.append(await agent.enqueue("m3", to=session))
    handles.append(await agent.enqueue("m4"))
    model.gate.set()
    await asyncio.gather(*handles)
    of_session = [turn.text for turn in await agent.memory.turns(session)]
    assert of_session[2:] == ["m1", "You said: m1", "m2", "m3", "You said: m3"], (
        "in order, though it is the newest no more"
    )
    assert [turn.text for turn in await turns_of(agent)] == ["elsewhere", "m4", "You said: m4"]


@pytest.mark.spec("AGENT-6", "P8")
async def test_a_line_that_is_done_leaves_nothing_behind(agent_with: OpenAgent) -> None:
    agent = agent_with()
    for handle in [await agent.enqueue("hello", to=person(number)) for number in range(20)]:
        await handle
    lines = agent._line  # pyright: ignore[reportPrivateUsage]
    async with asyncio.timeout(30):
        while lines._attending:  # pyright: ignore[reportPrivateUsage] # noqa: ASYNC110 - each ends by itself
            await asyncio.sleep(0.01)
