"""What was read for facts: how far, and what became of a model's claims."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from afterglow.clock import from_us, to_us
from afterglow.errors import ClaimLost
from afterglow.store import queue, sessions
from afterglow.store.rows import insert
from afterglow.store.transaction import Row, Tx
from afterglow.turns import Session
from afterglow.work import Claim

READINGS_KEPT = 200
"""So many of an owner's readings are kept, the newest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What became of a model's claims: kept, so that people see how much of what it says is thrown away, and why."""

    claimed: int
    stored: int
    again: int
    dropped: Mapping[str, int]
    model: str
    prompt: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """What was read for it: the turns after `from_seq`, to `to_seq`. The claim must still be held, and is not ended."""

    session: str
    from_seq: int
    to_seq: int
    claim: Claim | None = None
    reading: Reading | None = None


def check(tx: Tx, read: Read) -> Row:
    """The session's row, locked; ClaimLost where somebody else read it meanwhile, or it is being forgotten."""
    row = sessions.existing(sessions.find(tx, read.session, lock=True), read.session)
    if row["facts_seq"] != read.from_seq:
        raise ClaimLost(f"session {read.session!r} was read by somebody else meanwhile; this result is dropped")
    if row["forgetting"] or read.to_seq > row["turns"]:
        raise ClaimLost(f"session {read.session!r} is being forgotten; this result is dropped")
    assert read.from_seq <= read.to_seq, "what was read goes on from where it began"
    return row


def keep(tx: Tx, session: Row, read: Read, now: datetime) -> None:
    """The session is read so far, and what became of the claims is written down."""
    tx.run(
        "UPDATE sessions SET facts_seq = :seq WHERE {mine} AND owner = :owner AND id = :id",
        seq=read.to_seq,
        owner=session["owner"],
        id=session["id"],
    )
    if read.reading is not None:
        _write_down(tx, session, read.to_seq, read.reading, now)
    if read.claim is not None:
        queue.check(tx, read.claim)


def _write_down(tx: Tx, session: Row, to_seq: int, reading: Reading, now: datetime) -> None:
    values = {
        "owner": session["owner"],
        "session": session["id"],
        "to_seq": to_seq,
        "at": to_us(now),
        "claimed": reading.claimed,
        "stored": reading.stored,
        "again": reading.again,
        "dropped": json.dumps(reading.dropped, ensure_ascii=False, sort_keys=True),
        "model": reading.model,
        "prompt": reading.prompt,
    }
    insert(tx, "readings", values, "ON CONFLICT (owner, session, to_seq, at) DO NOTHING")
    tx.run(
        """DELETE FROM readings WHERE {mine} AND owner = :owner AND (at, session, to_seq) <=
             (SELECT at, session, to_seq FROM readings WHERE {mine} AND owner = :owner
              ORDER BY at DESC, session DESC, to_seq DESC LIMIT 1 OFFSET :kept)""",
        owner=session["owner"],
        kept=READINGS_KEPT,
    )


def readings(tx: Tx, limit: int) -> list[tuple[datetime, str, Reading]]:
    rows = tx.rows("SELECT * FROM readings WHERE {mine} ORDER BY at DESC LIMIT :limit", limit=limit)
    return [
        (
            from_us(row["at"]),
            row["session"],
            Reading(
                claimed=row["claimed"],
                stored=row["stored"],
                again=row["again"],
                dropped=json.loads(row["dropped"]),
                model=row["model"],
                prompt=row["prompt"],
            ),
        )
        for row in rows
    ]


def reset_watermark(tx: Tx, session: str) -> Session:
    """The session is to be read for facts from its beginning."""
    row = sessions.existing(sessions.find(tx, session, lock=True), session)
    tx.run(
        "UPDATE sessions SET facts_seq = 0 WHERE {mine} AND owner = :owner AND id = :id", owner=row["owner"], id=session
    )
    return sessions.session(tx, session)


def mark_read(tx: Tx, session: str, seq: int) -> None:
    """The session was read for facts to this turn at least; for import."""
    row = sessions.existing(sessions.find(tx, session, lock=True), session)
    tx.run(
        """UPDATE sessions SET facts_seq = {greatest}(facts_seq, {least}(:seq, turns))
           WHERE {mine} AND owner = :owner AND id = :id""",
        seq=seq,
        owner=row["owner"],
        id=session,
    )
