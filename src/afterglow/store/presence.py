"""The verbs of presence: who was seen when, and who is told what happened since.

Somebody who comes in is seen, and what happened in the absence is claimed for one digest, in one transaction that locks the
owner: of two messages at one moment, in two processes, one finds the absence and the other finds it over. The digest is
delivered after that. If the process dies in between, that digest is lost, its row says so, and it is not sent twice.

An absence is a window over the numbers of goal events, from behind `told_to` to `events`; so nothing is told twice, and an
event that commits late is in the next window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from afterglow.clock import from_us
from afterglow.digest import Absence, Away, Digest, Gate, Status, gate
from afterglow.goals import GoalEvent
from afterglow.store import goals, queue, schedules, sessions
from afterglow.store.rows import from_row, insert, to_row
from afterglow.store.transaction import Row, Tx
from afterglow.turns import Binding
from afterglow.work import Claim, Due

DIGESTS_KEPT = 200
"""So many of the newest digests of an owner and agent are kept."""
_ARRIVALS_KEPT_US = 7 * 24 * 3600 * 1_000_000
_LOST_AFTER_US = 10 * 60 * 1_000_000
_SECOND = 1_000_000
LOST = "the process ended before it was sent; it is not sent again"

State = Literal["new", "again", "under way"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Arriving:
    """A message that comes in: from where, under which id of the platform's, and for how long it is ours to handle."""

    binding: Binding
    message: str | None
    token: int
    lease_seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """A digest that is to be delivered, by nobody else."""

    number: int
    absence: Absence


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """What was found when a message came in. Only of a new one there is more to say."""

    state: State
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


def come_in(tx: Tx, arriving: Arriving, away: Away) -> Arrival:
    now = queue.now_us(tx)
    agent = arriving.binding.agent
    sessions.add_owner(tx, tx.owner, now)
    tx.rows("SELECT owner FROM owners WHERE {mine} ORDER BY owner {lock}")
    state = _take(tx, arriving, now)
    if state != "new":
        return Arrival(state=state)
    rows = _rows(tx, agent)
    seen = max((row["seen_at"] for row in rows if row["seen_at"] is not None), default=None)
    last_seen = None if seen is None else from_us(seen)
    untold = sum(row["events"] - row["told_to"] for row in rows)
    stopped_by = gate(away, last_seen, from_us(now), untold)
    absence = None
    if stopped_by is None and last_seen is not None:
        absence = _absence(tx, rows, last_seen, from_us(now), away.max_events)
    number = _seen(tx, rows, arriving.binding, now)
    if absence is not None:
        _claim(tx, agent, number, absence, "return")
        return Arrival(state="new", digest=Claimed(number=number, absence=absence))
    if stopped_by == "nothing happened" and last_seen is not None:
        nothing = Absence(since=last_seen, until=from_us(now), events=(), total=0)
        _keep(tx, agent, number, nothing, "return", "none", "nothing happened")
    return Arrival(state="new", stopped_by=stopped_by)


def handled(tx: Tx, message: str, token: int) -> None:
    """The message is dealt with: coming again it is known, and nothing is done."""
    tx.run(
        "UPDATE arrivals SET token = NULL WHERE {mine} AND message = :message AND token = :token",
        message=message,
        token=token,
    )


def renew_arrival(tx: Tx, message: str, token: int, lease_seconds: float) -> None:
    """It takes longer: whoever has the same message goes on waiting."""
    tx.run(
        """UPDATE arrivals SET lease_until = {now} + :lease WHERE {mine} AND message = :message AND token = :token""",
        lease=int(lease_seconds * _SECOND),
        message=message,
        token=token,
    )


def end_digest(tx: Tx, agent: str, number: int, status: Status, reason: str, text: str, remembers: bool) -> None:
    """What became of a digest that was claimed."""
    tx.run(
        """UPDATE digests SET status = :status, reason = :reason, text = :text, remembers = :remembers
           WHERE {mine} AND agent = :agent AND number = :number AND status = 'claimed' AND owner = :owner""",
        status=status,
        reason=reason,
        text=text,
        remembers=int(remembers),
        agent=agent,
        number=number,
        owner=tx.owner,
    )


