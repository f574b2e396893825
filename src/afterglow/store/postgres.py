"""PostgreSQL: a pool of connections, and the verbs run in threads.

Each transaction takes on one of two roles before it does anything: `afterglow_owner` with the owner's name, to whom
row-level security shows that owner's rows alone, or `afterglow_worker`. A connection that turns out to be dead before the
transaction's first statement is replaced in silence; after that the caller is told, since nobody can know whether a
commit that was not answered took place.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from afterglow import failpoints
from afterglow.clock import Clock, to_us
from afterglow.errors import MissingPackage, StoreError, StoreFull, StoreUnavailable, StoreUnusable
from afterglow.store.contract import Store
from afterglow.store.holding import Scrubbed
from afterglow.store.transaction import EVERYONE, POSTGRES, Everyone, Row, Scope, Tx, check_scope, own_first
from afterglow.store.waiting import Waiters

try:
    import psycopg
    from psycopg import errors as pg
    from psycopg import sql as compose
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.rows import DictRow, dict_row
    from psycopg_pool import ConnectionPool

    from afterglow.store import postgres_bytes, postgres_schema
except ImportError:
    raise MissingPackage(
        "PostgreSQL needs the package psycopg; install it with: pip install '.[postgres]' in Afterglow's folder"
    ) from None

_log = logging.getLogger(__name__)
T = TypeVar("T")
Connection = psycopg.Connection[DictRow]

_REPEATS_MAX = 5
_CHANNEL = "afterglow_work"
_LISTEN_SECONDS = 0.2
_LISTEN_AGAIN_SECONDS = 1.0
_REFUSED = ("authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied")
"""How a server's answer reads when it will be the same the next time; such errors have no code of their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PostgresLimits:
    """How many connections, how long one is waited for, and how long a row that somebody else has locked."""

    pool_max: int = 10
    pool_timeout_seconds: float = 10
    lock_timeout_seconds: float = 30


