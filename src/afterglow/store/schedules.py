"""The verbs of schedules: when each was last kept, and what keeping it makes due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from afterglow.clock import from_us, to_us
from afterglow.store import queue
from afterglow.store.transaction import Tx
from afterglow.work import Due


def schedule_kept(tx: Tx, name: str) -> datetime | None:
    row = tx.row("SELECT last_at FROM schedules WHERE name = :name", name=name)
    return None if row is None else from_us(row["last_at"])


def keep(tx: Tx, name: str, before: datetime | None, now: datetime) -> bool:
    """The schedule is kept now, if it was last kept when we think. One that was never kept only begins."""
    kept = tx.row(
        """INSERT INTO schedules (name, last_at) VALUES (:name, :now) ON CONFLICT (name) DO UPDATE SET last_at = :now
           WHERE schedules.last_at = :before RETURNING name""",
        name=name,
        now=to_us(now),
        before=-1 if before is None else to_us(before),
    )
    return kept is not None and before is not None


def keep_schedule(
    tx: Tx, name: str, before: datetime | None, agents: Sequence[str], besides: Sequence[str], limit: int, now: datetime
) -> int:
    """Once, whoever comes first: the schedule is kept now, and what these agents' sessions said since is due to be read."""
    if not keep(tx, name, before, now):
        return 0
    which = "agent IN" if agents else "agent NOT IN"
    named = {f"agent_{n}": agent for n, agent in enumerate(agents or besides)}
    among = ", ".join(f":{each}" for each in named) or "''"
    rows = tx.rows(
        f"""SELECT owner, id FROM sessions WHERE {{mine}} AND said_seq > facts_seq AND {which} ({among})
              AND NOT EXISTS (SELECT 1 FROM work WHERE work.owner = sessions.owner AND work.kind = 'facts'
                              AND work.subject = sessions.id)
            ORDER BY last_at DESC LIMIT :limit""",
        **named,
        limit=limit,
    )
    found = sorted((row["owner"], row["id"]) for row in rows)
    queue.mark_all_due(tx, Due(kind="facts", at=now, reason="schedule"), found)
    return len(found)
