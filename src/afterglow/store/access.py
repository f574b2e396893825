"""Access tokens: random, kept as a digest, scoped, revocable."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from afterglow.clock import from_us
from afterglow.errors import NotFound
from afterglow.store.transaction import Row, Tx

AccessScope = Literal["owner", "agent", "read"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessToken:
    """What is known of a token: all but the token itself."""

    id: str
    name: str
    scope: AccessScope
    created_at: datetime
    revoked_at: datetime | None


def add_token(tx: Tx, token_id: str, name: str, scope: AccessScope, token: str) -> AccessToken:
    row = tx.one(
        """INSERT INTO access_tokens (id, name, scope, digest, created_at)
           VALUES (:id, :name, :scope, :digest, {now}) RETURNING *""",
        id=token_id,
        name=name,
        scope=scope,
        digest=_digest(token),
    )
    return _record(row)


def find_token(tx: Tx, token: str) -> AccessToken | None:
    digest = _digest(token)
    row = tx.row("SELECT * FROM access_tokens WHERE digest = :digest AND revoked_at IS NULL", digest=digest)
    if row is None or not hmac.compare_digest(row["digest"], digest):
        return None
    return _record(row)


def tokens(tx: Tx) -> list[AccessToken]:
    return [_record(row) for row in tx.rows("SELECT * FROM access_tokens ORDER BY created_at, id")]


def revoke_token(tx: Tx, token_id: str) -> AccessToken:
    row = tx.row(
        "UPDATE access_tokens SET revoked_at = coalesce(revoked_at, {now}) WHERE id = :id RETURNING *", id=token_id
    )
    if row is None:
        raise NotFound(f"there is no token {token_id!r}; `afterglow token list` shows those there are")
    return _record(row)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _record(row: Row) -> AccessToken:
    return AccessToken(
        id=row["id"],
        name=row["name"],
        scope=row["scope"],
        created_at=from_us(row["created_at"]),
        revoked_at=None if row["revoked_at"] is None else from_us(row["revoked_at"]),
    )
