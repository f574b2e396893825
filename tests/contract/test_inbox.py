"""Messages that wait for the agent: who hands an answer over, and how soon a line that failed is tried again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from afterglow.store.contract import Store
from afterglow.store.inbox import Waiting
from afterglow.work import Claim, Limits
from tests.kit.records import KATE, NOON, OTHER, said

pytestmark = pytest.mark.spec("AGENT-6")
LIMITS = Limits()


def waiting(key: str, listener: str | None = None) -> Waiting:
    names = {"agent": KATE.agent, "channel": KATE.channel, "sender": KATE.sender}
    about = {"owner": KATE.owner, "place": "line", "session": None, "reason": "user_message", "text": key}
    return Waiting(**about, **names, at=NOON, key=key, listener=listener)


async def claimed(store: Store) -> Claim:
    claim = await store.claim_one(KATE.owner, "reply", "line", holder="w", limits=LIMITS, anyway=True)
    assert claim is not None
    return claim


async def keys(store: Store) -> list[str]:
    return [each.key for each in await store.waiting_messages(KATE.owner, "line")]


async def seconds_to_wait(store: Store) -> float:
    """By the database's clock, which knows when the row was marked due: it goes on, the test's does not."""
    (work,) = await store.work_list(KATE.owner, kind="reply")
    before = work.ready_at
    await store.retry(KATE.owner, kind="reply", subject="line")
    (work,) = await store.work_list(KATE.owner, kind="reply")
    return (before - work.ready_at).total_seconds()


async def test_the_end_of_messages_says_which_of_them_still_waited(store: Store) -> None:
    for key in ("one", "two", "three"):
        await store.put_message(waiting(key))
    claim = await claimed(store)
    await store.take_messages(claim)
    assert await store.take_back(KATE.owner, "line", "two")
    ended = await store.end_messages(claim, ["one", "two", "three"], by="me")
    assert [each.key for each in ended] == ["one", "three"]
    assert await keys(store) == []


async def test_what_another_listens_for_stays_as_answered_until_it_is_handed_over(store: Store) -> None:
    for key in ("one", "two"):
        await store.put_message(waiting(key, "another"))
    claim = await claimed(store)
    ended = await store.end_messages(claim, ["one", "two"], by="me")
    assert [each.answered_at for each in ended] == [None, NOON], "one answer is handed over once"
    assert await keys(store) == ["two"]
    assert await store.work_list(KATE.owner, kind="reply") == [], "there is nothing to answer"
    await store.put_message(waiting("three", "me"))
    again = await claimed(store)
    assert [each.key for each in await store.take_messages(again)] == ["three"]
    assert await store.take_back(KATE.owner, "line", "two")
    assert not await store.take_back(KATE.owner, "line", "two"), "who took it first hands it over"


async def test_an_answer_that_no_process_is_to_hand_over_does_not_stay(store: Store) -> None:
    await store.put_message(waiting("one", "another"))
    await store.end_messages(await claimed(store), ["one"])
    assert await keys(store) == []


async def test_who_takes_a_message_again_listens_for_it_and_who_stops_listens_no_more(store: Store) -> None:
    await store.put_message(waiting("one", "first"))
    await store.put_message(waiting("one", "second"))
    assert (await store.put_message(waiting("one"))).listener == "second", "an import listens for nothing"
    await store.stop_listening("first")
    assert (await store.put_message(waiting("one"))).listener == "second"
    await store.stop_listening("second")
    assert (await store.put_message(waiting("one"))).listener is None


@pytest.mark.parametrize("comes", ["while it is tried", "after it failed", "not"])
async def test_a_message_that_comes_shortens_the_pause_after_a_failure(store: Store, comes: str) -> None:
    await store.put_message(waiting("one"))
    claim = await claimed(store)
    if comes == "while it is tried":
        await store.put_message(waiting("two"))
    await store.give_back(claim, "no", wait_seconds=50, park=True, asked_again_seconds=2)
    if comes == "after it failed":
        await store.put_message(waiting("two"))
    wait = await seconds_to_wait(store)
    assert wait > 20 if comes == "not" else wait <= 2


async def test_a_turn_is_found_by_its_key_in_whichever_session_of_the_binding(store: Store) -> None:
    first = await store.append(KATE.owner, KATE, said("hello", key="k"))
    await store.append(OTHER.owner, OTHER, said("hello from another", key="k"))
    await store.close_session(KATE.owner, first.session)
    await store.append(KATE.owner, KATE, said("anew", at=NOON + timedelta(hours=1)))
    assert await store.turn_by_key(KATE, "k", since=NOON) == first
    assert await store.turn_by_key(KATE, "another", since=NOON) is None
    assert await store.turn_by_key(replace(KATE, channel="mail"), "k", since=NOON) is None
