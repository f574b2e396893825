"""Who may come in: tokens, links that let a browser sign in once, and browsers that did.

All three are random secrets of which only a digest is kept. Each may be bound to one owner, and opens that owner's memory
alone; it may expire, and can be revoked.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from afterglow.clock import from_us, to_us
from afterglow.errors import NotAllowed, NotFound
from afterglow.store.transaction import Row, Tx

AccessScope = Literal["owner", "agent", "read"]
AccessKind = Literal["token", "link", "session"]

_USED_AGAIN_US = 60 * 1_000_000
"""When a token was used is kept to the minute: a busy one does not write with every request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessToken:
    """What is known of a token: all but the token itself."""

    id: str
    name: str
    scope: AccessScope
    created_at: datetime
    revoked_at: datetime | None
    kind: AccessKind = "token"
    owner: str | None = None
    """Whose memory alone it opens; None where it opens everyone's."""
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    """To the minute."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewToken:
    """A token that is to be made."""

    name: str
    scope: AccessScope
    token: str
    owner: str | None = None
    kind: AccessKind = "token"
    expires_at: datetime | None = None


def add_token(tx: Tx, token_id: str, new: NewToken) -> AccessToken:
    row = tx.one(
        """INSERT INTO access_tokens (id, name, scope, digest, created_at, kind, bound_to, expires_at)
           VALUES (:id, :name, :scope, :digest, {now}, :kind, :bound_to, :expires_at) RETURNING *""",
        id=token_id,
        name=new.name,
        scope=new.scope,
        digest=_digest(new.token),
        kind=new.kind,
        bound_to=new.owner,
        expires_at=None if new.expires_at is None else to_us(new.expires_at),
    )
    return _record(row)


def find_token(tx: Tx, token: str, kind: AccessKind) -> AccessToken | None:
    digest = _digest(token)
    row = tx.row(
        """SELECT * FROM access_tokens WHERE digest = :digest AND kind = :kind AND revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > {now})""",
        digest=digest,
        kind=kind,
    )
    if row is None or not hmac.compare_digest(row["digest"], digest):
        return None
    return _record(row)


def is_open(tx: Tx, token_id: str) -> bool:
    found = tx.row(
        """SELECT 1 FROM access_tokens WHERE id = :id AND revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > {now})""",
        id=token_id,
    )
    return found is not None


def note_use(tx: Tx, token_id: str) -> None:
    tx.run(
        """UPDATE access_tokens SET last_used_at = {now}
           WHERE id = :id AND (last_used_at IS NULL OR last_used_at <= {now} - :pause)""",
        id=token_id,
        pause=_USED_AGAIN_US,
    )


def sign_in(tx: Tx, code: str, secret: str, expires_at: datetime) -> AccessToken:
    """The link becomes a browser that is signed in, and its code worth nothing. What is over goes."""
    tx.run("DELETE FROM access_tokens WHERE kind <> 'token' AND expires_at <= {now}")
    row = tx.row(
        """UPDATE access_tokens SET kind = 'session', digest = :digest, created_at = {now}, expires_at = :expires_at
           WHERE digest = :code AND kind = 'link' AND revoked_at IS NULL RETURNING *""",
        code=_digest(code),
        digest=_digest(secret),
        expires_at=to_us(expires_at),
    )
    if row is None:
        raise NotAllowed("this link was used already, or its time is over; `afterglow token link` makes another")
    return _record(row)


def tokens(tx: Tx, kind: AccessKind) -> list[AccessToken]:
    rows = tx.rows("SELECT * FROM access_tokens WHERE kind = :kind ORDER BY created_at, id", kind=kind)
    return [_record(row) for row in rows]


def revoke_token(tx: Tx, token_id: str) -> AccessToken:
    row = tx.row(
        "UPDATE access_tokens SET revoked_at = coalesce(revoked_at, {now}) WHERE id = :id RETURNING *", id=token_id
    )
    if row is None:
        raise NotFound(f"there is no token {token_id!r}; `afterglow token list` shows those there are")
    return _record(row)


def is_used_anew(token: AccessToken, now: datetime) -> bool:
    """Whether its use is worth writing down."""
    return token.last_used_at is None or to_us(now) - to_us(token.last_used_at) >= _USED_AGAIN_US


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _record(row: Row) -> AccessToken:
    return AccessToken(
        id=row["id"],
        name=row["name"],
        scope=row["scope"],
        created_at=from_us(row["created_at"]),
        revoked_at=_moment(row["revoked_at"]),
        kind=row["kind"],
        owner=row["bound_to"],
        expires_at=_moment(row["expires_at"]),
        last_used_at=_moment(row["last_used_at"]),
    )


def _moment(at: int | None) -> datetime | None:
    return None if at is None else from_us(at)
