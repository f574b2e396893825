"""The verbs by which facts go into an export and come out of one. What was forgotten goes along as a stone."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from afterglow.facts import Fact
from afterglow.store import evidence, twins
from afterglow.store.facts import SAYS_NOTHING, changed, existing_row, lock_owners, whole
from afterglow.store.rows import insert, to_row
from afterglow.store.transaction import Tx


def exported_facts(tx: Tx, limit: int, after: tuple[str, str]) -> list[tuple[Fact, str]]:
    """A page of all facts, forgotten ones too, each with its digest, in an order that no change changes."""
    rows = tx.rows(
        """SELECT * FROM facts WHERE {mine} AND (owner, id) > (:after_owner, :after_id) ORDER BY owner, id LIMIT :limit""",
        after_owner=after[0],
        after_id=after[1],
        limit=limit,
    )
    return [(whole(tx, row), row["digest"]) for row in rows]


def restore_fact(tx: Tx, fact: Fact, digest: str, now: datetime) -> bool:
    """The fact is there, unless it or another with its words is, or was forgotten here; whether it is new."""
    lock_owners(tx)
    values = {name: value for name, value in to_row(replace(fact, evidence=())).items() if name != "evidence"}
    known = tx.row(
        """SELECT id FROM facts WHERE {mine} AND owner = :owner
             AND (id = :id OR (digest = :digest AND (status = 'forgotten'
                                                     OR (status <> 'superseded' AND :status <> 'superseded')))) LIMIT 1""",
        owner=fact.owner,
        id=fact.id,
        digest=digest,
        status=fact.status,
    )
    if known is not None:
        return False
    stone = SAYS_NOTHING if fact.status == "forgotten" else {}
    insert(tx, "facts", {**values, **stone, "digest": digest})
    for each in fact.evidence:
        evidence.prove(tx, fact.owner, fact.id, each, of_stone=fact.status == "forgotten")
    if fact.status == "active":
        twins.index(tx, existing_row(tx, fact.id))
    if fact.content:
        twins.settle(tx, tx.owners, fact.content)
    changed(tx, {fact.owner}, now)
    return True
