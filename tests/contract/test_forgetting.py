"""SAFE-3: what was forgotten is gone from every row, index and byte, and does not come back."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from afterglow import forgetting, transfer
from afterglow.clock import FixedClock
from afterglow.errors import ClaimLost, NotFound, StoreUnavailable, StoreUnusable
from afterglow.facts import APPROVED, Evidence, Fact
from afterglow.forgetting import forget_owner, forget_session, forget_turns
from afterglow.memory import Memory
from afterglow.model import Completion, Request
from afterglow.model.scripted import ScriptedModel
from afterglow.proof import pieces, prove
from afterglow.search.memory_search import memory_search
from afterglow.settings import Settings
from afterglow.spend import Amount, Call
from afterglow.store import forgetting as verbs_of_forgetting
from afterglow.store import remaking
from afterglow.store.contract import Store
from afterglow.store.facts import Again, Gathered, WantedFacts
from afterglow.store.inbox import Waiting
from afterglow.store.log import Entry, Shown
from afterglow.store.readings import Read
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.turns import Binding, Session
from afterglow.work import Due, Limits
from afterglow.worker import Worker
from tests.faults import verbs
from tests.faults.promises import broken, dump
from tests.kit.facts import remember
from tests.kit.records import KATE, NOON, OTHER, said

pytestmark = pytest.mark.spec("SAFE-3", "P12")

OWNER = KATE.owner
RUN = uuid.uuid4().hex[:6]
"""Other tests on the same server have words of their own."""
SECRET = f"zanzibar4711{RUN}"
LIMITS = Limits(lease_seconds=60)


async def talk(store: Store, *texts: str, session: str = "talk", to: Binding = KATE, **more: Any) -> Session:
    """What was said, by the user and the assistant in turn, a minute apart, each under a key."""
    await store.open_session(to, session)
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        entry = said(text, role, key=f"{session}-{number}", at=NOON + timedelta(minutes=number), **more)
        await store.append(to.owner, session, entry)
    return await store.session(to.owner, session)


def fact(content: str, *proofs: tuple[str, int], **more: Any) -> Fact:
    """A fact that these turns (session, seq) prove."""
    given: dict[str, Any] = {
        "owner": OWNER,
        "id": f"f-{content}",
        "type": "preference",
        "content": content,
        "confidence": "high",
        "source_date": "2026-03-02",
        "extracted_at": NOON,
        "trust": "owner",
        "status": "active",
        "why": None,
        "supersedes": None,
        "session": proofs[0][0],
        "way": "extracted",
        "model": "scripted",
        "prompt": "facts-1",
        "changed_at": NOON,
        "evidence": tuple(Evidence(session=where, seq=seq, quote=content, at=NOON) for where, seq in proofs),
    }
    return Fact(**{**given, **more})


async def store_facts(store: Store, *facts: Fact, owner: str = OWNER) -> None:
    for each in facts:
        known = await store.known_facts(owner, [each.content])
        await store.commit_facts(owner, Gathered(version=known.version, new=(each,)))


async def holders(store: Store, word: str) -> list[str]:
    """The tables that have a row with this in it."""
    return [table for table, rows in (await dump(store)).items() if any(word in row for row in rows)]


async def miscounted(store: Store) -> list[str]:
    """Sessions that count another number of stones than they have."""

    def look(tx: Tx) -> list[str]:
        rows = tx.rows(
            """SELECT s.id FROM sessions s WHERE s.stones <> (SELECT count(*) FROM turns t
                 WHERE t.owner = s.owner AND t.session = s.id AND t.removed = '{"forgotten":1}')"""
        )
        return [row["id"] for row in rows]

    return await store._read("look", EVERYONE, look)


async def kinds_due(store: Store, subject: str) -> dict[str, str]:
    return {work.kind: work.state for work in await store.work_list(EVERYONE) if work.subject == subject}


# --- a turn


@pytest.mark.spec("P2")
async def test_a_forgotten_turn_is_an_empty_stone_with_its_number(store: Store) -> None:
    session = await talk(store, "hello there", f"the code is {SECRET}", "thank you")
    done = await store.forget_turns(OWNER, "talk", 2, 2)
    assert (done.turns, done.done) == (1, True)
    first, stone, third = await store.turns(OWNER, "talk")
    assert (first.text, third.text) == ("hello there", "thank you")
    assert (stone.seq, stone.role, stone.at, stone.text) == (2, "assistant", NOON + timedelta(minutes=1), "")
    assert (stone.parts, stone.tokens, stone.model, stone.usage, stone.bytes) == ((), 0, None, None, 0)
    assert stone.removed == {"forgotten": 1} and "talk-1" not in (stone.key or "")
    assert await holders(store, SECRET) == []
    after = await store.session(OWNER, "talk")
    assert (after.turns, after.exchanges) == (session.turns, session.exchanges)
    assert after.tokens == first.tokens + third.tokens
    assert await broken(store) == []


async def test_nothing_finds_a_forgotten_turn_by_its_words_whether_they_were_indexed_or_not(store: Store) -> None:
    await talk(store, f"red {SECRET}", f"blue {SECRET}")
    await asyncio.sleep(0.2)  # the index has them by now
    await talk(store, f"green {SECRET}", session="other")
    for session, seq in (("talk", 1), ("other", 1), ("talk", 2)):
        await store.forget_turns(OWNER, session, seq, seq)
    assert (await store.word_matches(OWNER, [SECRET])).turns == []
    assert await broken(store) == []


async def test_the_whole_of_a_giant_turn_and_the_parts_of_a_tool_go_too(store: Store) -> None:
    await talk(store, "hello")
    whole = said(f"a giant {SECRET} text " * 500, "tool", parts=[{"type": "tool_result", "id": "1", "content": SECRET}])
    shown = Shown(text=f"a giant {SECRET} …", parts=whole.draft.parts)
    await store.append(OWNER, "talk", Entry(draft=whole.draft, terms=[SECRET], bytes=whole.bytes, shown=shown))
    await store.forget_turns(OWNER, "talk", 2, 2)
    turn = await store.turn(OWNER, "talk", 2)
    assert (turn.text, turn.parts, turn.cut) == ("", (), False)
    assert await holders(store, SECRET) == []
    assert await broken(store) == []


async def test_forgetting_a_turn_twice_changes_nothing_the_second_time(store: Store) -> None:
    await talk(store, f"the code is {SECRET}", "I see")
    await store.forget_turns(OWNER, "talk", 1, 1)
    before = await dump(store)
    assert (await store.forget_turns(OWNER, "talk", 1, 1)).turns == 0
    assert await dump(store) == before


async def test_a_long_run_of_turns_goes_in_steps_of_which_each_leaves_a_sound_session(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs_of_forgetting, "TURNS_AT_ONCE", 3)
    session = await talk(store, *(f"{SECRET} number {number}" for number in range(10)))
    seen: list[tuple[int, int]] = []
    done = await forget_turns(store, session, 2, 9, progress=lambda so_far, all_of_it: seen.append((so_far, all_of_it)))
    assert done.forgotten.turns == 8
    assert seen == [(3, 8), (6, 8), (8, 8)]
    assert [turn.text != "" for turn in await store.turns(OWNER, "talk")] == [True] + [False] * 8 + [True]
    assert await broken(store) == []


async def test_turns_that_are_not_there_are_an_error(store: Store) -> None:
    session = await talk(store, "hello")
    with pytest.raises(NotFound, match="has turns 1 to 1"):
        await forget_turns(store, session, 1, 2)


# --- what was made of it


async def merged(store: Store) -> Session:
    """Six turns in three blocks of two, all of them in one block of level 1, and two turns behind it."""
    session = await talk(store, *(f"turn {seq} {SECRET if seq == 3 else 'calm'}" for seq in range(1, 9)))
    for number, first in enumerate((1, 3, 5)):
        text = f"{SECRET if first == 3 else 'calm'} {first}"
        one = verbs.block("talk", first, first + 1, text=text, tokens=30, lost=(SECRET,) if first == 3 else ())
        await store.commit_blocks(OWNER, "talk", verbs.change(one, version=number))
    top = verbs.block("talk", 1, 6, level=1, children=(1, 2, 3), text=f"all of it, {SECRET}", tokens=60)
    await store.commit_blocks(OWNER, "talk", verbs.change(top, version=3, replaces=(1, 2, 3), turns=8, exchanges=4))
    return session


@pytest.mark.spec("CTX-7")
async def test_blocks_of_every_level_over_a_forgotten_turn_are_made_anew_of_what_is_left(store: Store) -> None:
    await merged(store)
    before = await store.session(OWNER, "talk")
    done = await store.forget_turns(OWNER, "talk", 3, 3)
    assert done.blocks == 2
    blocks = {block.number: block for block in await store.blocks(OWNER, "talk")}
    assert blocks[1].text == "calm 1" and blocks[3].text == "calm 5", "they do not stand for the forgotten turn"
    assert "turn 4" in blocks[2].text and blocks[2].extract and blocks[2].model == "offline"
    assert blocks[4].extract and blocks[4].children == (1, 2, 3) and blocks[4].shown_until is None
    after = await store.session(OWNER, "talk")
    assert after.folded.to_seq == before.folded.to_seq and after.folded.version > before.folded.version
    assert after.folded.block_tokens == blocks[4].tokens
    for at in (None, *range(9)):
        assert SECRET not in repr(await store.context_rows(OWNER, "talk", at=at))
    assert await holders(store, SECRET) == []
    assert (await kinds_due(store, "talk"))["context"] == "due"
    assert await broken(store) == []


@pytest.mark.spec("CTX-8")
async def test_a_model_then_writes_the_block_anew_from_what_is_left(store: Store, clock: FixedClock) -> None:
    model = ScriptedModel(_answer)
    memory = memory_over(store, model, timeout_summarize_seconds=0, compaction={"keep_recent": 2})
    texts = [f"turn {seq} about {SECRET if seq == 3 else 'tea'} " + "so to speak " * 30 for seq in range(1, 9)]
    await talk(store, *texts)
    worker = Worker(store, {"context": memory.acts["context"]}, holder="w", limits=LIMITS)
    await store.mark_due(OWNER, Due(kind="context", at=NOON, reason="manual", subject="talk"))
    await worker.drain()
    folded = (await store.session(OWNER, "talk")).folded.to_seq
    assert folded == 6 and "blocks" in await holders(store, SECRET)
    await store.forget_turns(OWNER, "talk", 3, 3)
    assert [block.extract for block in (await store.context_rows(OWNER, "talk")).blocks] == [True]
    asked = len(model.requests)
    await worker.drain()
    shown = (await store.context_rows(OWNER, "talk")).blocks
    assert [(block.extract, block.model, block.last_seq) for block in shown] == [(False, "scripted", folded)]
    assert asked < len(model.requests) and SECRET not in "".join(each.material for each in model.requests[asked:])
    assert await holders(store, SECRET) == []
    assert await broken(store) == []


async def test_a_turn_behind_the_blocks_leaves_them_alone(store: Store) -> None:
    await merged(store)
    before = await store.blocks(OWNER, "talk")
    tail = (await store.session(OWNER, "talk")).tail_tokens
    turn = await store.turn(OWNER, "talk", 8)
    await store.forget_turns(OWNER, "talk", 8, 8)
    assert await store.blocks(OWNER, "talk") == before
    assert (await store.session(OWNER, "talk")).tail_tokens == tail - turn.tokens


async def test_a_summary_that_covers_a_forgotten_turn_goes_and_is_due_again_and_the_one_before_it_counts(
    store: Store,
) -> None:
    await talk(store, *(f"turn {seq}" for seq in range(1, 7)))
    early = replace(verbs.summary("talk"), last_seq=2, title="Early")
    late = replace(verbs.summary("talk"), last_seq=6, title=SECRET, created_at=NOON + timedelta(hours=1))
    await store.commit_summary(OWNER, early, before_seq=0)
    await store.commit_summary(OWNER, late, before_seq=2)
    await store.forget_turns(OWNER, "talk", 5, 5)
    found = await store.summary_of(OWNER, "talk")
    assert found is not None and found.title == "Early"
    assert (await store.session(OWNER, "talk")).summary_seq == 2
    assert (await kinds_due(store, "talk"))["summary"] == "due"
    assert await holders(store, SECRET) == []
    assert await broken(store) == []


async def test_where_nothing_is_left_to_say_no_summary_is_due(store: Store) -> None:
    await talk(store, "one", "two")
    await store.request_sunset(OWNER, "talk", Due(kind="summary", at=NOON, reason="sunset-event"))
    await store.commit_summary(OWNER, replace(verbs.summary("talk"), last_seq=2), before_seq=0)
    await store.forget_turns(OWNER, "talk", 1, 2)
    session = await store.session(OWNER, "talk")
    assert (session.said_seq, session.summary_seq, session.sunset_seq) == (0, 0, 0)
    assert await store.stale_sessions(OWNER) == []
    assert await broken(store) == []


@pytest.mark.spec("SUM-8")
async def test_another_session_does_not_begin_with_the_summary_of_what_was_forgotten(store: Store) -> None:
    await talk(store, "one", "two")
    await store.commit_summary(OWNER, replace(verbs.summary("talk"), last_seq=2, summary=SECRET), before_seq=0)
    await talk(store, "later", "so", session="later")
    await store.commit_blocks(OWNER, "later", verbs.change(verbs.block("later", 1, 1)))  # from now on it is as it was
    assert SECRET in repr(await store.context_rows(OWNER, "later", boot=3))
    await store.forget_turns(OWNER, "talk", 1, 1)
    assert SECRET not in repr(await store.context_rows(OWNER, "later", boot=3))


@pytest.mark.spec("FACT-5", "FACT-11")
async def test_a_fact_goes_with_its_only_proof_and_one_with_another_proof_stays(store: Store) -> None:
    await talk(store, "I like tea", "I see", "I do like tea")
    await store_facts(store, fact(f"tea {SECRET}", ("talk", 1)), fact("likes tea", ("talk", 1), ("talk", 3)))
    done = await store.forget_turns(OWNER, "talk", 1, 1)
    assert done.facts == 1
    (left,) = await store.facts(OWNER)
    assert left.content == "likes tea" and [(proof.session, proof.seq) for proof in left.evidence] == [("talk", 3)]
    assert (await store.fact(OWNER, f"f-tea {SECRET}")).status == "forgotten"
    assert [table for table in await holders(store, f"'content': 'tea {SECRET}'")] == []
    again = await store.known_facts(OWNER, [f"tea {SECRET}"])
    assert again.held[f"tea {SECRET}"].status == "forgotten", "it does not come back"


@pytest.mark.spec("FACT-5")
async def test_a_fact_that_a_forgotten_one_had_superseded_counts_again(store: Store) -> None:
    await talk(store, "tea", "I see", "coffee", "I see", "water")
    tea = fact("tea", ("talk", 1))
    await store_facts(store, tea, fact("coffee", ("talk", 3), supersedes=tea.id))
    assert [each.content for each in await store.facts(OWNER)] == ["coffee"]
    await store.forget_turns(OWNER, "talk", 3, 3)
    assert [each.content for each in await store.facts(OWNER)] == ["tea"]


@pytest.mark.spec("FACT-10", "SAFE-3")
@pytest.mark.parametrize(
    ("why", "status"), [(None, "active"), (APPROVED, "active"), ("it holds money", "pending")], ids=str
)
async def test_what_waited_for_approval_waits_again_when_what_took_its_place_is_forgotten(
    store: Store, why: str | None, status: str
) -> None:
    await talk(store, "tea", "I see", "coffee")
    before: Any = {"status": status, "why": why}
    tea = fact("tea", ("talk", 1), **before)
    await store_facts(store, tea, fact("coffee", ("talk", 3), supersedes=tea.id))
    assert (await store.fact(OWNER, tea.id)).status == "superseded"
    await store.forget_turns(OWNER, "talk", 3, 3)
    back = await store.fact(OWNER, tea.id)
    assert (back.status, back.why) == (status, why), "nobody approved it meanwhile"


@pytest.mark.spec("FACT-5")
async def test_a_fact_that_another_has_superseded_since_does_not_count_again(store: Store) -> None:
    await talk(store, "tea", "I see", "coffee", "I see", "water")
    tea, coffee = fact("tea", ("talk", 1)), fact("coffee", ("talk", 3), supersedes="f-tea")
    await store_facts(store, tea, coffee, fact("water", ("talk", 5), supersedes=coffee.id))
    await store.forget_turns(OWNER, "talk", 3, 3)
    assert [each.content for each in await store.facts(OWNER)] == ["water"]
    await store.forget_turns(OWNER, "talk", 5, 5)
    assert [each.content for each in await store.facts(OWNER)] == ["tea"], "it took the place of what coffee had"


@pytest.mark.spec("FACT-5", "FACT-11")
@pytest.mark.parametrize(
    ("why", "status"), [(None, "active"), (APPROVED, "active"), ("it holds money", "pending")], ids=str
)
async def test_what_a_forgotten_fact_had_taken_the_place_of_is_again_what_it_was(
    store: Store, why: str | None, status: Any
) -> None:
    tea = await remember(store, "Ana likes tea", status=status, why=why)
    coffee = await remember(store, "Ana likes coffee", supersedes=tea.id)
    await store.forget_fact(OWNER, coffee.id)
    back = await store.fact(OWNER, tea.id)
    assert (back.status, back.why) == (status, why)
    found = (await memory_search(store, None, OWNER, "tea", kinds=("fact",))).hits
    assert [hit.fact for hit in found] == ([tea.id] if status == "active" else [])


@pytest.mark.spec("FACT-5", "FACT-11")
async def test_of_a_chain_of_facts_whichever_is_forgotten_one_counts(store: Store) -> None:
    rome, bonn, oslo, bern = await chain(store)
    await store.forget_fact(OWNER, bonn.id)
    assert [each.id for each in await store.facts(OWNER)] == [bern.id], "what followed bonn took rome's place"
    superseding = await store.superseding_fact(OWNER, rome.id)
    assert superseding and superseding.id == oslo.id
    await store.forget_fact(OWNER, bern.id)
    assert [each.id for each in await store.facts(OWNER)] == [oslo.id]
    await store.forget_fact(OWNER, oslo.id)
    assert [each.id for each in await store.facts(OWNER)] == [rome.id]


@pytest.mark.spec("FACT-5", "FACT-11")
async def test_of_a_chain_of_facts_none_returns_that_was_forgotten_itself(store: Store) -> None:
    rome, bonn, oslo, bern = await chain(store)
    await store.forget_fact(OWNER, oslo.id)
    await store.forget_fact(OWNER, bonn.id)
    assert (await store.fact(OWNER, bern.id)).supersedes == rome.id
    await store.forget_fact(OWNER, rome.id)
    assert (await store.fact(OWNER, bern.id)).supersedes is None
    await store.forget_fact(OWNER, bern.id)
    assert await store.facts(OWNER, WantedFacts(status=None)) == []


async def chain(store: Store) -> list[Fact]:
    """Four facts, each in the place of the one before."""
    facts: list[Fact] = []
    for place in ("Rome", "Bonn", "Oslo", "Bern"):
        before = facts[-1].id if facts else None
        facts.append(await remember(store, f"Ana lives in {place}", supersedes=before))
    return facts


@pytest.mark.spec("FACT-5", "FACT-11")
async def test_a_rejected_fact_had_taken_no_place_and_brings_nothing_back(store: Store) -> None:
    rome, *_ = await chain(store)
    proposed = await remember(store, "Ana lives in Turin", supersedes=rome.id, status="pending", why="w")
    await store.forget_fact(OWNER, proposed.id)
    assert (await store.fact(OWNER, rome.id)).status == "superseded"


@pytest.mark.spec("FACT-5", "FACT-11")
async def test_both_twins_count_again_when_what_took_their_place_is_forgotten(store: Store) -> None:
    mine = await remember(store, "Ana lives in Rome")
    theirs = await remember(store, "ana lives in rome", binding=OTHER)
    await store.join(OTHER.owner, OWNER)
    bonn = await remember(store, "Ana lives in Bonn", supersedes=theirs.id)
    await store.forget_fact(OWNER, bonn.id)
    assert [each.id for each in await store.facts(OWNER)] == [mine.id]
    await store.part(OTHER.owner)
    assert [each.id for each in await store.facts(OTHER.owner)] == [theirs.id]
    assert await broken(store) == []


# --- that it does not come back


@pytest.mark.spec("LOG-1")
async def test_a_forgotten_message_that_is_sent_again_under_its_key_stays_forgotten(store: Store) -> None:
    await talk(store, f"the code is {SECRET}", "I see")
    await store.forget_turns(OWNER, "talk", 1, 1)
    again = await store.append(OWNER, "talk", said(f"the code is {SECRET}", key="talk-0"))
    assert (again.seq, again.text, again.removed) == (1, "", {"forgotten": 1})
    assert (await store.session(OWNER, "talk")).turns == 2
    assert await holders(store, SECRET) == []


async def test_it_stays_forgotten_in_another_session_too_and_is_a_stone_there(store: Store) -> None:
    await talk(store, f"the code is {SECRET}", "I see")
    await store.forget_session(OWNER, "talk")
    again = await store.append(OWNER, KATE, said(f"the  code is {SECRET} ", key="talk-0"))
    assert (again.seq, again.text) == (1, "")
    once_more = await store.append(OWNER, KATE, said(f"the code is {SECRET}", key="talk-0"))
    assert once_more == again
    assert await holders(store, SECRET) == []
    assert await broken(store) == []


async def test_the_same_key_with_other_words_in_another_session_is_another_message(store: Store) -> None:
    await talk(store, "one", session="first")
    await store.forget_session(OWNER, "first")
    assert (await store.append(OWNER, KATE, said("two", key="first-0"))).text == "two"


async def test_a_person_may_say_the_same_words_again(store: Store) -> None:
    await talk(store, "good morning", "hello")
    await store.forget_turns(OWNER, "talk", 1, 1)
    assert (await store.append(OWNER, "talk", said("good morning", key="another day"))).text == "good morning"
    assert (await store.append(OWNER, "talk", said("good morning", at=NOON))).text == "good morning"
    assert (await store.append(OWNER, "talk", said("good morning", at=NOON, origin="import"))).text == "", (
        "but no import"
    )


def memory_over(store: Store, model: ScriptedModel | None = None, **given: Any) -> Memory:
    chosen = Settings.model_validate({"data_dir": "/nowhere", "zone": "UTC", **given})
    return Memory(store, chosen, model=model or ScriptedModel(_answer), environ={}, folds=False)


def _answer(request: Request) -> str:
    told = f"They talked about {SECRET if SECRET in request.material else 'this and that'} at some length. " * 6
    if request.schema is None:
        return told
    if request.purpose == "facts":
        quote = f"I really like {SECRET}"
        claimed = {
            "turn": 1,
            "speaker": "user",
            "quote": quote,
            "content": f"The user likes {SECRET}",
            "type": "preference",
        }
        return json.dumps({"facts": [claimed] if quote in request.material else []})
    return json.dumps({"title": told[:40], "summary": told, "category": "other"})


async def exported(store: Store) -> list[str]:
    return [line async for line in transfer.export_lines(memory_over(store))]


async def made(store: Store) -> Session:
    """A session with everything that is made of one, the secret in all of it."""
    session = await talk(store, *(f"turn {seq} about {SECRET} as one may say" for seq in range(1, 7)))
    one = verbs.block("talk", 1, 2, text=f"a block about {SECRET}", tokens=30)
    report = verbs.report("talk", f"a report about {SECRET}")
    await store.commit_blocks(OWNER, "talk", verbs.change(one, reports=(report,), turns=6, exchanges=3))
    about = replace(verbs.summary("talk"), last_seq=6, title=SECRET, summary=f"about {SECRET}", people=(SECRET,))
    await store.commit_summary(OWNER, about, before_seq=0)
    await store_facts(store, fact(f"a fact about {SECRET}", ("talk", 1), id="f1"))
    call = Call(day="2026-03-02", model="openai:m", purpose="fold", owner=OWNER, session="talk")
    await store.reserve_spend(call, Amount(tokens=10, micro_usd=5), Amount(tokens=1000, micro_usd=1000))
    await store.mark_due(OWNER, Due(kind="facts", at=NOON, reason="idle", subject="talk"))
    return session


async def test_an_import_of_an_export_from_before_brings_no_forgotten_turn_back(store: Store) -> None:
    await made(store)
    lines = await exported(store)
    await store.forget_turns(OWNER, "talk", 1, 6)
    before = await dump(store)
    await transfer.import_lines(memory_over(store), lines)
    assert await holders(store, SECRET) == ["reports"], "what a source said was not asked to be forgotten"
    after = await dump(store)
    besides = ("work", "work_heads", "audit")  # which says that an import was made
    assert {name: rows for name, rows in after.items() if name not in besides} == {
        name: rows for name, rows in before.items() if name not in besides
    }
    assert await broken(store) == []


async def test_an_import_brings_no_older_fact_back_whose_words_were_forgotten(store: Store) -> None:
    first = await remember(store, "Ana likes green tea")
    second = await remember(store, "Ana likes black tea", supersedes=first.id)
    third = await remember(store, "Ana likes green tea", supersedes=second.id)
    lines = await exported(store)
    await store.forget_fact(OWNER, third.id)
    await transfer.import_lines(memory_over(store), lines)
    assert await holders(store, "Ana likes green tea") == ["turns"], "what was said was not asked to be forgotten"


@pytest.mark.parametrize("what", ["turn", "session", "owner"])
async def test_an_import_brings_no_message_back_that_was_forgotten_while_it_waited(store: Store, what: str) -> None:
    memory = memory_over(store)
    asked = await memory.append(KATE, "user", f"the code is {SECRET}", key="asked")
    session = await memory.session(asked.session, owner=OWNER)
    waits: dict[str, Any] = {"owner": OWNER, "place": OWNER, "agent": "kate", "channel": "telegram", "sender": "ana"}
    waits |= {"session": None, "reason": "user_message", "at": asked.at}
    for place in (OWNER, session.id):
        await store.put_message(Waiting(**{**waits, "place": place}, text=asked.text, key="asked"))
    await store.put_message(Waiting(**waits, text="what about tea?", key="another"))
    lines = await exported(store)
    otherwise = [line.replace(SECRET, f"not {SECRET}") if '"waiting"' in line else line for line in lines]
    if what == "owner":
        await memory.forget.owner(OWNER, verify=True)
        await memory.append(KATE, "user", "here I am again")
    else:
        await (memory.forget.turns(session, 1) if what == "turn" else memory.forget.session(session))
    await transfer.import_lines(memory, lines)
    if what == "turn":
        await transfer.import_lines(memory, otherwise)
    left = [each.text for place in (OWNER, session.id) for each in await store.waiting_messages(OWNER, place)]
    assert left == ([] if what == "owner" else ["what about tea?"])
    assert await holders(store, SECRET) == []
    assert await broken(store) == []


async def test_an_import_of_a_forgotten_session_brings_nothing_of_it_back(store: Store) -> None:
    session = await made(store)
    await talk(store, "something else", session="kept")
    lines = await exported(store)
    await forget_session(store, session)
    before = await dump(store)
    await transfer.import_lines(memory_over(store), lines)
    besides: dict[str, list[str]] = {"work": [], "audit": []}
    assert {**await dump(store), **besides} == {**before, **besides}
    assert {work.subject for work in await store.work_list(EVERYONE)} == {OWNER}, "only the files are due"
    assert await holders(store, SECRET) == []


async def test_the_turns_of_a_forgotten_session_stay_out_under_another_name_too(store: Store) -> None:
    session = await made(store)
    await store.request_sunset(OWNER, "talk", Due(kind="summary", at=NOON, reason="sunset-event"))
    lines = [line.replace('"talk"', '"tale"') for line in await exported(store)]
    await forget_session(store, session)
    assert await transfer.import_lines(memory_over(store), lines) == 6
    assert {turn.text for turn in await store.turns(OWNER, "tale")} == {""}
    assert await miscounted(store) == []
    assert await holders(store, SECRET) == []
    assert await broken(store) == []


async def test_an_import_of_a_forgotten_owner_brings_nothing_back(store: Store) -> None:
    await made(store)
    lines = await exported(store)
    await forget_owner(store, OWNER)
    before = await dump(store)
    await transfer.import_lines(memory_over(store), lines)
    assert await dump(store) == before


async def test_a_session_with_stones_that_is_exported_and_imported_elsewhere_is_the_same(
    tmp_path: Path, store: Store, clock: FixedClock
) -> None:
    await merged(store)
    await store.forget_turns(OWNER, "talk", 3, 3)
    lines = await exported(store)
    other = await SQLiteStore.open(tmp_path / "other.db", clock)
    await transfer.import_lines(memory_over(other), lines)
    assert [line async for line in transfer.export_lines(memory_over(other))] == lines
    assert await other.blocks(OWNER, "talk") == await store.blocks(OWNER, "talk")
    assert await broken(other) == []
    await other.close()


# --- a session, an owner


async def test_a_forgotten_session_is_gone_with_all_that_was_made_of_it(store: Store) -> None:
    session = await made(store)
    await talk(store, "something else", session="kept")
    done = await forget_session(store, session)
    assert (done.forgotten.turns, done.forgotten.blocks, done.forgotten.summaries) == (6, 1, 1)
    assert await holders(store, SECRET) == [] and await holders(store, "'talk'") == []
    with pytest.raises(NotFound):
        await store.session(OWNER, "talk")
    assert (await store.spend_of_day("2026-03-02")).tokens == 10, "what was paid is paid"
    assert [call.call.session for call in await store.spend_calls(OWNER)] == [None]
    assert await broken(store) == []


async def test_a_session_of_the_same_name_may_begin_anew(store: Store, clock: FixedClock) -> None:
    session = await made(store)
    await forget_session(store, session)
    clock.move(3600)
    await store.open_session(KATE, "talk")
    assert (await store.append(OWNER, "talk", said("a fresh start", key="fresh"))).seq == 1


async def test_a_long_session_goes_from_its_end_and_is_sound_after_each_step(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs_of_forgetting, "TURNS_AT_ONCE", 2)
    await made(store)
    left: list[int] = []
    while not (step := await store.forget_session(OWNER, "talk")).done:
        left.append(step.left)
        session = await store.session(OWNER, "talk")
        assert (session.turns, session.state) == (step.left, "closed")
        assert [each.session for each in await store.unfinished_forgetting()] == ["talk"]
        assert await broken(store) == []
        assert {"blocks", "summaries", "reports", "facts"} & set(await holders(store, SECRET)) == set()
    assert left == [4, 2]
    assert await store.unfinished_forgetting() == []


async def test_what_is_said_while_a_session_is_being_forgotten_begins_another(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs_of_forgetting, "TURNS_AT_ONCE", 2)
    await made(store)
    await store.forget_session(OWNER, "talk")
    turn = await store.append(OWNER, "talk", said("I go on"), stays=True)
    assert turn.session != "talk" and turn.seq == 1
    assert await forgetting.finish_forgetting(store) == 1
    assert [session.id for session in await store.sessions(OWNER)] == [turn.session]


async def test_of_a_forgotten_owner_nothing_stays_but_its_name_and_digests(store: Store) -> None:
    await made(store)
    await talk(store, "I am another", to=OTHER, session="talk")
    others = [row for rows in (await dump(store)).values() for row in rows if OTHER.owner in row]
    done = await forget_owner(store, OWNER)
    assert done.forgotten.turns == 6
    assert sorted(set(await holders(store, OWNER)) - {"work", "work_heads"}) == ["stone_salts", "stones"]
    assert {work.kind for work in await store.work_list(OWNER)} == {"files"}, "its files are still to go"
    assert await holders(store, SECRET) == []
    assert [row for rows in (await dump(store)).values() for row in rows if OTHER.owner in row] == others
    assert (await store.spend_of_day("2026-03-02")).tokens == 10
    assert await broken(store) == []


async def test_of_an_owner_that_is_forgotten_without_stones_nothing_stays(store: Store) -> None:
    await made(store)
    lines = await exported(store)
    await store.forget_turns(OWNER, "talk", 1, 1)
    await forget_owner(store, OWNER, keep_stones=False)
    assert set(await holders(store, OWNER)) <= {"work", "work_heads"}
    assert await transfer.import_lines(memory_over(store), lines) == 6, "nothing keeps it out"


async def test_what_an_owner_that_was_forgotten_left_can_go_too(store: Store, tmp_path: Path) -> None:
    await made(store)
    lines = await exported(store)
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.forget.owner(OWNER)
    assert await holders(store, OWNER) == ["stone_salts", "stones"]
    with pytest.raises(NotFound):
        await memory.forget.owner(OWNER)
    await store.add_token("a bot", "read", "a secret", owner=OWNER)
    assert (await memory.forget.owner(OWNER, keep_stones=False)).forgotten.turns == 0
    assert await holders(store, OWNER) == []
    with pytest.raises(NotFound):
        await memory.forget.owner(OWNER, keep_stones=False)
    assert await transfer.import_lines(memory, lines) == 6, "nothing keeps it out"


async def test_who_is_to_leave_nothing_leaves_nothing_though_another_had_begun_with_stones(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs_of_forgetting, "TURNS_AT_ONCE", 3)
    await talk(store, *(f"turn {seq}" for seq in range(5)))
    assert not (await store.forget_owner(OWNER)).done
    await forget_owner(store, OWNER, keep_stones=False)
    assert set(await holders(store, OWNER)) <= {"work", "work_heads"}


async def test_of_whom_nothing_is_left_to_look_for_there_is_no_proof(store: Store, tmp_path: Path) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    await made(store)
    await talk(store, "hello", session="other", to=Binding(agent="kate", channel="telegram", sender="anastasia"))
    await memory.forget.owner(OWNER)
    assert (await memory.forget.owner(OWNER, keep_stones=False, verify=True)).proof is None


async def test_when_its_files_have_gone_too_not_even_work_names_an_owner(store: Store, tmp_path: Path) -> None:
    await made(store)
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.facts.write_files(OWNER)
    done = await memory.forget.owner(OWNER, keep_stones=False, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    assert await holders(store, OWNER) == []
    assert list((tmp_path / "memory").iterdir()) == []


async def test_a_name_that_stands_in_anothers_is_not_proved_gone(store: Store, tmp_path: Path) -> None:
    short, long = (Binding(agent="kate", channel="tg", sender=sender) for sender in ("42", "421"))
    memory = memory_over(store, data_dir=str(tmp_path))
    for each in (short, long):
        await memory.append(each, "user", "I like green tea a lot")
    done = await memory.forget.owner(short.owner, keep_stones=False, verify=True)
    assert done.proof is not None
    assert f"the name {short.owner}, since it stands in that of {long.owner} too" in done.proof.not_looked_at


async def test_where_the_files_cannot_be_written_the_log_names_nobody_all_the_same(
    store: Store, tmp_path: Path
) -> None:
    await made(store)
    log = tmp_path / "afterglow.log"
    log.write_text(f"2026-03-02 12:00:00,000 INFO afterglow: files of {OWNER}\n")

    async def fails(owner: str) -> None:
        raise StoreUnusable("the folder is closed")

    with pytest.raises(StoreUnusable):
        await forget_owner(store, OWNER, data_dir=tmp_path, rewrite=fails)
    assert OWNER not in log.read_text()


async def test_work_that_brings_the_files_of_a_forgotten_owner_leaves_no_name(store: Store, tmp_path: Path) -> None:
    """As where the process that forgot it was killed before it came to the files."""
    await made(store)
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.facts.write_files(OWNER)
    (tmp_path / "afterglow.log").write_text(f"2026-03-02 12:00:00,000 INFO afterglow: files of {OWNER}\n")
    while not (await store.forget_owner(OWNER, keep_stones=False)).done:
        pass
    await memory.facts.write_files(OWNER)
    assert await holders(store, OWNER) == []
    assert OWNER not in (tmp_path / "afterglow.log").read_text()
    assert list((tmp_path / "memory").iterdir()) == []


async def test_a_folder_that_stays_for_what_is_in_it_is_told_since_it_has_the_name(
    store: Store, tmp_path: Path
) -> None:
    await made(store)
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.facts.write_files(OWNER)
    (folder,) = (tmp_path / "memory").iterdir()
    (folder / "mine.txt").write_text("of my own")
    done = await memory.forget.owner(OWNER, keep_stones=False, verify=True)
    assert done.proof is not None and not done.proof.clean
    why = "since somebody put a file of their own into it (mine.txt); move that away, and remove the folder"
    assert done.proof.found == (f"{folder}: its name, {why}",)
    assert (folder / "mine.txt").exists()


async def test_who_was_joined_to_a_forgotten_owner_keeps_what_is_its_own(store: Store) -> None:
    session = await made(store)
    await talk(store, "mine", to=OTHER, session="mine")
    await store.join(OTHER.owner, OWNER)
    await store_facts(
        store, fact("both said it", ("talk", 1), ("mine", 1), owner=OTHER.owner, id="f2"), owner=OTHER.owner
    )
    await forget_owner(store, session.owner)
    assert [owner.id for owner in await store.owners()] == [OTHER.owner]
    assert [turn.text for turn in await store.turns(OTHER.owner, "mine")] == ["mine"]
    (left,) = await store.facts(OTHER.owner)
    assert [(proof.session, proof.seq) for proof in left.evidence] == [("mine", 1)]


async def test_an_owner_that_goes_on_talking_begins_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbs_of_forgetting, "TURNS_AT_ONCE", 2)
    await made(store)
    assert not (await store.forget_owner(OWNER)).done
    turn = await store.append(OWNER, KATE, said("here I am again"))
    assert await forgetting.finish_forgetting(store) == 1
    assert [session.id for session in await store.sessions(OWNER)] == [turn.session]
    assert await holders(store, SECRET) == []
    assert await broken(store) == []


async def test_an_owner_that_is_not_there_is_an_error(store: Store) -> None:
    with pytest.raises(NotFound, match="no owner"):
        await store.forget_owner("nobody")


# --- with a job under way


class Thinking(ScriptedModel):
    """A model that is told something, and does not answer until it is let."""

    def __init__(self, answer: Callable[[Request], str] = _answer) -> None:
        super().__init__(answer)
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.told = ""

    async def complete(self, request: Request) -> Completion:
        self.told += request.material
        self.asked.set()
        await self.may_answer.wait()
        return await super().complete(request)


@pytest.mark.spec("P3")
@pytest.mark.parametrize("kind", ["context", "idle", "summary", "facts"])
@pytest.mark.parametrize("what", ["turn", "session", "owner"])
async def test_what_a_job_has_read_before_it_was_forgotten_is_not_committed(
    store: Store, clock: FixedClock, kind: Any, what: str
) -> None:
    model = Thinking()
    memory = memory_over(store, model, timeout_summarize_seconds=60, compaction={"interval": 1, "keep_recent": 2})
    texts = [f"turn {seq} about the weather " + "so to speak " * 30 for seq in range(2, 9)]
    session = await talk(store, f"I really like {SECRET}", *texts)
    clock.move(3600)
    reason = "timer" if kind == "idle" else "manual"
    await store.mark_due(OWNER, Due(kind=kind, at=clock.now(), reason=reason, subject="talk"))
    worker = Worker(store, {kind: memory.acts[kind]}, holder="w", limits=LIMITS)
    working = asyncio.create_task(worker.attend(OWNER, kind, "talk"))
    await asyncio.wait_for(model.asked.wait(), 10)
    assert SECRET in model.told, "it has read it"
    if what == "turn":
        await forget_turns(store, session, 1)
    elif what == "session":
        await forget_session(store, session)
    else:
        await forget_owner(store, OWNER)
    model.may_answer.set()
    await asyncio.wait_for(working, 10)
    assert await holders(store, SECRET) == []
    assert await broken(store) == []
    if what == "turn":
        await Worker(store, memory.acts, holder="w", limits=LIMITS).drain()
        assert await holders(store, SECRET) == []
        if kind == "summary":
            assert await store.summary_of(OWNER, "talk") is not None, "it is made anew"
        elif kind == "facts":
            assert (await store.session(OWNER, "talk")).facts_seq == 8, "it is read anew"
        else:
            assert (await store.session(OWNER, "talk")).folded.to_seq > 0, "it is folded anew"
        assert await broken(store) == []


@pytest.mark.spec("FACT-1")
async def test_the_model_would_have_proved_a_fact_had_nothing_been_forgotten(store: Store) -> None:
    """That the test above can fail at all."""
    await talk(store, f"I really like {SECRET}", "I see")
    memory = memory_over(store)
    await store.mark_due(OWNER, Due(kind="facts", at=NOON, reason="manual", subject="talk"))
    await Worker(store, {"facts": memory.acts["facts"]}, holder="w", limits=LIMITS).drain()
    assert [each.content for each in await store.facts(OWNER, WantedFacts(status=None))] == [f"The user likes {SECRET}"]


@pytest.mark.spec("P3", "FACT-11")
@pytest.mark.parametrize("claimed", [True, False])
async def test_facts_that_were_read_from_a_turn_before_it_was_forgotten_are_not_stored(
    store: Store, claimed: bool
) -> None:
    await talk(store, f"the code is {SECRET}", "I see")
    await store.mark_due(OWNER, Due(kind="facts", at=NOON, reason="idle", subject="talk"))
    claim = await store.claim_one(OWNER, "facts", "talk", holder="w", limits=LIMITS)
    known = await store.known_facts(OWNER, [])
    read = Read(session="talk", from_seq=0, to_seq=2, claim=claim if claimed else None)
    await store.forget_turns(OWNER, "talk", 1, 1)
    new = fact(f"a fact about {SECRET}", ("talk", 1), id="f1")
    for version in (known.version, (await store.known_facts(OWNER, [])).version):
        with pytest.raises(ClaimLost):
            await store.commit_facts(OWNER, Gathered(version=version, new=(new,)), read)
    assert await holders(store, SECRET) == []
    assert (await kinds_due(store, "talk"))["facts"] == "due", "it is read again"


# --- the memory files


@pytest.mark.parametrize("what", ["turn", "session", "owner"])
async def test_the_memory_files_say_nothing_of_it_afterwards(store: Store, tmp_path: Path, what: str) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.append(KATE, "user", "hello")
    stated = await memory.facts.add(OWNER, f"The code is {SECRET} today")
    await memory.facts.add(OWNER, "Ana likes tea")
    worker = Worker(store, {"files": memory.files.act}, holder="w", limits=LIMITS)
    await worker.drain()
    folder = tmp_path / "memory"
    assert any(SECRET in path.read_text() for path in folder.rglob("*.json")), "they say it"

    session = await store.session(OWNER, stated.evidence[0].session)
    given: dict[str, Any] = {"verify": True, "data_dir": folder, "rewrite": memory.files.rebuild}
    if what == "turn":
        done = await forget_turns(store, session, stated.evidence[0].seq, **given)
    elif what == "session":
        done = await forget_session(store, session, **given)
    else:
        done = await forget_owner(store, OWNER, **given)
    assert done.proof is not None and done.proof.clean, done.proof
    await worker.drain()
    assert [path for path in folder.rglob("*") if path.is_file() and SECRET in path.read_text()] == []
    contents = [each.content for each in await store.facts(OWNER)]
    assert contents == (["Ana likes tea"] if what == "turn" else []), "nothing is taken in from the files again"


async def joined_over(store: Store, folder: Path) -> Memory:
    """A memory in which OTHER is joined to KATE, who has the folder, and each has stated something."""
    memory = memory_over(store, data_dir=str(folder))
    await memory.facts.add(OWNER, "Ana likes green tea")
    await memory.append(OTHER, "user", "hello there")
    await memory.join(OTHER.owner, OWNER)
    await memory.facts.add(OTHER.owner, f"Ben keeps {SECRET} at home")
    assert SECRET in await memory.files.file_read(OWNER, "facts/index.json"), "one folder tells of both"
    return memory


@pytest.mark.spec("FACT-6")
@pytest.mark.parametrize(
    ("gone", "stays", "left"), [(OTHER, KATE, "green tea"), (KATE, OTHER, SECRET)], ids=["the second", "the first"]
)
async def test_the_files_of_who_was_joined_to_a_forgotten_owner_say_only_what_is_their_own(
    store: Store, tmp_path: Path, gone: Binding, stays: Binding, left: str
) -> None:
    memory = await joined_over(store, tmp_path)
    done = await memory.forget.owner(gone.owner, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    index = await memory.files.file_read(stays.owner, "facts/index.json")
    assert (SECRET in index, "green tea" in index) == (left == SECRET, left == "green tea")
    with pytest.raises(NotFound):
        await memory.files.file_read(gone.owner, "facts/index.json")


@pytest.mark.spec("P3")
@pytest.mark.parametrize("forgotten_before", [0, 1])
async def test_a_kill_before_the_files_are_written_leaves_that_to_the_worker_also_what_nobody_can_read(
    store: Store, tmp_path: Path, forgotten_before: int
) -> None:
    memory = await joined_over(store, tmp_path)
    for _ in range(forgotten_before):
        brief = await memory.facts.add(OTHER.owner, "Ben is tired today")
        await memory.facts.forget(OTHER.owner, brief.id)
    (day,) = [path for path in (tmp_path / "memory").rglob("2*.json") if SECRET in path.read_text()]
    day.write_text(day.read_text()[:-20])
    while not (await store.forget_owner(OTHER.owner)).done:
        pass
    await Worker(store, {"files": memory.files.act}, holder="w", limits=LIMITS).drain()
    assert [path for path in (tmp_path / "memory").rglob("*.json") if SECRET in path.read_text()] == []
    assert "green tea" in day.read_text()


SLACK = Binding(agent=KATE.agent, channel="slack", sender=KATE.sender)
"""Another owner with the same agent and sender."""


@pytest.mark.spec("FACT-11")
async def test_what_each_of_two_joined_owners_states_is_its_own_also_with_the_same_agent_and_sender(
    store: Store, tmp_path: Path
) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    tea = await memory.facts.add(OWNER, "Ana likes green tea")
    await memory.append(SLACK, "user", "hello there")
    await memory.join(SLACK.owner, OWNER)
    secret = await memory.facts.add(SLACK.owner, f"Ana keeps {SECRET} at home")
    more = [await memory.facts.add(owner, f"{owner} is here") for owner in (OWNER, SLACK.owner)]
    assert (secret.owner, *(each.owner for each in more)) == (SLACK.owner, OWNER, SLACK.owner)
    assert [each.session for each in more] == [tea.session, secret.session], "each goes on where it has begun"
    await memory.part(SLACK.owner)
    assert {each.id for each in await memory.facts.list(SLACK.owner)} == {secret.id, more[1].id}
    await memory.join(SLACK.owner, OWNER)
    done = await memory.forget.owner(SLACK.owner, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    assert {each.id for each in await memory.facts.list(OWNER)} == {tea.id, more[0].id}


@pytest.mark.spec("FACT-6")
async def test_what_is_changed_in_a_file_is_taken_in_as_that_of_the_joined_owner_who_said_it(
    store: Store, tmp_path: Path
) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    await memory.facts.add(OWNER, "Ana likes rye bread")
    await memory.facts.add(SLACK.owner, "Ana likes green tea")
    await memory.join(SLACK.owner, OWNER)
    await memory.facts.rebuild(OWNER)
    (day,) = (tmp_path / "memory").rglob("2*.json")
    for owner, before, after in ((OWNER, "rye", "oat"), (SLACK.owner, "green", "black")):
        day.write_text(day.read_text().replace(before, after))
        (taken,) = (await memory.facts.rebuild(OWNER)).taken
        assert (taken.owner, after in taken.content) == (owner, True)
        assert (await store.session(OWNER, taken.session)).owner == owner


@pytest.mark.spec("FACT-11")
@pytest.mark.parametrize("how", ["forget", "reject"])
async def test_who_forgets_a_fact_is_told_where_the_files_still_hold_it(store: Store, tmp_path: Path, how: str) -> None:
    memory = memory_over(store, data_dir=str(tmp_path))
    status: dict[str, Any] = {"status": "pending", "why": "a page says so"} if how == "reject" else {}
    known = await remember(store, f"Ana keeps {SECRET} at home", **status)
    await memory.facts.rebuild(OWNER)
    (folder,) = (tmp_path / "memory").glob("*/facts")
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to("elsewhere")
    with pytest.raises(StoreUnusable, match=r"may still hold it: .*facts rebuild"):
        await getattr(memory.facts, how)(OWNER, known.id)
    assert (await memory.facts.show(OWNER, known.id)).status == "forgotten"
    folder.unlink()
    (folder.parent / "elsewhere").rename(folder)
    await memory.facts.forget(OWNER, known.id)
    assert [path for path in (tmp_path / "memory").rglob("*.json") if SECRET in path.read_text()] == []
    assert await kinds_due(store, OWNER) == {}, "the work that was due is done with it"


# --- the proof


async def test_the_proof_names_the_turn_that_still_says_the_words(store: Store, tmp_path: Path) -> None:
    session = await talk(store, f"the code is {SECRET} today", f"so the code is {SECRET}, I see")
    done = await forget_turns(store, session, 1, verify=True)
    assert done.proof is not None and done.proof.clean
    assert any("session talk, seq 2" in place for place in done.proof.said_elsewhere)


async def test_words_that_somebody_else_has_prove_nothing(store: Store) -> None:
    session = await talk(store, f"the code is {SECRET} today", "I see")
    await talk(store, "one", "two", to=OTHER, session="talk")
    block = verbs.block("talk", 1, 2, text=f"something about {SECRET}")
    await store.commit_blocks(OTHER.owner, "talk", verbs.change(block))
    done = await forget_turns(store, session, 1, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    assert any(place.startswith("table blocks") for place in done.proof.said_elsewhere)


async def test_the_proof_finds_a_block_that_still_says_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await merged(store)
    monkeypatch.setattr(remaking, "remake_blocks", lambda *_: 0)
    done = await forget_turns(store, await store.session(OWNER, "talk"), 3, verify=True)
    assert done.proof is not None and not done.proof.clean
    assert any(place.startswith("table blocks (session talk, number 2") for place in done.proof.found)


@pytest.mark.spec("SAFE-3")
async def test_the_proof_looks_for_the_facts_that_went_too(store: Store, tmp_path: Path) -> None:
    session = await talk(store, "peanuts make my throat swell", "I see")
    await store_facts(store, fact("Ana must never eat peanuts", ("talk", 1), id="f1"))
    (tmp_path / "copy.txt").write_text("somebody noted: Ana must never eat peanuts")
    done = await forget_turns(store, session, 1, verify=True, data_dir=tmp_path)
    assert done.proof is not None and not done.proof.clean
    assert any("copy.txt" in place for place in done.proof.found)


@pytest.mark.spec("SAFE-3")
async def test_a_fact_that_another_turn_proves_too_is_no_trace_of_what_was_forgotten(store: Store) -> None:
    session = await talk(store, "peanuts make my throat swell", "I see", "they really do make it swell")
    await store_facts(store, fact("Ana must never eat peanuts", ("talk", 1), ("talk", 3)))
    done = await forget_turns(store, session, 1, verify=True)
    assert [each.content for each in await store.facts(OWNER)] == ["Ana must never eat peanuts"]
    assert done.proof is not None and done.proof.clean, done.proof


@pytest.mark.spec("CTX-11")
async def test_a_context_with_stones_of_every_role_is_one_that_providers_take(store: Store) -> None:
    call = {"type": "tool_call", "id": "c", "name": "look", "arguments": {}}
    result = {"type": "tool_result", "id": "c", "content": SECRET}
    memory = memory_over(store)
    for forgotten in ([1], [2], [3], [4], [2, 3], [1, 2, 3, 4]):
        name = "-".join(map(str, forgotten))
        await store.open_session(KATE, name)
        for role, text, parts in (
            ("user", "look", []),
            ("assistant", "", [call]),
            ("tool", "", [result]),
            ("assistant", "there", []),
            ("user", "thanks", []),
        ):
            await store.append(OWNER, name, said(text, role, parts=parts))
        for seq in forgotten:
            await store.forget_turns(OWNER, name, seq, seq)
        context = await memory.context(await store.session(OWNER, name))
        calls = [part["id"] for message in context.messages for part in message.parts if part["type"] == "tool_call"]
        results = [
            part["id"] for message in context.messages for part in message.parts if part["type"] == "tool_result"
        ]
        assert calls == results and all(message.text or message.parts for message in context.messages)
        assert context.messages[-1].text == "thanks"


async def test_the_proof_finds_what_is_left_in_a_file_of_the_data_folder(store: Store, tmp_path: Path) -> None:
    session = await talk(store, f"the code is {SECRET} today", "I see")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "2026-03-02.md").write_text(f"# Monday\n- the code is {SECRET} today\n", encoding="utf-16")
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder)
    assert done.proof is not None and not done.proof.clean
    assert {place.partition(": ")[0] for place in done.proof.found} == {str(folder / "2026-03-02.md")}

    async def rewrite(owner: str) -> None:
        (folder / "2026-03-02.md").write_text("# Monday\n")

    session = await talk(store, f"the code is {SECRET} today", "I see", session="again")
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder, rewrite=rewrite)
    assert done.proof is not None and done.proof.clean


async def test_the_proof_names_files_and_folders_that_it_may_not_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    (folder / "locked").mkdir(parents=True)
    (folder / "closed.txt").write_text("x")
    (folder / "copy.txt").write_text(f"the code is {SECRET} today")
    opening, listing = Path.open, os.scandir

    def open_some(path: Path, *given: Any, **more: Any) -> Any:
        if path.name == "closed.txt":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opening(path, *given, **more)

    def list_some(path: Any = ".") -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(Path, "open", open_some)
    monkeypatch.setattr(os, "scandir", list_some)
    session = await talk(store, f"the code is {SECRET} today", "I see")
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder)
    assert done.proof is not None and not done.proof.clean, "the other files are searched"
    for name in ("closed.txt", "locked"):
        assert f"{folder / name}: it cannot be read (Permission denied)" in done.proof.not_looked_at
    assert str(folder / "closed.txt") not in done.proof.looked_at


async def canaries(store: Store, count: int) -> list[Session]:
    """Sessions with a word of their own in everything that is kept of one."""
    made: list[Session] = []
    for number in range(count):
        word, name = f"canary{number:04d}{RUN}", f"s{number}"
        session = await talk(store, *(f"{word} {place} said here" for place in ("one", "two", "three")), session=name)
        parts = [{"type": "tool_result", "id": "1", "content": f"{word} in a tool's answer"}]
        giant = said(f"{word} in a giant turn " * 300, "tool", parts=parts, key=f"{word} key", terms=[word, "giant"])
        shown = Shown(text=f"{word} in a giant …", parts=parts)
        await store.append(OWNER, name, Entry(draft=giant.draft, terms=giant.terms, bytes=giant.bytes, shown=shown))
        block = verbs.block(name, 1, 2, text=f"{word} in a block", tokens=30, lost=(word,))
        change = verbs.change(block, reports=(verbs.report(name, f"{word} in a report"),), turns=4, exchanges=2)
        await store.commit_blocks(OWNER, name, change)
        about = replace(verbs.summary(name), title=f"{word} in a title", open_threads=(f"{word} is open",))
        await store.commit_summary(OWNER, about, before_seq=0)
        await store_facts(store, fact(f"{word} in a fact", (name, 1), id=f"f{number}"))
        made.append(session)
    return made


async def test_of_a_hundred_sessions_every_second_is_forgotten_to_the_last_byte(store: Store) -> None:
    sessions = await canaries(store, 100)
    await asyncio.sleep(0.3)
    for session in sessions[::2]:
        await forget_session(store, session)
    words = [f"canary{number:04d}{RUN}" for number in range(100)]
    proof = await prove(store, words[::2], owner=OWNER)
    assert proof.clean, proof.found[:5]
    assert proof.said_elsewhere == ()
    if isinstance(store, SQLiteStore):
        assert str(store.path) in proof.looked_at
        whole = b"".join(path.read_bytes() for path in store.path.parent.glob("afterglow.db*"))
        assert [word for word in words[::2] if word.encode() in whole] == []
        assert all(word.encode() in whole for word in words[1::2]), "that it can be found at all"
    found = [await store.word_matches(OWNER, [word]) for word in words]
    assert {turn.session for each in found for turn in each.turns} == {session.id for session in sessions[1::2]}
    assert await broken(store) == []


@pytest.mark.parametrize("is_sampled", [False, True])
async def test_a_forgotten_owner_is_gone_to_the_last_byte(store: Store, is_sampled: bool) -> None:
    await canaries(store, 5)
    if is_sampled:
        await store.scrub()  # in which PostgreSQL's planner takes samples of rows, and keeps them when there are none
    done = await forget_owner(store, OWNER, verify=True)
    assert done.proof is not None and done.proof.clean, done.proof
    assert len(done.proof.looked_at) > 1, "the files were searched, on both databases"


async def test_a_forgotten_turn_is_gone_to_the_last_byte(store: Store) -> None:
    sessions = await canaries(store, 5)
    for session in sessions:
        last = (await store.session(OWNER, session.id)).turns
        done = await forget_turns(store, session, 1, last, verify=True)
        assert done.proof is not None and done.proof.clean, done.proof


async def test_bytes_that_belong_to_no_row_are_found_and_written_over(store: Store, tmp_path: Path) -> None:
    if not isinstance(store, SQLiteStore):
        pytest.skip("pages are SQLite's")
    session = await talk(store, f"the code is {SECRET} today", "I see")

    def without_overwriting(tx: Tx) -> None:
        tx.run("PRAGMA secure_delete = OFF")

    await store._write("pragma", EVERYONE, without_overwriting)
    await forget_turns(store, session, 1)
    await store.scrub()
    assert SECRET.encode() in store.path.read_bytes(), "they are left behind"
    proof = await prove(store, [SECRET], owner=OWNER, session="talk")
    assert proof.clean, proof
    assert SECRET.encode() not in store.path.read_bytes()


def test_a_text_is_recognised_by_its_runs_of_words_and_its_rare_words() -> None:
    found = pieces("My code is Zulu99887 and nobody knows it")
    assert "Zulu99887" in found and "zulu99887" in found and "code is Zulu99887" in found
    assert pieces("My pin") == ["My pin"] and pieces(" \n") == []


@pytest.mark.spec("SAFE-3")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I prefer the aisle", ["prefer the aisle"]),
        ("I would like to meet Carla in Lisbon", ["Carla in Lisbon", "meet Carla in Lisbon"]),
        ("I think it will be good to go on", ["I think it will be good", "will be good to go on"]),
        ("I prefer the", ["I prefer the"]),
        ("My cat is red", ["My cat is red"]),
    ],
)
def test_common_words_alone_tell_nothing_unless_there_are_no_others(text: str, found: list[str]) -> None:
    assert set(found) <= set(pieces(text))
    assert not {"I prefer the", "would like to"} & set(pieces(text)) - {text}


@pytest.mark.spec("SAFE-3")
async def test_a_proof_is_not_drowned_by_words_that_everybody_says(store: Store, tmp_path: Path) -> None:
    session = await talk(store, "I prefer the aisle seat near galley four", "I prefer the window", "I prefer the train")
    (tmp_path / "copy.txt").write_text("noted: aisle seat near galley")
    done = await forget_turns(store, session, 1, verify=True, data_dir=tmp_path)
    assert done.proof is not None and done.proof.said_elsewhere == ()
    assert any("copy.txt" in place for place in done.proof.found), "what is left is found"


@pytest.mark.spec("SAFE-3")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "My sister and I went to Lisbon. I am not going to be with him any more, I do not want to be.",
            "I am not going to be with him any more",
        ),
        ("I do not want him to know about it. Carla visited Lisbon yesterday evening.", "I do not want him to know"),
        ("Bob has HIV now", "note: Bob has HIV now."),
        ("From the list of today:\nAspirin 100mg\nCipralex 10mg", "Cipralex 10mg"),
        (
            " ".join(f"the {a}{b} quokka" for a in "abcde" for b in "klmn") + " my dog Rufus barked",
            "my dog Rufus barked",
        ),
    ],
)
async def test_what_is_left_of_any_part_of_a_text_is_found(store: Store, tmp_path: Path, text: str, left: str) -> None:
    session = await talk(store, text)
    (tmp_path / "copy.txt").write_text(left)
    done = await forget_turns(store, session, 1, verify=True, data_dir=tmp_path)
    assert done.proof is not None and not done.proof.clean
    assert any("copy.txt" in place for place in done.proof.found)


@pytest.mark.spec("SAFE-3")
async def test_of_a_turn_that_was_forgotten_before_nothing_is_proved(store: Store) -> None:
    session = await talk(store, "the quokka lives in Lisbon", "yes")
    assert (await forget_turns(store, session, 1, verify=True)).proof is not None
    again = await forget_turns(store, session, 1, verify=True)
    assert (again.forgotten.turns, again.proof) == (0, None)
    brief = await forget_turns(store, session, 1, 2, verify=True)
    assert brief.proof is not None
    assert (brief.proof.sought, brief.proof.clean, brief.proof.found) == (0, False, ()), "it is too short to tell"


@pytest.mark.parametrize("text", ["PIN is 4471", "#4471", "bread\nbutter\nquince", "密码是零"])
async def test_a_short_text_is_looked_for_as_a_whole(store: Store, tmp_path: Path, text: str) -> None:
    session = await talk(store, text, "I see")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "copy.log").write_text(f"somebody said: {text}!")
    done = await forget_turns(store, session, 1, verify=True, data_dir=folder)
    assert done.proof is not None and not done.proof.clean
    assert any(place.startswith(str(folder / "copy.log")) for place in done.proof.found)


async def test_the_proof_says_of_how_many_texts_it_can_say_nothing(store: Store, tmp_path: Path) -> None:
    session = await talk(store, "yes", "ok", f"the code is {SECRET} today", "yes")
    done = await forget_turns(store, session, 1, verify=True, data_dir=tmp_path)
    assert done.proof is not None and "1 text is too short to be looked for" in done.proof.not_looked_at
    done = await forget_turns(store, session, 2, 4, verify=True, data_dir=tmp_path)
    assert done.proof is not None and "2 texts are too short to be looked for" in done.proof.not_looked_at


async def test_a_proof_that_the_database_has_no_time_for_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def busy(*, whole: bool = False) -> None:
        raise StoreUnavailable("somebody holds it")

    session = await talk(store, f"the code is {SECRET} today", "I see")
    monkeypatch.setattr(store, "scrub", busy)
    done = await forget_turns(store, session, 1, verify=True)
    assert done.forgotten.turns == 1 and done.proof is not None
    assert any("somebody holds it" in each for each in done.proof.not_looked_at)


@pytest.mark.spec("P12", "SAFE-3")
async def test_a_quote_in_the_fact_of_an_owner_who_was_joined_goes_after_they_part(store: Store) -> None:
    fact = await remember(store, "the garden gate squeaks")
    await store.append(OTHER.owner, OTHER, said("x"))
    await store.join(OTHER.owner, OWNER)
    turn = await store.append(OTHER.owner, OTHER, said("UNSAYABLE: the garden gate squeaks"))
    proof = Evidence(session=turn.session, seq=turn.seq, quote="UNSAYABLE: the garden gate squeaks", at=NOON)
    known = await store.known_facts(OTHER.owner, [])
    again = Again(owner=fact.owner, fact=fact.id, evidence=proof, believed=False)
    await store.commit_facts(OTHER.owner, Gathered(version=known.version, again=(again,)))
    await store.part(OTHER.owner)
    await store.forget_turns(OTHER.owner, turn.session, turn.seq, turn.seq)
    assert "UNSAYABLE" not in repr(await dump(store))
    assert (await store.fact(OWNER, fact.id)).status == "active"
