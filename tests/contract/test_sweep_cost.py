"""SUM-3, SUM-4: looking for sessions without a summary costs what changed, not how many sessions there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from afterglow.clock import FixedClock, to_us
from afterglow.store import postgres, sqlite, summaries
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE, Tx
from tests.kit.records import NOON

pytestmark = [pytest.mark.spec("SUM-3"), pytest.mark.spec("SUM-4")]

SESSIONS, STALE = 2_000, 40
THE_PLANNERS = 20
"""Rows that PostgreSQL reads at most to learn how far an index reaches, before it reads what is asked for."""
Executed = list[tuple[str, Mapping[str, Any]]]


def many_sessions(tx: Tx) -> None:
    """Two thousand sessions a minute apart, every fiftieth with something said since its summary."""
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {SESSIONS})"
    tx.run("INSERT INTO owners (owner, created_at) VALUES ('o', 0)")
    tx.run(
        f"""INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, turns, said_seq, summary_seq)
            {numbers} SELECT 'o', 's' || i, 'kate', 'web', 'p', 'idle', 0, {to_us(NOON)} - i * CAST(60000000 AS BIGINT),
                             4, 4, CASE WHEN i % {SESSIONS // STALE} = 0 THEN 2 ELSE 4 END FROM n"""
    )


def sweep(tx: Tx) -> int:
    return summaries.sweep(tx, "periodic-sweep", NOON - timedelta(minutes=10), None, newest=8, oldest=2, now=NOON)


def drift(tx: Tx) -> int:
    quiet_before, since = NOON - timedelta(minutes=10), NOON - timedelta(days=30)
    return summaries.sweep(tx, "startup-drift", quiet_before, since, newest=1000, oldest=0, now=NOON)


def stale(tx: Tx) -> int:
    return len(summaries.stale_sessions(tx, NOON - timedelta(days=30), 1000, None))


LOOKS: Mapping[str, tuple[Callable[[Tx], int], int]] = {
    "sweep": (sweep, 10),
    "drift": (drift, STALE),
    "all": (stale, STALE),
}
"""Each way to look, and how many sessions it finds."""


def statements(monkeypatch: pytest.MonkeyPatch, transaction: type[Tx]) -> Executed:
    """What is executed from now on and reads sessions."""
    executed: Executed = []
    execute: Any = transaction._execute

    def noted(self: Any, sql: str, values: Mapping[str, Any]) -> Any:
        if "FROM sessions" in sql and "EXPLAIN" not in sql:
            executed.append((sql, values))
        return execute(self, sql, values)

    monkeypatch.setattr(transaction, "_execute", noted)
    return executed


async def plans(store: Store, executed: Executed, explain: str, column: str) -> list[str]:
    def run(tx: Tx) -> list[str]:
        return [
            "\n".join(row[column] for row in tx._execute(f"{explain} {sql}", values)) for sql, values in list(executed)
        ]

    return await store._read("plans", EVERYONE, run)


@pytest.mark.parametrize("look", LOOKS)
async def test_sqlite_finds_stale_sessions_by_their_own_index(
    look: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", FixedClock(NOON))
    await store._write("many", EVERYONE, many_sessions)
    executed = statements(monkeypatch, sqlite._SQLiteTx)
    verb, wanted = LOOKS[look]
    assert await store._write(look, EVERYONE, verb) == wanted
    found = await plans(store, executed, "EXPLAIN QUERY PLAN", "detail")
    assert found and all("USING INDEX sessions_stale" in plan for plan in found), found
    assert not any(re.search(r"SCAN (sessions|work)\b", plan) for plan in found), found
    await store.close()


@pytest.mark.parametrize("look", LOOKS)
async def test_postgresql_finds_stale_sessions_by_their_own_index(
    look: str, postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await PostgresStore.open(postgres_address, FixedClock(NOON))
    await store._write("many", EVERYONE, many_sessions)
    with psycopg.connect(postgres_address, autocommit=True) as connection:
        connection.execute("ANALYZE")
    executed = statements(monkeypatch, postgres._PostgresTx)
    verb, wanted = LOOKS[look]
    assert await store._write(look, EVERYONE, verb) == wanted
    found = await plans(store, executed, "EXPLAIN", "QUERY PLAN")
    assert found and all("sessions_stale" in plan for plan in found), found
    assert not any("Seq Scan on sessions" in plan for plan in found), found
    await store.close()


@pytest.mark.parametrize("look", LOOKS)
async def test_postgresql_reads_few_more_sessions_than_it_finds(look: str, postgres_address: str) -> None:
    store = await PostgresStore.open(postgres_address, FixedClock(NOON))
    await store._write("many", EVERYONE, many_sessions)
    with psycopg.connect(postgres_address, autocommit=True) as connection:
        connection.execute("ANALYZE")
    verb, wanted = LOOKS[look]

    def rows_read(tx: Tx) -> int:
        row = tx.one(
            """SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables
               WHERE schemaname = current_schema() AND relname = 'sessions'"""
        )
        return row["read"]

    def counted(tx: Tx) -> int:
        before = rows_read(tx)
        assert verb(tx) == wanted
        return rows_read(tx) - before

    read = await store._write(look, EVERYONE, counted)
    assert wanted <= read <= wanted + THE_PLANNERS, "of two thousand"
    await store.close()
