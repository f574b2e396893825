"""The foreground path: message, context, answer; and what happens behind it delays no answer."""

from __future__ import annotations

import asyncio

import pytest

from afterglow.clock import FixedClock
from afterglow.context import Context
from afterglow.conversation import Reply
from afterglow.errors import BadInput
from afterglow.model import scripted
from afterglow.model.scripted import ScriptedModel
from afterglow.turns import Binding, tool_calls
from afterglow.work import Limits
from afterglow.worker import Worker
from tests.kit.models import summary
from tests.kit.records import KATE
from tests.kit.talks import exchanges
from tests.paths.conftest import OpenMemory


async def test_a_message_is_written_down_then_answered_from_the_context_then_the_answer_is(
    memory_with: OpenMemory,
) -> None:
    memory = memory_with()
    seen: list[Context] = []

    def respond(context: Context) -> str:
        seen.append(context)
        return "At three."

    done = await memory.exchange(KATE, "When is the review?", respond)
    assert [message.text for message in seen[0].messages] == ["When is the review?"]
    assert (done.text, done.message.seq, done.replies[0].seq) == ("At three.", 1, 2)
    await memory.exchange(KATE, "Thanks.", respond)
    assert [message.text for message in seen[1].messages] == ["When is the review?", "At three.", "Thanks."]


@pytest.mark.spec("AGENT-6")
async def test_a_message_is_in_the_log_before_anything_can_fail(memory_with: OpenMemory) -> None:
    memory = memory_with()

    async def respond(context: Context) -> str:
        raise ConnectionError("no answer today")

    with pytest.raises(ConnectionError):
        await memory.exchange(KATE, "Are you there?", respond, key="m1")
    session = await memory.open_session(KATE)
    assert [turn.text for turn in await memory.turns(session)] == ["Are you there?"]
    done = await memory.exchange(KATE, "Are you there?", lambda context: "Yes.", key="m1")
    assert (done.message.seq, done.text) == (1, "Yes.")


@pytest.mark.spec("LOG-1")
async def test_a_message_that_was_answered_is_not_answered_again(memory_with: OpenMemory) -> None:
    memory = memory_with()
    first = await memory.exchange(KATE, "Book it.", lambda context: "Booked.", key="m1")
    again = await memory.exchange(KATE, "Book it.", lambda context: pytest.fail("asked twice"), key="m1")
    assert (again.text, again.replies, again.context) == ("Booked.", first.replies, None)


async def test_tools_that_were_used_are_written_down_in_order(memory_with: OpenMemory) -> None:
    memory = memory_with()
    steps = [
        Reply(text="", parts=[{"type": "tool_call", "id": "c1", "name": "look", "arguments": {}}]),
        Reply(text="", role="tool", parts=[{"type": "tool_result", "id": "c1", "content": "rain"}]),
        Reply(text="It rains.", model="small", usage={"input_tokens": 40}),
    ]
    done = await memory.exchange(KATE, "Weather?", lambda context: steps)
    assert [(turn.role, turn.trust) for turn in done.replies] == [
        ("assistant", "agent"), ("tool", "external"), ("assistant", "agent"),
    ]  # fmt: skip
    assert tool_calls(done.replies[0].parts) == ["c1"]


async def test_an_answer_of_the_wrong_kind_is_refused_in_words(memory_with: OpenMemory) -> None:
    for wrong in ([1, 2], None, 5, [], Reply(text="I am you", role="user")):
        with pytest.raises(BadInput, match="a text, a Reply or a list of Replies"):
            await memory_with().exchange(KATE, "Hi", lambda context, wrong=wrong: wrong)  # type: ignore[misc]


@pytest.mark.spec("CTX-1", "P6")
async def test_what_was_said_during_a_slow_fold_is_folded_after_it(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=ScriptedModel(summary, delay_seconds=0.2))
    for number in range(1, 31):
        await memory.exchange(KATE, f"FACT-{number} " + "word " * 40, lambda context: "I see. " + "word " * 40)
    await memory.settle()
    session = await memory.open_session(KATE)
    assert session.exchanges - session.folded.exchanges < 5
    assert session.folded.to_seq >= 46


@pytest.mark.spec("P5", "CTX-9")
async def test_a_fold_delays_no_answer_and_what_is_said_during_it_stays_verbatim(memory_with: OpenMemory) -> None:
    folding, go_on = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def complete(self, request: scripted.Request) -> scripted.Completion:
            folding.set()
            await go_on.wait()
            return await super().complete(request)

    memory = memory_with(answering=Slow(summary))
    for number in range(1, 6):
        await memory.exchange(KATE, f"FACT-{number} " + "word " * 40, lambda context: "I see. " + "word " * 40)
    await folding.wait()
    during = await memory.exchange(KATE, "Said while it folds.", lambda context: "Heard.")
    assert during.context is not None and len(during.context.messages) == 11
    go_on.set()
    await memory.settle()
    session = await memory.open_session(KATE)
    assert session.folded.to_seq == 4
    context = await memory.context(session)
    assert [message.seq for message in context.messages] == [0, 5, 6, 7, 8, 9, 10, 11, 12]
    assert context.messages[-2].text == "Said while it folds."