def claim_daily(tx: Tx, agent: str, max_events: int, claim: Claim) -> Claimed | None:
    """What happened since somebody was last seen or told is theirs to be told now; None where that is nothing.

    The work ends with it, so that it is not told twice, whatever happens to the one who tells it.
    """
    tx.rows("SELECT owner FROM owners WHERE {mine} ORDER BY owner {lock}")
    queue.finish(tx, claim)
    rows = _rows(tx, agent)
    seen = [row["seen_at"] for row in rows if row["seen_at"] is not None]
    if not seen or not any(row["events"] > row["told_to"] for row in rows):
        return None
    now = queue.now_us(tx)
    since = min(max(_last_told(tx, agent), max(seen)), now)
    absence = _absence(tx, rows, from_us(since), from_us(now), max_events)
    number = _move(tx, rows, agent)
    _claim(tx, agent, number, absence, "daily")
    return Claimed(number=number, absence=absence)


def keep_daily(tx: Tx, name: str, before: datetime | None, wants: Callable[[Binding], bool], now: datetime) -> int:
    """Once, whoever comes first: the time has come to tell those who want it what they have not been told."""
    if not schedules.keep(tx, name, before, now):
        return 0
    rows = tx.rows(
        """SELECT owner, agent, channel, sender FROM presence
           WHERE {mine} AND events > told_to AND channel IS NOT NULL ORDER BY owner, agent"""
    )
    to = [
        (row["owner"], row["agent"])
        for row in rows
        if wants(Binding(agent=row["agent"], channel=row["channel"], sender=row["sender"]))
    ]
    queue.mark_all_due(tx, Due(kind="digest", at=now, reason=name), to)
    return len(to)


