"""The verbs of summaries, of the end of sessions, and of the one process that works unasked.

Which sessions need a summary is a partial index over those that said something since the last one: finding them costs what
changed, not how many sessions there are. A sweep leaves out sessions whose summary is asked for already, so that one that
fails for ever takes nobody's place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from afterglow.clock import from_us, to_us
from afterglow.compaction import ended
from afterglow.errors import ClaimLost
from afterglow.primary import Lease
from afterglow.store import log, queue, search, sessions
from afterglow.store.rows import from_row, insert, to_row
from afterglow.store.transaction import Row, Tx
from afterglow.summaries import Summary, Trigger, text_of
from afterglow.turns import Session
from afterglow.work import Claim, Due

_SECOND = 1_000_000
_KEY = ("owner", "session", "last_seq", "created_at")
_AHEAD_MOST = timedelta(days=1)
"""A turn that is dated further in the future than this says nothing of whether its session is busy now."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Which summaries are asked for."""

    agent: str | None = None
    category: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    terms: tuple[str, ...] = ()
    """Each of which it holds, as the index of words has them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """Who is primary, and when it last looked for sessions without a summary."""

    lease: Lease | None
    last_sweep_at: datetime | None
    last_sweep_found: int | None
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
    values = {**to_row(summary), "owner": row["owner"], "newest": 1}
    changed = ", ".join(f"{name} = excluded.{name}" for name in values if name not in _KEY)
    insert(tx, "summaries", values, f"ON CONFLICT ({', '.join(_KEY)}) DO UPDATE SET {changed}")
    index_summary(tx, row["owner"], summary)
    covered = tx.one(
        """UPDATE sessions SET summary_seq = :last_seq WHERE {mine} AND owner = :owner AND id = :id RETURNING *""",
        last_seq=summary.last_seq,
        owner=row["owner"],
        id=summary.session,
    )
    if claim is not None:
        queue.finish(tx, claim)
    if covered["sunset_seq"] > summary.last_seq:
        again = Due(kind="summary", at=now, reason="sunset-event")
        queue.mark_due(tx, again, row["owner"], summary.session)
    return sessions.record(covered)


def index_summary(tx: Tx, owner: str, summary: Summary) -> None:
    """The session's summary is found by its words and the people in it."""
    search.index_record(
        tx,
        owner=owner,
        kind="summary",
        place=summary.session,
        label=summary.category,
        at_us=to_us(summary.last_at),
        text="\n".join([text_of(summary), *summary.people]),
    )


def summaries(tx: Tx, wanted: Wanted, limit: int, before: tuple[int, str, str] | None) -> list[Summary]:
    last_at, owner, session = before or (2**62, "", "")
    held = {f"term{n}": f"% {_plainly(term)} %" for n, term in enumerate(wanted.terms)}
    holds = "".join(f" AND ' ' || found.terms || ' ' LIKE :{name} ESCAPE '~'" for name in held)
    indexed = """ AND EXISTS (SELECT 1 FROM search_terms AS found WHERE found.owner = summaries.owner
                                AND found.kind = 'summary' AND found.place = summaries.session"""
    rows = tx.rows(
        f"""SELECT * FROM summaries WHERE {{mine}} AND newest = 1
             AND (last_at, owner, session) < (:last_at, :owner, :session)
             AND last_at >= :since AND last_at < :until AND agent = coalesce(:agent, agent)
             AND category = coalesce(:category, category) {f"{indexed}{holds})" if held else ""}
           ORDER BY last_at DESC, owner DESC, session DESC LIMIT :limit""",
        last_at=last_at,
        owner=owner,
        session=session,
        since=0 if wanted.since is None else to_us(wanted.since),
        until=2**62 if wanted.until is None else to_us(wanted.until),
        agent=wanted.agent,
        category=wanted.category,
        limit=limit,
        **held,
    )
    return [from_row(Summary, row) for row in rows]


def _plainly(term: str) -> str:
    """A term in a pattern, standing for itself."""
    return re.sub("([%_~])", r"~\1", term)


