"""SAFE-3: what was forgotten is gone from every row, index and byte, and does not come back."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from afterglow import forgetting, transfer
from afterglow.clock import FixedClock
from afterglow.errors import ClaimLost, NotFound
from afterglow.facts import APPROVED, Evidence
from afterglow.forgetting import forget_owner, forget_session, forget_turns
from afterglow.search.memory_search import memory_search
from afterglow.store import forgetting as verbs_of_forgetting
from afterglow.store.contract import Store
from afterglow.store.facts import Again, Gathered, WantedFacts
from afterglow.store.inbox import Waiting
from afterglow.store.log import Entry, Shown
from afterglow.store.readings import Read
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE
from afterglow.work import Due
from tests.faults import verbs
from tests.kit.databases import all_indexed
from tests.kit.facts import remember
from tests.kit.forgetting import (
    LIMITS,
    OWNER,
    SECRET,
    chain,
    exported,
    fact,
    holders,
    kinds_due,
    made,
    memory_over,
    merged,
    miscounted,
    store_facts,
    talk,
)
from tests.kit.promises import broken, dump
from tests.kit.records import KATE, NOON, OTHER, said

pytestmark = pytest.mark.spec("SAFE-3", "P12")


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
    if isinstance(store, SQLiteStore):
        await all_indexed(store.path)
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


@pytest.mark.spec("CTX-7")
async def test_blocks_of_every_level_over_a_forgotten_turn_are_remade_of_what_is_left(store: Store) -> None:
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
    assert (back.status, back.why) == (status, why), "it was not approved meanwhile"


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


async def test_another_session_of_the_same_name_may_begin(store: Store, clock: FixedClock) -> None:
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


async def test_who_is_to_leave_nothing_leaves_nothing_though_another_had_begun_with_stones(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs_of_forgetting, "TURNS_AT_ONCE", 3)
    await talk(store, *(f"turn {seq}" for seq in range(5)))
    assert not (await store.forget_owner(OWNER)).done
    await forget_owner(store, OWNER, keep_stones=False)
    assert set(await holders(store, OWNER)) <= {"work", "work_heads"}


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


async def test_an_owner_that_goes_on_talking_begins_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
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


# --- with work under way


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


# --- besides


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
