"""Where words stand: the rows that hold them, and the files that a database keeps its bytes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from afterglow.store.transaction import Tx

_WORDS_AT_ONCE = 20
_ROWS_MAX = 20
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    " AND name NOT LIKE 'search_index%' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    "postgres": "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename",
}
_COLUMNS = {
    "sqlite": "SELECT name FROM pragma_table_info(:of) WHERE type = 'TEXT'",
    "postgres": "SELECT column_name AS name FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND table_name = :of AND data_type = 'text'",
}
_STANDS = {"sqlite": "instr({text}, :{word}) > 0", "postgres": "strpos({text}, :{word}) > 0"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A row that holds a word: whose it is, of which session, and by which numbers it is known."""

    word: str
    table: str
    owner: str | None
    session: str | None
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Scrubbed:
    """The files that hold the database's bytes, and what could not be made clean or not be looked at, as sentences."""

    files: tuple[Path, ...]
    unseen: tuple[str, ...]
    plain: bool
    """Whether what stands in a row stands in the files just as it was written."""


def rows_holding(tx: Tx, words: Sequence[str]) -> list[Held]:
    """Some of the rows that hold each word, of every table that has text in it."""
    found: list[Held] = []
    for table in [row["name"] for row in tx.rows(_TABLES[tx.dialect.name])]:
        columns = [row["name"] for row in tx.rows(_COLUMNS[tx.dialect.name], of=table)]
        for first in range(0, len(words) if columns else 0, _WORDS_AT_ONCE):
            found += _held(tx, table, columns, words[first : first + _WORDS_AT_ONCE])
    return found


def _held(tx: Tx, table: str, columns: Sequence[str], words: Sequence[str]) -> list[Held]:
    named = {f"w{n}": word for n, word in enumerate(words)}
    stands = " OR ".join(_STANDS[tx.dialect.name].format(text="whole", word=name) for name in named)
    whole = " || ' ' || ".join(f"coalesce({column}, '')" for column in columns)
    rows = tx.rows(
        f"SELECT * FROM (SELECT t.*, {whole} AS whole FROM {table} AS t) AS w WHERE {stands} LIMIT :most",
        **named,
        most=_ROWS_MAX * len(words),
    )
    values = [cast(dict[str, Any], dict(cast(Any, row))) for row in rows]
    return [
        Held(word=word, table=table, owner=row.get("owner"), session=row.get("session"), place=_place(row))
        for row in values
        for word in words
        if any(word in (row[column] or "") for column in columns)
    ]


def _place(row: dict[str, Any]) -> str:
    names = ("session", "place", "id", "seq", "number", "last_seq")
    return ", ".join(f"{name} {row[name]}" for name in names if row.get(name) is not None)
