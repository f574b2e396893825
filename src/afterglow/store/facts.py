"""The verbs of facts.

What a reading found, the watermark it moved and the end of its claim are one transaction, and it happens only if nobody
read the session meanwhile and no fact of the owner changed since the new ones were compared with them. The owner's row is
locked for it, so that two sessions of one owner that are read at the same time cannot both store the same fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from afterglow.clock import from_us, to_us
from afterglow.errors import BadInput, ClaimLost, NotFound
from afterglow.facts import APPROVED, Evidence, Fact, FactType, Status, digest_of
from afterglow.store import evidence, queue, readings, twins
from afterglow.store.readings import Read
from afterglow.store.rows import from_row, insert, to_row
from afterglow.store.transaction import Row, Tx
from afterglow.work import Due

FACTS_CHANGED = "facts of the owner changed meanwhile"


@dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """A fact that is known was said again: it gains this proof, and becomes active if that is one to believe."""

    owner: str
    fact: str
    evidence: Evidence
    believed: bool
    needed: tuple[Evidence, ...] = ()
    """Turns that this proof takes words of the fact from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """Facts to store, compared with those of this version."""

    version: int
    new: tuple[Fact, ...] = ()
    again: tuple[Again, ...] = ()


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


SAYS_NOTHING = {
    "content": "",
    "why": None,
    "supersedes": None,
    "type": "other",
    "confidence": "low",
    "model": "none",
    "prompt": "none",
}
"""What a stone has in place of what was known."""


class FactsChanged(ClaimLost):
    """Somebody stored facts of this owner meanwhile: compare anew, and commit again."""


def known(tx: Tx, contents: Sequence[str]) -> Known:
    held: dict[str, Fact] = {}
    for content in contents:
        rows = (twins.by_digest(tx, owner, content) for owner in tx.owners)
        row = next((row for row in rows if row is not None), None)
        if row is not None:
            held[content] = whole(tx, twins.shown(tx, row))
    return Known(version=_version(tx), held=held)


def commit_facts(tx: Tx, gathered: Gathered, read: Read | None, now: datetime) -> list[Fact]:
    lock_owners(tx)
    session = None if read is None else readings.check(tx, read)
    if (gathered.new or gathered.again) and _version(tx) != gathered.version:
        raise FactsChanged(FACTS_CHANGED)
    for fact in gathered.new:
        _insert(tx, fact, now)
    for again in gathered.again:
        _say_again(tx, again, now)
    if gathered.new or gathered.again:
        changed(tx, {fact.owner for fact in gathered.new} | {again.owner for again in gathered.again}, now)
    if read is not None and session is not None:
        readings.keep(tx, session, read, now)
    return [whole(tx, existing_row(tx, fact.id)) for fact in gathered.new]


def approve_fact(tx: Tx, fact: str, now: datetime) -> Fact:
    lock_owners(tx)
    row = twins.shown(tx, existing_row(tx, fact))
    if row["status"] == "active":
        return whole(tx, row)
    if row["status"] != "pending":
        raise BadInput(f"fact {fact!r} is {row['status']}; only a pending one can be approved")
    _set(tx, row, now, status="active", why=APPROVED)
    _take_place(tx, row, now)
    changed(tx, {row["owner"]}, now)
    return whole(tx, existing_row(tx, fact))


def retype_fact(tx: Tx, fact: str, type: FactType, now: datetime) -> Fact:
    lock_owners(tx)
    row = twins.shown(tx, existing_row(tx, fact))
    if row["status"] not in ("active", "pending"):
        raise BadInput(f"fact {fact!r} is {row['status']}; only an active or pending one can be edited")
    if any(each["type"] != type for each in (row, *twins.of(tx, row))):
        tx.run("UPDATE facts SET type = :type WHERE {mine} AND (id = :id OR twin_of = :id)", type=type, id=row["id"])
        for each in (existing_row(tx, row["id"]), *twins.of(tx, row)):
            change(tx, each, now, status=each["status"])  # which has it found by its new type
        changed(tx, {row["owner"]}, now)
    return whole(tx, existing_row(tx, fact))


def with_its_words(tx: Tx, row: Row) -> list[Row]:
    """All facts that say the same as this one in the same words, of this owner and those joined to it; superseded ones last."""
    same = """SELECT * FROM facts WHERE {mine} AND owner = :owner AND digest = :digest
              ORDER BY CASE WHEN status = 'superseded' THEN 1 ELSE 0 END, id"""
    return [each for owner in tx.owners for each in tx.rows(same, owner=owner, digest=digest_of(owner, row["content"]))]


