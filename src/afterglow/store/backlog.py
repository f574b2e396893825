"""What people and health checks see of the work queue: its rows, and how many there are of each state."""

from __future__ import annotations

from afterglow.clock import from_us, to_us
from afterglow.store.queue import now_us
from afterglow.store.transaction import Row, Tx
from afterglow.work import Backlog, Kind, State, Work, WorkPlace


def work_list(tx: Tx, state: State | None, kind: Kind | None, limit: int, after: WorkPlace | None) -> list[Work]:
    wanted = {
        None: "TRUE",
        "parked": "parked_at IS NOT NULL AND lease_until IS NULL",
        "claimed": "lease_until IS NOT NULL",
        "due": "parked_at IS NULL AND lease_until IS NULL AND ready_at <= :now",
        "waiting": "parked_at IS NULL AND lease_until IS NULL AND ready_at > :now",
    }[state]
    now = now_us(tx)
    rows = tx.rows(
        f"""SELECT * FROM work WHERE {{mine}} AND {wanted} AND kind = coalesce(:kind, kind)
              AND (ready_at, owner, kind, subject) > (:after_at, :after_owner, :after_kind, :after_subject)
            ORDER BY ready_at, owner, kind, subject LIMIT :limit""",
        now=now,
        kind=kind,
        limit=limit,
        after_at=-(2**62) if after is None else to_us(after.ready_at),
        after_owner="" if after is None else after.owner,
        after_kind="" if after is None else after.kind,
        after_subject="" if after is None else after.subject,
    )
    return [_work(row, now) for row in rows]


_COUNTED = """sum(CASE WHEN parked_at IS NULL AND lease_until IS NULL AND ready_at <= :now THEN 1 ELSE 0 END) AS due,
              sum(CASE WHEN lease_until IS NOT NULL THEN 1 ELSE 0 END) AS claimed,
              sum(CASE WHEN parked_at IS NULL AND lease_until IS NULL AND ready_at > :now THEN 1 ELSE 0 END) AS waiting,
              sum(CASE WHEN parked_at IS NULL AND lease_until IS NULL AND ready_at > :now AND attempts > 0 THEN 1 ELSE 0 END)
                AS deferred,
              sum(CASE WHEN parked_at IS NOT NULL AND lease_until IS NULL THEN 1 ELSE 0 END) AS parked,
              min(CASE WHEN parked_at IS NULL AND lease_until IS NULL AND ready_at <= :now THEN ready_at END) AS oldest"""


def backlog(tx: Tx, kind: Kind | None) -> Backlog:
    wanted = "TRUE" if kind is None else "kind = :kind"
    values = {} if kind is None else {"kind": kind}
    return _backlog(tx.one(f"SELECT {_COUNTED} FROM work WHERE {{mine}} AND {wanted}", now=now_us(tx), **values))


def backlog_by_kind(tx: Tx) -> dict[Kind, Backlog]:
    rows = tx.rows(f"SELECT kind, {_COUNTED} FROM work WHERE {{mine}} GROUP BY kind", now=now_us(tx))
    return {row["kind"]: _backlog(row) for row in rows}


def _backlog(row: Row) -> Backlog:
    return Backlog(
        due=int(row["due"] or 0),
        claimed=int(row["claimed"] or 0),
        waiting=int(row["waiting"] or 0),
        deferred=int(row["deferred"] or 0),
        parked=int(row["parked"] or 0),
        oldest_due_at=None if row["oldest"] is None else from_us(int(row["oldest"])),
    )


def _work(row: Row, now: int) -> Work:
    state: State = "waiting" if row["ready_at"] > now else "due"
    if row["parked_at"] is not None:
        state = "parked"
    if row["lease_until"] is not None:
        state = "claimed"
    return Work(
        owner=row["owner"],
        kind=row["kind"],
        subject=row["subject"],
        state=state,
        ready_at=from_us(row["ready_at"]),
        wanted=row["wanted"],
        attempts=row["attempts"],
        reason=row["reason"],
        holder=row["holder"],
        last_error=row["last_error"],
        parked_at=None if row["parked_at"] is None else from_us(row["parked_at"]),
    )