def summary_of(tx: Tx, session: str) -> Summary | None:
    row = sessions.existing(sessions.find(tx, session), session)
    found = tx.row(
        "SELECT * FROM summaries WHERE {mine} AND owner = :owner AND session = :session AND newest = 1",
        owner=row["owner"],
        session=session,
    )
    return None if found is None else from_row(Summary, found)


def titles(tx: Tx, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Of the sessions at these places, by owner and name, what the newest summary of each is called."""
    if not places:
        return {}
    named = {f"{letter}{n}": part for n, place in enumerate(places) for letter, part in zip("os", place, strict=True)}
    wanted = ", ".join(f"(:o{n}, :s{n})" for n in range(len(places)))
    rows = tx.rows(
        f"""SELECT owner, session, title FROM summaries
            WHERE {{mine}} AND newest = 1 AND (owner, session) IN (VALUES {wanted})""",
        **named,
    )
    return {(row["owner"], row["session"]): row["title"] for row in rows}


def summaries_at(tx: Tx, at_us: int, besides: str, limit: int) -> list[Summary]:
    """What was known at a moment: of the newest sessions the summary that each had then."""
    rows = tx.rows(
        """SELECT * FROM summaries AS known WHERE {mine} AND last_at <= :at AND created_at <= :at AND session <> :besides
             AND NOT EXISTS (SELECT 1 FROM summaries AS later WHERE later.owner = known.owner
               AND later.session = known.session AND later.created_at <= :at
               AND (later.last_seq, later.created_at) > (known.last_seq, known.created_at))
           ORDER BY last_at DESC, session DESC LIMIT :limit""",
        at=at_us,
        besides=besides,
        limit=limit,
    )
    return [from_row(Summary, row) for row in rows]


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


def reopen_session(tx: Tx, session: str, due: Sequence[Due]) -> Session:
    reopened = sessions.reopen_session(tx, session)
    for each in due:
        queue.mark_due(tx, each, reopened.owner, session)
        sessions.note(tx, reopened.owner, session, each)
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
        "UPDATE fleet SET last_sweep_at = :at, last_sweep_found = :found WHERE id = 1",
        at=to_us(now),
        found=len(found),
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


def take_primary(tx: Tx, holder: str, token: int, lease_seconds: float) -> Lease:
    """The lease, new or renewed, or that of whoever has it."""
    tx.run("SELECT id FROM fleet WHERE id = 1 {lock}")  # or its holder could leave before it is named
    row = tx.row(
        """UPDATE fleet SET holder = :holder, token = :token, lease_until = {now} + :lease
           WHERE id = 1 AND (lease_until <= {now} OR token = :token OR lease_until > {now} + :longest)
           RETURNING holder, token, lease_until""",
        holder=holder,
        token=token,
        lease=int(lease_seconds * _SECOND),
        longest=int(3600 * _SECOND),
    )
    found = row or tx.one("SELECT holder, token, lease_until FROM fleet WHERE id = 1")
    return _lease(found)


def leave_primary(tx: Tx, token: int) -> None:
    tx.run("UPDATE fleet SET lease_until = 0, holder = NULL, token = NULL WHERE id = 1 AND token = :token", token=token)


def fleet(tx: Tx) -> Fleet:
    row = tx.one("SELECT *, {now} AS now FROM fleet WHERE id = 1")
    made = tx.rows("SELECT created_at, trigger FROM summaries ORDER BY created_at DESC LIMIT 1")
    return Fleet(
        lease=_lease(row) if row["holder"] is not None and row["lease_until"] > row["now"] else None,
        last_sweep_at=None if row["last_sweep_at"] is None else from_us(row["last_sweep_at"]),
        last_sweep_found=row["last_sweep_found"],
        last_success_at=from_us(made[0]["created_at"]) if made else None,
        last_trigger=made[0]["trigger"] if made else None,
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
            ORDER BY last_at {order}, owner {order}, id {order} LIMIT :limit""",
        quiet_before=to_us(quiet_before),
        nobody_after=to_us(nobody_after),
        since=0 if since is None else to_us(since),
        limit=limit,
    )


def _lease(row: Row) -> Lease:
    return Lease(holder=row["holder"], token=row["token"], until=from_us(row["lease_until"]))
