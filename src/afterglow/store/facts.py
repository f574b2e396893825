"""The verbs of facts.

What a reading found, the watermark it moved and the end of its claim are one transaction, and it happens only if nobody
read the session meanwhile and no fact of the owner changed since the new ones were compared with them. The owner's row is
locked for it, so that two sessions of one owner that are read at the same time cannot both store the same fact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from afterglow.clock import from_us, to_us
from afterglow.errors import BadInput, ClaimLost, NotFound
from afterglow.facts import EVIDENCE_MAX, Evidence, Fact, FactType, Status, digest_of
from afterglow.store import queue, sessions, stones
from afterglow.store.rows import from_row, insert, to_row
from afterglow.store.search import index_record, unindex_record
from afterglow.store.transaction import Row, Tx
from afterglow.turns import Session
from afterglow.work import Claim, Due

FACTS_CHANGED = "facts of the owner changed meanwhile"


@dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """A fact that is known was said again: it gains this proof, and becomes active if that is one to believe."""

    owner: str
    fact: str
    evidence: Evidence
    believed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """Facts to store, compared with those of this version."""

    version: int
    new: tuple[Fact, ...] = ()
    again: tuple[Again, ...] = ()


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What is known at one moment: its version, and of the contents asked for those that are there, or were forgotten."""

    version: int
    held: Mapping[str, Fact]


@dataclass(frozen=True, kw_only=True, slots=True)
class WantedFacts:
    """Which facts are asked for."""

    status: Status | None = "active"
    type: FactType | None = None
    since: str | None = None
    until: str | None = None
    """Days; `until` is not among them."""
    session: str | None = None


class FactsChanged(ClaimLost):
    """Somebody stored facts of this owner meanwhile: compare anew, and commit again."""


def known(tx: Tx, contents: Sequence[str]) -> Known:
    held: dict[str, Fact] = {}
    for content in contents:
        for owner in tx.owners:
            row = _by_digest(tx, owner, content)
            if row is not None:
                held[content] = whole(tx, row)
                break
    return Known(version=_version(tx), held=held)


def commit_facts(tx: Tx, gathered: Gathered, read: Read | None, now: datetime) -> list[Fact]:
    _lock_owners(tx)
    row = None
    if read is not None:
        row = sessions.existing(sessions.find(tx, read.session, lock=True), read.session)
        if row["facts_seq"] != read.from_seq:
            raise ClaimLost(f"session {read.session!r} was read by somebody else meanwhile; this result is dropped")
        if row["forgetting"] or read.to_seq > row["turns"]:
            raise ClaimLost(f"session {read.session!r} is being forgotten; this result is dropped")
        assert read.from_seq <= read.to_seq, "what was read goes on from where it began"
    if (gathered.new or gathered.again) and _version(tx) != gathered.version:
        raise FactsChanged(FACTS_CHANGED)
    for fact in gathered.new:
        _insert(tx, fact, now)
    for again in gathered.again:
        _say_again(tx, again, now)
    if gathered.new or gathered.again:
        _changed(tx, {fact.owner for fact in gathered.new} | {again.owner for again in gathered.again}, now)
    if read is not None:
        assert row is not None
        tx.run(
            "UPDATE sessions SET facts_seq = :seq WHERE {mine} AND owner = :owner AND id = :id",
            seq=read.to_seq,
            owner=row["owner"],
            id=read.session,
        )
        if read.reading is not None:
            _write_down(tx, row, read, read.reading, now)
        if read.claim is not None:
            queue.check(tx, read.claim)
    return [whole(tx, existing_row(tx, fact.id)) for fact in gathered.new]


def approve_fact(tx: Tx, fact: str, now: datetime) -> Fact:
    _lock_owners(tx)
    row = existing_row(tx, fact)
    if row["status"] == "active":
        return whole(tx, row)
    if row["status"] != "pending":
        raise BadInput(f"fact {fact!r} is {row['status']}; only a pending one can be approved")
    _set(tx, row, now, status="active", why=None)
    _supersede(tx, row["supersedes"], now)
    _changed(tx, {row["owner"]}, now)
    return whole(tx, existing_row(tx, fact))


def forget_fact(tx: Tx, fact: str, now: datetime) -> Fact:
    _lock_owners(tx)
    row = existing_row(tx, fact)
    forget_rows(tx, [row], now)
    return whole(tx, existing_row(tx, fact))


def forget_rows(tx: Tx, rows: Sequence[Row], now: datetime) -> None:
    """Of each fact a stone stays: its digest, and which turns it came from, without a word of them."""
    for row in rows:
        if row["status"] == "forgotten":
            continue
        if row["status"] == "superseded" and _by_digest(tx, row["owner"], row["content"]) is not None:
            _remove(tx, row)  # another with the same words is there, or its stone is
            continue
        _set(tx, row, now, status="forgotten", content="", why=None, supersedes=None)
        tx.run(
            "UPDATE evidence SET quote = '' WHERE fact_owner = :owner AND fact = :id", owner=row["owner"], id=row["id"]
        )
    owners = {row["owner"] for row in rows}
    for owner in sorted(owners):  # a file from before may still say it, also one that is left as it is
        tx.run("UPDATE owners SET facts_forgotten = facts_forgotten + 1 WHERE {mine} AND owner = :owner", owner=owner)
    _changed(tx, owners, now)


