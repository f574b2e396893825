"""What cannot be used is refused with a sentence that says what to do, and changes nothing."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from afterglow.clock import SystemClock
from afterglow.errors import BadInput, NotFound, StoreError, StoreUnavailable, StoreUnusable
from afterglow.store.contract import Store
from afterglow.store.log import Entry, Shown
from afterglow.store.postgres import PostgresLimits, PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE
from afterglow.turns import Binding, Draft, Owner, Span
from tests.faults.small_disk import unwritable_folder
from tests.faults.tasks import open_store as open_at
from tests.kit.faults import contents
from tests.kit.promises import broken, dump
from tests.kit.records import KATE, NOON, OTHER, said

# --- turns


@pytest.mark.spec("LOG-6", "P8")
@pytest.mark.parametrize("megabytes", [5, pytest.param(50, marks=pytest.mark.whole)])
async def test_a_turn_of_many_megabytes_is_stored_whole_and_read_back(store: Store, megabytes: int) -> None:
    text = "żółw and 亀 and 🐢 " * (megabytes * 44_000)
    size = len(text.encode())
    assert size > megabytes * 1_000_000
    draft = said(text, terms=[]).draft
    entry = Entry(draft=draft, terms=["tortoise"], bytes=size, shown=Shown(text=text[:100], parts=()))
    turn = await store.append(KATE.owner, KATE, entry)
    whole = await store.turn(KATE.owner, turn.session, 1)
    assert whole.text == text, "the text is not what was written"
    (listed,) = await store.tail(KATE.owner, turn.session, 1)
    assert (listed.cut, listed.bytes, len(listed.text)) == (True, size, 100)
    assert await broken(store) == []


REFUSED: list[tuple[Any, str]] = [
    ({"text": "a\0b"}, "NUL character at position 1"),
    ({"text": "a\ud800"}, "half of a surrogate pair at position 1"),
    ({"role": "wizard"}, "role 'wizard' is not known; use one of user, assistant, tool, system"),
    ({"trust": "blind"}, "trust 'blind' is not known; use one of"),
    ({"origin": "outer space"}, "origin 'outer space' is not known; use one of"),
    ({"at": datetime(2026, 3, 2)}, "has no zone; give one"),
    ({"key": ""}, "key must have 1 to 200 characters"),
    ({"key": "k" * 201}, "key must have 1 to 200 characters"),
    ({"key": "line\nbreak"}, "control characters"),
    ({"parts": [{"a": b"bytes"}]}, "a bytes, which JSON cannot"),
    ({"parts": [{"a": ["b", {"c": "\0"}]}]}, "NUL character"),
    ({"parts": [{1: "one"}]}, "a key that is not text"),
    ({"recalled": [(0, 99)]}, "lies outside a text of 4 characters"),
]


@pytest.mark.spec("LOG-2", "LOG-3")
def test_a_turn_that_cannot_be_kept_is_refused_before_it_reaches_the_store(subtests: pytest.Subtests) -> None:
    right: Any = {"role": "user", "text": "fine", "trust": "owner", "origin": "person"}
    Draft(**right)
    for wrong, sentence in REFUSED:
        with subtests.test(wrong=str(wrong)), pytest.raises(BadInput, match=sentence):
            Draft(**{**right, **wrong})


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"], ids=["NUL", "surrogate"])
@pytest.mark.spec("P13")
async def test_names_that_no_database_can_hold_are_refused_by_both_in_every_place(store: Store, bad: str) -> None:
    await store.append(KATE.owner, KATE, said("hello"))
    before = await dump(store)
    attempts: list[Callable[[], Any]] = [
        lambda: store.append(bad, KATE, said("x")),
        lambda: store.append(KATE.owner, bad, said("x")),
        lambda: store.open_session(KATE, bad),
        lambda: store.sessions(bad),
        lambda: store.session(KATE.owner, bad),
        lambda: store.turns(EVERYONE, bad),
        lambda: store.word_matches(KATE.owner, [bad]),
        lambda: store.join(bad, KATE.owner),
        lambda: store.retry(KATE.owner, subject=bad),
        lambda: store.add_token(bad, "read", "t"),
        lambda: Binding(agent=bad, channel="c", sender="s"),
    ]
    for attempt in attempts:
        with pytest.raises(BadInput, match=r"NUL|surrogate"):
            await attempt()
    assert await dump(store) == before


@pytest.mark.spec("P13")
async def test_a_number_that_no_database_can_hold_is_refused_by_both(store: Store) -> None:
    turn = await store.append(KATE.owner, KATE, said("hello"))
    with pytest.raises(BadInput, match="more than 64 bits"):
        await store.turn(KATE.owner, turn.session, 2**63)
    with pytest.raises(BadInput, match="more than 64 bits"):
        await store.append(KATE.owner, KATE, said("hello", tokens=2**63))


@pytest.mark.spec("SAFE-2")
async def test_an_owner_with_no_name_is_refused(store: Store) -> None:
    with pytest.raises(BadInput, match="owner's name is empty"):
        await store.sessions("")
    with pytest.raises(BadInput, match="owner's name is empty"):
        await store.append("", KATE, said("hello"))


@pytest.mark.spec("SAFE-2")
async def test_a_session_of_another_owner_is_told_apart_from_none_by_nothing(store: Store) -> None:
    turn = await store.append(OTHER.owner, OTHER, said("mine"))
    for verb in (store.session, store.turns, store.close_session):
        with pytest.raises(NotFound) as theirs:
            await verb(KATE.owner, turn.session)
        with pytest.raises(NotFound) as missing:
            await verb(KATE.owner, "x" * len(turn.session))
        assert str(theirs.value).replace(turn.session, "x" * len(turn.session)) == str(missing.value)


@pytest.mark.spec("LOG-1", "LOG-7")
async def test_an_import_that_would_use_a_key_twice_is_refused_whole(store: Store) -> None:
    await store.open_session(KATE, "old")
    before = await dump(store)
    with pytest.raises(BadInput, match="has a turn with the key 'k'"):
        await store.restore_turns(KATE.owner, "old", 1, [said("one"), said("two", key="k"), said("three", key="k")])
    assert await dump(store) == before


def test_a_span_that_runs_backwards_is_refused() -> None:
    with pytest.raises(BadInput, match="from 1 or later to its end"):
        Span(first_seq=5, last_seq=4)


@pytest.mark.spec("P13")
async def test_owners_whose_joined_owners_have_a_session_of_the_same_name_are_not_joined(store: Store) -> None:
    web = Binding(agent="kate", channel="web", sender="ana")
    await store.open_session(web, "main")
    await store.open_session(OTHER, "main")
    await store.open_session(KATE)
    await store.join(web.owner, KATE.owner)
    with pytest.raises(BadInput, match="both have a session 'main'"):
        await store.join(KATE.owner, OTHER.owner)
    assert (await store.session(KATE.owner, "main")).owner == web.owner


@pytest.mark.spec("P13")
async def test_two_who_join_each_other_at_once_become_one_owner_and_no_circle(store: Store) -> None:
    for number in range(20):
        a, b = f"a{number}", f"b{number}"
        for name in (a, b):
            await store.restore_owner(Owner(id=name, created_at=NOON))
        answers = await asyncio.gather(store.join(a, b), store.join(b, a), return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        assert [type(answer) for answer in refused] == [BadInput], answers
    assert all(len(owner.joined) == 1 for owner in await store.owners())


# --- databases


def with_version_99(address: str) -> None:
    if address.startswith("postgresql:"):
        with psycopg.connect(address) as connection:
            connection.execute("INSERT INTO schema_versions VALUES (99, 'from the future', 0)")
            connection.execute("CREATE TABLE from_the_future (x TEXT)")
    else:
        connection = sqlite3.connect(address)
        connection.execute("PRAGMA journal_mode = DELETE")  # as a later version might have it
        with connection:
            connection.execute("INSERT INTO schema_versions VALUES (99, 'from the future', 0)")
            connection.execute("CREATE TABLE from_the_future (x TEXT)")
        connection.close()


async def state_of(address: str) -> Any:
    """All there is at an address: the bytes of the files, or the rows of the tables."""
    if address.startswith("postgresql:"):
        return contents(address)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in Path(address).parent.iterdir()}


async def test_a_database_from_a_newer_version_is_refused_and_not_changed_by_a_byte(own_address: str) -> None:
    address = own_address
    store = await open_at(address)
    await store.append(KATE.owner, KATE, said("from the future"))
    await store.close()
    with_version_99(address)
    before = await state_of(address)
    for _ in range(2):
        with pytest.raises(
            StoreUnusable, match=r"has schema 99.*knows schemas up to \d+; upgrade.*Nothing was changed"
        ):
            await open_at(address)
    assert await state_of(address) == before


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with unwritable_folder(tmp_path / "locked") as folder:
        with pytest.raises(StoreUnusable, match=r"cannot write the database at .*make its folder writable"):
            await SQLiteStore.open(folder / "afterglow.db", SystemClock())


async def test_a_path_below_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnusable, match=r"cannot write the database at .*make its folder writable"):
        await SQLiteStore.open(tmp_path / "file" / "deeper" / "afterglow.db", SystemClock())


async def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="cannot write the database"):
        await SQLiteStore.open(tmp_path, SystemClock())


@pytest.mark.parametrize("content", [b"dear diary, " * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "afterglow.db"
    path.write_bytes(content)
    with pytest.raises(StoreUnusable, match=r"not a sound SQLite database .*restore it from a backup"):
        await SQLiteStore.open(path, SystemClock())
    assert path.read_bytes() == content


async def test_a_damaged_database_is_noticed_and_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "afterglow.db"
    store = await SQLiteStore.open(path, SystemClock())
    for number in range(300):
        await store.append(KATE.owner, KATE, said(f"turn {number} " * 20))
    await store.close()
    content = bytearray(path.read_bytes())
    for page in range(8, len(content) // 4096):
        content[page * 4096 : page * 4096 + 200] = os.urandom(200)
    path.write_bytes(content)
    with pytest.raises(StoreUnusable, match="not a sound SQLite database"):
        store = await SQLiteStore.open(path, SystemClock())
        try:
            for session in await store.sessions(EVERYONE):
                await store.turns(EVERYONE, session.id, limit=1000)
            await store.append(KATE.owner, KATE, said("on thin ice"))
        finally:
            await store.close()


async def test_check_finds_the_damage_that_reading_would_miss(tmp_path: Path) -> None:
    path = tmp_path / "afterglow.db"
    store = await SQLiteStore.open(path, SystemClock())
    for number in range(300):
        await store.append(KATE.owner, KATE, said(f"turn {number}"))
    assert await store.check() == []
    await store.close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM sessions")
    connection.close()
    store = await SQLiteStore.open(path, SystemClock())
    assert set(await store.check()) == {"a row of turns points at nothing"}
    assert await broken(store) != []
    await store.close()


# --- addresses of PostgreSQL


@pytest.fixture
def guarded_address(own_server: Any) -> str:
    """A server that asks this user for a password."""
    with psycopg.connect(own_server.get_uri(), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guarded")
        connection.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        rules = own_server.pgdata / "pg_hba.conf"
        first = "local all guarded scram-sha-256\n"
        if not rules.read_text().startswith(first):
            rules.write_text(first + rules.read_text())
        connection.execute("SELECT pg_reload_conf()")
    return own_server.get_uri().replace("postgres:@", "guarded:wrong-secret@")


IMPATIENT = PostgresLimits(pool_timeout_seconds=2)


async def test_a_wrong_password_is_said_to_be_wrong_and_not_shown(guarded_address: str) -> None:
    assert "wrong-secret" in guarded_address
    with pytest.raises(StoreUnusable, match=r"password authentication failed.*`database` in the settings") as refused:
        await PostgresStore.open(guarded_address, SystemClock(), IMPATIENT)
    assert "wrong-secret" not in str(refused.value)


async def test_a_database_that_does_not_exist_is_named(own_server: Any) -> None:
    with pytest.raises(StoreUnusable, match=r'database "nowhere" does not exist.*`database` in the settings'):
        await PostgresStore.open(own_server.get_uri(database="nowhere"), SystemClock(), IMPATIENT)


async def test_a_user_that_does_not_exist_is_named(own_server: Any) -> None:
    address = own_server.get_uri().replace("postgres:@", "stranger:@")
    with pytest.raises(StoreUnusable, match=r'role "stranger" does not exist.*`database` in the settings'):
        await PostgresStore.open(address, SystemClock(), IMPATIENT)


async def test_a_schema_that_does_not_exist_is_said_to_be_missing(own_server: Any) -> None:
    address = f"{own_server.get_uri()}&options=-csearch_path%3Dnowhere"
    with pytest.raises(StoreUnusable, match="has no schema to put tables in"):
        await PostgresStore.open(address, SystemClock(), IMPATIENT)


async def test_a_port_where_no_server_listens_can_be_tried_again_later() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(StoreUnavailable, match=r"cannot be reached now .*refused"):
            await PostgresStore.open(f"postgresql://me:secret@127.0.0.1:{port}/db", SystemClock(), IMPATIENT)


async def test_a_host_that_never_answers_is_given_up(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        with pytest.raises(StoreUnavailable, match="cannot be reached now"):
            await PostgresStore.open(f"postgresql://me:secret@127.0.0.1:{port}/db", SystemClock(), IMPATIENT)


async def test_a_host_that_does_not_exist_can_be_tried_again_later(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be reached now"):
        await PostgresStore.open(f"postgresql://me:secret@/db?host={tmp_path}/none", SystemClock(), IMPATIENT)


ADDRESSES = [
    "postgresql://ana:SECRET@db.example:5433/afterglow",
    "postgres://ana:SECRET@db.example/afterglow",
    "postgresql://ana:a%40SECRET%3Ab@db.example/afterglow?sslmode=require",
    "postgresql://db.example/afterglow?user=ana&password=SECRET",
    "postgresql:///afterglow?host=/run/postgresql&user=ana&password=SECRET&sslpassword=SECRET",
    "host=db.example dbname=afterglow user=ana password=SECRET",
    "host=db.example dbname=afterglow user=ana password='it is a SECRET'",
    "host=db.example dbname=afterglow user=ana password = 'a \\' SECRET'",
    "postgresql://ana:SECRET@one.example:5432,two.example:5433/afterglow",
]
UNREADABLE = [
    "postgresql//ana:SECRET@db.example/afterglow",
    "postgresql://ana:SECRET@db.example:port/afterglow",
    "postgresql://ana:SE%ZZCRET@db.example/afterglow",
    "password=SECRET dbname",
    "postgresql://ana:SECRET@db.example/afterglow?color=SECRET",
]


def test_a_password_is_shown_in_no_form_of_address(subtests: pytest.Subtests) -> None:
    for given in ADDRESSES:
        with subtests.test(given=given):
            store = PostgresStore(given, SystemClock(), PostgresLimits())
            assert "SECRET" not in store.where
            assert "ana" in store.where and "afterglow" in store.where


async def test_an_address_that_cannot_be_read_is_refused_and_not_shown(subtests: pytest.Subtests) -> None:
    for given in UNREADABLE:
        with subtests.test(given=given):
            with pytest.raises(StoreError) as refused:
                await PostgresStore.open(given, SystemClock(), IMPATIENT)
            assert "SECRET" not in str(refused.value) and "ana" not in str(refused.value).split()
            assert "SECRET" not in str(refused.value.__cause__)
