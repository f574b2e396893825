"""The verbs that forget an owner, and that say what was forgotten.

An owner goes session by session. What is said while that goes on belongs to a new beginning, and stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from afterglow.clock import to_us
from afterglow.errors import NotFound
from afterglow.store import audit, forgetting, queue, search, sessions, stones, summaries, twins
from afterglow.store.forgetting import WANTED, Forgotten, step
from afterglow.store.spend import NOBODY
from afterglow.store.transaction import Row, Tx
from afterglow.summaries import Summary
from afterglow.turns import Owner, Session
from afterglow.work import Due

SESSIONS_AT_ONCE = 50
_KEEPING_STONES, _KEEPING_NOTHING = 1, 2
_WITH_THE_NAME = (
    *("search_totals", "turn_totals", "search_fresh", "memory_files", "written_files"),
    *("readings", "work", "work_heads", "owners"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfinished:
    """Something that is being forgotten: a session, or with None the owner."""

    owner: str
    session: str | None


def forget_owner(tx: Tx, owner: str, keep_stones: bool, salt: str, now: datetime) -> Forgotten:
    """Run as everyone's transaction: whoever is joined to the owner is parted from it."""
    tx.run("{lock_aliases}")
    row = _locked(tx, owner)
    if row is None and not keep_stones and tx.row("SELECT 1 FROM stone_salts WHERE owner = :owner", owner=owner):
        sessions.add_owner(tx, owner, to_us(now))  # it was forgotten before, and what it left has its name
        row = _locked(tx, owner)
    if row is None:
        raise NotFound(f"there is no owner {owner!r}: an owner comes with its first turn; `afterglow owners` lists all")
    how = max(row["forgetting"], _KEEPING_STONES if keep_stones else _KEEPING_NOTHING)
    kept = stones.salt_of(tx, owner, salt) if how == _KEEPING_STONES else None
    done = Forgotten() if row["forgetting"] else _begin_owner(tx, owner, now)
    tx.run("UPDATE owners SET forgetting = :how WHERE owner = :owner", how=how, owner=owner)
    going = tx.rows(
        "SELECT * FROM sessions WHERE owner = :owner AND forgetting > 0 ORDER BY forgetting DESC, id LIMIT :most {lock}",
        owner=owner,
        most=SESSIONS_AT_ONCE,
    )
    for session in going:
        if done.turns < forgetting.TURNS_AT_ONCE:
            done = done.and_then(step(tx, session, kept, now))
    left = tx.one(
        "SELECT count(*) AS sessions, coalesce(sum(turns), 0) AS turns FROM sessions WHERE owner = :owner AND forgetting > 0",
        owner=owner,
    )
    if not left["sessions"]:
        _end_owner(tx, owner, how)
        queue.mark_due(tx, Due(kind="files", at=now, reason="forget"), owner, owner)  # they are files, and no rows
    return replace(done, left=int(left["turns"]), done=not left["sessions"])


def _locked(tx: Tx, owner: str) -> Row | None:
    return tx.row("SELECT * FROM owners WHERE owner = :owner {lock}", owner=owner)


def _begin_owner(tx: Tx, owner: str, now: datetime) -> Forgotten:
    """From here on all the owner has is closed for good; what is said from now on belongs to a new beginning."""
    before = twins.group(tx, owner)
    facts = tx.rows("SELECT id FROM facts WHERE owner = :owner", owner=owner)
    for fact in facts:
        search.unindex_record(tx, owner=owner, kind="fact", place=fact["id"])
    tx.run("DELETE FROM evidence WHERE fact_owner = :owner", owner=owner)
    for table in ("presence", "goal_events", "digests", "arrivals", "inbox", "tasks", "facts", "work", "work_heads"):
        tx.run(f"DELETE FROM {table} WHERE owner = :owner", owner=owner)
    audit.remove_owner(tx, owner)
    tx.run("UPDATE spend SET owner = :nobody, session = NULL WHERE owner = :owner", nobody=NOBODY, owner=owner)
    parted = tx.rows(
        "DELETE FROM aliases WHERE owner = :owner OR joined_to = :owner RETURNING owner, joined_to", owner=owner
    )
    forgetting.unsay(tx, before)
    for each in (
        name for name in before if name != owner
    ):  # they may be one still, where this owner was joined to them
        twins.release(tx, twins.group(tx, each))
    for each in sorted({name for row in parted for name in (row["owner"], row["joined_to"])} - {owner}):
        tx.run("UPDATE owners SET facts_forgotten = facts_forgotten + 1 WHERE owner = :owner", owner=each)
        queue.mark_due(tx, Due(kind="files", at=now, reason="forget"), each, each)  # which told of both
    tx.run(
        """UPDATE sessions SET forgetting = :wanted, state = 'closed', closed_at = coalesce(closed_at, :now),
             closed_by = coalesce(closed_by, 'closed'), idle_due = NULL WHERE owner = :owner AND forgetting = 0""",
        wanted=WANTED,
        now=to_us(now),
        owner=owner,
    )
    tx.run("UPDATE owners SET facts_version = facts_version + 1 WHERE owner = :owner", owner=owner)
    return Forgotten(facts=len(facts))


def _end_owner(tx: Tx, owner: str, how: int) -> None:
    """The owner's name goes with the last of it, unless it has begun anew meanwhile."""
    if how == _KEEPING_NOTHING:
        for table in ("stones", "stone_salts"):
            tx.run(f"DELETE FROM {table} WHERE owner = :owner", owner=owner)
    if any(
        tx.rows(f"SELECT 1 FROM {each} WHERE owner = :owner LIMIT 1", owner=owner) for each in ("sessions", "presence")
    ):
        tx.run("UPDATE owners SET forgetting = 0 WHERE owner = :owner", owner=owner)
        return
    audit.remove_owner(tx, owner)
    for table in _WITH_THE_NAME:
        tx.run(f"DELETE FROM {table} WHERE owner = :owner", owner=owner)


# What is under way, and what was forgotten


def unfinished(tx: Tx) -> list[Unfinished]:
    owners = tx.rows("SELECT owner FROM owners WHERE {mine} AND forgetting > 0 ORDER BY owner")
    going = tx.rows(
        """SELECT owner, id FROM sessions WHERE {mine} AND forgetting > 0
             AND owner NOT IN (SELECT owner FROM owners WHERE forgetting > 0) ORDER BY owner, id"""
    )
    return [
        *(Unfinished(owner=row["owner"], session=None) for row in owners),
        *(Unfinished(owner=row["owner"], session=row["id"]) for row in going),
    ]


def is_forgotten(tx: Tx, given: Owner | Session) -> bool:
    """Whether this owner, or this session, was forgotten, and is not to be imported."""
    owner = given.id if isinstance(given, Owner) else given.owner
    row = tx.row("SELECT salt FROM stone_salts WHERE {mine} AND owner = :owner", owner=owner)
    if row is None:
        return False
    if isinstance(given, Session):
        digest = stones.of_session(row["salt"], given.id, to_us(given.created_at))
        return stones.is_there(tx, owner, [digest])
    return tx.row("SELECT 1 FROM owners WHERE {mine} AND owner = :owner", owner=owner) is None


def restore_summary(tx: Tx, summary: Summary, stones_known: int, now: datetime) -> None:
    row = sessions.existing(sessions.find(tx, summary.session, lock=True), summary.session)
    if row["stones"] <= stones_known and row["summary_seq"] < summary.last_seq:
        summaries.commit_summary(tx, summary, row["summary_seq"], None, now)