def fact(tx: Tx, fact_id: str) -> Fact:
    return whole(tx, existing_row(tx, fact_id))


def facts(tx: Tx, wanted: WantedFacts, limit: int, before: tuple[str, str] | None) -> list[Fact]:
    source_date, fact_id = before or ("~", "")
    rows = tx.rows(
        """SELECT * FROM facts WHERE {mine} AND status = coalesce(:status, status) AND status <> :never
             AND type = coalesce(:type, type) AND session = coalesce(:session, session)
             AND source_date >= :since AND source_date < :until AND (source_date, id) < (:source_date, :id)
           ORDER BY source_date DESC, id DESC LIMIT :limit""",
        status=wanted.status,
        never="forgotten" if wanted.status != "forgotten" else "",
        type=wanted.type,
        session=wanted.session,
        since=wanted.since or "",
        until=wanted.until or "~",
        source_date=source_date,
        id=fact_id,
        limit=limit,
    )
    return [whole(tx, row) for row in rows]


def fact_counts(tx: Tx) -> dict[str, int]:
    rows = tx.rows("SELECT status, count(*) AS n FROM facts WHERE {mine} GROUP BY status")
    return {row["status"]: int(row["n"]) for row in rows}


def facts_of_turns(tx: Tx, session: str, first_seq: int, last_seq: int) -> list[Fact]:
    """The facts, forgotten ones too, that these turns are proof of."""
    rows = tx.rows(
        """SELECT DISTINCT facts.* FROM evidence JOIN facts ON facts.owner = evidence.fact_owner AND facts.id = evidence.fact
           WHERE evidence.session = :session AND evidence.seq BETWEEN :first AND :last
             AND evidence.owner IN (SELECT owner FROM owners WHERE {mine})""",
        session=session,
        first=first_seq,
        last=last_seq,
    )
    return [whole(tx, row) for row in rows]


def _write_down(tx: Tx, row: Row, read: Read, reading: Reading, now: datetime) -> None:
    values = {
        "owner": row["owner"],
        "session": read.session,
        "to_seq": read.to_seq,
        "at": to_us(now),
        "claimed": reading.claimed,
        "stored": reading.stored,
        "again": reading.again,
        "dropped": json.dumps(reading.dropped, ensure_ascii=False, sort_keys=True),
        "model": reading.model,
        "prompt": reading.prompt,
    }
    insert(tx, "readings", values, "ON CONFLICT (owner, session, to_seq, at) DO NOTHING")


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


def _insert(tx: Tx, new: Fact, now: datetime) -> None:
    stone = _by_digest(tx, new.owner, new.content)
    if stone is not None:
        if stone["status"] != "forgotten" or new.way != "owner":
            raise FactsChanged(FACTS_CHANGED)
        _remove(tx, stone)
    values = {name: value for name, value in to_row(replace(new, evidence=())).items() if name != "evidence"}
    insert(tx, "facts", {**values, "digest": digest_of(new.owner, new.content)})
    for each in new.evidence:
        prove(tx, new.owner, new.id, each)
    if new.status == "active":
        index_fact(tx, existing_row(tx, new.id))
        _supersede(tx, new.supersedes, now)


def _remove(tx: Tx, row: Row) -> None:
    unindex_record(tx, owner=row["owner"], kind="fact", place=row["id"])
    tx.run("DELETE FROM evidence WHERE fact_owner = :owner AND fact = :id", owner=row["owner"], id=row["id"])
    tx.run("DELETE FROM facts WHERE {mine} AND owner = :owner AND id = :id", owner=row["owner"], id=row["id"])


def _say_again(tx: Tx, again: Again, now: datetime) -> None:
    row = tx.row("SELECT * FROM facts WHERE {mine} AND owner = :owner AND id = :id", owner=again.owner, id=again.fact)
    if row is None or row["status"] in ("forgotten", "superseded"):
        raise FactsChanged(FACTS_CHANGED)
    prove(tx, row["owner"], row["id"], again.evidence)
    if again.believed and (row["status"], row["trust"]) != ("active", "owner"):
        _set(tx, row, now, status="active", why=None, trust="owner")
        _supersede(tx, row["supersedes"], now)