class _PostgresTx(Tx):
    dialect = POSTGRES

    def __init__(self, connection: Connection, owners: tuple[str, ...] | Everyone) -> None:
        super().__init__(owners)
        self._connection = connection

    def _execute(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        cursor = self._connection.execute(cast(Any, sql), values)
        return cast(list[Row], cursor.fetchall()) if cursor.description else []

    def words_written(self) -> None:
        """Nothing to do: the index is the database's own, over a generated column."""

    def wake_workers(self) -> None:
        self._connection.execute(f"NOTIFY {_CHANNEL}")


class PostgresStore(Store):
    """The store on a PostgreSQL server, for many machines."""

    def __init__(self, address: str, clock: Clock, limits: PostgresLimits) -> None:
        super().__init__(clock)
        self._address = address
        self._limits = limits
        self._process = os.getpid()
        self._given = _parsed(address)
        self._settings: dict[str, Any] = {"autocommit": True, "row_factory": dict_row} | {
            name: value
            for name, value in _network_settings(limits).items()
            if name not in self._given  # what the address says goes first
        }
        self._pool = ConnectionPool[Connection](
            address,
            connection_class=Connection,
            min_size=1,
            max_size=limits.pool_max,
            timeout=limits.pool_timeout_seconds,
            reconnect_timeout=limits.pool_timeout_seconds,
            kwargs=self._settings,
            open=False,
            name="afterglow",
        )
        self._threads = ThreadPoolExecutor(limits.pool_max, thread_name_prefix="afterglow-postgres")
        self._waiters = Waiters()
        self._listener: threading.Thread | None = None
        self._door = threading.Lock()
        """Held to begin a verb and to close, so that none begins after the end."""
        self._closed = threading.Event()

    @classmethod
    async def open(cls, address: str, clock: Clock, limits: PostgresLimits | None = None) -> PostgresStore:
        """Connect, and bring the schema up to date."""
        store = cls(address, clock, limits or PostgresLimits())
        await asyncio.to_thread(store._prepare)
        return store

    @property
    def where(self) -> str:
        user, host, port = (str(self._given.get(part) or "") for part in ("user", "host", "port"))
        database = self._given.get("dbname") or ""
        at = f"{user}@" if user else ""
        if "/" in host:
            return f"postgresql://{at}/{database}?host={host}"
        return f"postgresql://{at}{host}{':' if port else ''}{port}/{database}"

    async def _write(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T:
        return await self._in_thread(lambda: self._repeating(lambda: self._write_now(name, scope, verb)))

    async def _read(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T:
        return await self._in_thread(lambda: self._repeating(lambda: self._read_now(scope, verb)))

    async def wait_for_work(self, seconds: float) -> None:
        with self._door:
            self._check_usable()
            if self._listener is None:
                self._listener = threading.Thread(target=self._listen, name="afterglow-listener", daemon=True)
                self._listener.start()
        await self._waiters.wait(seconds)

    async def check(self) -> list[str]:
        """PostgreSQL watches over its own pages; what is checked is that row-level security is in force."""

        def look(tx: Tx) -> list[str]:
            rows = tx.rows(
                """SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
                   WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND attname = 'owner'
                     AND relname <> 'aliases' AND NOT (relrowsecurity AND relforcerowsecurity)"""
            )
            return [f"table {row['relname']} has no row-level security" for row in rows]

        return await self._read("check", EVERYONE, look)

    async def scrub(self, *, whole: bool = False) -> Scrubbed:
        return await self._in_thread(partial(self._scrub_now, whole))

    async def close(self) -> None:
        with self._door:
            if self._closed.is_set():
                return
            self._closed.set()
        self._waiters.wake()
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._pool.close)
        if self._listener is not None:
            await asyncio.to_thread(self._listener.join)

    async def _in_thread(self, run: Callable[[], T]) -> T:
        with self._door:
            self._check_usable()
            answer = asyncio.get_running_loop().run_in_executor(self._threads, run)
        return await answer

    def _check_usable(self) -> None:
        if self._closed.is_set():
            raise StoreUnusable(f"the store at {self.where} is closed; open it again")
        if os.getpid() != self._process:
            raise StoreUnusable(f"the store at {self.where} was opened before this process was forked; open it here")

    # --- in a thread

    def _repeating(self, run: Callable[[], T]) -> T:
        """Run it again where the database undid it and asks for that."""
        for repeat in range(_REPEATS_MAX):
            try:
                return run()
            except (pg.SerializationFailure, pg.DeadlockDetected) as error:
                if repeat == _REPEATS_MAX - 1:
                    raise StoreUnavailable("the database is too busy with other changes; try again") from error
            except psycopg.Error as error:
                raise self._translated(error) from error
        raise AssertionError("unreachable")

    def _scrub_now(self, whole: bool) -> Scrubbed:
        try:
            with Connection.connect(self._address, **self._settings) as connection:
                patience = f"{self._limits.lock_timeout_seconds * 1000:.0f}ms"
                connection.execute("SELECT set_config('lock_timeout', %s, false)", (patience,))
                return postgres_bytes.scrub(connection, whole)
        except psycopg.Error as error:
            raise self._translated(error) from error

    def _write_now(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T:
        with self._begin("BEGIN", scope) as (connection, tx):
            result = verb(tx)
            failpoints.reach(f"{name}:before")
            connection.execute("COMMIT")
        failpoints.reach(f"{name}:after")
        return result

    def _read_now(self, scope: Scope, verb: Callable[[Tx], T]) -> T:
        with self._begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", scope) as (connection, tx):
            result = verb(tx)
            connection.execute("COMMIT")
        return result

    def _begin(self, begin: str, scope: Scope) -> _Begun:
        """A transaction in its role, on a connection that is alive."""
        for repeat in range(self._limits.pool_max + 1):
            connection = self._pool.getconn()
            try:
                owners = self._take_role(connection, begin, scope)
                return _Begun(self._pool, connection, _PostgresTx(connection, owners))
            except psycopg.OperationalError:
                self._pool.putconn(connection)
                if repeat == self._limits.pool_max:
                    raise
            except BaseException:
                self._pool.putconn(connection)
                raise
        raise AssertionError("unreachable")

    def _take_role(self, connection: Connection, begin: str, scope: Scope) -> tuple[str, ...] | Everyone:
        if not isinstance(scope, Everyone):
            check_scope(scope)
        now_us = str(to_us(self.clock.now())) if self.clock.fixed else ""
        everyone = isinstance(scope, Everyone)
        statement = compose.SQL(
            "{begin}; SET LOCAL ROLE {role}; SELECT set_config('afterglow.now_us', {now_us}, true),"
            " set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true),"
            " set_config('lock_timeout', {lock_timeout}, true), set_config('afterglow.owner', {owner}, true);"
            " SELECT afterglow_owners() AS owners"
        ).format(
            begin=compose.SQL(cast(Any, begin)),
            role=compose.Identifier("afterglow_worker" if everyone else "afterglow_owner"),
            now_us=compose.Literal(now_us),
            lock_timeout=compose.Literal(f"{self._limits.lock_timeout_seconds * 1000:.0f}ms"),
            owner=compose.Literal("" if everyone else scope),
        )
        cursor = connection.execute(statement)
        while cursor.nextset():
            pass
        row = cursor.fetchone()
        assert row is not None
        return scope if isinstance(scope, Everyone) else own_first(scope, row["owners"])

    def _listen(self) -> None:
        """Hear of work from other processes and pass it on, until the store is closed. It comes back when the server does."""
        while not self._closed.is_set():
            try:
                with Connection.connect(self._address, **self._settings) as connection:
                    connection.execute(f"LISTEN {_CHANNEL}")
                    self._waiters.wake()  # nobody listened until now: there may be something
                    while not self._closed.is_set():
                        for _ in connection.notifies(timeout=_LISTEN_SECONDS, stop_after=1):
                            self._waiters.wake()
            except psycopg.Error as error:
                _log.info("not told of new work for now, looking at intervals: %s", self._translated(error))
                self._closed.wait(_LISTEN_AGAIN_SECONDS)

    # --- opening

    def _prepare(self) -> None:
        try:
            with Connection.connect(self._address, **self._settings) as connection:
                postgres_schema.migrate(connection, self.where, self.clock)
            self._pool.open()
        except psycopg.Error as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> StoreError:
        """The driver's error as one of ours."""
        short = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if isinstance(error, pg.DiskFull):
            return StoreFull(
                f"the disk of the database at {self.where} is full; nothing was changed. Make room, try again"
            )
        if isinstance(error, pg.InsufficientPrivilege):
            return StoreUnusable(
                f"the user of {self.where} may not do this ({short}); give it a database or a schema that it owns"
            )
        if isinstance(error, psycopg.OperationalError) and any(sign in short for sign in _REFUSED):
            return StoreUnusable(
                f"the database at {self.where} cannot be used: {short}; mend `database` in the settings"
            )
        if isinstance(error, pg.LockNotAvailable | pg.QueryCanceled):
            return StoreUnavailable(
                f"the database at {self.where} did not come to it in time ({short}); nothing was changed. Try again"
            )
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return StoreUnavailable(
                f"the database at {self.where} cannot be reached now ({short}); try again with the same key: "
                "what was under way may or may not have been written"
            )
        return StoreError(f"PostgreSQL refused: {short}")


@dataclass(frozen=True, slots=True)
class _Begun:
    """An open transaction; whatever leaves it open is rolled back, and its connection goes back to the pool."""

    pool: ConnectionPool[Connection]
    connection: Connection
    tx: _PostgresTx

    def __enter__(self) -> tuple[Connection, _PostgresTx]:
        return self.connection, self.tx

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and not self.connection.closed:
            with suppress(psycopg.Error):
                self.connection.execute("ROLLBACK")
        self.pool.putconn(self.connection)


def _parsed(address: str) -> Mapping[str, Any]:
    try:
        return conninfo_to_dict(address)
    except psycopg.Error:  # its text may hold the password
        raise StoreUnusable(
            "the address of the database cannot be read; write it as postgresql://user:password@host:5432/name, with "
            "%-escapes for special characters in the password"
        ) from None


def _network_settings(limits: PostgresLimits) -> dict[str, Any]:
    """A server that has gone silent is given up after half a minute, not after a quarter of an hour."""
    return {
        "application_name": "afterglow",
        "connect_timeout": max(2, round(limits.pool_timeout_seconds)),
        "keepalives_idle": 15,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 30_000,
    }