def forget_rows(tx: Tx, rows: Sequence[Row], now: datetime) -> None:
    """Of each fact a stone stays: its digest, and which turns it came from, without a word of them.

    By its digest the same words do not come back, by its turns no other words for it do.
    """
    for row in rows:
        if row["status"] == "forgotten":
            continue
        if row["status"] == "superseded" and twins.by_digest(tx, row["owner"], row["content"]) is not None:
            _remove(tx, row)  # another with the same words is there, or its stone is
            continue
        change(tx, row, now, status="forgotten", twin_of=None, **SAYS_NOTHING)
        stone = {"owner": row["owner"], "id": row["id"]}
        tx.run("DELETE FROM evidence WHERE fact_owner = :owner AND fact = :id AND proves = 0 AND needed = 1", **stone)
        tx.run("UPDATE evidence SET quote = '' WHERE fact_owner = :owner AND fact = :id", **stone)
    owners = {row["owner"] for row in rows}
    for owner in sorted(owners):  # a file from before may still say it, also one that is left as it is
        tx.run("UPDATE owners SET facts_forgotten = facts_forgotten + 1 WHERE {mine} AND owner = :owner", owner=owner)
    changed(tx, owners, now)


def fact(tx: Tx, fact_id: str) -> Fact:
    return whole(tx, existing_row(tx, fact_id))


def superseding(tx: Tx, fact_id: str) -> Fact | None:
    row = twins.shown(tx, existing_row(tx, fact_id))
    found = in_its_place(tx, row) if row["status"] == "superseded" else None
    return None if found is None else whole(tx, found)


def in_its_place(tx: Tx, row: Row, besides: Row | None = None) -> Row | None:
    """The fact that took the place of this one, besides another; it may itself be superseded by now."""
    found = tx.rows(
        """SELECT * FROM facts WHERE {mine} AND status IN ('active', 'superseded')
             AND supersedes IN (SELECT id FROM facts WHERE {mine} AND (id = :id OR twin_of = :id))
           ORDER BY CASE WHEN status = 'active' THEN 0 ELSE 1 END, id DESC""",
        id=row["id"],
    )
    besides_id = None if besides is None else besides["id"]
    return next((each for each in found if took_a_place(each) and each["id"] != besides_id), None)


def took_a_place(row: Row) -> bool:
    """Whether the fact counts or did, and so took the place of what it supersedes; one that only waited did not."""
    return row["status"] == "active" or (row["status"] == "superseded" and row["why"] in (None, APPROVED))