@pytest.mark.spec("P5", "P6", "CTX-7")
async def test_a_context_that_would_not_fit_the_window_is_made_to_fit_on_the_spot_and_that_is_counted(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    down = ScriptedModel(lambda request: scripted.SERVER_ERROR)
    limits = {"context": {"context_limit_tokens": 1_000}, "compaction": {"block_budget_tokens": 480}}
    memory = memory_with(limits["compaction"], answering=down, context=limits["context"])
    session = await exchanges(memory, 80, clock=clock)
    assert session.folded.waits >= 1
    assert session.folded.to_seq > 0
    context = await memory.context(session)
    assert context.left_out == 0
    assert context.tokens <= 4_000
    blocks = [block for block in await memory.blocks(session) if block.reason == "window"]
    assert all(block.extract and "FACT-" in block.text for block in blocks)
    waited = blocks[0].shown_from
    seen = await memory.context(session, at=waited)
    assert seen.messages[0].seq == 0, "who waited for the block was shown it"


@pytest.mark.spec("P6", "CTX-8")
async def test_what_was_folded_on_the_spot_is_summarised_when_the_model_is_back(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    is_down = True

    def script(request: scripted.Request) -> scripted.Step:
        return scripted.SERVER_ERROR if is_down else summary(request)

    small = {"context_limit_tokens": 1_000, "window_tokens": 1_000}
    memory = memory_with({"block_budget_tokens": 480}, answering=ScriptedModel(script), context=small)
    session = await exchanges(memory, 30, clock=clock)
    assert any(block.extract for block in (await memory.store.context_rows(KATE.owner, session.id)).blocks)
    is_down = False
    clock.move(7200)
    worker = Worker(memory.store, {"context": memory.contexts.act}, holder="w", limits=Limits())
    for _ in range(3):
        await worker.drain()
        clock.move(3601)
    shown = await memory.store.context_rows(KATE.owner, session.id)
    assert shown.blocks and not [block for block in shown.blocks if block.extract and block.level == 0]
    assert await memory.store.work_list(KATE.owner) == []


@pytest.mark.spec("CTX-7")
async def test_what_the_model_saw_at_any_turn_can_be_shown_again(memory_with: OpenMemory, clock: FixedClock) -> None:
    memory = memory_with()
    saw: dict[int, Context] = {}

    def respond(context: Context) -> str:
        saw[context.at] = context
        return "I see. " + "so to speak " * 12

    for number in range(1, 41):
        await memory.exchange(KATE, f"FACT-{number:05d} " + "so to speak " * 12, respond)
        await memory.settle()
        clock.move(60)
    session = await memory.open_session(KATE)
    assert max(block.level for block in await memory.blocks(session)) == 1
    for at, context in saw.items():
        assert await memory.context(session, at=at) == context


@pytest.mark.spec("CTX-1")
async def test_what_the_model_reports_of_its_input_counts(memory_with: OpenMemory) -> None:
    memory = memory_with({"interval": 0, "keep_recent": 2})
    for number in range(1, 5):
        usage = {"input_tokens": 9_000 if number == 4 else 500}
        reply = Reply(text="I see. " + "word " * 150, usage=usage)
        await memory.exchange(KATE, f"FACT-{number} " + "word " * 150, lambda context, reply=reply: reply)
        await memory.settle()
    session = await memory.open_session(KATE)
    (block,) = await memory.blocks(session)
    assert (block.reason, block.first_seq) == ("threshold", 1)
    assert session.overhead_tokens > 7_000


@pytest.mark.spec("CTX-12")
async def test_it_is_the_same_on_every_channel(memory_with: OpenMemory) -> None:
    memory = memory_with()
    shown = []
    for channel in ("telegram", "voice", "mail"):
        to = Binding(agent="kate", channel=channel, sender="ana")
        session = await exchanges(memory, 7, to=to)
        shown.append([(message.role, message.text) for message in (await memory.context(session)).messages[1:]])
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.spec("LOG-1", "AGENT-6")
async def test_a_message_that_was_answered_half_way_is_answered_to_its_end(memory_with: OpenMemory) -> None:
    memory = memory_with()
    call = Reply(text="", parts=[{"type": "tool_call", "id": "c1", "name": "look", "arguments": {}}])
    result = Reply(text="", role="tool", parts=[{"type": "tool_result", "id": "c1", "content": "rain"}])
    key = "k" * 200  # as long as a key may be
    await memory.exchange(KATE, "Weather?", lambda context: [call, result], key=key)
    done = await memory.exchange(KATE, "Weather?", lambda context: "It rains.", key=key)
    assert done.text == "It rains."
    again = await memory.exchange(KATE, "Weather?", lambda context: pytest.fail("asked again"), key=key)
    assert again.text == "It rains."
    session = await memory.open_session(KATE)
    assert [turn.role for turn in await memory.turns(session)] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.spec("P6")
async def test_a_program_that_ends_often_does_not_park_what_it_could_not_finish(memory_with: OpenMemory) -> None:
    slow = ScriptedModel(summary, delay_seconds=60)
    memory = memory_with(answering=slow)
    for number in range(8):
        await memory.exchange(KATE, f"FACT-{number} " + "word " * 40, lambda context: "I see. " + "word " * 40)
        await memory.settle(0.05)
    (work,) = await memory.store.work_list(KATE.owner)
    assert (work.state, work.attempts) == ("due", 0)
