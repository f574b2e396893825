"""The verbs of digests: what became of each absence that was long enough. They are claimed by presence.py."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from afterglow.clock import from_us
from afterglow.digest import Absence, Digest, Occasion, Status
from afterglow.store import queue
from afterglow.store.rows import from_row, insert, to_row
from afterglow.store.transaction import Tx

KEPT = 200
"""So many of the newest digests of an owner and agent are kept."""
LOST = "the process ended before it was sent, or before that was written down; it is not sent again"
_LOST_AFTER_US = 10 * 60 * 1_000_000


def keep(tx: Tx, agent: str, number: int, absence: Absence, kind: Occasion, status: Status, reason: str = "") -> None:
    """The digest for the absence that ended with this number; the oldest go."""
    digest = Digest(
        owner=tx.owner,
        agent=agent,
        number=number,
        at=absence.until,
        since=absence.since,
        status=status,
        reason=reason,
        shown=len(absence.events),
        total=absence.total,
        text="",
        kind=kind,
    )
    insert(tx, "digests", to_row(digest))
    tx.run(
        """DELETE FROM digests WHERE {mine} AND owner = :owner AND agent = :agent AND number <=
             (SELECT number FROM digests WHERE owner = :owner AND agent = :agent
              ORDER BY number DESC LIMIT 1 OFFSET :kept)""",
        owner=tx.owner,
        agent=agent,
        kept=KEPT,
    )


def end_digest(tx: Tx, agent: str, number: int, status: Status, reason: str, text: str, remembers: bool) -> None:
    """What became of a digest that was claimed. Its words are not kept where something of them was forgotten meanwhile."""
    tx.run(
        """UPDATE digests SET status = :status, reason = :reason,
             text = CASE WHEN unsaid = 1 AND :remembers = 1 THEN '' ELSE :text END,
             remembers = CASE WHEN unsaid = 1 THEN 0 ELSE :remembers END
           WHERE {mine} AND owner = :owner AND agent = :agent AND number = :number AND status = 'claimed'""",
        status=status,
        reason=reason,
        text=text,
        remembers=int(remembers),
        owner=tx.owner,
        agent=agent,
        number=number,
    )


def digests(
    tx: Tx, agent: str | None, limit: int, of_one: bool, before: tuple[int, str, str, int] | None
) -> list[Digest]:
    """The newest first; of one owner without those joined to it, where that is asked."""
    at, of_owner, of_agent, number = before or (2**62, "", "", 0)
    rows = tx.rows(
        """SELECT * FROM digests WHERE {mine} AND agent = coalesce(:agent, agent) AND owner = coalesce(:owner, owner)
             AND (at, owner, agent, number) < (:at, :of_owner, :of_agent, :number)
           ORDER BY at DESC, owner DESC, agent DESC, number DESC LIMIT :limit""",
        at=at,
        of_owner=of_owner,
        of_agent=of_agent,
        number=number,
        agent=agent,
        owner=tx.owner if of_one else None,
        limit=limit,
    )
    lost_before = from_us(queue.now_us(tx) - _LOST_AFTER_US)
    return [_or_lost(from_row(Digest, row), lost_before) for row in rows]


def last_told(tx: Tx, agent: str) -> int:
    """When somebody was last told anything."""
    row = tx.one("SELECT max(at) AS at FROM digests WHERE {mine} AND agent = :agent AND status <> 'none'", agent=agent)
    return row["at"] or 0


def unsay(tx: Tx, owners: Iterable[str]) -> None:
    """Of digests of theirs that tell what is remembered the words go, of those under way too: some of that is forgotten."""
    for owner in owners:
        tx.run(
            """UPDATE digests SET text = '', remembers = 0, unsaid = CASE WHEN status = 'claimed' THEN 1 ELSE unsaid END
               WHERE {mine} AND owner = :owner AND (remembers = 1 OR status = 'claimed')""",
            owner=owner,
        )


def _or_lost(digest: Digest, lost_before: datetime) -> Digest:
    if digest.status != "claimed" or digest.at > lost_before:
        return digest
    return replace(digest, status="failed", reason=LOST)
