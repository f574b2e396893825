"""Stones: digests of what was forgotten, so that it does not come back.

A forgotten turn stays as an empty row with its number. What tells that the same turn is sent or imported again is a digest
of it, made with a salt that is drawn once for each owner; of the words themselves nothing is kept. A message that comes live
counts as the same if it has the same key and the same words, since a person may say the same words again. What comes from an
import counts as the same also if it has the same words at the same moment.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from afterglow.store.transaction import Row, Tx
from afterglow.turns import Draft, Part

FORGOTTEN = "forgotten"
"""What `removed` says of a turn of which nothing is left."""
KEY_BEGINS = f"{FORGOTTEN}:"
"""How the key of a stone begins: the rest is a digest of the key that the turn had."""
_AT_ONCE = 100


def salts(tx: Tx) -> dict[str, str]:
    """The salts of those of this transaction's owners who have forgotten anything."""
    return {row["owner"]: row["salt"] for row in tx.rows("SELECT owner, salt FROM stone_salts WHERE {mine}")}


def salt_of(tx: Tx, owner: str, fresh: str) -> str:
    """The owner's salt, this one if it has none."""
    tx.run(
        "INSERT INTO stone_salts (owner, salt) VALUES (:owner, :salt) ON CONFLICT (owner) DO NOTHING",
        owner=owner,
        salt=fresh,
    )
    return tx.one("SELECT salt FROM stone_salts WHERE {mine} AND owner = :owner", owner=owner)["salt"]


def lay(tx: Tx, owner: str, digests: Iterable[str]) -> None:
    """These are not to come back."""
    wanted = sorted(set(digests))
    for first in range(0, len(wanted), _AT_ONCE):
        some = {f"d{n}": digest for n, digest in enumerate(wanted[first : first + _AT_ONCE])}
        places = ", ".join(f"(:owner, :{name})" for name in some)
        tx.run(
            f"INSERT INTO stones (owner, digest) VALUES {places} ON CONFLICT (owner, digest) DO NOTHING",
            owner=owner,
            **some,
        )


def is_there(tx: Tx, owner: str, digests: Sequence[str]) -> bool:
    """Whether one of these was laid."""
    some = {f"d{n}": digest for n, digest in enumerate(digests)}
    names = ", ".join(f":{name}" for name in some)
    sql = f"SELECT 1 FROM stones WHERE {{mine}} AND owner = :owner AND digest IN ({names}) LIMIT 1"
    return bool(some) and tx.row(sql, owner=owner, **some) is not None


def was_forgotten(tx: Tx, draft: Draft, at_us: int, known: Mapping[str, str] | None = None) -> bool:
    """Whether this turn is one that was forgotten. `known` are the salts, where they are read already."""
    imported = known is not None or draft.origin == "import"
    if draft.key is None and not imported:
        return False
    for owner, salt in (salts(tx) if known is None else known).items():
        keyed = by_key(salt, draft.key, draft.role, draft.text, draft.parts)
        dated = by_moment(salt, at_us, draft.role, draft.text, draft.parts) if imported else None
        if is_there(tx, owner, [digest for digest in (keyed, dated) if digest]):
            return True
    return False


def by_key(salt: str, key: str | None, role: str, text: str, parts: Sequence[Part]) -> str | None:
    """The digest of a turn that had a key."""
    return None if key is None else _digest(salt, "key", key, role, _words(text), list(parts))


def by_moment(salt: str, at_us: int, role: str, text: str, parts: Sequence[Part]) -> str | None:
    """The digest of a turn that said something."""
    return _digest(salt, "moment", at_us, role, _words(text), list(parts)) if text.strip() or parts else None


def of_session(salt: str, session: str, created_us: int) -> str:
    """The digest of a session: one that is begun anew under the same name is another."""
    return _digest(salt, "session", session, created_us)


def key_of(tx: Tx, session_row: Row, key: str) -> str:
    """The key that a stone of this session has in place of this one; of one who forgot nothing, one that nothing has."""
    row = tx.row("SELECT salt FROM stone_salts WHERE {mine} AND owner = :owner", owner=session_row["owner"])
    return KEY_BEGINS + ("" if row is None else stone_key(row["salt"], session_row["id"], key))


def stone_key(salt: str, session: str, key: str) -> str:
    return _digest(salt, "in", session, key)


def is_stone(removed: Mapping[str, int]) -> bool:
    """Whether this is what was removed from a turn of which nothing is left."""
    return FORGOTTEN in removed


def _words(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _digest(salt: str, *parts: Any) -> str:
    said = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=dict)
    return blake2b(said.encode(), key=salt.encode(), digest_size=16).hexdigest()
