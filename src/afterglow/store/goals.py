"""The verbs of goal events.

They are numbered without gaps, in the order in which they commit: the row that counts them is locked before one is written. So
a window over the numbers holds all that happened in it, and nothing comes into it later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterglow.clock import to_us
from afterglow.goals import GoalEvent, Outcome
from afterglow.store import queue, sessions
from afterglow.store.rows import from_row, insert, to_row
from afterglow.store.transaction import Row, Tx
from afterglow.work import Due

_LOOKED_AT = 50
_EVERY_COLUMN = "owner, agent, number, goal, step, outcome, title, note, at"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A step of a goal that is to be written down."""

    agent: str
    goal: str
    step: str
    outcome: Outcome
    title: str
    note: str
    at: datetime


def record_goal(tx: Tx, given: Step, due: Sequence[Due]) -> GoalEvent:
    counted = locked(tx, given.agent, to_us(given.at))
    there = _the_same(tx, given)
    if there is not None:
        return from_row(GoalEvent, there)
    event = GoalEvent(
        owner=tx.owner,
        agent=given.agent,
        number=counted["events"] + 1,
        goal=given.goal,
        step=given.step,
        outcome=given.outcome,
        title=given.title,
        note=given.note,
        at=given.at,
    )
    add(tx, event)
    for each in due:
        queue.mark_due(tx, each, tx.owner, each.subject or given.agent)
    return event


def locked(tx: Tx, agent: str, at_us: int) -> Row:
    """The row that counts the events; nobody else numbers one now, and nobody of the owners joined writes the same step."""
    sessions.lock_all_owners(tx, at_us)
    return tx.one(
        """INSERT INTO presence (owner, agent) VALUES (:owner, :agent)
           ON CONFLICT (owner, agent) DO UPDATE SET events = presence.events RETURNING *""",
        owner=tx.owner,
        agent=agent,
    )


def add(tx: Tx, event: GoalEvent) -> None:
    """The next event; the row that counts them is locked."""
    insert(tx, "goal_events", to_row(event))
    tx.run(
        "UPDATE presence SET events = :number WHERE {mine} AND owner = :owner AND agent = :agent",
        number=event.number,
        owner=event.owner,
        agent=event.agent,
    )


def _the_same(tx: Tx, given: Step) -> Row | None:
    found = tx.rows(
        f"""SELECT {_EVERY_COLUMN} FROM goal_events WHERE {{mine}} AND agent = :agent AND goal = :goal AND step = :step
            ORDER BY owner, number LIMIT 1""",
        agent=given.agent,
        goal=given.goal,
        step=given.step,
    )
    return found[0] if found else None


def goal_events(
    tx: Tx, agent: str | None, since: datetime | None, limit: int, before: tuple[int, int, str] | None, goal: str | None
) -> list[GoalEvent]:
    """The newest first; `before` is the last of the page before, as (at, number, owner)."""
    at, number, owner = before or (2**62, 2**62, "")
    of_agent = "TRUE" if agent is None else "agent = :agent"
    rows = tx.rows(
        f"""SELECT {_EVERY_COLUMN} FROM goal_events WHERE {{mine}} AND {of_agent} AND at >= :since
              AND (at, number, owner) < (:at, :number, :after) AND goal = coalesce(:goal, goal)
            ORDER BY at DESC, number DESC, owner DESC LIMIT :limit""",
        **({} if agent is None else {"agent": agent}),
        since=-(2**62) if since is None else to_us(since),
        at=at,
        number=number,
        after=owner,
        goal=goal,
        limit=limit,
    )
    return [from_row(GoalEvent, row) for row in rows]


def newest(tx: Tx, owner: str, agent: str, after: int, limit: int) -> list[GoalEvent]:
    """The newest events of one owner after this number, the newest first."""
    rows = tx.rows(
        f"""SELECT {_EVERY_COLUMN} FROM goal_events WHERE {{mine}} AND owner = :owner AND agent = :agent AND number > :after
            ORDER BY number DESC LIMIT :limit""",
        owner=owner,
        agent=agent,
        after=after,
        limit=limit,
    )
    return [from_row(GoalEvent, row) for row in rows]


def still_waiting(tx: Tx, owner: str, agent: str, after: int, limit: int) -> list[GoalEvent]:
    """The newest events of one owner after this number that need the person, and of whose goal nothing came later.

    Of those that needed the person only the newest are looked at: what is read does not grow with what happened.
    """
    rows = tx.rows(
        f"""SELECT {_EVERY_COLUMN} FROM
              (SELECT {_EVERY_COLUMN} FROM goal_events
               WHERE {{mine}} AND owner = :owner AND agent = :agent AND number > :after AND outcome = 'needs_you'
               ORDER BY number DESC LIMIT :looked_at) AS one
            WHERE NOT EXISTS (SELECT 1 FROM goal_events AS later WHERE later.owner = one.owner AND later.agent = one.agent
                              AND later.goal = one.goal AND later.number > one.number)
            ORDER BY number DESC LIMIT :limit""",
        owner=owner,
        agent=agent,
        after=after,
        looked_at=_LOOKED_AT,
        limit=limit,
    )
    return [from_row(GoalEvent, row) for row in rows]
