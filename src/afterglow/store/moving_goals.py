"""The verbs by which goal events and presence go into an export and come out of one.

In a store that knows the person already, what is imported counts as told: it happened elsewhere, long ago.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from afterglow.clock import to_us
from afterglow.digest import Digest
from afterglow.goals import GoalEvent
from afterglow.store import goals
from afterglow.store.rows import from_row, insert, to_row
from afterglow.store.transaction import Row, Tx


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """How things stand between an owner and an agent."""

    owner: str
    agent: str
    version: int
    seen_at: datetime | None
    channel: str | None
    sender: str | None
    events: int
    told_to: int


def standings(tx: Tx, limit: int, after: tuple[str, str]) -> list[Standing]:
    """A page of them, in an order that no change changes."""
    rows = tx.rows(
        """SELECT * FROM presence WHERE {mine} AND (owner, agent) > (:owner, :agent) ORDER BY owner, agent LIMIT :limit""",
        owner=after[0],
        agent=after[1],
        limit=limit,
    )
    return [from_row(Standing, row) for row in rows]


def goals_after(tx: Tx, agent: str, number: int, limit: int) -> list[GoalEvent]:
    """The events of one owner after this number, the oldest first."""
    rows = tx.rows(
        """SELECT owner, agent, number, goal, step, outcome, title, note, at FROM goal_events
           WHERE {mine} AND owner = :owner AND agent = :agent AND number > :number ORDER BY number LIMIT :limit""",
        owner=tx.owner,
        agent=agent,
        number=number,
        limit=limit,
    )
    return [from_row(GoalEvent, row) for row in rows]


def restore_goals(tx: Tx, events: Sequence[GoalEvent]) -> int:
    """The events that are not there yet, behind those that are; how many were new. What was forgotten does not come back."""
    new = 0
    for event in events:
        row = goals.locked(tx, event.agent, to_us(event.at))
        if is_from_before(tx, to_us(event.at)) or _is_there(tx, event):
            continue
        added = replace(event, owner=tx.owner, number=row["events"] + 1)
        goals.add(tx, added)
        if _is_known(row):
            _count_as_told(tx, added)
        new += 1
    return new


def restore_standing(tx: Tx, standing: Standing, digests: Sequence[Digest], now: datetime) -> None:
    """As it stood, if nothing is known here. Where events of another origin are, all are told: rather again than too little."""
    row = goals.locked(tx, standing.agent, to_us(now))
    if _is_known(row) or (standing.seen_at is not None and is_from_before(tx, to_us(standing.seen_at))):
        return
    tx.run(
        """UPDATE presence SET version = :version, seen_at = :seen_at, channel = :channel, sender = :sender, told_to = :told_to
           WHERE {mine} AND owner = :owner AND agent = :agent""",
        version=standing.version,
        seen_at=None if standing.seen_at is None else to_us(standing.seen_at),
        channel=standing.channel,
        sender=standing.sender,
        told_to=standing.told_to if row["events"] == standing.events else 0,
        owner=tx.owner,
        agent=standing.agent,
    )
    forgot = _has_forgotten(tx)
    for digest in digests:
        kept = replace(digest, owner=tx.owner, text="" if forgot and digest.remembers else digest.text)
        insert(tx, "digests", to_row(kept), "ON CONFLICT DO NOTHING")


def _has_forgotten(tx: Tx) -> bool:
    """Whether anything of the owner was forgotten here: then the words of a digest might bring it back."""
    found = tx.row(
        """SELECT 1 FROM owners WHERE {mine} AND owner = :owner
             AND (EXISTS (SELECT 1 FROM stone_salts WHERE stone_salts.owner = owners.owner)
                  OR EXISTS (SELECT 1 FROM facts WHERE facts.owner = owners.owner AND facts.status = 'forgotten'))""",
        owner=tx.owner,
    )
    return found is not None


def _is_there(tx: Tx, event: GoalEvent) -> bool:
    found = tx.row(
        """SELECT number FROM goal_events
           WHERE {mine} AND owner = :owner AND agent = :agent AND goal = :goal AND step = :step""",
        owner=tx.owner,
        agent=event.agent,
        goal=event.goal,
        step=event.step,
    )
    return found is not None


def is_from_before(tx: Tx, at_us: int) -> bool:
    """Whether the owner was forgotten since, and has begun anew."""
    found = tx.row(
        """SELECT 1 FROM owners WHERE {mine} AND owner = :owner AND created_at >= :at
             AND EXISTS (SELECT 1 FROM stone_salts WHERE stone_salts.owner = owners.owner)""",
        owner=tx.owner,
        at=at_us,
    )
    return found is not None


def _count_as_told(tx: Tx, event: GoalEvent) -> None:
    """Unless something before it is still to be told: then it is told with that."""
    tx.run(
        """UPDATE presence SET told_to = :number
           WHERE {mine} AND owner = :owner AND agent = :agent AND told_to = :number - 1""",
        number=event.number,
        owner=event.owner,
        agent=event.agent,
    )


def _is_known(row: Row) -> bool:
    return row["version"] > 0 or row["seen_at"] is not None
