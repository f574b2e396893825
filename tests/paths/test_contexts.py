"""The background path of contexts: folding, merging, sources, failures; the seed's plan of tests, point by point."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from afterglow.clock import FixedClock
from afterglow.context import Context
from afterglow.errors import ClaimLost, SourceError
from afterglow.memory import Memory
from afterglow.model import scripted
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import ScriptedModel
from afterglow.store.contract import Store
from afterglow.turns import Session
from afterglow.work import Due, Limits
from afterglow.worker import Worker
from tests.conftest import OpenStore
from tests.kit.models import Calendar, summary
from tests.kit.records import KATE, NOON
from tests.kit.talks import exchanges
from tests.paths.conftest import OpenMemory


async def covered(memory: Memory, session: Session) -> None:
    """Every turn is in exactly one of block or tail."""
    shown = await memory.store.context_rows(session.owner, session.id)
    places = [seq for block in shown.blocks for seq in range(block.first_seq, block.last_seq + 1)]
    assert places + [turn.seq for turn in shown.tail] == list(range(1, shown.session.turns + 1))
    assert shown.session.folded.block_tokens == sum(block.tokens for block in shown.blocks)
    assert shown.session.tail_tokens == sum(turn.tokens for turn in shown.tail)


# --- the seed's plan


@pytest.mark.spec("CTX-1", "CTX-2", "CTX-4")
async def test_1_compaction_happens_every_n_exchanges(memory_with: OpenMemory, model: ScriptedModel) -> None:
    memory = memory_with({"interval": 3})
    session = await exchanges(memory, 14)
    spans = [(block.first_seq, block.last_seq, block.reason) for block in await memory.blocks(session)]
    assert spans == [(1, 2, "interval"), (3, 8, "interval"), (9, 14, "interval"), (15, 20, "interval")]
    assert len(model.requests) == 4
    await covered(memory, session)


@pytest.mark.spec("SRC-1", "SRC-2", "CTX-3")
async def test_2_sources_are_asked_about_the_right_window(memory_with: OpenMemory, clock: FixedClock) -> None:
    calendar = Calendar("dentist at 2 PM")
    memory = memory_with(sources={"calendar": calendar})
    session = await exchanges(memory, 10, clock=clock)
    windows = [(window.start, window.end, window.now) for window, _ in calendar.asked]
    minute = timedelta(minutes=1)
    assert windows == [
        (NOON, NOON + 1 * minute, NOON + 4 * minute),
        (NOON + 1 * minute, NOON + 6 * minute, NOON + 9 * minute),
    ], "the second begins where the first ended, though its own turns begin later"
    reports = await memory.store.reports(session.owner, session.id)
    assert [(report.start_at, report.end_at) for report in reports] == [window[:2] for window in windows]


@pytest.mark.spec("SRC-5", "CTX-5")
async def test_3_what_sources_say_stands_behind_the_blocks_and_is_replaced(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    memory = memory_with(sources={"calendar": Calendar("dentist at 2 PM", "dentist is over")})
    session = await exchanges(memory, 10, clock=clock)
    record = (await memory.context(session)).messages[0].text
    lines = [line for line in record.split("\n") if line.startswith(("[Session", "Calendar"))]
    assert [line[:10] for line in lines] == ["[Session s", "[Session s", "Calendar: "]
    assert "dentist is over" in record and "dentist at 2 PM" not in record
    assert len(await memory.store.reports(session.owner, session.id)) == 2, "the store keeps them all"
    before = await memory.context(session, at=11)
    assert "dentist at 2 PM" in before.messages[0].text


@pytest.mark.spec("CTX-2")
async def test_4_the_newest_turns_stay_word_for_word(memory_with: OpenMemory) -> None:
    memory = memory_with()
    session = await exchanges(memory, 10)
    tail = (await memory.context(session)).messages[1:]
    turns = await memory.turns(session)
    assert len(tail) == 6
    assert [(message.role, message.text) for message in tail] == [(turn.role, turn.text) for turn in turns[-6:]]


@pytest.mark.spec("SRC-1")
async def test_5_after_a_long_gap_sources_report_up_to_now(memory_with: OpenMemory, clock: FixedClock) -> None:
    calendar = Calendar("five hours of news")
    memory = memory_with(sources={"calendar": calendar})
    await exchanges(memory, 4, clock=clock)
    clock.move(5 * 3600)
    await exchanges(memory, 1, first=5)
    ((window, _),) = calendar.asked
    assert window.end == window.now == clock.now()
    assert window.start == NOON


@pytest.mark.spec("CTX-6")
async def test_6_the_count_of_tokens_stays_stable_over_a_long_conversation(memory_with: OpenMemory) -> None:
    memory = memory_with()
    sizes: list[int] = []
    for number in range(1, 161):
        done = await memory.exchange(KATE, f"FACT-{number} " + "word " * 40, lambda context: "word " * 40)
        await memory.settle()
        assert done.context is not None
        sizes.append(done.context.tokens)
    assert max(sizes[80:]) < 1.6 * max(sizes[20:50])
    assert max(sizes) < 3_000
    await covered(memory, await memory.open_session(KATE))


@pytest.mark.spec("SRC-5", "AGENT-3")
async def test_7_and_8_the_agent_that_answers_is_shown_what_the_calendar_says_and_can_use_it(
    memory_with: OpenMemory,
) -> None:
    memory = memory_with(sources={"calendar": Calendar("Dentist at 2 PM, in 45 minutes.")})
    await exchanges(memory, 5)

    def respond(context: Context) -> str:
        line = next(line for line in context.messages[0].text.split("\n") if line.startswith("Calendar: "))
        return f"Your next appointment: {line.removeprefix('Calendar: ').split(',')[0]}"

    done = await memory.exchange(KATE, "When is my next appointment?", respond)
    assert done.text == "Your next appointment: Dentist at 2 PM"


@pytest.mark.spec("SRC-6")
async def test_9_prompts_sources_and_the_interval_are_the_users_own(memory_with: OpenMemory, clock: FixedClock) -> None:
    calendar, mail = Calendar("hike"), Calendar("5 new emails")
    memory = memory_with({"interval": 2, "keep_recent": 2}, sources={"calendar-hand": calendar, "mail-hand": mail})
    session = await exchanges(memory, 2, clock=clock)
    assert [prompt for _, prompt in calendar.asked + mail.asked] == [
        "what about calendar-hand?", "what about mail-hand?",
    ]  # fmt: skip
    record = (await memory.context(session)).messages[0].text
    assert "\nCalendar: hike (asked at 12:01 PM)\nMail: 5 new emails (asked at 12:01 PM)\n" in record


# --- folding and merging


@pytest.mark.spec("CTX-4", "CTX-6", "CTX-7")
async def test_full_levels_are_merged_and_every_block_knows_where_it_comes_from(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    wordy = ScriptedModel(lambda request: f"{summary(request)} They agreed on it after some talk about this and that.")
    memory = memory_with({"interval": 1, "keep_recent": 2, "fanout": 3}, answering=wordy)
    session = await exchanges(memory, 20, clock=clock)
    shown = (await memory.store.context_rows(session.owner, session.id)).blocks
    places = [(block.level, block.first_seq, block.last_seq) for block in shown]
    assert places == [(2, 1, 18), (2, 19, 36), (0, 37, 38)]
    for block in await memory.blocks(session):
        assert block.model == "scripted" and block.prompt.startswith("merge-" if block.level else "fold-")
        assert block.tokens < block.span_tokens
        assert (block.input_tokens > 0, len(block.input_hash)) == (True, 32)
        children = [await memory.store.block(session.owner, session.id, number) for number in block.children]
        if block.level:
            assert [child.level for child in children] == [block.level - 1] * 3
            assert (children[0].first_seq, children[-1].last_seq) == (block.first_seq, block.last_seq)
            assert all(child.shown_until is not None for child in children)
    await covered(memory, session)


@pytest.mark.spec("CTX-7", "P2")
async def test_a_block_is_expanded_to_the_turns_it_stands_for(memory_with: OpenMemory) -> None:
    memory = memory_with({"interval": 1, "keep_recent": 2, "fanout": 2})
    session = await exchanges(memory, 12)
    turns = await memory.turns(session)
    for block in await memory.blocks(session):
        assert await memory.expand(session, block.number) == turns[block.first_seq - 1 : block.last_seq]


@pytest.mark.spec("CTX-4", "CTX-5")
async def test_the_text_before_the_newest_block_does_not_change_between_compactions(memory_with: OpenMemory) -> None:
    memory = memory_with({"interval": 1, "keep_recent": 2, "fanout": 4})
    records: list[str] = []
    for number in range(1, 4):
        session = await exchanges(memory, 1, first=number)
        records.append((await memory.context(session)).messages[0].text)
    for before, after in pairwise(records[1:]):
        assert after.startswith(before.rsplit("\n", 1)[0])


@pytest.mark.spec("CTX-10")
async def test_a_backlog_over_the_summarisers_window_becomes_several_blocks_in_order(
    memory_with: OpenMemory, store: Store
) -> None:
    model = ScriptedModel(summary, window_tokens=2_000)
    memory = memory_with({"interval": 0}, answering=model)
    session = await exchanges(memory, 40)
    session = await memory.compact(session)
    assert session.folded.to_seq == 74
    blocks = [block for block in await memory.blocks(session) if block.level == 0]
    assert len(blocks) == 4
    assert all(later.first_seq == earlier.last_seq + 1 for earlier, later in pairwise(blocks))
    shown = "\n".join(request.material for request in model.requests if request.purpose == "fold")
    assert all(f"FACT-{number:05d}" in shown for number in range(1, 38)), "nothing is dropped silently"
    await covered(memory, session)


@pytest.mark.spec("CTX-10", "CTX-8")
async def test_a_model_that_finds_it_too_long_is_given_less(memory_with: OpenMemory) -> None:
    def script(request: scripted.Request) -> scripted.Step:
        return scripted.TOO_LONG if request.material.count("FACT-") > 2 else summary(request)

    memory = memory_with({"interval": 10}, answering=ScriptedModel(script))
    session = await exchanges(memory, 10)
    assert session.folded.to_seq == 14
    assert all(not block.extract for block in await memory.blocks(session))
    await covered(memory, session)


@pytest.mark.spec("CTX-1", "CTX-2")
async def test_compacting_by_hand_folds_all_but_the_newest_turns_and_once_only(
    memory_with: OpenMemory, model: ScriptedModel
) -> None:
    memory = memory_with({"interval": 0})
    session = await memory.compact(await exchanges(memory, 8))
    assert (session.folded.to_seq, len(model.requests)) == (10, 1)
    again = await memory.compact(session)
    assert (again.folded, len(model.requests)) == (session.folded, 1)
    assert await memory.store.work_list(KATE.owner) == []


# --- failures


@pytest.mark.spec("CTX-8")
@pytest.mark.parametrize("bad", ["empty", "blank", "refusal", "refusal_in_words", "error_text", "echo", "megabyte"])
async def test_a_bad_summary_never_replaces_anything_and_a_good_one_replaces_the_extract_later(
    memory_with: OpenMemory, clock: FixedClock, bad: str
) -> None:
    steps: list[scripted.Step] = [scripted.FAILURES[bad]] * 2
    memory = memory_with(answering=ScriptedModel(lambda request: steps.pop(0) if steps else summary(request)))
    session = await exchanges(memory, 5)
    (block,) = await memory.blocks(session)
    assert block.extract and "FACT-0000" in block.text
    (again,) = await memory.store.work_list(KATE.owner)
    assert (again.reason, again.ready_at) == ("redo", NOON + timedelta(hours=1))
    clock.move(3601)
    await worker(memory).drain()
    old, new = await memory.blocks(session)
    assert (old.shown_until, new.shown_until, new.extract) == (11, None, False)
    assert (new.first_seq, new.last_seq) == (old.first_seq, old.last_seq)
    assert await memory.store.work_list(KATE.owner) == []
    await covered(memory, await memory.open_session(KATE))


def worker(memory: Memory, **limits: float) -> Worker:
    return Worker(memory.store, {"context": memory.contexts.act}, holder="w", limits=replace(Limits(), **limits))


@pytest.mark.spec("P6", "P5", "SAFE-4")
async def test_a_model_that_is_down_for_a_whole_day_loses_nothing_delays_no_reply_and_is_caught_up_with(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    is_down = True

    def script(request: scripted.Request) -> scripted.Step:
        return scripted.SERVER_ERROR if is_down else summary(request)

    model = ScriptedModel(script, usd_per_million_tokens=1.0)
    memory = memory_with(answering=model)
    for hour in range(24):
        session = await exchanges(memory, 5, first=5 * hour + 1, words=20)
        clock.move(3600)
        await worker(memory).drain()
    assert session.folded.to_seq == 0, "the tail stays verbatim"
    context = await memory.context(session)
    assert len(context.messages) == 240
    assert len(model.requests) < 200
    is_down = False
    clock.move(3601)
    await worker(memory).drain()
    session = await memory.session(session.id, owner=KATE.owner)
    assert session.folded.to_seq == 234
    assert (await memory.context(session)).tokens < 3_000
    assert await memory.store.work_list(KATE.owner) == []
    await covered(memory, session)


@pytest.mark.spec("SRC-4")
async def test_a_source_that_fails_is_left_out_and_its_watermark_stays(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    calendar = Calendar(SourceError("the server is away"), "dentist", SourceError("away again"), "dentist is over")
    memory = memory_with(sources={"calendar": calendar})
    session = await exchanges(memory, 5, clock=clock)
    assert session.folded.to_seq == 4, "it never holds up the compaction"
    assert "Calendar" not in (await memory.context(session)).messages[0].text
    await exchanges(memory, 10, first=6, clock=clock)
    record = (await memory.context(session)).messages[0].text
    assert "Calendar: dentist (asked at 12:09 PM; it could not be asked again at 12:14 PM)" in record
    await exchanges(memory, 5, first=16, clock=clock)
    starts = [window.start for window, _ in calendar.asked]
    assert starts[3] == calendar.asked[1][0].end, "from where it last reported, not from where it was last asked"
    assert "dentist is over (asked at 12:19 PM)" in (await memory.context(session)).messages[0].text


@pytest.mark.spec("SRC-4", "P5")
async def test_a_source_that_hangs_is_left_out_at_its_deadline(memory_with: OpenMemory) -> None:
    class Hanging(Calendar):
        async def report(self, window: object, prompt: str, *, tokens_max: int) -> str:
            await asyncio.Event().wait()
            return ""

    sources = ({"source": "calendar", "deadline_seconds": 0.1},)
    memory = memory_with({"context_sources": sources}, sources={"calendar": Hanging("")})
    session = await exchanges(memory, 5)
    assert session.folded.to_seq == 4


# --- races


@pytest.mark.spec("P3", "CTX-9")
async def test_of_two_workers_that_fold_the_same_turns_one_wins_and_nothing_is_lost(
    memory_with: OpenMemory, open_store: OpenStore, clock: FixedClock
) -> None:
    both = asyncio.Barrier(2)

    class Together(ScriptedModel):
        async def complete(self, request: scripted.Request) -> scripted.Completion:
            if len(self.requests) < 1:
                await both.wait()
            return await super().complete(request)

    quiet = {"in_library": False}
    here = memory_with(quiet, answering=Together(summary))
    there = memory_with(quiet, answering=Together(summary), over=await open_store())
    session = await exchanges(here, 5)
    first, second = (
        Worker(m.store, {"context": m.contexts.act}, holder=h, limits=Limits()) for m, h in ((here, "a"), (there, "b"))
    )
    running = asyncio.create_task(first.drain())
    while both.n_waiting == 0:  # noqa: ASYNC110 - a barrier has no event for it
        await asyncio.sleep(0.01)
    clock.move(200)  # the lease of the first is over
    await asyncio.gather(running, second.drain())
    (block,) = await here.blocks(session)
    assert (block.first_seq, block.last_seq) == (1, 4)
    await covered(here, session)
    assert await here.store.work_list(KATE.owner) == []


@pytest.mark.spec("P3")
async def test_a_commit_that_began_at_another_version_changes_nothing(memory_with: OpenMemory, store: Store) -> None:
    from tests.faults.verbs import block, change

    memory = memory_with({"interval": 0})
    session = await exchanges(memory, 5)
    await store.commit_blocks(KATE.owner, session.id, change(block(session.id, 1, 4)))
    for late in (change(block(session.id, 1, 4)), change(block(session.id, 5, 6))):
        with pytest.raises(ClaimLost, match="meanwhile"):
            await store.commit_blocks(KATE.owner, session.id, late)
    assert len(await memory.blocks(session)) == 1


@pytest.mark.spec("P3", "CTX-9")
async def test_work_asked_for_during_a_fold_stays_due(memory_with: OpenMemory, store: Store, clock: FixedClock) -> None:
    memory = memory_with({"in_library": False})
    session = await exchanges(memory, 5)
    (claim,) = await store.claim(("context",), limit=1, holder="w", limits=Limits())
    commit = await memory.contexts.act(claim)
    assert commit is not None
    await store.mark_due(KATE.owner, Due(kind="context", at=clock.now(), reason="threshold", subject=session.id))
    await commit()
    (work,) = await store.work_list(KATE.owner)
    assert (work.reason, work.state) == ("threshold", "due")


# --- what was forgotten once


@pytest.mark.spec("CTX-10", "P6")
async def test_a_backlog_of_thousands_of_turns_is_folded_bite_by_bite_to_its_end(memory_with: OpenMemory) -> None:
    model = ScriptedModel(summary, window_tokens=4_000)
    memory = memory_with({"interval": 0}, answering=model)
    for number in range(1, 1_251):
        await memory.append(KATE, "user", f"FACT-{number:05d}")
        await memory.append(KATE, "assistant", "I see what you mean by that, I think.")
    session = await memory.compact(await memory.open_session(KATE))
    assert session.folded.to_seq == 2_494
    assert session.folded.block_tokens <= 2_000
    assert await memory.store.work_list(KATE.owner) == []
    await covered(memory, session)


@pytest.mark.spec("CTX-8")
async def test_a_better_summary_stays_due_whatever_else_is_asked_for_meanwhile(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    steps: list[scripted.Step] = [scripted.EMPTY] * 2
    memory = memory_with(answering=ScriptedModel(lambda request: steps.pop(0) if steps else summary(request)))
    session = await exchanges(memory, 5)
    await memory.compact(session)
    (work,) = await memory.store.work_list(KATE.owner)
    assert (work.reason, work.ready_at) == ("redo", NOON + timedelta(hours=1))
    clock.move(3600)
    await exchanges(memory, 6, first=6)
    await memory.compact(session)
    assert not [block for block in (await memory.store.context_rows(KATE.owner, session.id)).blocks if block.extract]


@pytest.mark.spec("CTX-8")
async def test_what_is_to_be_merged_is_written_better_first(memory_with: OpenMemory) -> None:
    bad = 6 * 2
    calls = 0

    def script(request: scripted.Request) -> scripted.Step:
        nonlocal calls
        calls += 1
        return (
            scripted.EMPTY if calls <= bad else f"{summary(request)} And some more was said about it by both of them."
        )

    memory = memory_with(
        {"interval": 1, "keep_recent": 2}, answering=ScriptedModel(script), spend={"breaker_failures": 100}
    )
    session = await exchanges(memory, 8)
    merged = [block for block in await memory.blocks(session) if block.level == 1]
    assert merged
    children = [await memory.store.block(KATE.owner, session.id, number) for number in merged[0].children]
    assert not any(child.extract for child in children)


@pytest.mark.spec("P6")
async def test_turns_without_a_word_can_be_folded_too(memory_with: OpenMemory) -> None:
    memory = memory_with({"interval": 1, "keep_recent": 0}, answering=OfflineModel())
    for _ in range(3):
        await memory.append(KATE, "user", "", parts=[{"type": "image", "data": "A" * 4_000}])
        await memory.append(KATE, "assistant", "", parts=[{"type": "image", "data": "B" * 4_000}])
        await memory.settle()
    session = await memory.open_session(KATE)
    assert session.folded.to_seq == 4
    assert "(nothing was said in words)" in (await memory.context(session)).messages[0].text


@pytest.mark.spec("P3")
async def test_a_result_that_is_refused_does_not_hold_the_work_until_the_lease_ends(
    memory_with: OpenMemory, store: Store, clock: FixedClock
) -> None:
    from tests.faults.verbs import block, change

    memory = memory_with({"in_library": False})
    session = await exchanges(memory, 5)

    class Overtaken(ScriptedModel):
        async def complete(self, request: scripted.Request) -> scripted.Completion:
            if not self.requests:
                await store.commit_blocks(KATE.owner, session.id, change(block(session.id, 1, 2)))
            return await super().complete(request)

    late = memory_with({"in_library": False}, answering=Overtaken(summary))
    await worker(late).drain()
    (work,) = await store.work_list(KATE.owner)
    assert (work.state, work.holder) == ("waiting", None)
    clock.move(60)
    await worker(late).drain()
    await covered(memory, session)
    assert (await memory.open_session(KATE)).folded.to_seq == 4


@pytest.mark.spec("SRC-5")
async def test_the_report_of_a_source_that_is_asked_no_more_goes_with_the_next_compaction(
    memory_with: OpenMemory,
) -> None:
    session = await exchanges(memory_with(sources={"calendar": Calendar("dentist")}), 5)
    memory = memory_with()
    await exchanges(memory, 5, first=6)
    assert "dentist" not in (await memory.context(session)).messages[0].text
    assert "dentist" in (await memory.context(session, at=11)).messages[0].text
