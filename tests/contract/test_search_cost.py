"""A search costs what it finds, not how many sessions there are: steps and rows are counted, since time is anybody's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from afterglow.clock import FixedClock
from afterglow.search.memory_search import memory_search
from afterglow.store import postgres, sqlite
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresLimits, PostgresStore
from afterglow.store.search import _mark
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE, Tx
from afterglow.turns import Binding
from tests.faults.verbs import all_of_them
from tests.kit.databases import all_indexed
from tests.kit.records import NOON, said

FEW, MANY = 20, 2_000
FOUND = 10
"""So many sessions of either owner speak of kettles."""
OWNERS = {"few": FEW, "many": MANY}
A_LITTLE = 1.2
"""Pages of an index that is larger."""


def fill(tx: Tx) -> None:
    """Two owners, of whom one has a hundred times as many sessions, and both have said the same of kettles."""
    tx.run("INSERT INTO search_embedders VALUES (1, 'some', 0, 0)")
    for owner, sessions in OWNERS.items():
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {sessions})"
        text = f"CASE WHEN i % {sessions // FOUND} = 0 THEN 'red kettle' ELSE 'word' || i || ' other' || i END"
        tx.run("INSERT INTO owners (owner, created_at) VALUES (:owner, 0)", owner=owner)
        tx.run(
            f"""INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, turns, user_turns,
                                      user_terms)
                {numbers} SELECT :owner, 's' || i, 'kate', 'web', 'p', 'closed', 0, i, 1, 1, 2 FROM n""",
            owner=owner,
        )
        tx.run(
            f"""INSERT INTO turns (owner, session, seq, role, text, parts, at, tokens, trust, origin, recalled, removed, bytes)
                {numbers} SELECT :owner, 's' || i, 1, 'user', {text}, '[]', i, 2, 'owner', 'person', '[]', :none, 10 FROM n""",
            owner=owner,
            none="{}",
        )
        tx.run(
            f"""INSERT INTO search_terms (owner, kind, place, seq, label, at, mark, terms)
                {numbers} SELECT :owner, 'turn', 's' || i, 1, 'user', i, :mark, {text} FROM n""",
            owner=owner,
            mark=_mark(owner, "user"),
        )
    tx.run("DELETE FROM search_fresh")
    tx.run("INSERT INTO search_vectors SELECT owner, 1, id, id, :vector FROM search_terms", vector=b"1")
    tx.words_written()


async def look(store: Store, owner: str) -> None:
    """All that a search reads: by words, and of the vectors what is new."""
    found = await memory_search(store, None, owner, "a red kettle", limit=FOUND)
    assert [hit.text for hit in found.hits] == ["red kettle"] * FOUND
    read = await store.vectors_after(owner, lambda generations: (generations[0], {}), FOUND)
    assert read is not None
    generation, (columns,) = read
    assert len(await store.vectors_of(owner, generation.number, columns.ids)) == FOUND
    assert len(await store.recalled(owner, columns.ids, all_of_them)) == FOUND


async def counted(store: Store, spent: list[int]) -> dict[str, int]:
    """What a search reads for each owner; the first has the plans made."""
    read: dict[str, int] = {}
    for owner in OWNERS:
        await look(store, owner)
        spent.clear()
        await look(store, owner)
        read[owner] = sum(spent)
    return read


def count_steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps of SQLite's machine, statement by statement."""
    spent: list[int] = []
    execute: Any = sqlite._SQLiteTx._execute

    def noted(self: Any, sql: str, values: Mapping[str, Any]) -> Any:
        self._connection.set_progress_handler(lambda: spent.append(1), 1)
        try:
            return execute(self, sql, values)
        finally:
            self._connection.set_progress_handler(None, 0)

    monkeypatch.setattr(sqlite._SQLiteTx, "_execute", noted)
    return spent


def count_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that PostgreSQL reads from tables, statement by statement."""
    spent: list[int] = []
    execute: Any = postgres._PostgresTx._execute
    rows_read = """SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS n FROM pg_stat_xact_user_tables
                   WHERE schemaname = current_schema()"""

    def noted(self: Any, sql: str, values: Mapping[str, Any]) -> Any:
        before = execute(self, rows_read, {})[0]["n"]
        rows = execute(self, sql, values)
        spent.append(execute(self, rows_read, {})[0]["n"] - before)
        return rows

    monkeypatch.setattr(postgres._PostgresTx, "_execute", noted)
    return spent


async def test_sqlite_takes_no_more_steps_for_a_search_among_many_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", FixedClock(NOON))
    await store._write("fill", EVERYONE, fill)
    await all_indexed(tmp_path / "afterglow.db")
    read = await counted(store, count_steps(monkeypatch))
    assert 0 < read["many"] < A_LITTLE * read["few"], read
    await store.close()


async def test_postgresql_reads_no_more_rows_for_a_search_among_many_sessions(
    postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await PostgresStore.open(postgres_address, FixedClock(NOON))
    await store._write("fill", EVERYONE, fill)
    with psycopg.connect(postgres_address, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    read = await counted(store, count_rows(monkeypatch))
    assert 0 < max(read.values()) < MANY / 2, read  # who has few may have all of them read
    await store.close()


async def test_turns_of_two_sessions_of_one_owner_do_not_wait_for_each_other(postgres_address: str) -> None:
    limits = PostgresLimits(lock_timeout_seconds=2)
    store = await PostgresStore.open(postgres_address, FixedClock(NOON), limits)
    for name in ("one", "two"):
        binding = Binding(agent="kate", channel="web", sender=name)
        await store.append("o", binding, said("a red kettle"), named=name)
    with psycopg.connect(postgres_address) as connection:
        parts = connection.execute("SELECT count(DISTINCT hashtext(id) & 15) FROM sessions").fetchone()
        assert parts == (2,), "else other names are needed here"
        connection.execute("UPDATE sessions SET user_terms = user_terms + 1 WHERE id = 'one'")
        assert (await store.append("o", "two", said("a blue kettle"))).seq == 2, "while the other is not committed"
    await store.close()
