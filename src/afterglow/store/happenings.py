"""What happened, the newest of it, without a word of what was said: who listens learns that there is something to read.

Triggers write it in the transaction that does it, whichever process that is. On PostgreSQL a number may become visible after a
larger one, so who reads on looks a little way back for those that came late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from afterglow.store.rows import from_row
from afterglow.store.transaction import Tx

HappeningKind = Literal["turn", "block", "summary", "fact", "goal", "digest", "work", "session"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Happening:
    """One thing that happened. `number` is that of the turn, block, event or digest, or of the last turn of a summary."""

    id: int
    owner: str
    kind: HappeningKind
    session: str | None
    what: str | None
    """A fact's id, the kind of work that ended, or the agent of a goal event or digest."""
    number: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Happened:
    """What happened behind a number, the oldest first."""

    items: tuple[Happening, ...]
    whole: bool
    """Whether that is all of it: what the number stands for is still kept, and the oldest go first."""
    last: int
    """The newest there is; 0 where there is none."""


def happened(tx: Tx, after: int | None, limit: int) -> Happened:
    """Behind this number; without one, only where things stand."""
    kept = tx.one("SELECT coalesce(max(id), 0) AS last FROM happenings WHERE {mine}")
    if after is None:
        return Happened(items=(), whole=True, last=int(kept["last"]))
    rows = tx.rows(
        """SELECT id, owner, kind, session, what, number FROM happenings WHERE {mine} AND id > :after
           ORDER BY id LIMIT :limit""",
        after=after,
        limit=limit,
    )
    known = tx.row("SELECT 1 FROM happenings WHERE {mine} AND id = :after", after=after)
    items = tuple(from_row(Happening, row) for row in rows)
    return Happened(items=items, whole=known is not None, last=int(kept["last"]))
