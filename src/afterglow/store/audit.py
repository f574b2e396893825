"""The audit: who changed memory, what they did, and when. Ids and numbers, never a word of what was said.

A line is written in the transaction of the change itself, so that neither is there without the other. What a verb's line says
stands in store/audited.py. Lines are never changed, but by forgetting: those of a forgotten owner go, and one stays that tells
that somebody was forgotten, under a digest in place of the name; in those of a forgotten session a digest takes the place of
its name. A digest is made with the owner's salt where its stones are kept, so that who knows a name can tell its lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, TypeVar

from afterglow.acting import LIBRARY
from afterglow.clock import from_us, to_us
from afterglow.store.transaction import Row, Tx
from afterglow.turns import Turn

T = TypeVar("T")
FORGOTTEN = "forgotten:"
"""How the digest of a name begins."""
NOBODYS = ""
"""The owner of a line that concerns no owner in particular."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditLine:
    """One change to memory."""

    id: int
    at: datetime
    owner: str
    """Whose memory; empty where it concerns everyone's, a digest where the owner is forgotten."""
    who: str
    """The door and who came through it: `cli:ana`, `token:phone`, `page:phone`, `mcp:stdio`, `worker:facts`, `library`."""
    what: str
    session: str | None
    about: Mapping[str, Any]
    """The ids and numbers of what was changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What a verb's line says, besides who and when."""

    owner: str
    session: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])


Look = Callable[[Tx], Callable[[T], Said | None]]
"""Looks before a verb runs, and gives what says of its result what was changed; None where nothing was."""


def noted(what: str, who: str, verb: Callable[[Tx], T], look: Look[T]) -> Callable[[Tx], T]:
    """The verb, and the line that it was done, in one transaction."""

    def run(tx: Tx) -> T:
        tell = look(tx)
        result = verb(tx)
        said = tell(result)
        if said is not None:
            _write(tx, what, who, said)
        return result

    return run


def note_writer(tx: Tx, turn: Turn, by: str) -> None:
    """A line where somebody else writes to the session than before, so that of every turn it can be told who wrote it."""
    last = tx.row(
        """SELECT who FROM audit WHERE {mine} AND owner = :owner AND session = :session AND what = 'append'
           ORDER BY id DESC LIMIT 1""",
        owner=turn.owner,
        session=turn.session,
    )
    if by != (LIBRARY if last is None else last["who"]):
        _write(tx, "append", by, Said(owner=turn.owner, session=turn.session, about={"first_seq": turn.seq}))


def audit(tx: Tx, since: datetime | None, limit: int, before: int | None) -> list[AuditLine]:
    rows = tx.rows(
        """SELECT * FROM audit WHERE {mine} AND id < :before AND at >= :since ORDER BY id DESC LIMIT :limit""",
        before=2**62 if before is None else before,
        since=-(2**62) if since is None else to_us(since),
        limit=limit,
    )
    return [_record(row) for row in rows]


def digest(salt: str, name: str) -> str:
    """What stands in place of a name that is forgotten."""
    return FORGOTTEN + blake2b(name.encode(), key=salt.encode()[:64], digest_size=12).hexdigest()


def unname_session(tx: Tx, owner: str, session: str, stands: str) -> None:
    """In the lines of this session the digest stands in place of its name."""
    tx.run(
        "UPDATE audit SET session = :stands WHERE {mine} AND owner = :owner AND session = :session",
        owner=owner,
        session=session,
        stands=stands,
    )


def remove_owner(tx: Tx, owner: str) -> None:
    """The lines of this owner go, and those in which others were joined to it or parted from it."""
    tx.run(
        "DELETE FROM audit WHERE owner = :owner OR (what IN ('join', 'part') AND about = :other)",
        owner=owner,
        other=_packed({"other": owner}),
    )


def _write(tx: Tx, what: str, who: str, said: Said) -> None:
    tx.run(
        """INSERT INTO audit (at, owner, who, what, session, about)
           VALUES ({now}, :owner, :who, :what, :session, :about)""",
        owner=said.owner,
        who=who,
        what=what,
        session=said.session,
        about=_packed(said.about),
    )


def _packed(about: Mapping[str, Any]) -> str:
    return json.dumps(about, ensure_ascii=False, sort_keys=True)


def _record(row: Row) -> AuditLine:
    return AuditLine(
        id=row["id"],
        at=from_us(row["at"]),
        owner=row["owner"],
        who=row["who"],
        what=row["what"],
        session=row["session"],
        about=json.loads(row["about"]),
    )
