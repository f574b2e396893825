"""Facts with the same words that several joined owners have: one is shown and found, and stands for the others, its twins.

No fact is moved or merged, so that parting undoes a join: a twin only names the fact that stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from afterglow.facts import digest_of
from afterglow.store import evidence
from afterglow.store.search import index_record, unindex_record
from afterglow.store.transaction import Row, Tx


def by_digest(tx: Tx, owner: str, content: str) -> Row | None:
    """The owner's fact with these words, or its stone; one that was superseded does not count."""
    return tx.row(
        "SELECT * FROM facts WHERE {mine} AND owner = :owner AND digest = :digest AND status <> 'superseded'",
        owner=owner,
        digest=digest_of(owner, content),
    )


def shown(tx: Tx, row: Row) -> Row:
    """The fact that stands for this one: itself, where it is no twin."""
    if row["twin_of"] is None:
        return row
    return tx.row("SELECT * FROM facts WHERE {mine} AND id = :id AND twin_of IS NULL", id=row["twin_of"]) or row


def of(tx: Tx, row: Row) -> list[Row]:
    """The twins of a fact."""
    return tx.rows("SELECT * FROM facts WHERE {mine} AND twin_of = :id ORDER BY owner", id=row["id"])


def settle(tx: Tx, owners: Iterable[str], content: str) -> None:
    """Of the facts with these words that the owners have, one stands for the others."""
    found = [row for row in (by_digest(tx, owner, content) for owner in owners) if row is not None]
    rows = [row for row in found if row["status"] in ("active", "pending")]
    first = min(rows, key=_order, default=None)
    for row in rows:
        _stand(tx, row, None if row is first or first is None else first["id"])


def settle_all(tx: Tx, owners: Sequence[str], among: Sequence[str]) -> None:
    """The same for all facts of these owners, among those that they are joined with."""
    for owner in owners:
        facts = "SELECT content FROM facts WHERE {mine} AND owner = :owner AND status IN ('active', 'pending')"
        for row in tx.rows(facts, owner=owner):
            settle(tx, among, row["content"])


def release(tx: Tx, owners: Sequence[str]) -> None:
    """These owners stand together, and no longer with others: what stood for facts of theirs may not be theirs any more."""
    for owner in owners:
        tx.run("UPDATE facts SET twin_of = NULL WHERE {mine} AND owner = :owner AND status = 'superseded'", owner=owner)
        for row in tx.rows(
            "SELECT content FROM facts WHERE {mine} AND owner = :owner AND twin_of IS NOT NULL", owner=owner
        ):
            settle(tx, owners, row["content"])


def group(tx: Tx, owner: str) -> tuple[str, ...]:
    """All owners that are one with this one."""
    if not tx.is_everyones:
        return tx.owners
    alias = tx.row("SELECT joined_to FROM aliases WHERE owner = :owner", owner=owner)
    root: str = owner if alias is None else alias["joined_to"]
    return (root, *(row["owner"] for row in tx.rows("SELECT owner FROM aliases WHERE joined_to = :root", root=root)))


def index(tx: Tx, row: Row) -> None:
    """An active fact is found by its words; no other is, and no twin."""
    index_record(
        tx,
        owner=row["owner"],
        kind="fact",
        place=row["id"],
        label=row["type"],
        at_us=evidence.said_us(tx, row),
        text=row["content"],
    )


def unindex(tx: Tx, row: Row) -> None:
    unindex_record(tx, owner=row["owner"], kind="fact", place=row["id"])


def _order(row: Row) -> tuple[bool, bool, int, str]:
    """What is believed stands for what is not, the owner's word for another's, the older for the newer."""
    return row["status"] != "active", row["trust"] != "owner", row["extracted_at"], row["owner"]


def _stand(tx: Tx, row: Row, twin_of: str | None) -> None:
    if row["twin_of"] == twin_of:
        return
    tx.run(
        "UPDATE facts SET twin_of = :twin_of WHERE {mine} AND owner = :owner AND id = :id",
        twin_of=twin_of,
        owner=row["owner"],
        id=row["id"],
    )
    if row["status"] == "active":
        index(tx, row) if twin_of is None else unindex(tx, row)
