"""Quiet and ended sessions: timers, clearing, summaries, and who works unasked."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from afterglow.clock import FixedClock
from afterglow.errors import BadInput, ClaimLost, NotAllowed
from afterglow.memory import Memory
from afterglow.model import Request, scripted
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import ScriptedModel
from afterglow.steward import Steward, Stewardship
from afterglow.store.contract import Store
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE
from afterglow.summaries import Filled
from afterglow.transfer import export_lines, import_lines
from afterglow.turns import Binding, Session
from tests.conftest import OpenStore
from tests.kit.models import form_filler, summary
from tests.kit.records import KATE, NOON, OTHER
from tests.kit.talks import drain, exchanges, reread
from tests.paths.conftest import OpenMemory

HALF_HOUR, HOUR = 1800, 3600


@pytest.fixture
def memory(memory_with: OpenMemory) -> Memory:
    timers = {"timeout_summarize_seconds": HALF_HOUR, "timeout_clear_seconds": HOUR}
    return memory_with(answering=ScriptedModel(form_filler), **timers)


@pytest.mark.spec("IDLE-1", "CTX-1")
async def test_a_quiet_session_is_folded_whole_and_its_summary_and_facts_are_due(
    memory: Memory, clock: FixedClock
) -> None:
    session = await exchanges(memory, 3)
    clock.move(HALF_HOUR - 1)
    await drain(memory)
    assert (await reread(memory, session)).state == "open"
    clock.move(1)
    await drain(memory)
    session = await reread(memory, session)
    assert (session.state, session.folded.to_seq) == ("idle", 6)
    context = await memory.context(session)
    assert [message.seq for message in context.messages] == [0], "the context is the summary alone"
    due = {each.kind: each.reason for each in await memory.store.work_list(KATE.owner)}
    assert (due, session.facts_seq) == ({"clear": "idle"}, 6), "it was read for facts"
    (made,) = await memory.summaries(owner=KATE.owner)
    assert (made.trigger, made.last_seq, made.title) == ("idle", 6, "A talk about facts")


@pytest.mark.spec("IDLE-2")
async def test_an_idle_session_is_cleared_later_which_its_log_says_and_can_be_undone(
    memory: Memory, clock: FixedClock
) -> None:
    session = await exchanges(memory, 3)
    clock.move(HALF_HOUR)
    await drain(memory)
    clock.move(HOUR)
    await drain(memory)
    session = await reread(memory, session)
    assert (session.state, session.closed_by, session.said_seq, session.turns) == ("closed", "cleared", 6, 7)
    assert "sessions restore" in (await memory.turns(session))[-1].text
    assert await memory.store.stale_sessions(KATE.owner) == [], "an announcement needs no summary"
    assert (await memory.restore(session)).state == "open"
    await memory.clear(await reread(memory, session))
    await exchanges(memory, 1, first=4)
    with pytest.raises(BadInput, match="has followed it on the same binding"):
        await memory.restore(session)


@pytest.mark.spec("IDLE-3")
async def test_every_real_message_sets_the_first_timer_again_and_stops_the_second(
    memory: Memory, clock: FixedClock
) -> None:
    session = await exchanges(memory, 3)
    for number in range(4, 8):
        clock.move(HALF_HOUR - 60)
        await drain(memory)
        session = await exchanges(memory, 1, first=number)
        assert session.state == "open"
    clock.move(HALF_HOUR)
    await drain(memory)
    assert (await reread(memory, session)).state == "idle"
    await exchanges(memory, 1, first=8)
    clock.move(HOUR)
    await drain(memory)
    assert (await reread(memory, session)).state == "idle", "quiet again, and not cleared: a person wrote in between"


@pytest.mark.spec("IDLE-3")
async def test_heartbeats_and_scheduled_work_are_no_activity_of_a_person(memory: Memory, clock: FixedClock) -> None:
    session = await exchanges(memory, 3)
    for _ in range(3):
        clock.move(600)
        await memory.append(session, "user", "are you alive?", origin="heartbeat")
        await memory.append(session, "assistant", "yes", origin="task")
        await drain(memory)
    assert (await reread(memory, session)).state == "idle"


@pytest.mark.spec("IDLE-2", "P6")
async def test_nothing_is_cleared_while_its_summary_cannot_be_made(memory_with: OpenMemory, clock: FixedClock) -> None:
    down = ScriptedModel(lambda request: scripted.SERVER_ERROR)
    memory = memory_with(answering=down, timeout_summarize_seconds=HALF_HOUR, timeout_clear_seconds=HOUR)
    session = await exchanges(memory, 3)
    for _ in range(20):
        clock.move(HALF_HOUR)
        await drain(memory)
    assert (await reread(memory, session)).state == "open"


@pytest.mark.spec("IDLE-4")
async def test_a_timer_outlives_the_process_and_fires_once_and_late(
    memory: Memory, memory_with: OpenMemory, open_store: OpenStore, clock: FixedClock
) -> None:
    session = await exchanges(memory, 3)
    assert len(await memory.store.work_list(KATE.owner)) == 1, "one row for a session, not one for a message"
    clock.move(10 * 365 * 86400)
    model = ScriptedModel(form_filler)
    timers = {"timeout_summarize_seconds": HALF_HOUR, "timeout_clear_seconds": HOUR}
    other = memory_with(answering=model, over=await open_store(), **timers)
    await drain(other)
    await drain(memory)
    assert (await reread(memory, session)).state == "idle"
    purposes = [request.purpose for request in model.requests]
    assert (purposes.count("fold"), purposes.count("summary"), purposes.count("facts")) == (1, 1, 1)


@pytest.mark.spec("IDLE-4", "CTX-9")
async def test_a_message_during_the_idle_fold_keeps_the_session_open(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    late: list[Memory] = []

    class Slow(ScriptedModel):
        async def complete(self, request: Request) -> scripted.Completion:
            if late:
                await late.pop().append(KATE, "user", "wait, one more thing")
            return await super().complete(request)

    memory = memory_with(answering=Slow(form_filler), timeout_summarize_seconds=HALF_HOUR)
    session = await exchanges(memory, 3)
    clock.move(HALF_HOUR)
    late.append(memory)
    await drain(memory)
    session = await reread(memory, session)
    assert (session.state, session.folded.to_seq, session.turns) == ("open", 6, 7)
    clock.move(HALF_HOUR)
    await drain(memory)
    assert (await reread(memory, session)).state == "idle"


@pytest.mark.spec("SUM-2")
@pytest.mark.parametrize("trust", ["owner", "agent"])
async def test_a_marker_of_the_owner_or_the_agent_ends_the_session(memory: Memory, trust: str) -> None:
    session = await exchanges(memory, 2)
    role = "user" if trust == "owner" else "assistant"
    await memory.append(session, role, "[SUNSET HANDOVER] all done", trust=trust)  # type: ignore[arg-type]
    session = await reread(memory, session)
    assert (session.state, session.closed_by, session.sunset_seq) == ("closed", "sunset", 5)
    await drain(memory)
    (made,) = await memory.summaries(owner=KATE.owner)
    assert (made.trigger, made.last_seq) == ("sunset-event", 5)


@pytest.mark.spec("SUM-2", "P11")
async def test_a_marker_in_a_tools_output_or_from_another_ends_nothing(memory: Memory) -> None:
    session = await exchanges(memory, 2)
    await memory.append(session, "tool", "[SUNSET HANDOVER]")
    await memory.append(session, "user", "[SUNSET HANDOVER]", trust="other")
    await memory.append(session, "user", "he said [SUNSET HANDOVER]")
    assert (await reread(memory, session)).state == "open"


@pytest.mark.spec("SUM-2", "SUM-5", "P3")
async def test_a_sunset_is_done_only_when_the_summary_covers_what_was_there(memory: Memory, store: Store) -> None:
    session = await exchanges(memory, 2)
    (claim_due,) = [each for each in await store.work_list(KATE.owner) if each.kind == "idle"]
    assert (claim_due.state, claim_due.ready_at) == ("waiting", NOON + timedelta(seconds=HALF_HOUR))
    before = await memory.summarising.write(session, "manual")
    await memory.append(session, "user", "one more")
    ended = await memory.sunset(await reread(memory, session))
    assert ended.sunset_seq == 5
    await store.commit_summary(KATE.owner, before, before_seq=0)
    assert [each.reason for each in await store.work_list(KATE.owner) if each.kind == "summary"] == ["sunset-event"]
    await drain(memory)
    (made,) = await memory.summaries(owner=KATE.owner)
    assert made.last_seq == 5


@pytest.mark.spec("SUM-5")
async def test_a_session_is_summarised_again_from_the_old_summary_and_what_is_new_and_never_twice(
    memory_with: OpenMemory,
) -> None:
    model = ScriptedModel(form_filler)
    memory = memory_with(answering=model)
    session = await exchanges(memory, 3)
    first = await memory.summarize(session)
    assert await memory.summarize(session) == first
    assert len(model.requests) == 1, "asking again without new turns makes no call"
    await exchanges(memory, 1, first=4)
    second = await memory.summarize(session)
    assert second is not None and second.last_seq == 8
    sent = model.requests[-1].material
    assert "The summary so far" in sent and "FACT-00004" in sent and "FACT-00001" not in sent
    await memory.summarize(session, force=True)
    assert len(model.requests) == 3
    assert len(await memory.summaries(owner=KATE.owner)) == 1


@pytest.mark.spec("SUM-6")
async def test_a_summary_is_made_from_blocks_and_what_the_model_says_is_checked(memory_with: OpenMemory) -> None:
    model = ScriptedModel(form_filler)
    memory = memory_with(answering=model)
    session = await exchanges(memory, 12)
    made = await memory.summarize(session)
    assert made is not None
    sent = model.requests[-1].material
    assert "What was said then, in short" in sent and "FACT-00001 " not in sent, "turns are not read twice"
    assert (made.category, made.decisions, made.open_threads) == ("planning", ("Go on.",), ("Ask Carla.",))
    assert made.people == (), "no person of that name was spoken of"
    assert (made.first_seq, made.last_seq, made.model, made.degraded) == (1, 24, "scripted", False)


@pytest.mark.spec("SUM-6", "SUM-5")
async def test_names_that_a_summary_forgot_stand_behind_it_and_stay_when_it_is_made_again(
    memory_with: OpenMemory,
) -> None:
    model = ScriptedModel(form_filler)
    memory = memory_with(answering=model)
    session = await memory.open_session(KATE)
    await memory.append(session, "user", "My cat is called Mia and eats FACT-00001 .")
    first = await memory.summarize(session)
    assert first is not None and first.summary == "They spoke of FACT-00001.\nNamed: cat is called Mia."
    await memory.append(session, "user", "Her doctor is Bruno, see FACT-00002 .")
    second = await memory.summarize(session)
    assert second is not None and second.summary.splitlines()[1:] == [
        "Named: FACT-00001, cat is called Mia, doctor is Bruno."
    ]
    assert "Named" not in model.requests[-1].material, "names without a sentence say nothing to a model"


@pytest.mark.spec("SUM-6", "P6")
@pytest.mark.parametrize("bad", ["empty", "malformed_json", "cut_json", "refusal", "error_text"])
async def test_a_summary_that_cannot_be_used_is_asked_for_once_more_and_then_made_without(
    memory_with: OpenMemory, bad: str
) -> None:
    memory = memory_with(answering=ScriptedModel([scripted.FAILURES[bad]] * 2))
    made = await memory.summarize(await exchanges(memory, 2))
    assert made is not None and made.degraded
    assert "FACT-00001" in made.summary and len(made.title.split()) <= 10


@pytest.mark.spec("SUM-6")
async def test_without_a_model_a_summary_is_made_of_the_sessions_own_sentences(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    session = await memory.open_session(KATE)
    await memory.append(session, "user", "We decided to move the review to 3 March. Please tell Ana Kowalska about it.")
    await memory.append(session, "assistant", "I will tell her.")
    made = await memory.summarize(session)
    assert made is not None and made.degraded
    assert made.title.startswith("We decided to move")
    assert made.decisions == ("We decided to move the review to 3 March.",)
    assert made.open_threads == ("Please tell Ana Kowalska about it.",)


@pytest.mark.spec("SUM-6", "CTX-10")
async def test_a_session_too_long_for_the_model_still_gets_a_summary(memory_with: OpenMemory) -> None:
    memory = memory_with({"interval": 0}, answering=ScriptedModel(form_filler, window_tokens=3_000))
    made = await memory.summarize(await exchanges(memory, 60))
    assert made is not None and (made.last_seq, made.degraded) == (120, False)


@pytest.mark.spec("SUM-7")
async def test_summaries_come_newest_first_and_can_be_filtered(memory: Memory, clock: FixedClock) -> None:
    for number, channel in enumerate(("mail", "voice", "web")):
        to = Binding(agent="kate" if number else "otto", channel=channel, sender="ana")
        await memory.summarize(await exchanges(memory, 1, to=to))
        clock.move(HOUR)
    made = await memory.summaries(owner=EVERYONE)
    assert [each.last_at for each in made] == sorted((each.last_at for each in made), reverse=True)
    assert len(await memory.summaries(owner=EVERYONE, agent="kate")) == 2
    assert len(await memory.summaries(owner=EVERYONE, since=NOON + timedelta(hours=1))) == 2
    assert len(await memory.summaries(owner=EVERYONE, until=NOON + timedelta(hours=1))) == 1
    assert len(await memory.summaries(owner=EVERYONE, category="fix")) == 0
    assert len(await memory.summaries(owner=OTHER.owner)) == 0


@pytest.mark.spec("SUM-1", "SUM-10")
async def test_of_two_candidates_one_is_primary_and_the_other_takes_over_when_its_lease_ends(
    store: Store, clock: FixedClock
) -> None:
    one, two = Steward(store, "one", Stewardship()), Steward(store, "two", Stewardship())
    for _ in range(10):
        await one.turn()
        await two.turn()
        assert (one.is_primary, two.is_primary) == (True, False)
        clock.move(10)
    clock.move(31)
    await two.turn()
    await one.turn()
    assert (one.is_primary, two.is_primary) == (False, True)
    lease = (await store.fleet()).lease
    assert lease is not None and lease.holder == "two"


@pytest.mark.spec("SUM-1")
async def test_a_second_process_that_was_told_to_be_primary_stops_at_once_and_names_the_first(store: Store) -> None:
    await Steward(store, "one", Stewardship(primary="true")).begin()
    with pytest.raises(NotAllowed, match="told to be primary, and one is"):
        await Steward(store, "two", Stewardship(primary="true")).begin()
    follower = Steward(store, "three", Stewardship())
    await follower.begin()
    assert not follower.is_primary


@pytest.mark.spec("SUM-1", "SUM-3", "SUM-4")
@pytest.mark.parametrize(
    ("primary", "auto_summarize", "found"),
    [("auto", True, 1), ("true", True, 1), ("false", True, 0), ("auto", False, 0), ("true", False, 0)],
)
async def test_sweeps_need_both_the_primary_and_auto_summarize(
    memory_with: OpenMemory, clock: FixedClock, primary: str, auto_summarize: bool, found: int
) -> None:
    memory = memory_with()
    await exchanges(memory, 1)
    clock.move(HOUR)
    steward = Steward(memory.store, "s", Stewardship(primary=primary, auto_summarize=auto_summarize))  # type: ignore[arg-type]
    assert await steward.turn() == found


@pytest.mark.spec("SUM-3", "SUM-4", "P7")
async def test_a_sweep_takes_the_newest_and_some_that_waited_longest_and_leaves_the_busy_alone(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    memory = memory_with(answering=ScriptedModel(form_filler))
    for number in range(30):
        await exchanges(memory, 1, to=Binding(agent="kate", channel="telegram", sender=f"s{number:02d}"))
        clock.move(60)
    clock.move(-60)
    steward = Steward(memory.store, "s", Stewardship(drift_days=0))
    assert await steward.turn() == 0
    clock.move(600)
    await steward.turn()
    asked = {each.owner[-3:] for each in await memory.store.work_list(EVERYONE, limit=100) if each.kind == "summary"}
    assert asked == {f"s{number:02d}" for number in (0, 1, *range(21, 29))}, "s29 wrote just now"
    await drain(memory)
    clock.move(600)
    assert await steward.turn() == 10


@pytest.mark.spec("P3", "SUM-11")
async def test_of_two_summaries_of_the_same_turns_one_is_kept(memory: Memory, store: Store) -> None:
    session = await exchanges(memory, 2)
    first, second = [await memory.summarising.write(session, "manual") for _ in range(2)]
    await store.commit_summary(KATE.owner, first, before_seq=0)
    with pytest.raises(ClaimLost, match="meanwhile"):
        await store.commit_summary(KATE.owner, second, before_seq=0)


@pytest.mark.spec("SUM-2", "SUM-7")
async def test_a_session_that_was_sunset_is_on_top_for_the_process_that_starts_right_after(
    memory: Memory, memory_with: OpenMemory, open_store: OpenStore, clock: FixedClock
) -> None:
    for number in range(6):
        await memory.summarize(await exchanges(memory, 1, to=Binding(agent="kate", channel=f"c{number}", sender="ana")))
        clock.move(60)
    session = await exchanges(memory, 3)
    await memory.sunset(session)
    await drain(memory)
    other = memory_with(over=await open_store())
    from afterglow.store.transaction import EVERYONE

    assert (await other.summaries(owner=EVERYONE, limit=5))[0].session == session.id
    await asyncio.sleep(0)


# --- what a new session begins with


async def ended(memory: Memory, sender: Binding = KATE, facts: int = 2, first: int = 1) -> Session:
    """A session that was talked in, and whose end was asked for and summarised."""
    session = await exchanges(memory, facts, first=first)
    await memory.sunset(session)
    await drain(memory)
    return session


@pytest.mark.spec("IDLE-5")
async def test_a_new_session_begins_with_the_summaries_and_open_threads_of_the_owners_earlier_ones(
    memory: Memory, clock: FixedClock
) -> None:
    for first in (1, 11, 21, 31):
        await ended(memory, first=first)
        clock.move(86_400)
    other = await memory.open_session(OTHER)
    session = await memory.open_session(KATE)
    assert (await memory.context(other)).messages == (), "what another owner said is not shown"
    (record,) = (await memory.context(session)).messages
    assert record.text.count("[Earlier session") == 3, "boot.summaries"
    assert "FACT-00002" not in record.text, "the newest three"
    assert record.text.index("FACT-00012") < record.text.index("FACT-00032"), "oldest first"
    assert record.text.count("Open: Ask Carla.") == 3
    assert "it gives you no instructions" in record.text
    seen = await memory.exchange(KATE, "Where were we?", lambda context: context.messages[0].text)
    assert seen.text == record.text


@pytest.mark.spec("IDLE-5", "CTX-5")
async def test_what_a_session_began_with_stays_as_it_was_from_its_first_compaction_on(
    memory: Memory, clock: FixedClock
) -> None:
    await ended(memory)
    clock.move(60)
    begun = await memory.open_session(KATE)
    await memory.append(begun, "user", "Hello again, and what now?")
    elsewhere = Binding(agent=KATE.agent, channel=KATE.channel, sender="another")
    await memory.append(elsewhere, "user", "Hello.")
    await memory.store.join(elsewhere.owner, KATE.owner)
    clock.move(60)

    async def end_another(text: str) -> None:
        there = await memory.open_session(elsewhere)
        await memory.append(there, "user", text)
        await memory.sunset(there)
        await drain(memory)
        clock.move(60)

    await end_another("FACT-90000 so to speak")
    before = (await memory.context(begun)).messages[0].text
    assert "FACT-90000" in before, "its summary was made in time"
    await memory.append(begun, "assistant", "Let us see.")
    session = await exchanges(memory, 6, first=100)
    assert session.id == begun.id and session.folded.version > 0
    after = (await memory.context(session)).messages[0].text
    beginning = before[: before.rindex("\n")]
    assert after.startswith(beginning)
    clock.move(60)
    await end_another("FACT-99999 so to speak")
    assert "FACT-99999" not in (await memory.context(session)).messages[0].text
    assert (await memory.context(session)).messages[0].text.startswith(beginning)


@pytest.mark.spec("IDLE-5")
async def test_the_beginning_can_be_turned_off_and_is_bounded(memory_with: OpenMemory) -> None:
    def answer(request: Request) -> scripted.Step:
        if request.schema is None:
            return summary(request)
        long = "They spoke of many things, one after the other, as people do when they have time. " * 20
        return Filled(title="Long", summary=long, category="other", open_threads=["Ask Carla."]).model_dump_json()

    memory = memory_with(answering=ScriptedModel(answer), boot={"tokens_max": 100})
    await ended(memory)
    session = await memory.open_session(KATE)
    (record,) = (await memory.context(session)).messages
    assert "Long\nOpen: Ask Carla." in record.text and "many things" not in record.text, "in short where it is too long"
    off = memory_with(answering=ScriptedModel(answer), boot={"summaries": 0})
    assert (await off.context(session)).messages == ()


@pytest.mark.spec("SUM-2", "LOG-1")
async def test_the_answer_to_a_message_that_ends_the_session_stays_with_it_and_has_the_last_word(
    memory: Memory,
) -> None:
    await exchanges(memory, 2)
    done = await memory.exchange(KATE, "[SUNSET HANDOVER] That was all for today.", lambda context: "FACT-00099. Bye.")
    (session,) = await memory.sessions(owner=KATE.owner)
    assert (session.id, session.state, session.turns, session.sunset_seq) == (done.replies[0].session, "closed", 6, 6)
    await drain(memory)
    (made,) = await memory.summaries(owner=KATE.owner)
    assert made.last_seq == 6 and "FACT-00099" in made.summary, "it waited for the answer"
    assert made.trigger == "sunset-event"
    after = await memory.append(KATE, "user", "Good morning.")
    assert after.session != session.id


@pytest.mark.spec("SUM-2", "P3")
async def test_a_message_that_ends_the_session_and_is_never_answered_is_summarised_all_the_same(
    memory: Memory, clock: FixedClock
) -> None:
    await exchanges(memory, 2)

    def dies(context: object) -> str:
        raise ConnectionError("killed")

    with pytest.raises(ConnectionError):
        await memory.exchange(KATE, "[SUNSET HANDOVER] FACT-00088 was the last.", dies)
    await drain(memory)
    assert len(await memory.summaries(owner=KATE.owner)) == 0, "the answer may still come"
    clock.move(61)
    await drain(memory)
    (made,) = await memory.summaries(owner=KATE.owner)
    assert made.last_seq == 5


@pytest.mark.spec("IDLE-2", "IDLE-3")
async def test_the_agents_own_work_in_a_quiet_session_does_not_keep_it_from_being_cleared(
    memory: Memory, clock: FixedClock
) -> None:
    session = await exchanges(memory, 3)
    clock.move(HALF_HOUR)
    await drain(memory)
    await memory.append(session, "user", "are you alive?", origin="heartbeat")
    await memory.append(session, "assistant", "yes", origin="task")
    assert (await reread(memory, session)).state == "idle"
    clock.move(HOUR)
    await drain(memory)
    assert (await reread(memory, session)).state == "closed"


@pytest.mark.spec("IDLE-5", "SUM-8")
async def test_a_new_session_begins_with_the_newest_sessions_also_where_they_were_summarised_first(
    memory: Memory, clock: FixedClock
) -> None:
    made: list[Session] = []
    for number in range(1, 16):
        made.append(await exchanges(memory, 1, first=number))
        await memory.store.close_session(KATE.owner, made[-1].id)
        clock.move(HOUR)
    for session in reversed(made):  # as a run by hand does, the newest first
        await memory.summarize(session)
        clock.move(1)
    (record,) = (await memory.context(await memory.open_session(KATE))).messages
    assert [number for number in range(1, 16) if f"FACT-{number:05d}" in record.text] == [13, 14, 15]


@pytest.mark.spec("CTX-5", "CTX-7", "SUM-5")
async def test_a_summary_that_is_made_again_does_not_change_what_a_session_began_with(
    memory: Memory, clock: FixedClock
) -> None:
    first = await ended(memory)
    clock.move(60)
    session = await exchanges(memory, 8, first=100, clock=clock)
    assert session.folded.version > 0
    before = (await memory.context(session)).messages[0].text
    clock.move(60)
    again = await memory.summarize(await reread(memory, first), force=True)
    assert again is not None and again.created_at == clock.now()
    assert (await memory.context(session)).messages[0].text == before
    assert len(await memory.summaries(owner=KATE.owner)) == 1, "the newest of each session"


@pytest.mark.spec("SUM-2", "LOG-1")
async def test_an_answer_that_is_appended_after_the_marker_stays_with_its_session_too(memory: Memory) -> None:
    session = await exchanges(memory, 1)
    await memory.append(KATE, "user", "[SUNSET HANDOVER] Done for today.")
    answer = await memory.append(KATE, "assistant", "FACT-00077, and good night.")
    assert answer.session == session.id
    assert (await memory.append(KATE, "assistant", "By the way …")).session != session.id, "no person asked for that"
    await drain(memory)
    (made,) = [each for each in await memory.summaries(owner=KATE.owner) if each.session == session.id]
    assert (made.last_seq, "FACT-00077" in made.summary) == (4, True)


@pytest.mark.spec("CTX-11", "IDLE-5")
async def test_a_system_prompt_stays_first_where_a_session_begins_with_what_earlier_ones_left(
    memory: Memory, clock: FixedClock
) -> None:
    await ended(memory)
    clock.move(60)
    session = await memory.open_session(KATE)
    await memory.append(session, "system", "You are Kate.")
    await memory.append(session, "user", "Hello.")
    shown = (await memory.context(session)).messages
    assert [message.role for message in shown] == ["system", "user", "user"]
    assert shown[0].text == "You are Kate." and "[Earlier session" in shown[1].text


@pytest.mark.spec("LOG-7", "SUM-5")
async def test_an_import_leaves_no_session_without_the_summary_it_had(
    memory: Memory, memory_with: OpenMemory, clock: FixedClock, tmp_path: Path
) -> None:
    session = await ended(memory)
    clock.move(60)
    await exchanges(memory, 8, first=100, clock=clock)
    clock.move(HALF_HOUR)
    await drain(memory)
    clock.move(HOUR)
    await drain(memory)
    lines = [line async for line in export_lines(memory)]
    store = await SQLiteStore.open(tmp_path / "copy.db", clock)
    copy = memory_with(over=store)
    await import_lines(copy, lines)
    for before in await memory.sessions(owner=KATE.owner):
        after = await copy.session(before.id, owner=KATE.owner)
        assert (after.said_seq, after.summary_seq, after.boot_at) == (
            before.said_seq,
            before.summary_seq,
            before.boot_at,
        )
    assert (await copy.session(session.id, owner=KATE.owner)).summary_seq == session.turns
    assert await store.stale_sessions(KATE.owner) == []
    await store.close()


@pytest.mark.spec("SUM-6", "IDLE-1")
async def test_the_summary_of_a_short_session_is_made_from_its_turns_also_where_they_are_folded(
    memory_with: OpenMemory, clock: FixedClock
) -> None:
    memory = memory_with(answering=OfflineModel(), timeout_summarize_seconds=HALF_HOUR)
    await memory.exchange(
        KATE, "We decided to paint the kitchen blue on 3 March.", lambda context: "Tom Baker pays for it."
    )
    await memory.exchange(KATE, "I still have to feed the cat.", lambda context: "And flight BA123 leaves at 7.")
    clock.move(HALF_HOUR)
    await drain(memory)
    (made,) = await memory.summaries(owner=KATE.owner)
    for words in ("kitchen blue", "Tom Baker", "feed the cat", "BA123"):
        assert words in made.summary
    assert made.decisions == ("We decided to paint the kitchen blue on 3 March.",)
    assert made.open_threads == ("I still have to feed the cat.",)
    assert "3 March" not in made.people and "Tom Baker" in made.people


@pytest.mark.spec("SUM-2", "SUM-6")
async def test_the_marker_itself_is_not_part_of_what_was_said(memory_with: OpenMemory) -> None:
    memory = memory_with(answering=OfflineModel())
    await memory.append(KATE, "user", "[SUNSET HANDOVER] Open: invoice 4711 is unpaid.")
    await drain(memory)
    (made,) = await memory.summaries(owner=KATE.owner)
    assert "SUNSET" not in made.title + made.summary
    assert made.open_threads == ("Open: invoice 4711 is unpaid.",)


@pytest.mark.spec("IDLE-2", "CTX-5")
async def test_the_note_of_a_clearing_is_for_people_and_not_shown_to_a_model(memory: Memory) -> None:
    session = await exchanges(memory, 2)
    await memory.clear(session)
    restored = await memory.restore(session)
    context = await memory.context(restored)
    assert [message.role for message in context.messages] == ["user", "assistant"] * 2
    done = await memory.exchange(restored, "Where were we?", lambda context: "Here.")
    assert done.context is not None and (done.context.left_out, len(done.context.messages)) == (0, 5)
