"""Afterglow's store beside the OpenAI Agents SDK's SQLiteSession, at 10,000 items, in one run.

Both write to a file with WAL and `synchronous=FULL`: SQLiteSession sets the first and SQLite's own default is the second
(the run reads it back and says so). Ours does more with each message: it numbers it, counts, and indexes its words, whose
cutting is part of the time measured here.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

from agents import SQLiteSession

from afterglow.search.words import terms
from afterglow.store.contract import Store
from afterglow.store.log import Entry
from afterglow.turns import Binding, Draft, Role
from benchmarks import Act, arguments, draw, environment, in_turns, percentiles, save, table, texts
from benchmarks.store import opened

ITEMS = 10_000
TAIL = 20
SOMEBODY = Binding(agent="kate", channel="telegram", sender="ana")
OURS, THEIRS = "Afterglow", "SQLiteSession"
SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")


def entry(role: Role, text: str) -> Entry:
    trust = "owner" if role == "user" else "agent"
    draft = Draft(role=role, text=text, trust=trust, origin="person", at=datetime.now(UTC), tokens=len(text) // 4)
    return Entry(draft=draft, terms=terms(text), bytes=len(text.encode()))


def our_acts(store: Store, session: str) -> dict[str, Act]:
    words = cycle(texts(2000))
    owner = SOMEBODY.owner

    async def pair(_: int) -> None:
        await asyncio.gather(
            store.append(owner, session, entry("user", next(words))),
            store.append(owner, session, entry("assistant", next(words))),
        )

    async def one_by_one(_: int) -> None:
        await store.append(owner, session, entry("user", next(words)))
        await store.append(owner, session, entry("assistant", next(words)))

    async def tail(_: int) -> None:
        assert len(await store.tail(owner, session, TAIL)) == TAIL

    return {"pair": pair, "one by one": one_by_one, "tail": tail}


def their_acts(session: SQLiteSession) -> dict[str, Act]:
    words = cycle(texts(2000))

    async def pair(_: int) -> None:
        await session.add_items([item("user", next(words)), item("assistant", next(words))])

    async def one_by_one(_: int) -> None:
        await session.add_items([item("user", next(words))])
        await session.add_items([item("assistant", next(words))])

    async def tail(_: int) -> None:
        assert len(await session.get_items(limit=TAIL)) == TAIL

    return {"pair": pair, "one by one": one_by_one, "tail": tail}


def item(role: str, text: str) -> Any:
    return {"role": role, "content": text}


async def filled(store: Store, theirs: SQLiteSession, items: int) -> str:
    """Both with so many items, the same ones; the answer is our session's name."""
    session = await store.open_session(SOMEBODY)
    words, roles = cycle(texts(2000)), cycle(("user", "assistant"))
    made = [(next(roles), next(words)) for _ in range(items)]
    await theirs.add_items([item(role, text) for role, text in made])
    for start in range(0, items, 500):
        batch = [entry(role, text) for role, text in made[start : start + 500]]
        await store.restore_turns(SOMEBODY.owner, session.id, start + 1, batch)
    return session.id


async def measure(folder: Path, quick: bool) -> dict[str, Any]:
    rounds, calls = (3, 50) if quick else (11, 100)
    async with AsyncExitStack() as stack:
        store, theirs = await opened(stack, folder / "ours.db"), SQLiteSession("one", folder / "theirs.db")
        stack.callback(theirs.close)
        ours_acts, theirs_acts = our_acts(store, await filled(store, theirs, ITEMS)), their_acts(theirs)
        figures: dict[str, Any] = {
            "environment": environment("openai-agents"),
            "items": ITEMS,
            "settings": {OURS: settings(store._writing), THEIRS: settings(theirs._get_connection())},
        }
        for name in ours_acts:
            acts = {OURS: ours_acts[name], THEIRS: theirs_acts[name]}
            figures[name] = await compare(acts, rounds, calls)
    return figures


async def compare(acts: dict[str, Act], rounds: int, calls: int) -> dict[str, Any]:
    await in_turns(acts, calls)
    runs = [await in_turns(acts, calls) for _ in range(rounds)]
    return percentiles(runs, THEIRS)


def settings(connection: sqlite3.Connection) -> dict[str, str]:
    """How durable a connection's commits are, as it says itself."""
    journal, synchronous = (
        connection.execute(f"PRAGMA {what}").fetchone()[0] for what in ("journal_mode", "synchronous")
    )
    return {"journal_mode": journal, "synchronous": SYNCHRONOUS[synchronous]}


def report(figures: dict[str, Any]) -> str:
    names = {"pair": "add a pair at once", "one by one": "add a pair one by one", "tail": f"read the last {TAIL}"}
    rows = [
        (
            label,
            *(figures[name]["p50"]["median"][who] for who in (OURS, THEIRS)),
            figures[name]["p50"]["ratio"][OURS],
            figures[name]["p95"]["ratio"][OURS],
        )
        for name, label in names.items()
    ]
    heads = (f"{figures['items']:,} items, µs", OURS, THEIRS, "p50 ratio", "p95 ratio")
    return f"{table(heads, rows)}\n\nsettings: {figures['settings']}"


def main() -> None:
    quick = arguments(__doc__ or "").parse_args().quick
    with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
        figures = asyncio.run(measure(Path(folder), quick))
    print(report(figures))
    if not quick:
        save("agents_session", figures)
        draw(
            "agents_session",
            f"Median time at {ITEMS:,} items",
            [
                (f"{who}, {label}", value, f"{value:,.0f} µs")
                for name, label in (("pair", "add a pair"), ("tail", "last 20"))
                for who, value in figures[name]["p50"]["median"].items()
            ],
        )


if __name__ == "__main__":
    main()