def commit_prose(tx: Tx, agent: str, to: int, text: str, cost_usd: float | None, claim: Claim) -> None:
    """Words about the events up to this one, if they are the newest still, and the end of the claim."""
    tx.run(
        """UPDATE presence SET prose = :text, prose_to = :to, prose_usd = :cost
           WHERE {mine} AND owner = :owner AND agent = :agent AND events = :to AND told_to < :to""",
        text=text,
        to=to,
        cost=cost_usd,
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
    rows = tx.rows("SELECT * FROM presence WHERE {mine} AND agent = :agent ORDER BY owner", agent=agent)
    return _presence(rows) if rows else None


def digests(tx: Tx, agent: str | None, limit: int) -> list[Digest]:
    """The newest first."""
    rows = tx.rows(
        """SELECT * FROM digests WHERE {mine} AND agent = coalesce(:agent, agent)
           ORDER BY at DESC, owner, agent, number DESC LIMIT :limit""",
        agent=agent,
        limit=limit,
    )
    lost_before = from_us(queue.now_us(tx) - _LOST_AFTER_US)
    return [_or_lost(from_row(Digest, row), lost_before) for row in rows]


def _or_lost(digest: Digest, lost_before: datetime) -> Digest:
    if digest.status != "claimed" or digest.at > lost_before:
        return digest
    return replace(digest, status="failed", reason=LOST)


def unsay(tx: Tx, owners: Iterable[str]) -> None:
    """Of digests of theirs that told what is remembered the words go: some of that is forgotten."""
    for owner in owners:
        tx.run(
            "UPDATE digests SET text = '', remembers = 0 WHERE {mine} AND owner = :owner AND remembers = 1", owner=owner
        )


def _take(tx: Tx, arriving: Arriving, now: int) -> State:
    """Whether the message is new, and from now on ours to handle. One whose handler is gone counts as new."""
    if arriving.message is None:
        return "new"
    tx.run("DELETE FROM arrivals WHERE {mine} AND at < :old", old=now - _ARRIVALS_KEPT_US)
    there = tx.row(
        "SELECT token, lease_until FROM arrivals WHERE {mine} AND message = :message", message=arriving.message
    )
    if there is not None and there["token"] is None:
        return "again"
    lease = int(arriving.lease_seconds * _SECOND)
    if there is not None and now < there["lease_until"] <= now + lease:
        return "under way"
    tx.run(
        """INSERT INTO arrivals (owner, message, at, token, lease_until) VALUES (:owner, :message, :now, :token, :until)
           ON CONFLICT (owner, message) DO UPDATE SET token = :token, lease_until = :until""",
        owner=tx.owner,
        message=arriving.message,
        now=now,
        token=arriving.token,
        until=now + lease,
    )
    return "new"


def _rows(tx: Tx, agent: str) -> list[Row]:
    return tx.rows("SELECT * FROM presence WHERE {mine} AND agent = :agent ORDER BY owner {lock}", agent=agent)


def _absence(tx: Tx, rows: Sequence[Row], since: datetime, until: datetime, max_events: int) -> Absence:
    events = [
        event for row in rows for event in goals.newest(tx, row["owner"], row["agent"], row["told_to"], max_events)
    ]
    events.sort(key=lambda event: (event.at, event.number), reverse=True)
    told = [row for row in rows if row["events"] > row["told_to"]]
    fresh = len(told) == 1 and told[0]["prose_to"] == told[0]["events"]
    return Absence(
        since=since,
        until=until,
        events=tuple(events[:max_events]),
        total=sum(row["events"] - row["told_to"] for row in told),
        prose=told[0]["prose"] if fresh else None,
        cost_usd=told[0]["prose_usd"] if fresh else None,
    )


def _seen(tx: Tx, rows: Sequence[Row], binding: Binding, now: int) -> int:
    """The person is seen now, and all that happened is behind them. The answer is the number of the absence that ended."""
    if not any(row["owner"] == tx.owner for row in rows):
        insert(tx, "presence", {"owner": tx.owner, "agent": binding.agent}, "ON CONFLICT (owner, agent) DO NOTHING")
        rows = _rows(tx, binding.agent)
    number = _move(tx, rows, binding.agent)
    tx.run(
        """UPDATE presence SET seen_at = :now, channel = :channel, sender = :sender
           WHERE {mine} AND owner = :owner AND agent = :agent""",
        now=now,
        channel=binding.channel,
        sender=binding.sender,
        owner=tx.owner,
        agent=binding.agent,
    )
    return number


def _move(tx: Tx, rows: Sequence[Row], agent: str) -> int:
    """The window ends here, for all that are joined; if nobody moved it since it was read."""
    number = 0
    for row in rows:
        moved = tx.one(
            """UPDATE presence SET version = version + 1, told_to = events, prose = NULL, prose_to = NULL, prose_usd = NULL
               WHERE {mine} AND owner = :owner AND agent = :agent AND version = :version RETURNING version""",
            owner=row["owner"],
            agent=agent,
            version=row["version"],
        )
        if row["owner"] == tx.owner:
            number = moved["version"]
    return number


def _last_told(tx: Tx, agent: str) -> int:
    row = tx.one("SELECT max(at) AS at FROM digests WHERE {mine} AND agent = :agent AND status <> 'none'", agent=agent)
    return row["at"] or 0


def _claim(tx: Tx, agent: str, number: int, absence: Absence, kind: Literal["return", "daily"]) -> None:
    _keep(tx, agent, number, absence, kind, "claimed", "")


def _keep(
    tx: Tx,
    agent: str,
    number: int,
    absence: Absence,
    kind: Literal["return", "daily"],
    status: Status,
    reason: str,
) -> None:
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
        kept=DIGESTS_KEPT,
    )


def _presence(rows: Sequence[Row]) -> Presence:
    newest = max(rows, key=lambda row: row["seen_at"] or 0)
    return Presence(
        owner=newest["owner"],
        agent=newest["agent"],
        seen_at=None if newest["seen_at"] is None else from_us(newest["seen_at"]),
        channel=newest["channel"],
        sender=newest["sender"],
        untold=sum(row["events"] - row["told_to"] for row in rows),
        version=newest["version"],
        prose_to=newest["prose_to"],
    )
