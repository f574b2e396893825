"""Search by words: the same answer, in the same order, on every store."""

from __future__ import annotations

import asyncio
import logging
import random
import sqlite3
import threading
from pathlib import Path

import pytest

from afterglow import failpoints
from afterglow.clock import FixedClock
from afterglow.search import words
from afterglow.search.hits import by_words
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.turns import Binding
from tests.kit.databases import all_indexed, unindexed
from tests.kit.records import KATE, NOON, OTHER, said

WEB = Binding(agent="kate", channel="web", sender="ana")
TALK = [
    (KATE, "user", "My dog Rufus is allergic to chicken, so buy the salmon food."),
    (KATE, "assistant", "Noted. Salmon food for Rufus from now on; chicken, chicken broth and chicken fat are out."),
    (KATE, "user", "And the dentist moved us to 3 March at 14:30."),
    (KATE, "assistant", "I moved the dentist appointment to 3 March, 14:30."),
    (WEB, "user", "Zażółć gęślą jaźń: spotkanie z Łukaszem w środę."),
    (WEB, "assistant", "我已经把会议改到星期三下午。"),
    (WEB, "user", "请提醒我给妈妈打电话，她住在上海。"),
    (WEB, "user", "The deploy of INC-4471 failed in src/app/server.py with ConnectionResetError."),
    (OTHER, "user", "My dog is called Rufus too, and he loves chicken."),
]
QUERIES = ["allergies of the dog", "chicken", "when is the dentist", "zazolc lukasz", "会议", "上海 电话", "INC-4471",
           "server.py", "connection reset", "rufus salmon dentist", "nothing of that kind"]  # fmt: skip


async def fill(store: Store, talk: list[tuple[Binding, str, str]]) -> None:
    clock = FixedClock(NOON)
    for binding, role, text in talk:
        clock.move(60)
        await store.open_session(binding, f"s-{binding.channel}-{binding.sender}")
        await store.append(binding.owner, binding, said(text, role, at=clock.now(), terms=words.terms(text)))


async def find(store: Store, query: str, owner: str = KATE.owner) -> list[tuple[str, int, float | None]]:
    found = await by_words(store, owner, query, 20)
    return [(hit.session, hit.seq, hit.score) for hit in found.hits]


@pytest.mark.spec("LOG-7")
async def test_words_are_found_in_any_form_and_any_language(store: Store) -> None:
    await fill(store, TALK)
    await store.join(WEB.owner, KATE.owner)
    for query, session, seq in [
        ("allergic dogs", "s-telegram-ana", 1),
        ("dentists", "s-telegram-ana", 3),
        ("zazolc", "s-web-ana", 1),
        ("zażółć spotkanie", "s-web-ana", 1),
        ("会议", "s-web-ana", 2),
        ("上海", "s-web-ana", 3),
        ("inc-4471", "s-web-ana", 4),
        ("connection reset error", "s-web-ana", 4),
    ]:
        assert (await find(store, query))[0][:2] == (session, seq), query
    assert await find(store, "unicorns") == []


@pytest.mark.spec("SAFE-2")
async def test_one_owner_never_finds_anothers_words(store: Store) -> None:
    await fill(store, TALK)
    assert {session for session, _, _ in await find(store, "rufus chicken", OTHER.owner)} == {"s-telegram-ben"}
    assert {session for session, _, _ in await find(store, "rufus chicken")} == {"s-telegram-ana"}
    assert await find(store, "dentist", OTHER.owner) == []


@pytest.mark.spec("LOG-7", "P13")
async def test_both_databases_rank_alike_to_the_last_bit(tmp_path: Path, postgres_address: str) -> None:
    chance = random.Random(7)
    vocabulary = [f"word{n}" for n in range(40)] + ["会议", "上海", "zażółć", "server.py", "INC-4471"]
    talk = TALK + [
        (chance.choice([KATE, WEB, OTHER]), chance.choice(["user", "assistant", "tool"]),
         " ".join(chance.choices(vocabulary, k=chance.randint(1, 40))))
        for _ in range(150)
    ]  # fmt: skip
    sqlite = await SQLiteStore.open(tmp_path / "a.db", FixedClock(NOON))
    postgres = await PostgresStore.open(postgres_address, FixedClock(NOON))
    for store in (sqlite, postgres):
        await fill(store, talk)
        await store.join(WEB.owner, KATE.owner)
    for query in [*QUERIES, *(" ".join(chance.sample(vocabulary, 3)) for _ in range(20))]:
        assert await find(sqlite, query) == await find(postgres, query), query
    await sqlite.close()
    await postgres.close()


@pytest.mark.spec("LOG-7")
async def test_words_are_found_before_the_index_has_them_and_after(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    monkeypatch.setattr("afterglow.store.sqlite._QUIET_SECONDS", 3600)
    lazy = await SQLiteStore.open(path, clock)
    await fill(lazy, TALK)
    before = [await find(lazy, query) for query in QUERIES]
    assert unindexed(path) == len(TALK)
    await lazy.close()
    monkeypatch.setattr("afterglow.store.sqlite._QUIET_SECONDS", 0.001)
    prompt = await SQLiteStore.open(path, clock)
    await all_indexed(path)
    assert [await find(prompt, query) for query in QUERIES] == before
    assert await prompt.check() == []
    await prompt.close()


@pytest.mark.spec("LOG-7", "P7")
async def test_an_index_that_cannot_be_written_does_not_hold_up_writers(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    monkeypatch.setattr("afterglow.store.sqlite._QUIET_SECONDS", 0.001)
    path = tmp_path / "a.db"
    store = await SQLiteStore.open(path, clock)
    disk_is_full = True

    tried = threading.Event()

    def fail(place: str) -> None:
        if place == "index:before" and disk_is_full:
            tried.set()
            raise sqlite3.OperationalError("database or disk is full")

    failpoints.watch(fail)
    await fill(store, TALK[:1])
    assert await asyncio.to_thread(tried.wait, 60)
    assert unindexed(path) == 1
    assert len(await find(store, "salmon")) == 1
    disk_is_full = False
    await fill(store, TALK[1:2])
    await all_indexed(path)
    assert len(await find(store, "salmon")) == 2
    await store.close()