def facts(tx: Tx, wanted: WantedFacts, limit: int, before: tuple[str, str] | None) -> list[Fact]:
    source_date, fact_id = before or ("~", "")
    # Said plainly, or SQLite does not see that an index has them in this order.
    status = "status <> 'forgotten'" if wanted.status is None else "status = :status"
    rows = tx.rows(
        f"""SELECT * FROM facts WHERE {{mine}} AND twin_of IS NULL AND {status}
              AND type = coalesce(:type, type) AND session = coalesce(:session, session)
              AND source_date >= :since AND source_date < :until AND (source_date, id) < (:source_date, :id)
            ORDER BY source_date DESC, id DESC LIMIT :limit""",
        **({} if wanted.status is None else {"status": wanted.status}),
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
    rows = tx.rows("SELECT status, count(*) AS n FROM facts WHERE {mine} AND twin_of IS NULL GROUP BY status")
    return {row["status"]: int(row["n"]) for row in rows}


def facts_of_turns(tx: Tx, session: str, first_seq: int, last_seq: int) -> list[Fact]:
    """The facts, forgotten ones too, that are said in these turns."""
    rows = tx.rows(
        """SELECT DISTINCT facts.* FROM evidence JOIN facts ON facts.owner = evidence.fact_owner AND facts.id = evidence.fact
           WHERE evidence.session = :session AND evidence.seq BETWEEN :first AND :last
             AND (evidence.proves = 1 OR evidence.needed = 0)
             AND evidence.owner IN (SELECT owner FROM owners WHERE {mine})""",
        session=session,
        first=first_seq,
        last=last_seq,
    )
    return [whole(tx, row) for row in rows]


def _insert(tx: Tx, new: Fact, now: datetime) -> None:
    stone = twins.by_digest(tx, new.owner, new.content)
    if stone is not None:
        if stone["status"] != "forgotten" or not _is_stated_anew(new, stone):
            raise FactsChanged(FACTS_CHANGED)
        _remove(tx, stone)
    values = {name: value for name, value in to_row(replace(new, evidence=())).items() if name != "evidence"}
    insert(tx, "facts", {**values, "digest": digest_of(new.owner, new.content)})
    for each in new.evidence:
        evidence.prove(tx, new.owner, new.id, each)
    if new.status == "active":
        twins.index(tx, existing_row(tx, new.id))
        _supersede(tx, new.supersedes, now)


def _is_stated_anew(new: Fact, stone: Row) -> bool:
    """Whether the owner stated it through a door of the owner's, or typed it after it was forgotten."""
    is_typed = new.way == "extracted" and new.trust == "owner"
    return new.way == "owner" or (
        is_typed and all(to_us(each.at) > int(stone["changed_at"]) for each in new.evidence if each.proves)
    )


def _remove(tx: Tx, row: Row) -> None:
    twins.unindex(tx, row)
    tx.run("DELETE FROM evidence WHERE fact_owner = :owner AND fact = :id", owner=row["owner"], id=row["id"])
    tx.run("DELETE FROM facts WHERE {mine} AND owner = :owner AND id = :id", owner=row["owner"], id=row["id"])


def _say_again(tx: Tx, again: Again, now: datetime) -> None:
    row = tx.row("SELECT * FROM facts WHERE {mine} AND owner = :owner AND id = :id", owner=again.owner, id=again.fact)
    if row is None or row["status"] in ("forgotten", "superseded"):
        raise FactsChanged(FACTS_CHANGED)
    evidence.prove_again(tx, row, again.evidence, *again.needed)
    if again.believed and (row["status"], row["trust"]) != ("active", "owner"):
        _set(tx, row, now, status="active", why=None, trust="owner")
        _take_place(tx, row, now)


def _take_place(tx: Tx, row: Row, now: datetime) -> None:
    """The fact is active now. While it waited, another may have taken the place it was to take: then it follows that one."""
    place, seen = row["supersedes"], {row["id"]}
    while place is not None and place not in seen:
        seen.add(place)
        found = tx.row("SELECT * FROM facts WHERE {mine} AND id = :id", id=place)
        later = (
            None if found is None or found["status"] != "superseded" else in_its_place(tx, twins.shown(tx, found), row)
        )
        place = place if later is None else later["id"]
    if place != row["supersedes"]:
        tx.run(
            "UPDATE facts SET supersedes = :place WHERE {mine} AND owner = :owner AND id = :id",
            place=place,
            owner=row["owner"],
            id=row["id"],
        )
    _supersede(tx, place, now)


def _supersede(tx: Tx, fact_id: str | None, now: datetime) -> None:
    found = None if fact_id is None else tx.row("SELECT * FROM facts WHERE {mine} AND id = :id", id=fact_id)
    if found is None:
        return
    row = twins.shown(tx, found)
    if row["status"] in ("active", "pending"):
        _set(tx, row, now, status="superseded")  # why it was pending stays: should it return, it waits again


def _set(tx: Tx, row: Row, now: datetime, **values: Any) -> None:
    """What becomes of a fact becomes of its twins."""
    for each in (row, *twins.of(tx, row)):
        change(tx, each, now, **values)


def change(tx: Tx, row: Row, now: datetime, **values: Any) -> None:
    """This row alone; its words are found where it is active, and no twin."""
    changes = ", ".join(f"{name} = :{name}" for name in values)
    tx.run(
        f"UPDATE facts SET {changes}, changed_at = :now WHERE {{mine}} AND owner = :owner AND id = :id",
        **values,
        now=to_us(now),
        owner=row["owner"],
        id=row["id"],
    )
    if values["status"] == "active" and row["twin_of"] is None:
        twins.index(tx, row)
    else:
        twins.unindex(tx, row)


def changed(tx: Tx, owners: set[str], now: datetime) -> None:
    """The files of these owners are to be written anew, and who compared with what was known compares again."""
    for owner in sorted(owners):
        tx.run(
            "UPDATE owners SET facts_version = facts_version + 1 WHERE {mine} AND owner = :owner",
            owner=owner,
        )
        queue.mark_due(tx, Due(kind="files", at=now, reason="facts"), owner, owner)


def lock_owners(tx: Tx) -> None:
    """Before any session: whoever stores facts, or forgets, waits for the others."""
    tx.run("SELECT owner FROM owners WHERE {mine} ORDER BY owner {lock}")


def _version(tx: Tx) -> int:
    return int(tx.one("SELECT coalesce(sum(facts_version), 0) AS version FROM owners WHERE {mine}")["version"])


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
    return record(row, evidence.rows_of(tx, row))


def record(row: Row, proofs: Sequence[Row]) -> Fact:
    """The fact of a row, with the rows of its proof."""
    found = {name: row[name] for name in Fact.__slots__ if name != "evidence"}
    found |= {"extracted_at": from_us(row["extracted_at"]), "changed_at": from_us(row["changed_at"])}
    return Fact(**found, evidence=tuple(from_row(Evidence, proof) for proof in proofs))
