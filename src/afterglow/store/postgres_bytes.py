"""The bytes of a PostgreSQL database: what was removed stays in its files until the tables are written anew.

`VACUUM FULL` writes them anew, and the statistics the planner keeps, which hold samples of the rows. The server's write-ahead
log keeps what was written until the server uses those files again; so do backups and replicas. That cannot be done from here,
and is said.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, cast

import psycopg
from psycopg import errors as pg
from psycopg import sql as compose
from psycopg.rows import DictRow

from afterglow.store.holding import Scrubbed

Connection = psycopg.Connection[DictRow]

_LATER = (
    "the server's write-ahead log (pg_wal), replicas and backups, which hold what was written until they are replaced"
)
_SAMPLES = "the samples of rows that the server's planner kept (pg_statistic)"
_OWN_TABLES = """SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
                   AND pg_has_role(relowner, 'USAGE') ORDER BY relname"""
_EMPTY_TABLES = _OWN_TABLES.replace("ORDER BY", "AND pg_relation_size(oid) = 0 ORDER BY")
_OTHERS_TABLES = """SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
                      AND NOT pg_has_role(relowner, 'USAGE') ORDER BY relname"""


_CLEARED = """SELECT pg_clear_attribute_stats(current_schema()::text, %(name)s, attname::text, FALSE) FROM pg_attribute
                WHERE attrelid = format('%%I', %(name)s::text)::regclass AND attnum > 0 AND NOT attisdropped"""
_CLEARED_BEFORE_18 = "DELETE FROM pg_catalog.pg_statistic WHERE starelid = format('%%I', %(name)s::text)::regclass"


def scrub(connection: Connection, whole: bool) -> Scrubbed:
    """Write the tables anew that this user may, and say what that leaves."""
    unseen = [_LATER]
    full = "FULL, " if whole else ""
    for name in _names(connection, _OWN_TABLES):
        connection.execute(
            compose.SQL("VACUUM ({}ANALYZE) {}").format(compose.SQL(cast(Any, full)), compose.Identifier(name))
        )
    for name in _names(connection, _EMPTY_TABLES):
        unseen += _forget_samples(connection, name)
    unseen += [f"table {name}, which belongs to somebody else" for name in _names(connection, _OTHERS_TABLES)]
    try:
        connection.execute("VACUUM (FULL) pg_catalog.pg_statistic" if whole else "VACUUM pg_catalog.pg_statistic")
        connection.execute("CHECKPOINT")
    except (pg.InsufficientPrivilege, pg.LockNotAvailable):
        unseen.append(f"{_SAMPLES}, until the server reuses their place")
    folder = _folder(connection)
    if folder is None:
        return Scrubbed(files=(), unseen=(*unseen, "the server's files, which cannot be read from here"), plain=False)
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    return Scrubbed(files=tuple(files), unseen=tuple(unseen), plain=False)  # long texts are compressed


def _forget_samples(connection: Connection, table: str) -> list[str]:
    """Those of a table that is empty now: ANALYZE keeps them as they were. The answer is what stays."""
    has_function = connection.info.server_version >= 180000
    try:
        connection.execute(_CLEARED if has_function else _CLEARED_BEFORE_18, {"name": table})
    except pg.InsufficientPrivilege:
        return [f"{_SAMPLES}, of table {table}, which is empty now, until it has rows again"]
    return []


def _folder(connection: Connection) -> Path | None:
    """The folder of this database, if it is on this machine and may be read."""
    try:
        row = connection.execute(
            """SELECT current_setting('data_directory') AS place, system_identifier AS id,
                 (SELECT oid FROM pg_database WHERE datname = current_database()) AS database FROM pg_control_system()"""
        ).fetchone()
    except pg.InsufficientPrivilege:
        return None
    assert row is not None
    place = Path(row["place"])
    try:  # another server may have a folder of the same name here
        head = (place / "global" / "pg_control").read_bytes()[:8]
    except OSError:
        return None
    folder = place / "base" / str(row["database"])
    same = struct.unpack("=Q", head)[0] == row["id"] % 2**64
    return folder if same and os.access(folder, os.R_OK | os.X_OK) else None


def _names(connection: Connection, sql: str) -> list[str]:
    return [row["name"] for row in connection.execute(cast(Any, sql)).fetchall()]
