"""The bytes of a PostgreSQL database: what was removed stays in its files until the tables are written anew.

`VACUUM FULL` writes them anew, and the statistics the planner keeps, which hold samples of the rows. The server's write-ahead
log keeps what was written until the server uses those files again; so do backups and replicas. That cannot be done from here,
and is said.
"""

from __future__ import annotations

import os
import re
import struct
import time
from pathlib import Path
from typing import Any, cast

import psycopg
from psycopg import errors as pg
from psycopg import sql as compose
from psycopg.rows import DictRow

from afterglow.clock import Deadline
from afterglow.errors import StoreUnavailable
from afterglow.store.holding import DatabaseBytes

Connection = psycopg.Connection[DictRow]

_SEEN_SECONDS_MAX = 10
"""How long a scrub waits for older transactions, such as the server's own ANALYZE."""
_LOOK_AGAIN_SECONDS = 0.1
_LATER = (
    "the server's write-ahead log (pg_wal), replicas and backups, which hold what was written until they are replaced"
)
_SAMPLES = (
    "the samples of rows that the server's planner kept (pg_statistic), until the server reuses their place, and those of a "
    "table that is empty now, until it has rows again"
)
_SUPERUSER = "SELECT rolname AS name FROM pg_roles WHERE rolname = current_user AND rolsuper"
_OWN_TABLES = """SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
                   AND pg_has_role(relowner, 'USAGE') ORDER BY relname"""
_EMPTY_TABLES = _OWN_TABLES.replace("ORDER BY", "AND pg_relation_size(oid) = 0 ORDER BY")
_OTHERS_TABLES = """SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
                      AND NOT pg_has_role(relowner, 'USAGE') ORDER BY relname"""


_CLEARED = """SELECT pg_clear_attribute_stats(current_schema()::text, %(name)s, attname::text, FALSE) FROM pg_attribute
                WHERE attrelid = format('%%I', %(name)s::text)::regclass AND attnum > 0 AND NOT attisdropped"""
_CLEARED_BEFORE_18 = "DELETE FROM pg_catalog.pg_statistic WHERE starelid = format('%%I', %(name)s::text)::regclass"


def scrub(connection: Connection) -> None:
    """Write the tables of this user anew, and the samples of rows that the planner keeps."""
    seen_until = Deadline(_SEEN_SECONDS_MAX)
    for name in _names(connection, _OWN_TABLES):
        while _rewritten(connection, name):
            if seen_until.passed:
                raise StoreUnavailable(
                    f"an older transaction on this database still sees rows that were removed from {name}; they stay in "
                    "its files until that transaction ends"
                )
            time.sleep(_LOOK_AGAIN_SECONDS)
    try:
        for name in _names(connection, _EMPTY_TABLES):  # ANALYZE keeps the samples of an empty table as they were
            has_function = connection.info.server_version >= 180000
            connection.execute(_CLEARED if has_function else _CLEARED_BEFORE_18, {"name": name})
        connection.execute("VACUUM (FULL) pg_catalog.pg_statistic")
        connection.execute("CHECKPOINT")
    except pg.InsufficientPrivilege:
        return  # `files` says so


def _rewritten(connection: Connection, table: str) -> int:
    """Write a table anew; the answer is how many removed rows had to stay, because an older transaction may still see them."""
    stayed = 0

    def count(said: psycopg.errors.Diagnostic) -> None:
        nonlocal stayed
        found = re.search(r"\d+", said.message_detail or "")  # "3 dead row versions cannot be removed yet."
        stayed += int(found[0]) if found else 0

    connection.add_notice_handler(count)
    try:
        connection.execute(compose.SQL("VACUUM (FULL, ANALYZE, VERBOSE) {}").format(compose.Identifier(table)))
    finally:
        connection.remove_notice_handler(count)
    return stayed


def files(connection: Connection) -> DatabaseBytes:
    """The files of the tables, what a scrub by this user does not reach, and what cannot be read."""
    unseen = [_LATER]
    unseen += [f"table {name}, which belongs to somebody else" for name in _names(connection, _OTHERS_TABLES)]
    if not _names(connection, _SUPERUSER):
        unseen.append(_SAMPLES)
    folder = _folder(connection)
    if folder is None:
        unseen.append("the server's files, which cannot be read from here")
    found = [] if folder is None else sorted(each for each in folder.rglob("*") if each.is_file())
    return DatabaseBytes(files=tuple(found), unseen=tuple(unseen), plain=False)  # long texts are compressed


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
