"""The scrub: work that is due after a forget, until what was removed is written over in the database's files too.

It is one row of work and belongs to no owner, since it is about the whole database: what is forgotten while a scrub waits is
covered by it, and what is forgotten while one runs makes the next one due.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from afterglow.clock import from_us
from afterglow.store import queue
from afterglow.store.transaction import Tx
from afterglow.work import NOBODY, Due

ScrubState = Literal["done", "due", "running", "failed"]
SUBJECT = "database"
_GRACE_SECONDS = 60
_THE_ROW = "FROM work WHERE owner = :nobody AND kind = 'scrub' AND subject = :subject"


@dataclass(frozen=True, kw_only=True, slots=True)
class Scrub:
    """How far the database's files are: whether they may still hold bytes of what was forgotten."""

    state: ScrubState
    """`done`: all that was forgotten is written over. `failed`: the scrub is tried again at `ready_at`."""
    holder: str | None = None
    """The machine and process that scrubs now."""
    error: str | None = None
    """Why the last try failed."""
    ready_at: datetime | None = None
    """When a scrub that is `due` or `failed` may begin."""


def mark_due(tx: Tx, now: datetime) -> None:
    """A scrub is due, a little later than now: the process that forgets goes on, and expedites the scrub at its end."""
    _mark(tx, now + timedelta(seconds=_GRACE_SECONDS))


def expedite(tx: Tx, now: datetime) -> None:
    """A scrub that is due later is due now. Where none is due, nothing changes."""
    if tx.row(f"SELECT 1 {_THE_ROW}", nobody=NOBODY, subject=SUBJECT) is not None:
        _mark(tx, now)


def _mark(tx: Tx, at: datetime) -> None:
    with tx.as_everyone():
        queue.mark_due(tx, Due(kind="scrub", at=at, reason="forget"), NOBODY, SUBJECT)


def state(tx: Tx) -> Scrub:
    row = tx.row(f"SELECT * {_THE_ROW}", nobody=NOBODY, subject=SUBJECT)
    if row is None:
        return Scrub(state="done")
    if row["lease_until"] is not None:
        return Scrub(state="running", holder=row["holder"], error=row["last_error"])
    return Scrub(
        state="due" if row["last_error"] is None else "failed",
        error=row["last_error"],
        ready_at=from_us(row["ready_at"]),
    )
