"""The verbs of search by meaning: what has no vector yet, vectors that were made of it, and which embedder made them.

Every row of the index of words is on a list until it has a vector, by triggers of the database, so that writing one costs
nobody a thought. Whoever holds the claim on an owner's vectors takes texts off that list, embeds them with no transaction
open, and commits the vectors together with the end of their being listed: a kill at any point loses none, and makes none twice.

An embedder that was never in use, or not last, begins a new generation. All rows are put on the list again, a part at a
time; the vectors of the generation before stay until the owner has all of the new one, and go then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from afterglow.errors import ClaimLost
from afterglow.store import queue
from afterglow.store.recall import contents
from afterglow.store.search import REMOVED, Kind
from afterglow.store.transaction import Row, Tx
from afterglow.work import Claim, Due

_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """An embedder that is or was in use, and whether the owner has a vector of it for all there was when it began."""

    number: int
    name: str
    complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Unembedded:
    """Something that has no vector yet. `id` is that of its row in the index of words."""

    id: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorColumns:
    """Vectors of one owner in the order they were made, column by column, since there may be a million."""

    owner: str
    losses: tuple[int, int]
    """Is another one as soon as anything of the owner is found no more."""
    last_number: int
    ids: list[int]
    kinds: list[Kind]
    labels: list[str]
    ats_us: list[int]
    vectors: bytes
    """All of them, one after the other."""


Choose = Callable[[list[Generation]], tuple[Generation, Mapping[str, int]] | None]
"""Says of which generation the vectors are wanted, and behind which number of each owner; None, if of none."""


# Embedders


def use_embedder(tx: Tx, name: str) -> Generation:
    newest = _newest(tx)
    if newest is None or newest["name"] != name:
        tx.run(
            """INSERT INTO search_embedders (generation, name, walked_to, until)
               SELECT :generation, :name, 0, coalesce(max(id), 0) FROM search_terms
               WHERE TRUE ON CONFLICT (generation) DO NOTHING""",
            generation=1 + (newest["generation"] if newest else 0),
            name=name,
        )
        newest = _newest(tx)  # of two who announce at once, one is first
    assert newest is not None
    return _generation(newest, complete=False)


def generations(tx: Tx) -> list[Generation]:
    rows = tx.rows("SELECT * FROM search_embedders ORDER BY generation DESC")
    newest = [_generation(row, complete=_is_complete(tx, row)) for row in rows[:1]]
    return newest + [_generation(row, complete=True) for row in rows[1:] if _has_vectors(tx, row["generation"])]


def _newest(tx: Tx, lock: bool = False) -> Row | None:
    return tx.row(f"SELECT * FROM search_embedders ORDER BY generation DESC LIMIT 1 {'{lock}' if lock else ''}")


def _generation(row: Row, complete: bool) -> Generation:
    return Generation(number=row["generation"], name=row["name"], complete=complete)


def _is_complete(tx: Tx, newest: Row) -> bool:
    """Whether what was there when the embedder began has its vector."""
    if newest["walked_to"] < newest["until"]:
        return False
    waiting = "SELECT 1 FROM search_fresh WHERE {mine} AND id <= :until LIMIT 1"
    return tx.row(waiting, until=newest["until"]) is None


def _has_vectors(tx: Tx, generation: int) -> bool:
    return any(
        tx.row(
            "SELECT 1 FROM search_vectors WHERE {mine} AND owner = :owner AND generation = :generation LIMIT 1",
            owner=owner,
            generation=generation,
        )
        for owner in tx.owners
    )


# What is to be done


def sweep_vectors(tx: Tx, rows: int, owners: int, now: datetime) -> int:
    newest = _newest(tx, lock=True)
    if newest is None:
        return 0
    listed = _list_again(tx, newest, rows) if newest["walked_to"] < newest["until"] else 0
    found = _owners_waiting(tx, owners)
    queue.mark_all_due(tx, Due(kind="vectors", at=now, reason="unembedded"), [(owner, owner) for owner in found])
    return listed + len(found)


def _list_again(tx: Tx, newest: Row, rows: int) -> int:
    """Put the next rows on the list, for the embedder that is new."""
    taken = tx.rows(
        "SELECT id FROM search_terms WHERE id > :walked_to AND id <= :until ORDER BY id LIMIT :rows",
        walked_to=newest["walked_to"],
        until=newest["until"],
        rows=rows,
    )
    to = taken[-1]["id"] if len(taken) == rows else newest["until"]
    tx.run(
        """INSERT INTO search_fresh (owner, id)
           SELECT owner, id FROM search_terms AS s WHERE id > :walked_to AND id <= :to AND NOT EXISTS
             (SELECT 1 FROM search_vectors AS v WHERE v.id = s.id AND v.generation = :generation)
           ON CONFLICT (owner, id) DO NOTHING""",
        walked_to=newest["walked_to"],
        to=to,
        generation=newest["generation"],
    )
    tx.run(
        "UPDATE search_embedders SET walked_to = :to WHERE generation = :generation",
        to=to,
        generation=newest["generation"],
    )
    return len(taken)


def _owners_waiting(tx: Tx, limit: int) -> list[str]:
    """Owners with something on the list whose vectors nobody has asked for, from one owner to the next."""
    found: list[str] = []
    after = ""
    for _ in range(10 * limit):
        row = tx.row("SELECT owner FROM search_fresh WHERE owner > :after ORDER BY owner LIMIT 1", after=after)
        if row is None or len(found) == limit:
            break
        after = row["owner"]
        asked = "SELECT 1 FROM work WHERE owner = :owner AND kind = 'vectors' AND subject = :owner"
        if tx.row(asked, owner=after) is None:
            found.append(after)
    return found


def unembedded(tx: Tx, limit: int) -> list[Unembedded]:
    rows = tx.rows(
        """SELECT s.id, s.owner, s.kind, s.place, s.seq FROM search_terms AS s
           JOIN (SELECT id FROM search_fresh WHERE {mine} AND owner = :owner ORDER BY id DESC LIMIT :limit) AS f
             ON f.id = s.id ORDER BY s.id DESC""",
        owner=tx.owner,
        limit=limit,
    )
    found = contents(tx, [(row["owner"], row["kind"], row["place"], row["seq"]) for row in rows])
    return [Unembedded(id=row["id"], text=each.text if each else "") for row, each in zip(rows, found, strict=True)]


# Vectors


def commit_vectors(tx: Tx, claim: Claim, generation: int, made: Sequence[tuple[int, bytes]], now_us: int) -> None:
    queue.check(tx, claim)  # which locks it: whoever lost the claim waits here, and is refused
    newest = _newest(tx)
    if newest is None or newest["generation"] != generation:
        raise ClaimLost("another embedder is in use now; these vectors are dropped")
    # Numbers only grow, also over what was removed: who knows all up to one asks for those after it.
    last = tx.one(
        """SELECT coalesce(max(number), 0) AS n FROM search_vectors
           WHERE {mine} AND owner = :owner AND generation = :generation""",
        owner=claim.owner,
        generation=generation,
    )["n"]
    for number, (record, vector) in enumerate(made, max(int(last), now_us) + 1):
        tx.run(  # nothing, where the record was removed meanwhile
            """INSERT INTO search_vectors (owner, generation, number, id, vector)
               SELECT owner, :generation, :number, id, :vector FROM search_terms
               WHERE {mine} AND owner = :owner AND id = :id ON CONFLICT (id, generation) DO NOTHING""",
            owner=claim.owner,
            generation=generation,
            number=number,
            id=record,
            vector=vector,
        )
        tx.run("DELETE FROM search_fresh WHERE {mine} AND owner = :owner AND id = :id", owner=claim.owner, id=record)


def drop_old_vectors(tx: Tx, limit: int) -> int:
    newest = _newest(tx)
    if newest is None or not _is_complete(tx, newest):
        return 0
    gone = tx.rows(
        """DELETE FROM search_vectors WHERE {mine} AND owner = :owner AND (generation, number) IN
             (SELECT generation, number FROM search_vectors WHERE owner = :owner AND generation < :newest LIMIT :limit)
           RETURNING number""",
        owner=tx.owner,
        newest=newest["generation"],
        limit=limit,
    )
    return len(gone)


def vectors_after(tx: Tx, choose: Choose, limit: int) -> tuple[Generation, list[VectorColumns]] | None:
    chosen = choose(generations(tx))
    if chosen is None:
        return None
    generation, after = chosen
    found: list[VectorColumns] = []
    for owner in tx.owners:
        rows = tx.rows(
            """SELECT v.number, v.id, v.vector, s.kind, s.label, s.at FROM
                 (SELECT number, id, vector FROM search_vectors WHERE {mine} AND owner = :owner
                    AND generation = :generation AND number > :after ORDER BY number LIMIT :limit) AS v
               JOIN search_terms AS s ON s.id = v.id ORDER BY v.number""",
            owner=owner,
            generation=generation.number,
            after=after.get(owner, 0),
            limit=limit,
        )
        found.append(
            VectorColumns(
                owner=owner,
                losses=_losses(tx, owner),
                last_number=rows[-1]["number"] if rows else after.get(owner, 0),
                ids=[row["id"] for row in rows],
                kinds=[row["kind"] for row in rows],
                labels=[row["label"] for row in rows],
                ats_us=[row["at"] for row in rows],
                vectors=b"".join(row["vector"] for row in rows),
            )
        )
    return generation, found


def _losses(tx: Tx, owner: str) -> tuple[int, int]:
    """When the owner began, since one that was forgotten may come again, and how often something was removed since then."""
    row = tx.row(
        """SELECT created_at, coalesce((SELECT records FROM search_totals WHERE owner = :owner AND kind = :removed), 0) AS n
           FROM owners WHERE {mine} AND owner = :owner""",
        owner=owner,
        removed=REMOVED,
    )
    return (int(row["created_at"]), int(row["n"])) if row else (0, 0)


def vectors_of(tx: Tx, generation: int, ids: Sequence[int]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for first in range(0, len(ids), _AT_ONCE):
        some = {f"id{n}": each for n, each in enumerate(ids[first : first + _AT_ONCE])}
        rows = tx.rows(
            # First by their numbers, then by the owner: the other way round the database may read all that is the owner's.
            f"""SELECT id, vector FROM
                  (SELECT owner, id, vector FROM search_vectors WHERE generation = :generation
                     AND id IN ({", ".join(f":{name}" for name in some)}) LIMIT :most) AS found
                WHERE {{mine}}""",
            generation=generation,
            most=_AT_ONCE,
            **some,
        )
        found |= {row["id"]: bytes(row["vector"]) for row in rows}
    return found
