"""The verbs of presence: who was seen when, and what happened since.

Somebody who comes in is seen, and what happened in the absence is claimed for one digest, in one transaction that locks the
owner: of two messages at one moment, in two processes, one finds the absence and the other finds it over. The digest is
delivered after that. If the process dies in between, that digest is lost, its row says so, and it is not sent twice.

An absence is a window over the numbers of goal events, from behind `told_to` to `events`; so nothing is told twice, and an
event that commits late is in the next window. Owners that are joined are one person: each has a window, and all end at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from afterglow.clock import from_us, to_us
from afterglow.digest import SHOWN_MAX, Absence, Away, Gate, gate
from afterglow.goals import GoalEvent
from afterglow.store import arrivals, digests, facts, goals, queue, schedules, sessions
from afterglow.store.arrivals import Arriving, Handler, State
from afterglow.store.rows import insert
from afterglow.store.transaction import Row, Tx
from afterglow.turns import Binding
from afterglow.work import Claim, Due


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """A digest that is to be delivered, by nobody else."""

    number: int
    absence: Absence


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """What was found when a message came in. Only of a new one there is more to say."""

    state: State
    handler: Handler | None = None
    """Who handles it, where it is under way."""
    stopped_by: Gate | None = None
    digest: Claimed | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Presence:
    """When somebody was last seen, from where, and what has happened since."""

    owner: str
    agent: str
    seen_at: datetime | None
    channel: str | None
    sender: str | None
    untold: int
    version: int
    prose_to: int | None
    prose_at: datetime | None


def come_in(tx: Tx, arriving: Arriving, away: Away) -> Arrival:
    agent = arriving.binding.agent
    sessions.lock_all_owners(tx, queue.now_us(tx))
    now = queue.now_us(tx)  # read behind the lock: who held it before was seen before
    state, handler = arrivals.take(tx, arriving, now)
    if state != "new":
        return Arrival(state=state, handler=handler)
    insert(tx, "presence", {"owner": tx.owner, "agent": agent}, "ON CONFLICT (owner, agent) DO NOTHING")
    rows = _rows(tx, agent)
    last_seen = _last_seen(rows)
    stopped_by = gate(away, last_seen, from_us(now), _untold(rows))
    absence = None
    if last_seen is not None and stopped_by in (None, "nothing happened"):
        absence = _absence(tx, rows, last_seen, from_us(now), away.max_events)
    number = _move(tx, rows, agent, now)
    tx.run(
        """UPDATE presence SET seen_at = :now, channel = :channel, sender = :sender
           WHERE {mine} AND owner = :owner AND agent = :agent""",
        now=now,
        channel=arriving.binding.channel,
        sender=arriving.binding.sender,
        owner=tx.owner,
        agent=agent,
    )
    if absence is None:
        return Arrival(state="new", stopped_by=stopped_by)
    if stopped_by is not None:
        digests.keep(tx, agent, number, absence, "return", "none", stopped_by)
        return Arrival(state="new", stopped_by=stopped_by)
    digests.keep(tx, agent, number, absence, "return", "claimed")
    return Arrival(state="new", digest=Claimed(number=number, absence=absence))


def claim_daily(tx: Tx, agent: str, max_events: int, claim: Claim) -> Claimed | None:
    """What happened since somebody was last seen or told is theirs to be told now; None where that is nothing.

    The work ends with it, so that it is not told twice, whatever happens to the one who tells it.
    """
    facts.lock_owners(tx)
    rows = _rows(tx, agent)
    queue.finish(tx, claim)
    last_seen = _last_seen(rows)
    if last_seen is None or not _untold(rows):
        return None
    now = queue.now_us(tx)
    since = min(max(digests.last_told(tx, agent), to_us(last_seen)), now)
    absence = _absence(tx, rows, from_us(since), from_us(now), max_events)
    number = _move(tx, rows, agent, now)
    digests.keep(tx, agent, number, absence, "daily", "claimed")
    return Claimed(number=number, absence=absence)


def untold_people(tx: Tx, limit: int, after: tuple[str, str]) -> list[Presence]:
    """A page of all owners and agents with something untold."""
    rows = tx.rows(
        """SELECT * FROM presence WHERE {mine} AND events > told_to AND (owner, agent) > (:owner, :agent)
           ORDER BY owner, agent LIMIT :limit""",
        owner=after[0],
        agent=after[1],
        limit=limit,
    )
    return [_presence([row]) for row in rows]


def mark_told_due(tx: Tx, name: str, to: Sequence[tuple[str, str]], now: datetime) -> None:
    """These owners are to be told what these agents did."""
    queue.mark_all_due(tx, Due(kind="digest", at=now, reason=name), to)


def keep_time(tx: Tx, name: str, before: datetime | None, now: datetime) -> bool:
    return schedules.keep(tx, name, before, now)


def commit_prose(tx: Tx, agent: str, to: int, text: str, cost_usd: float | None, claim: Claim, now: datetime) -> None:
    """Words about the events up to this one, if they are the newest still, and the end of the claim."""
    tx.run(
        """UPDATE presence SET prose = :text, prose_to = :to, prose_usd = :cost, prose_at = :now
           WHERE {mine} AND owner = :owner AND agent = :agent AND events = :to AND told_to < :to""",
        text=text,
        to=to,
        cost=cost_usd,
        now=to_us(now),
        owner=claim.owner,
        agent=agent,
    )
    queue.finish(tx, claim)


def untold(tx: Tx, agent: str, limit: int) -> tuple[Presence, list[GoalEvent]] | None:
    """What would be told now: of one owner, the newest first."""
    row = tx.row(
        "SELECT * FROM presence WHERE {mine} AND owner = :owner AND agent = :agent", owner=tx.owner, agent=agent
    )
    if row is None:
        return None
    return _presence([row]), goals.newest(tx, row["owner"], agent, row["told_to"], limit)


def presence(tx: Tx, agent: str) -> Presence | None:
    rows = _unlocked(tx, agent)
    return _presence(rows) if rows else None


def absence(tx: Tx, agent: str, max_events: int, since: datetime | None, now: datetime) -> Absence:
    """What somebody would be told now, or of the time since a moment. Nothing moves."""
    if since is not None:
        counted = tx.one(
            "SELECT count(*) AS n FROM goal_events WHERE {mine} AND agent = :agent AND at >= :since",
            agent=agent,
            since=to_us(since),
        )
        events = goals.goal_events(tx, agent, since, max_events, None, None)
        return Absence(since=min(since, now), until=now, events=tuple(events), total=counted["n"])
    rows = _unlocked(tx, agent)
    return _absence(tx, rows, min(_last_seen(rows) or now, now), now, max_events)


def _unlocked(tx: Tx, agent: str) -> list[Row]:
    return tx.rows("SELECT * FROM presence WHERE {mine} AND agent = :agent ORDER BY owner", agent=agent)


def _rows(tx: Tx, agent: str) -> list[Row]:
    return tx.rows("SELECT * FROM presence WHERE {mine} AND agent = :agent ORDER BY owner {lock}", agent=agent)


def _last_seen(rows: Sequence[Row]) -> datetime | None:
    seen = [row["seen_at"] for row in rows if row["seen_at"] is not None]
    return from_us(max(seen)) if seen else None


def _untold(rows: Sequence[Row]) -> int:
    return sum(row["events"] - row["told_to"] for row in rows)


def _absence(tx: Tx, rows: Sequence[Row], since: datetime, until: datetime, max_events: int) -> Absence:
    told = [row for row in rows if row["events"] > row["told_to"]]
    events = [
        event for row in told for event in goals.newest(tx, row["owner"], row["agent"], row["told_to"], max_events)
    ]
    if len(told) > 1:  # each is numbered for itself
        events.sort(key=lambda event: (event.at, event.number), reverse=True)
    fresh = len(told) == 1 and told[0]["prose_to"] == told[0]["events"]
    shown = tuple(events[:max_events])
    return Absence(
        since=since,
        until=until,
        events=shown,
        total=_untold(told),
        waiting=_waiting(tx, told, shown),
        prose=told[0]["prose"] if fresh else None,
        cost_usd=told[0]["prose_usd"] if fresh else None,
    )


def _waiting(tx: Tx, told: Sequence[Row], shown: Sequence[GoalEvent]) -> tuple[GoalEvent, ...]:
    """Older events that still need the person, which the newest must not hide."""
    if sum(row["events"] - row["told_to"] for row in told) <= len(shown):
        return ()
    known = {(event.owner, event.number) for event in shown}
    found = [
        event
        for row in told
        for event in goals.still_waiting(tx, row["owner"], row["agent"], row["told_to"], SHOWN_MAX)
    ]
    return tuple(event for event in found if (event.owner, event.number) not in known)


def _move(tx: Tx, rows: Sequence[Row], agent: str, now: int) -> int:
    """The window ends here, for all that are joined, if nobody moved it since it was read. Nobody was seen in the future."""
    number = 0
    for row in rows:
        moved = tx.one(
            """UPDATE presence SET version = version + 1, told_to = events, prose = NULL, prose_to = NULL, prose_usd = NULL,
                 prose_at = NULL, seen_at = CASE WHEN seen_at > :now THEN :now ELSE seen_at END
               WHERE {mine} AND owner = :owner AND agent = :agent AND version = :version RETURNING version""",
            now=now,
            owner=row["owner"],
            agent=agent,
            version=row["version"],
        )
        if row["owner"] == tx.owner:
            number = moved["version"]
    return number


def _presence(rows: Sequence[Row]) -> Presence:
    newest = max(rows, key=lambda row: row["seen_at"] or 0)
    return Presence(
        owner=newest["owner"],
        agent=newest["agent"],
        seen_at=None if newest["seen_at"] is None else from_us(newest["seen_at"]),
        channel=newest["channel"],
        sender=newest["sender"],
        untold=_untold(rows),
        version=newest["version"],
        prose_to=newest["prose_to"],
        prose_at=None if newest["prose_at"] is None else from_us(newest["prose_at"]),
    )


def binding_of(seen: Presence) -> Binding | None:
    """Where somebody was last seen; None where they never were."""
    if seen.channel is None or seen.sender is None:
        return None
    return Binding(agent=seen.agent, channel=seen.channel, sender=seen.sender)
