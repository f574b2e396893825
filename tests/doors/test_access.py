"""Tokens, links and browsers that are signed in, in the store."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from afterglow import FixedClock, NotAllowed
from afterglow.store.access import is_used_anew
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from tests.kit.records import KATE, NOON, OTHER, said

pytestmark = pytest.mark.spec("SAFE-1")

SOON = NOON + timedelta(minutes=10)
LATER = NOON + timedelta(days=7)


@pytest.mark.both
async def test_a_token_knows_whom_it_is_bound_to_and_when_it_was_used(store: Store, clock: FixedClock) -> None:
    made = await store.add_token("phone", "read", "secret", owner=KATE.owner)
    assert (made.owner, made.scope, made.last_used_at) == (KATE.owner, "read", None)
    await store.note_use(made.id)
    clock.move(59)
    await store.note_use(made.id)
    found = await store.find_token("secret")
    assert found is not None and found.last_used_at == NOON and not is_used_anew(found, clock.now())
    clock.move(1)
    assert is_used_anew(found, clock.now())
    await store.note_use(made.id)
    (listed,) = await store.tokens()
    assert listed.last_used_at == NOON + timedelta(seconds=60)


@pytest.mark.both
async def test_a_token_that_is_over_or_revoked_opens_nothing(store: Store, clock: FixedClock) -> None:
    made = await store.add_token("short", "read", "secret", expires_at=SOON)
    assert await store.find_token("secret") == made and await store.is_open(made.id)
    clock.move(600)
    assert await store.find_token("secret") is None and not await store.is_open(made.id)
    other = await store.add_token("other", "read", "another")
    await store.revoke_token(other.id)
    assert await store.find_token("another") is None and not await store.is_open(other.id)


@pytest.mark.both
async def test_a_link_signs_in_once_and_no_later_than_its_time(store: Store, clock: FixedClock) -> None:
    await store.add_token("page", "owner", "code", kind="link", owner=KATE.owner, expires_at=SOON)
    assert await store.find_token("code") is None, "a link is no token"
    signed_in = await store.sign_in("code", "cookie", LATER)
    assert (signed_in.kind, signed_in.owner, signed_in.expires_at) == ("session", KATE.owner, LATER)
    for wrong in ("code", "cookie", "nothing"):
        with pytest.raises(NotAllowed, match="afterglow token link"):
            await store.sign_in(wrong, "cookie 2", LATER)
    assert await store.find_token("cookie") is None, "what a cookie holds is no token either"
    assert await store.find_token("cookie", "session") == signed_in
    await store.add_token("page", "owner", "late", kind="link", expires_at=clock.now() + timedelta(seconds=1))
    clock.move(1)
    with pytest.raises(NotAllowed):
        await store.sign_in("late", "cookie 3", LATER)


@pytest.mark.both
async def test_of_two_that_use_one_link_at_the_same_time_one_is_signed_in(store: Store) -> None:
    await store.add_token("page", "owner", "code", kind="link", expires_at=SOON)
    done = await asyncio.gather(
        *(store.sign_in("code", f"cookie {n}", LATER) for n in range(8)), return_exceptions=True
    )
    assert sum(not isinstance(each, BaseException) for each in done) == 1
    assert all(isinstance(each, NotAllowed) for each in done if isinstance(each, BaseException))
    assert len(await store.tokens("session")) == 1


@pytest.mark.both
async def test_who_is_forgotten_leaves_no_token_and_no_trace_of_what_happened(store: Store) -> None:
    for binding in (KATE, OTHER):
        await store.append(binding.owner, binding, said("hello"))
        await store.add_token(f"of {binding.sender}", "read", f"secret {binding.sender}", owner=binding.owner)
    while not (await store.forget_owner(KATE.owner)).done:
        pass
    assert [each.owner for each in await store.tokens()] == [OTHER.owner]
    assert not (await store.happened(KATE.owner, 0)).items
    assert (await store.happened(OTHER.owner, 0)).items


@pytest.mark.both
async def test_what_happens_is_known_in_order_and_to_its_owner_alone(store: Store) -> None:
    session = await store.open_session(KATE, "s")
    begun = await store.happened(KATE.owner, None)
    assert (begun.items, begun.whole) == ((), True)
    for text in ("one", "two"):
        await store.append(KATE.owner, session.id, said(text))
    await store.append(OTHER.owner, OTHER, said("theirs"))
    found = await store.happened(KATE.owner, begun.last)
    assert [(each.kind, each.session, each.number) for each in found.items] == [("turn", "s", 1), ("turn", "s", 2)]
    assert found.whole and found.last == found.items[-1].id
    assert not (await store.happened(KATE.owner, 10**6)).whole, "no reader was ever told of that number"
    assert {each.owner for each in (await store.happened(OTHER.owner, 0)).items} == {OTHER.owner}


async def keep_the_newest(store: Store, age: Callable[[], None]) -> None:
    await store.open_session(KATE, "s")
    await store.restore_turns(KATE.owner, "s", 1, [said(f"turn {n}") for n in range(300)])
    last = (await store.happened(KATE.owner, None)).last
    assert len((await store.happened(KATE.owner, 0, limit=20_000)).items) == last, "nothing is old enough to go"
    age()
    for n in range(101):
        await store.append(KATE.owner, "s", said(f"and {n}"))
    kept = [each.id for each in (await store.happened(KATE.owner, 0, limit=20_000)).items]
    assert kept and kept[0] > last, "what was old is gone"


async def test_of_what_happened_the_newest_ten_thousand_are_kept(tmp_path: Path, clock: FixedClock) -> None:
    path = tmp_path / "afterglow.db"
    store = await SQLiteStore.open(path, clock)

    def age() -> None:
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE sqlite_sequence SET seq = seq + 20000 WHERE name = 'happenings'")

    await keep_the_newest(store, age)
    await store.close()


@pytest.mark.whole
async def test_of_what_happened_the_newest_ten_thousand_are_kept_there_too(
    postgres_address: str, clock: FixedClock
) -> None:
    store = await PostgresStore.open(postgres_address, clock)

    def age() -> None:
        with psycopg.connect(postgres_address) as connection:
            connection.execute("SELECT setval('happenings_id_seq', (SELECT max(id) + 20000 FROM happenings))")

    await keep_the_newest(store, age)
    await store.close()
