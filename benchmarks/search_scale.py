"""How long a search takes, by words and by meaning together, among 10,000 and among 1,000,000 turns of one owner.

    python -m benchmarks.search_scale                           # made words alone
    python -m benchmarks.search_scale --locomo locomo10.json    # and what people say: the tables of docs/search.md

Turns are written by SQL, 100 to a session. Made ones have about 200 characters, of words that no language has, some far more
common than others; a query is six words of one of them, no stop words among them. Those of LoCoMo are its turns again and
again, and the queries its questions. Made words fall into many more pieces for the embedder than questions of as many words.

Vectors are drawn by chance, since how near they are makes no difference to the time; the query is embedded in the measured
time, and so is everything up to the ten hits with their texts.
All is asked in five rounds. Told are the figures of the quietest, since others may use the processor; p95 of the middle one;
and p95 over the queries of the least that each took in any round, which is what the work itself takes.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

from afterglow.clock import SystemClock
from afterglow.search.embedders import chosen
from afterglow.search.meaning import Meaning
from afterglow.search.memory_search import memory_search
from afterglow.search.signs import packed
from afterglow.store.contract import Store
from afterglow.store.search import _mark, group_of  # pyright: ignore[reportPrivateUsage]
from afterglow.store.sqlite import SQLiteStore
from afterglow.terms import terms
from benchmarks import arguments, environment, save, table, texts
from benchmarks.search_locomo import read

OWNER = "kate/web/ana"
SESSION_TURNS = 100
DIFFERENT_TEXTS = 20_000
BATCH = 10_000
QUERIES = 200
QUERY_WORDS = 6
ROUNDS = 5
Talk = tuple[list[str], list[str]]
"""What is said, and what is asked."""


def fill(path: Path, turns: int, talk: Sequence[str], dimensions: int) -> None:
    """Write the turns, their words and their vectors."""
    said = [(text, terms(text)) for text in talk]
    chance = random.Random(2)
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;")
    with connection:
        connection.execute("INSERT INTO owners (owner, created_at) VALUES (?, 0)", (OWNER,))
        connection.execute("INSERT INTO search_embedders VALUES (1, ?, 0, 0)", (_name(),))
        for first in range(0, turns, BATCH):
            rows = list(_rows(first, min(BATCH, turns - first), said, chance))
            _insert(connection, rows, dimensions, first)
        connection.execute("DELETE FROM search_fresh")
        connection.execute(
            """INSERT INTO search_index (rowid, terms)
               SELECT id, mark || replace(terms, ' ', ' ' || mark) FROM search_terms ORDER BY id"""
        )
        connection.execute("UPDATE search_progress SET indexed_to = (SELECT max(id) FROM search_terms)")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _name() -> str:
    embedder = chosen("auto", environ={}, base_url=None, clock=SystemClock())
    assert embedder is not None, "pip install 'afterglow[meaning]'"
    return embedder.name


def _rows(first: int, count: int, said: list[Any], chance: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(first, first + count):
        text, cut = chance.choice(said)
        role = "assistant" if number % 2 else "user"
        yield {
            "owner": OWNER,
            "session": f"s{number // SESSION_TURNS:06}",
            "seq": number % SESSION_TURNS + 1,
            "role": role,
            "text": text,
            "at": number * 1_000_000,
            "mark": _mark(OWNER, group_of(role)),
            "terms": " ".join(cut),
            "count": len(cut),
            "id": number + 1,
        }


def _insert(connection: sqlite3.Connection, rows: list[dict[str, Any]], dimensions: int, seed: int) -> None:
    sessions: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        sessions.setdefault(row["session"], []).append(row)
    connection.executemany(
        """INSERT INTO sessions (owner, id, agent, channel, sender, state, created_at, last_at, turns, user_turns,
                                 user_terms, others_turns, others_terms)
           VALUES (?, ?, 'kate', 'web', 'ana', 'closed', 0, ?, ?, ?, ?, ?, ?)""",
        [
            (
                OWNER,
                name,
                held[-1]["at"],
                len(held),
                *(
                    figure
                    for role in ("user", "assistant")
                    for mine in [[row["count"] for row in held if row["role"] == role]]
                    for figure in (len(mine), sum(mine))
                ),
            )
            for name, held in sessions.items()
        ],
    )
    connection.executemany(
        """INSERT INTO turns (owner, session, seq, role, text, parts, at, tokens, trust, origin, recalled, removed, bytes)
           VALUES (:owner, :session, :seq, :role, :text, '[]', :at, 50, 'owner', 'person', '[]', '{}', 200)""",
        rows,
    )
    connection.executemany(
        """INSERT INTO search_terms (id, owner, kind, place, seq, label, at, mark, terms)
           VALUES (:id, :owner, 'turn', :session, :seq, :role, :at, :mark, :terms)""",
        rows,
    )
    drawn = np.random.default_rng(seed).standard_normal((len(rows), dimensions), dtype=np.float32)
    connection.executemany(
        "INSERT INTO search_vectors VALUES (?, 1, ?, ?, ?)",
        [(OWNER, row["id"], row["id"], vector) for row, vector in zip(rows, packed(drawn), strict=True)],
    )


def made() -> Talk:
    said = texts(DIFFERENT_TEXTS)
    return said, queries(said)


def locomo(path: Path) -> Talk:
    talks = read(path)
    said = [text for talk in talks for _, text in talk.turns.values()]
    asked = [question.text for talk in talks for question in talk.questions]
    return said, random.Random(3).sample(asked, QUERIES)


def queries(said: list[str]) -> list[str]:
    chance = random.Random(3)
    telling = [[word for word in text.split() if terms(word)] for text in said]
    return [" ".join(chance.sample(chance.choice(telling), QUERY_WORDS)) for _ in range(QUERIES)]


async def measured(store: Store, meaning: Meaning | None, asked: list[str]) -> dict[str, float]:
    begun = time.perf_counter()
    await memory_search(store, meaning, OWNER, asked[0])
    first = time.perf_counter() - begun
    rounds = sorted([await one_round(store, meaning, asked) for _ in range(ROUNDS)], key=lambda each: _p95(each[0]))
    times, worked = rounds[0]
    return {
        "first_seconds": round(first, 2),
        "p50_milliseconds": round(median(times), 1),
        "p95_milliseconds": _p95(times),
        "p95_milliseconds_of_processor": _p95(worked),
        "p95_milliseconds_of_the_middle_round": _p95(rounds[ROUNDS // 2][0]),
        "p95_milliseconds_of_each_at_its_quietest": _p95(
            [min(each) for each in zip(*(one for one, _ in rounds), strict=True)]
        ),
    }


def _p95(times: Sequence[float]) -> float:
    return round(quantiles(times, n=20)[-1], 1)


async def one_round(store: Store, meaning: Meaning | None, asked: list[str]) -> tuple[list[float], list[float]]:
    """In milliseconds, for each query: how long it took, and of that, of all processors, how much was work."""
    times: list[float] = []
    worked: list[float] = []
    for text in asked:
        begun, before = time.perf_counter(), time.process_time()
        found = await memory_search(store, meaning, OWNER, text)
        times.append(1000 * (time.perf_counter() - begun))
        worked.append(1000 * (time.process_time() - before))
        assert found.hits and found.by_meaning == (meaning is not None)
    return times, worked


async def run(turns: int, talk: Talk, path: Path) -> dict[str, Any]:
    said, asked = talk
    await (await SQLiteStore.open(path, SystemClock())).close()
    embedder = chosen("auto", environ={}, base_url=None, clock=SystemClock())
    assert embedder is not None
    dimensions = len((await embedder.embed(["how many numbers"]))[0])
    await asyncio.to_thread(fill, path, turns, said, dimensions)
    store = await SQLiteStore.open(path, SystemClock())
    try:
        words = await measured(store, None, asked)
        both = await measured(store, Meaning(store, embedder), asked)
    finally:
        await store.close()
    return {
        "words": words,
        "both": both,
        "rss_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "database_megabytes": path.stat().st_size >> 20,
    }


async def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--turns", type=int, action="append", help="how many turns; may be given again")
    parser.add_argument("--locomo", type=Path, help="the file of LoCoMo's conversations, which is not part of this")
    given = parser.parse_args()
    sizes = given.turns or ([10_000] if given.quick else [10_000, 1_000_000])
    talks = {"made": made()} | ({"of LoCoMo": locomo(given.locomo)} if given.locomo else {})
    figures: dict[str, Any] = {}
    for turns in sizes:
        for name, talk in talks.items():
            with tempfile.TemporaryDirectory(prefix="afterglow-bench-") as folder:
                figures[f"{turns:,} turns, {name}"] = await run(turns, talk, Path(folder) / "afterglow.db")
    rows = [[size, way, *found[way].values()] for size, found in figures.items() for way in ("words", "both")]
    heads = ["first s", "p50 ms", "p95 ms", "of processor", "of the middle round", "of each at its quietest"]
    print(table(["", "", *heads], rows))
    if given.locomo and not given.quick and not given.turns:
        save("search_scale", {"environment": environment("numpy"), "embedder": _name(), **figures})


if __name__ == "__main__":
    asyncio.run(main())
