"""The log's promises, on every store."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest

from afterglow import failpoints
from afterglow.clock import FixedClock
from afterglow.errors import BadInput, NotFound
from afterglow.store.contract import Store
from afterglow.store.log import Entry, Shown
from afterglow.store.transaction import EVERYONE
from afterglow.turns import Binding, Session
from tests.conftest import OpenStore
from tests.kit.records import KATE, NOON, OTHER, said

pytestmark = pytest.mark.spec("P13")


@pytest.mark.spec("LOG-1")
async def test_turns_are_numbered_from_one_without_gaps(store: Store) -> None:
    turns = [await store.append(KATE.owner, KATE, said(f"turn {n}")) for n in range(5)]
    assert [turn.seq for turn in turns] == [1, 2, 3, 4, 5]
    assert len({turn.session for turn in turns}) == 1


@pytest.mark.spec("LOG-1")
async def test_many_callers_at_once_get_numbers_without_gaps(store: Store) -> None:
    turns = await asyncio.gather(*(store.append(KATE.owner, KATE, said(f"turn {n}")) for n in range(40)))
    assert sorted(turn.seq for turn in turns) == list(range(1, 41))
    stored = await store.turns(KATE.owner, turns[0].session)
    assert {turn.text for turn in stored} == {f"turn {n}" for n in range(40)}


@pytest.mark.spec("LOG-1")
async def test_the_same_key_again_gives_the_same_turn(store: Store) -> None:
    first = await store.append(KATE.owner, KATE, said("hello", key="m-1"))
    again = await store.append(KATE.owner, KATE, said("hello again", key="m-1"))
    assert again == first
    assert len(await store.turns(KATE.owner, first.session)) == 1


@pytest.mark.spec("LOG-1")
async def test_a_key_is_remembered_after_its_session_was_closed(store: Store) -> None:
    first = await store.append(KATE.owner, KATE, said("hello", key="m-1"))
    await store.close_session(KATE.owner, first.session)
    assert await store.append(KATE.owner, KATE, said("hello", key="m-1")) == first


@pytest.mark.spec("LOG-1")
async def test_the_same_key_from_two_stores_at_once_gives_one_turn(open_store: OpenStore) -> None:
    one, two = await open_store(), await open_store()
    turns = await asyncio.gather(
        *(each.append(KATE.owner, KATE, said("hello", key="m-1")) for each in (one, two, one, two))
    )
    assert len({(turn.session, turn.seq) for turn in turns}) == 1
    assert len(await one.sessions(EVERYONE)) == 1


@pytest.mark.spec("LOG-2")
async def test_a_turn_comes_back_as_it_was_written(store: Store) -> None:
    entry = said(
        "看 the results — zażółć 🌱",
        "assistant",
        parts=[{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"深": [1, 2.5, None, True]}}],
        recalled=[(0, 3), (5, 7)],
        channel="telegram",
        model="small-1",
        usage={"input_tokens": 12, "output_tokens": 7},
        key="k",
        removed={"OpenAI key": 1},
        origin="agent",
    )
    written = await store.append(KATE.owner, KATE, entry)
    read = await store.turn(KATE.owner, written.session, 1)
    assert read == written
    draft = entry.draft
    assert (read.role, read.text, read.at, read.tokens, read.trust, read.origin) == (
        "assistant", draft.text, NOON, draft.tokens, "agent", "agent"
    )  # fmt: skip
    assert (list(read.parts), list(read.recalled)) == (draft.parts, draft.recalled)
    assert (read.channel, read.model, read.usage, read.key, read.removed) == (
        "telegram", "small-1", {"input_tokens": 12, "output_tokens": 7}, "k", {"OpenAI key": 1}
    )  # fmt: skip


@pytest.mark.spec("LOG-6")
async def test_a_giant_turn_is_stored_whole_and_listed_by_its_head_and_tail(store: Store) -> None:
    text = "a" * 300_000
    shown = Shown(text="aaa … aaa", parts=())
    entry = Entry(draft=said(text).draft, terms=["a"], bytes=300_000, shown=shown)
    written = await store.append(KATE.owner, KATE, entry)
    (listed,) = await store.tail(KATE.owner, written.session, 5)
    assert (listed.text, listed.cut, listed.bytes) == ("aaa … aaa", True, 300_000)
    whole = await store.turn(KATE.owner, written.session, 1)
    assert whole.text == text
    assert not whole.cut


@pytest.mark.spec("LOG-7")
async def test_a_run_of_turns_and_the_tail_can_be_read(store: Store) -> None:
    for n in range(1, 11):
        turn = await store.append(KATE.owner, KATE, said(f"turn {n}"))
    session = turn.session
    assert [t.seq for t in await store.turns(KATE.owner, session, first_seq=3, last_seq=5)] == [3, 4, 5]
    assert [t.seq for t in await store.turns(KATE.owner, session, first_seq=8, limit=2)] == [8, 9]
    assert [t.seq for t in await store.tail(KATE.owner, session, 3)] == [8, 9, 10]
    assert len(await store.tail(KATE.owner, session, 99)) == 10


@pytest.mark.spec("LOG-7")
async def test_an_owners_turns_are_read_newest_first_page_by_page(store: Store, clock: FixedClock) -> None:
    for n in range(7):
        clock.move(1)
        await store.append(KATE.owner, KATE, said(f"turn {n}", at=clock.now()))
    first = await store.turns_before(KATE.owner, None, 4)
    last = first[-1]
    rest = await store.turns_before(KATE.owner, (int(last.at.timestamp() * 1e6), last.session, last.seq), 4)
    assert [turn.text for turn in first + rest] == [f"turn {n}" for n in reversed(range(7))]


async def test_the_counters_follow_the_turns(store: Store) -> None:
    for role in ("user", "user", "assistant", "tool", "assistant", "user", "assistant"):
        turn = await store.append(KATE.owner, KATE, said("four words of text", role))
    session = await store.session(KATE.owner, turn.session)
    assert (session.turns, session.exchanges, session.tokens) == (7, 2, 7 * 5)


async def test_a_message_after_the_session_closed_opens_a_new_one(store: Store) -> None:
    first = await store.append(KATE.owner, KATE, said("hello"))
    closed = await store.close_session(KATE.owner, first.session)
    assert closed.state == "closed"
    assert await store.current_session(KATE) is None
    second = await store.append(KATE.owner, KATE, said("hello again"))
    third = await store.append(KATE.owner, first.session, said("to the old name"))
    assert second.session != first.session
    assert (third.session, third.seq) == (second.session, 2)


async def test_two_stores_that_open_a_session_at_once_open_one(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(4)]
    turns = await asyncio.gather(*(each.append(KATE.owner, KATE, said("hi")) for each in stores * 5))
    assert len({turn.session for turn in turns}) == 1


async def test_a_session_can_be_opened_under_a_name_of_its_own(store: Store) -> None:
    opened = await store.open_session(KATE, "my-thread")
    assert (await store.open_session(KATE, "my-thread")) == opened
    turn = await store.append(KATE.owner, "my-thread", said("hello"))
    assert (turn.session, turn.seq) == ("my-thread", 1)
    with pytest.raises(BadInput, match="another binding"):
        await store.open_session(Binding(agent="kate", channel="web", sender="ana"), "my-thread", owner=KATE.owner)


@pytest.mark.spec("SAFE-2")
async def test_a_session_of_another_owner_is_not_there(store: Store) -> None:
    turn = await store.append(KATE.owner, KATE, said("a secret of ana"))
    attempts = (
        store.append(OTHER.owner, turn.session, said("let me in")),
        store.turns(OTHER.owner, turn.session),
        store.turn(OTHER.owner, turn.session, 1),
        store.tail(OTHER.owner, turn.session, 5),
        store.session(OTHER.owner, turn.session),
        store.close_session(OTHER.owner, turn.session),
    )
    for attempt in attempts:
        with pytest.raises(NotFound):
            await attempt
    assert await store.sessions(OTHER.owner) == []
    assert await store.turns_before(OTHER.owner, None, 10) == []
    assert len(await store.turns(KATE.owner, turn.session)) == 1


async def test_sessions_are_listed_newest_first_page_by_page(store: Store, clock: FixedClock) -> None:
    for n in range(5):
        clock.move(60)
        binding = Binding(agent="kate", channel="web", sender=f"s{n}")
        await store.append(binding.owner, binding, said("hi", at=clock.now()))
    first = await store.sessions(EVERYONE, limit=3)
    rest = await store.sessions(EVERYONE, limit=3, before=first[-1])
    assert [session.binding.sender for session in first + rest] == ["s4", "s3", "s2", "s1", "s0"]


async def test_an_alias_joins_two_owners_and_rewrites_no_row(store: Store) -> None:
    mine = await store.append(KATE.owner, KATE, said("from telegram"))
    web = Binding(agent="kate", channel="web", sender="ana")
    theirs = await store.append(web.owner, web, said("from the web"))

    joined = await store.join(web.owner, KATE.owner)

    assert (joined.id, joined.joined) == (KATE.owner, (web.owner,))
    for owner in (KATE.owner, web.owner):
        assert {s.id for s in await store.sessions(owner)} == {mine.session, theirs.session}
        assert len(await store.turns_before(owner, None, 10)) == 2
    assert (await store.turn(KATE.owner, theirs.session, 1)).owner == web.owner
    assert (await store.append(web.owner, web, said("more"))).session == theirs.session
    await store.close_session(KATE.owner, theirs.session)
    again = await store.append(web.owner, web, said("again", key="k"))
    assert again.owner == web.owner
    assert {s.id for s in await store.sessions(KATE.owner)} == {mine.session, theirs.session, again.session}

    await store.part(web.owner)
    assert {s.id for s in await store.sessions(web.owner)} == {theirs.session, again.session}
    assert [s.id for s in await store.sessions(KATE.owner)] == [mine.session]
    assert await store.append(web.owner, web, said("again", key="k")) == again


async def test_an_owner_that_does_not_exist_is_not_joined(store: Store) -> None:
    await store.append(KATE.owner, KATE, said("hi"))
    for owner, to in ((KATE.owner, "typo"), ("typo", KATE.owner)):
        with pytest.raises(NotFound, match="no owner 'typo'"):
            await store.join(owner, to)
    assert [owner.id for owner in await store.owners()] == [KATE.owner]


async def test_a_chain_of_aliases_ends_at_one_owner(store: Store) -> None:
    a, b, c = (Binding(agent="kate", channel=channel, sender="ana") for channel in ("a", "b", "c"))
    for binding in (a, b, c):
        await store.append(binding.owner, binding, said("hi"))
    await store.join(b.owner, a.owner)
    await store.join(a.owner, c.owner)
    for binding in (a, b, c):
        assert len(await store.sessions(binding.owner)) == 3
    with pytest.raises(BadInput, match="already one owner"):
        await store.join(c.owner, a.owner)
    assert [owner.id for owner in await store.owners()] == [c.owner]


async def test_owners_with_a_session_of_the_same_name_are_not_joined(store: Store) -> None:
    await store.open_session(KATE, "main")
    await store.open_session(OTHER, "main")
    with pytest.raises(BadInput, match="both have a session 'main'"):
        await store.join(OTHER.owner, KATE.owner)
    assert len(await store.sessions(KATE.owner)) == 1


async def test_a_session_that_is_being_opened_is_seen_by_a_join(store: Store) -> None:
    await store.open_session(KATE, "main")
    await store.append(OTHER.owner, OTHER, said("hi"))
    reached, released = threading.Event(), threading.Event()

    def hold() -> None:
        reached.set()
        released.wait(20)

    failpoints.arm("open_session:before", hold)
    opening = asyncio.create_task(store.open_session(OTHER, "main"))
    await asyncio.to_thread(reached.wait, 20)
    joining = asyncio.create_task(store.join(OTHER.owner, KATE.owner))
    await asyncio.sleep(0.2)
    released.set()
    await opening
    with pytest.raises(BadInput, match="both have a session 'main'"):
        await joining


def _imported(owner: Binding, **more: Any) -> Session:
    """A closed session as an export has it."""
    times = {"created_at": NOON, "last_at": NOON, "closed_at": NOON}
    return Session(owner=owner.owner, id="main", binding=owner, state="closed", **{**times, **more})


@pytest.mark.spec("LOG-7", "SAFE-2")
async def test_a_session_that_is_imported_leaves_another_owners_session_of_the_same_name_as_it_is(store: Store) -> None:
    await store.open_session(OTHER, "main")
    await store.append(OTHER.owner, "main", said("mine", at=NOON + timedelta(hours=1)))
    before = await store.session(OTHER.owner, "main")
    assert await store.restore_session(_imported(KATE, turns=2)) == 0
    assert (await store.session(KATE.owner, "main")).state == "closed"
    assert await store.session(OTHER.owner, "main") == before


@pytest.mark.spec("LOG-7")
async def test_turns_are_imported_only_behind_those_that_are_there(store: Store) -> None:
    await store.restore_session(_imported(KATE, turns=2))
    await store.restore_turns(KATE.owner, "main", 1, [said("one")])
    for first_seq in (1, 3):  # again, as by a second import beside this one; and with a gap
        with pytest.raises(BadInput, match="has 1 turns"):
            await store.restore_turns(KATE.owner, "main", first_seq, [said("two")])
    assert [(turn.seq, turn.text) for turn in await store.turns(KATE.owner, "main")] == [(1, "one")]


@pytest.mark.spec("SAFE-2")
async def test_turns_of_two_owners_with_a_session_of_the_same_name_are_read_apart(store: Store) -> None:
    for binding in (KATE, OTHER):
        await store.open_session(binding, "main")
        await store.append(binding.owner, "main", said(f"of {binding.sender}"))
    assert [turn.text for turn in await store.turns(KATE.owner, "main")] == ["of ana"]
    assert [turn.text for turn in await store.turns(OTHER.owner, "main")] == ["of ben"]
