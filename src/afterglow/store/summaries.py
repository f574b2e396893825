"""The verbs of summaries, of the end of sessions, and of the one process that works unasked.

Which sessions need a summary is a partial index over those that said something since the last one: finding them costs what
changed, not how many sessions there are. A sweep leaves out sessions whose summary is asked for already, so that one that
fails for ever takes nobody's place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from afterglow.clock import from_us, to_us
from afterglow.compaction import ended
from afterglow.errors import ClaimLost
from afterglow.primary import Lease
from afterglow.store import log, queue, sessions
from afterglow.store.transaction import Row, Tx
from afterglow.summaries import Summary, Trigger
from afterglow.turns import Session
from afterglow.work import Claim, Due

_SECOND = 1_000_000
_AHEAD_MOST = timedelta(days=1)
"""A turn that is dated further in the future than this says nothing of whether its session is busy now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Which summaries are asked for."""

    agent: str | None = None
    category: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """Who is primary, and when it last looked for sessions without a summary."""

    lease: Lease | None
    last_sweep_at: datetime | None
    last_sweep_found: int | None
    last_sweep_reason: str | None
    last_success_at: datetime | None
    last_trigger: Trigger | None


def commit_summary(tx: Tx, summary: Summary, before_seq: int, claim: Claim | None, now: datetime) -> Session:
    row = sessions.existing(sessions.find(tx, summary.session, lock=True), summary.session)
    if row["summary_seq"] != before_seq:
        raise ClaimLost(
            f"session {summary.session!r} was summarised by somebody else meanwhile; this result is dropped"
        )
    assert before_seq <= summary.last_seq <= row["turns"], (
        "a summary covers more than the one before, and no turn to come"
    )
    tx.run(
        "UPDATE summaries SET newest = 0 WHERE {mine} AND owner = :owner AND session = :session AND newest = 1",
        owner=row["owner"],
        session=summary.session,
    )
    _insert(tx, row["owner"], summary)
    changed = tx.one(
        """UPDATE sessions SET summary_seq = :last_seq WHERE {mine} AND owner = :owner AND id = :id RETURNING *""",
        last_seq=summary.last_seq,
        owner=row["owner"],
        id=summary.session,
    )
    if claim is not None:
        queue.finish(tx, claim)
    if changed["sunset_seq"] > summary.last_seq:
        again = Due(kind="summary", at=now, reason="sunset-event")
        queue.mark_due(tx, again, row["owner"], summary.session)
    return sessions.record(changed)


def summaries(tx: Tx, wanted: Wanted, limit: int, before: tuple[int, str, str] | None) -> list[Summary]:
    last_at, owner, session = before or (2**62, "", "")
    rows = tx.rows(
        """SELECT * FROM summaries WHERE {mine} AND newest = 1 AND (last_at, owner, session) < (:last_at, :owner, :session)
             AND last_at >= :since AND last_at < :until AND agent = coalesce(:agent, agent)
             AND category = coalesce(:category, category)
           ORDER BY last_at DESC, owner DESC, session DESC LIMIT :limit""",
        last_at=last_at,
        owner=owner,
        session=session,
        since=0 if wanted.since is None else to_us(wanted.since),
        until=2**62 if wanted.until is None else to_us(wanted.until),
        agent=wanted.agent,
        category=wanted.category,
        limit=limit,
    )
    return [_summary(row) for row in rows]


def summary_of(tx: Tx, session: str) -> Summary | None:
    row = sessions.existing(sessions.find(tx, session), session)
    found = tx.row(
        "SELECT * FROM summaries WHERE {mine} AND owner = :owner AND session = :session AND newest = 1",
        owner=row["owner"],
        session=session,
    )
    return None if found is None else _summary(found)


def summaries_at(tx: Tx, at_us: int, besides: str, limit: int) -> list[Summary]:
    """What was known at a moment: of each session the summary that was the newest then."""
    newest: dict[str, Summary] = {}
    most, read = 4 * limit, 0
    while len(newest) < limit:
        rows = tx.rows(
            """SELECT * FROM summaries WHERE {mine} AND created_at <= :at AND session <> :besides
               ORDER BY created_at DESC, session DESC, last_seq DESC LIMIT :most OFFSET :read""",
            at=at_us,
            besides=besides,
            most=most,
            read=read,
        )
        for row in rows:
            newest.setdefault(row["session"], _summary(row))
        if len(rows) < most:
            break
        most, read = 2 * most, read + most  # one session that was summarised again and again hides no other
    return sorted(newest.values(), key=lambda each: each.last_at, reverse=True)[:limit]


def request_sunset(tx: Tx, session: str, due: Due) -> Session:
    row = sessions.existing(sessions.find(tx, session, lock=True), session)
    sessions.sunset(tx, row["owner"], session, to_us(due.at))
    _mark_ended(tx, row, due.at, due.reason)
    return sessions.session(tx, session)


def clear_session(tx: Tx, session: str, claim: Claim | None, entry: log.Entry, at_us: int) -> Session:
    row = sessions.existing(sessions.find(tx, session, lock=True), session)
    by_hand = claim is None and row["state"] != "closed"
    if by_hand or row["state"] == "idle":
        log.announce(tx, row, entry)
        sessions.close_session(tx, session, at_us, "cleared")
    if by_hand and row["said_seq"] > row["summary_seq"]:  # by its timer it was summarised before, or is to be
        _mark_ended(tx, row, from_us(at_us), "manual")
    if claim is not None:
        queue.finish(tx, claim)
    return sessions.session(tx, session)


def sweep(
    tx: Tx, reason: str, quiet_before: datetime, since: datetime | None, newest: int, oldest: int, now: datetime
) -> int:
    """Make due the summaries of stale sessions that are quiet or closed: the newest, and some that have waited longest."""
    found = {
        (row["owner"], row["id"])
        for order, limit in (("DESC", newest), ("ASC", oldest))
        for row in _stale(tx, quiet_before, since, now + _AHEAD_MOST, order, limit)
    }
    queue.mark_all_due(tx, Due(kind="summary", at=now, reason=reason), sorted(found))
    tx.run(
        "UPDATE fleet SET last_sweep_at = :at, last_sweep_found = :found, last_sweep_reason = :reason WHERE id = 1",
        at=to_us(now),
        found=len(found),
        reason=reason,
    )
    return len(found)


def stale_sessions(tx: Tx, since: datetime | None, limit: int, before: tuple[int, str, str] | None) -> list[Session]:
    last_at, owner, session_id = before or (2**62, "", "")
    rows = tx.rows(
        """SELECT * FROM sessions WHERE {mine} AND said_seq > summary_seq AND last_at >= :since
             AND (last_at, owner, id) < (:last_at, :owner, :id) ORDER BY last_at DESC, owner DESC, id DESC LIMIT :limit""",
        since=0 if since is None else to_us(since),
        last_at=last_at,
        owner=owner,
        id=session_id,
        limit=limit,
    )
    return [sessions.record(row) for row in rows]


def take_primary(tx: Tx, holder: str, token: int, explicit: bool, lease_seconds: float) -> Lease:
    """The lease, new or renewed, or that of whoever has it."""
    tx.run("SELECT id FROM fleet WHERE id = 1 {lock}")  # or its holder could leave before it is named
    row = tx.row(
        """UPDATE fleet SET holder = :holder, token = :token, explicit = :explicit, lease_until = {now} + :lease
           WHERE id = 1 AND (lease_until <= {now} OR token = :token OR lease_until > {now} + :longest)
           RETURNING holder, token, lease_until, explicit""",
        holder=holder,
        token=token,
        explicit=int(explicit),
        lease=int(lease_seconds * _SECOND),
        longest=int(3600 * _SECOND),
    )
    found = row or tx.one("SELECT holder, token, lease_until, explicit FROM fleet WHERE id = 1")
    return _lease(found)


def leave_primary(tx: Tx, token: int) -> None:
    tx.run("UPDATE fleet SET lease_until = 0, holder = NULL, token = NULL WHERE id = 1 AND token = :token", token=token)


def fleet(tx: Tx) -> Fleet:
    row = tx.one("SELECT *, {now} AS now FROM fleet WHERE id = 1")
    made = tx.rows("SELECT created_at, reason FROM summaries ORDER BY created_at DESC LIMIT 1")
    return Fleet(
        lease=_lease(row) if row["holder"] is not None and row["lease_until"] > row["now"] else None,
        last_sweep_at=None if row["last_sweep_at"] is None else from_us(row["last_sweep_at"]),
        last_sweep_found=row["last_sweep_found"],
        last_sweep_reason=row["last_sweep_reason"],
        last_success_at=from_us(made[0]["created_at"]) if made else None,
        last_trigger=made[0]["reason"] if made else None,
    )


def _mark_ended(tx: Tx, row: Row, at: datetime, reason: str) -> None:
    """What follows the end of a session is due; its summary only if it has said something since the last one."""
    for due in sorted(ended(at, reason), key=lambda due: due.kind):  # in this order, as everywhere
        if due.kind != "summary" or row["said_seq"] > row["summary_seq"]:
            queue.mark_due(tx, due, row["owner"], row["id"])


def _stale(
    tx: Tx, quiet_before: datetime, since: datetime | None, nobody_after: datetime, order: str, limit: int
) -> list[Row]:
    return tx.rows(
        f"""SELECT owner, id FROM sessions WHERE {{mine}} AND said_seq > summary_seq
              AND (last_at < :quiet_before OR last_at > :nobody_after OR state = 'closed') AND last_at >= :since
              AND NOT EXISTS (SELECT 1 FROM work WHERE work.owner = sessions.owner AND work.kind = 'summary'
                              AND work.subject = sessions.id)
            ORDER BY last_at {order} LIMIT :limit""",
        quiet_before=to_us(quiet_before),
        nobody_after=to_us(nobody_after),
        since=0 if since is None else to_us(since),
        limit=limit,
    )


def _lease(row: Row) -> Lease:
    return Lease(
        holder=row["holder"], token=row["token"], until=from_us(row["lease_until"]), explicit=bool(row["explicit"])
    )


def _insert(tx: Tx, owner: str, new: Summary) -> None:
    values: dict[str, Any] = {
        "owner": owner,
        "session": new.session,
        "last_seq": new.last_seq,
        "first_seq": new.first_seq,
        "first_at": to_us(new.first_at),
        "last_at": to_us(new.last_at),
        "agent": new.agent,
        "title": new.title,
        "summary": new.summary,
        "category": new.category,
        "reason": new.trigger,
        "model": new.model,
        "prompt": new.prompt,
        "input_tokens": new.input_tokens,
        "output_tokens": new.output_tokens,
        "cost_usd": new.cost_usd,
        "degraded": int(new.degraded),
        "newest": 1,
        "created_at": to_us(new.created_at),
        **{name: _list(getattr(new, name)) for name in ("decisions", "open_threads", "outcomes", "people")},
    }
    columns = ", ".join(values)
    places = ", ".join(f":{name}" for name in values)
    changed = ", ".join(f"{name} = excluded.{name}" for name in values if name not in ("owner", "session", "last_seq"))
    tx.run(
        f"""INSERT INTO summaries ({columns}) VALUES ({places})
            ON CONFLICT (owner, session, last_seq) DO UPDATE SET {changed}""",
        **values,
    )


def _list(items: Sequence[str]) -> str:
    return json.dumps(list(items), ensure_ascii=False)


def _summary(row: Row) -> Summary:
    return Summary(
        owner=row["owner"],
        session=row["session"],
        agent=row["agent"],
        title=row["title"],
        summary=row["summary"],
        category=row["category"],
        decisions=tuple(json.loads(row["decisions"])),
        open_threads=tuple(json.loads(row["open_threads"])),
        outcomes=tuple(json.loads(row["outcomes"])),
        people=tuple(json.loads(row["people"])),
        first_seq=row["first_seq"],
        last_seq=row["last_seq"],
        first_at=from_us(row["first_at"]),
        last_at=from_us(row["last_at"]),
        trigger=row["reason"],
        model=row["model"],
        prompt=row["prompt"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        cost_usd=row["cost_usd"],
        degraded=bool(row["degraded"]),
        created_at=from_us(row["created_at"]),
    )