def prove(tx: Tx, owner: str, fact_id: str, evidence: Evidence, *, of_stone: bool = False) -> None:
    """The fact has this proof; of very many the second goes for it. Only a stone's may be a turn that was forgotten."""
    held = tx.rows(
        "SELECT owner, session, seq FROM evidence WHERE fact_owner = :owner AND fact = :fact ORDER BY at, session, seq",
        owner=owner,
        fact=fact_id,
    )
    if len(held) >= EVIDENCE_MAX:
        second = held[1]
        tx.run(
            """DELETE FROM evidence WHERE owner = :turn_owner AND session = :session AND seq = :seq
                 AND fact_owner = :owner AND fact = :fact""",
            turn_owner=second["owner"],
            session=second["session"],
            seq=second["seq"],
            owner=owner,
            fact=fact_id,
        )
    said = sessions.existing(sessions.find(tx, evidence.session), evidence.session)
    if not of_stone and (said["stones"] or said["forgetting"]):
        _check_not_forgotten(tx, said, evidence)
    values = {**to_row(evidence), "owner": said["owner"], "fact_owner": owner, "fact": fact_id}
    insert(tx, "evidence", values, "ON CONFLICT (owner, session, seq, fact_owner, fact) DO NOTHING")


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


def _supersede(tx: Tx, fact_id: str | None, now: datetime) -> None:
    if fact_id is None:
        return
    row = tx.row("SELECT * FROM facts WHERE {mine} AND id = :id", id=fact_id)
    if row is not None and row["status"] in ("active", "pending"):
        _set(tx, row, now, status="superseded", why=None)


def _set(tx: Tx, row: Row, now: datetime, **values: Any) -> None:
    changes = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(
        f"UPDATE facts SET {changes}, changed_at = :now WHERE {{mine}} AND owner = :owner AND id = :id",
        **values,
        now=to_us(now),
        owner=row["owner"],
        id=row["id"],
    )
    if values["status"] == "active":
        index_fact(tx, row)
    else:
        unindex_record(tx, owner=row["owner"], kind="fact", place=row["id"])


def index_fact(tx: Tx, row: Row) -> None:
    """An active fact is found by its words; no other is."""
    said = tx.one(
        "SELECT min(at) AS at FROM evidence WHERE fact_owner = :owner AND fact = :id", owner=row["owner"], id=row["id"]
    )
    at_us = row["extracted_at"] if said["at"] is None else said["at"]
    index_record(
        tx, owner=row["owner"], kind="fact", place=row["id"], label=row["type"], at_us=at_us, text=row["content"]
    )


def _changed(tx: Tx, owners: set[str], now: datetime) -> None:
    """The files of these owners are to be written anew, and who compared with what was known compares again."""
    for owner in sorted(owners):
        tx.run(
            "UPDATE owners SET facts_version = facts_version + 1 WHERE {mine} AND owner = :owner",
            owner=owner,
        )
        queue.mark_due(tx, Due(kind="files", at=now, reason="facts"), owner, owner)


def _lock_owners(tx: Tx) -> None:
    tx.run("SELECT owner FROM owners WHERE {mine} ORDER BY owner {lock}")


def _version(tx: Tx) -> int:
    return int(tx.one("SELECT coalesce(sum(facts_version), 0) AS version FROM owners WHERE {mine}")["version"])


def _by_digest(tx: Tx, owner: str, content: str) -> Row | None:
    return tx.row(
        "SELECT * FROM facts WHERE {mine} AND owner = :owner AND digest = :digest AND status <> 'superseded'",
        owner=owner,
        digest=digest_of(owner, content),
    )


def existing_row(tx: Tx, fact_id: str) -> Row:
    """The row of a fact that must be there."""
    rows = tx.rows("SELECT * FROM facts WHERE {mine} AND id = :id", id=fact_id)
    if not rows:
        raise NotFound(f"there is no fact {fact_id!r}; `afterglow facts list` shows those there are")
    if len(rows) > 1:
        raise BadInput(f"fact {fact_id!r} is there for {len(rows)} owners; name the owner")
    return rows[0]


def whole(tx: Tx, row: Row) -> Fact:
    """The fact of a row, with its proofs."""
    proofs = tx.rows(
        "SELECT * FROM evidence WHERE fact_owner = :owner AND fact = :id AND {mine} ORDER BY at, session, seq",
        owner=row["owner"],
        id=row["id"],
    )
    return record(row, proofs)


def record(row: Row, proofs: Sequence[Row]) -> Fact:
    """The fact of a row, with the rows of its proof."""
    found = {name: row[name] for name in Fact.__slots__ if name != "evidence"}
    found |= {"extracted_at": from_us(row["extracted_at"]), "changed_at": from_us(row["changed_at"])}
    return Fact(**found, evidence=tuple(from_row(Evidence, proof) for proof in proofs))


def reset_watermark(tx: Tx, session: str) -> Session:
    """The session is to be read for facts from its beginning."""
    row = sessions.existing(sessions.find(tx, session, lock=True), session)
    tx.run(
        "UPDATE sessions SET facts_seq = 0 WHERE {mine} AND owner = :owner AND id = :id", owner=row["owner"], id=session
    )
    return sessions.session(tx, session)
