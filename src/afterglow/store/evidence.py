"""The turns that facts rest on: those that prove them, those that say the same, and those that words of theirs come from."""

from __future__ import annotations

import json

from afterglow.errors import ClaimLost
from afterglow.facts import EVIDENCE_MAX, Evidence
from afterglow.store import sessions, stones
from afterglow.store.rows import insert, to_row
from afterglow.store.transaction import Row, Tx

_KEY = "owner, session, seq, fact_owner, fact"
_BOTH = """DO UPDATE SET proves = {greatest}(evidence.proves, excluded.proves),
             needed = {greatest}(evidence.needed, excluded.needed),
             quote = CASE WHEN excluded.proves > evidence.proves THEN excluded.quote ELSE evidence.quote END"""
"""A turn may prove a fact, and give it words besides."""


def rows_of(tx: Tx, fact: Row) -> list[Row]:
    """What the fact rests on, in the order in which it was said."""
    return tx.rows(
        "SELECT * FROM evidence WHERE fact_owner = :owner AND fact = :id AND {mine} ORDER BY at, session, seq",
        owner=fact["owner"],
        id=fact["id"],
    )


def said_us(tx: Tx, fact: Row) -> int:
    """When the fact was first said, as far as it is known."""
    said = tx.one(
        "SELECT min(at) AS at FROM evidence WHERE fact_owner = :owner AND fact = :id AND (proves = 1 OR needed = 0)",
        owner=fact["owner"],
        id=fact["id"],
    )
    return fact["extracted_at"] if said["at"] is None else said["at"]


def prove_again(tx: Tx, fact: Row, *evidence: Evidence) -> None:
    """The fact rests on these too, unless it rests on so many already that none can give way."""
    held = rows_of(tx, fact)
    room = EVIDENCE_MAX - len(evidence) - sum(row["needed"] for row in held)
    spare = [row for row in held if not row["needed"]]
    if room < min(1, len(spare)):
        return
    for row in spare[1 : 1 + max(0, len(spare) - room)]:
        _drop(tx, row)
    for each in evidence:
        prove(tx, fact["owner"], fact["id"], each)


def prove(tx: Tx, owner: str, fact_id: str, evidence: Evidence, *, of_stone: bool = False) -> None:
    """The fact rests on this. Only a stone may rest on a turn that was forgotten."""
    said = sessions.existing(sessions.find(tx, evidence.session), evidence.session)
    if not of_stone and (said["stones"] or said["forgetting"]):
        _check_not_forgotten(tx, said, evidence)
    values = {**to_row(evidence), "owner": said["owner"], "fact_owner": owner, "fact": fact_id}
    insert(tx, "evidence", values, f"ON CONFLICT ({_KEY}) {_BOTH}")


def _drop(tx: Tx, row: Row) -> None:
    tx.run(
        """DELETE FROM evidence WHERE owner = :owner AND session = :session AND seq = :seq
             AND fact_owner = :fact_owner AND fact = :fact""",
        **{name: row[name] for name in _KEY.split(", ")},
    )


def _check_not_forgotten(tx: Tx, session: Row, evidence: Evidence) -> None:
    """A turn that was forgotten since it was read proves nothing, and what was made of it is dropped."""
    row = tx.row(
        "SELECT removed FROM turns WHERE {mine} AND owner = :owner AND session = :session AND seq = :seq",
        owner=session["owner"],
        session=session["id"],
        seq=evidence.seq,
    )
    if row is None or session["forgetting"] or stones.is_stone(json.loads(row["removed"])):
        raise ClaimLost(
            f"turn {evidence.seq} of session {session['id']!r} was forgotten meanwhile; this result is dropped"
        )
