"""SQLite: one writer thread with group commit, readers beside it.

The writer takes the verbs that wait in its queue, runs each in its own savepoint inside one immediate transaction,
commits once, and answers them all. While it waits for the disk, the next batch gathers, so the more callers there are,
the more turns share one fsync. Other processes on the same file are welcome: a transaction is immediate from its start,
so it waits for its turn instead of failing half-way.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from afterglow import failpoints
from afterglow.clock import Clock, to_us
from afterglow.errors import StoreError, StoreFull, StoreUnavailable, StoreUnusable
from afterglow.store import migrations
from afterglow.store.contract import Store
from afterglow.store.transaction import EVERYONE, SQLITE, Everyone, Row, Scope, Tx

T = TypeVar("T")
_OPEN_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, kw_only=True, slots=True)
class SQLiteLimits:
    """How much one group commit takes in, and how long a lock is waited for."""

    batch_max: int = 256
    batch_milliseconds: float = 20
    busy_timeout_seconds: float = 30
    readers: int = 4


@dataclass(slots=True)
class _Job:
    """A verb that waits for its commit, and who waits for it."""

    name: str
    verb: Callable[[Tx], Any]
    scope: Scope
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None
    wakes: bool = False


class _SQLiteTx(Tx):
    dialect = SQLITE

    def __init__(self, connection: sqlite3.Connection, owners: tuple[str, ...] | Everyone) -> None:
        super().__init__(owners)
        self._connection = connection
        self.wakes = False

    def _execute(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def wake_workers(self) -> None:
        self.wakes = True


class SQLiteStore(Store):
    """The store in one file."""

    _writing: sqlite3.Connection

    def __init__(self, path: Path, clock: Clock, limits: SQLiteLimits) -> None:
        super().__init__(clock)
        self.path = path
        self._limits = limits
        self._process = os.getpid()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._serve, name="afterglow-writer", daemon=True)
        self._readers = ThreadPoolExecutor(limits.readers, thread_name_prefix="afterglow-reader")
        self._own = threading.local()
        self._reading: list[sqlite3.Connection] = []
        self._wakeups: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._closed = False

    @classmethod
    async def open(cls, path: Path, clock: Clock, limits: SQLiteLimits | None = None) -> SQLiteStore:
        """Open the file, or make it, and bring its schema up to date."""
        store = cls(path, clock, limits or SQLiteLimits())
        store._writing = await asyncio.to_thread(store._prepare)
        store._writer.start()
        return store

    @property
    def where(self) -> str:
        return str(self.path)

    async def _write(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T:
        self._check_usable()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._jobs.put(_Job(name=name, verb=verb, scope=scope, loop=loop, answer=answer))
        return await answer

    async def _read(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T:
        self._check_usable()
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read_now, scope, verb)

    async def wait_for_work(self, seconds: float) -> None:
        wakeup = (asyncio.get_running_loop(), asyncio.Event())
        self._wakeups.add(wakeup)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(wakeup[1].wait(), seconds)
        finally:
            self._wakeups.discard(wakeup)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._jobs.put(None)
        await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._reading:
            connection.close()

    async def check(self) -> list[str]:
        """What `integrity_check` and `foreign_key_check` find wrong; nothing, for a sound file."""

        def look(tx: Tx) -> list[str]:
            found = [row["integrity_check"] for row in tx.rows("PRAGMA integrity_check")]
            foreign = [f"a row of {row['table']} points at nothing" for row in tx.rows("PRAGMA foreign_key_check")]
            return [line for line in found if line != "ok"] + foreign

        return await self._read("check", EVERYONE, look)

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreUnusable(f"the store at {self.path} is closed; open it again")
        if os.getpid() != self._process:
            raise StoreUnusable(f"the store at {self.path} was opened before this process was forked; open it here")

    # --- the writer's thread

    def _serve(self) -> None:
        while (first := self._jobs.get()) is not None:
            batch = self._run_batch(first)
            for job in batch:
                if job.error is None:
                    failpoint_error = _reached(f"{job.name}:after")
                    job.error = failpoint_error
            _answer(batch)
            if any(job.wakes and job.error is None for job in batch):
                self._wake()
        self._writing.close()

    def _run_batch(self, first: _Job) -> list[_Job]:
        """Run what waits in one transaction; if that fails as a whole, each in a transaction of its own."""
        batch: list[_Job] = []
        try:
            self._begin()
            deadline = time.monotonic() + self._limits.batch_milliseconds / 1000
            job: _Job | None = first
            while job is not None:
                batch.append(job)
                self._run_in_savepoint(job)
                job = self._next_job(len(batch), deadline)
            self._commit(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes to the callers
            self._roll_back()
            if len(batch) <= 1:
                first.error = _translated(error, self.path)
                return [first]
            for each in batch:
                self._run_alone(each)
        return batch

    def _next_job(self, taken: int, deadline: float) -> _Job | None:
        if taken >= self._limits.batch_max or time.monotonic() >= deadline:
            return None
        try:
            job = self._jobs.get_nowait()
        except queue.Empty:
            return None
        if job is None:
            self._jobs.put(None)
        return job

    def _run_alone(self, job: _Job) -> None:
        job.error = None
        try:
            self._begin()
            self._run_in_savepoint(job)
            self._commit([job])
        except Exception as error:  # noqa: BLE001 - as above
            self._roll_back()
            job.error = _translated(error, self.path)

    def _run_in_savepoint(self, job: _Job) -> None:
        self._writing.execute("SAVEPOINT verb")
        try:
            tx = _SQLiteTx(self._writing, _owners(self._writing, job.scope))
            job.result = job.verb(tx)
            job.wakes = tx.wakes
        except Exception as error:
            if not self._writing.in_transaction:
                raise
            self._writing.execute("ROLLBACK TO verb")
            job.error = _translated(error, self.path)
        self._writing.execute("RELEASE verb")

    def _begin(self) -> None:
        self._writing.execute("BEGIN IMMEDIATE")

    def _commit(self, batch: list[_Job]) -> None:
        for job in batch:
            if job.error is None:
                failpoints.reach(f"{job.name}:before")
        self._writing.execute("COMMIT")

    def _roll_back(self) -> None:
        if self._writing.in_transaction:
            self._writing.execute("ROLLBACK")

    def _wake(self) -> None:
        for loop, event in list(self._wakeups):
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)

    # --- the readers' threads

    def _read_now(self, scope: Scope, verb: Callable[[Tx], T]) -> T:
        connection = getattr(self._own, "connection", None)
        try:
            if connection is None:
                connection = self._own.connection = self._connect()
                connection.execute("PRAGMA query_only = ON")
                self._reading.append(connection)
            connection.execute("BEGIN")
            try:
                return verb(_SQLiteTx(connection, _owners(connection, scope)))
            finally:
                connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise _translated(error, self.path) from error

    # --- opening

    def _prepare(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise StoreUnusable(
                f"cannot write the database at {self.path}: {error.strerror}; "
                "make its folder writable, or set `data_dir` or `database` to another place"
            ) from None
        try:
            connection = self._connect()
            self._use_wal(connection)
            self._migrate(connection)
        except sqlite3.Error as error:
            raise _translated(error, self.path) from error
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=self._limits.busy_timeout_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        connection.row_factory = sqlite3.Row
        connection.create_function("now_us", 0, lambda: to_us(self.clock.now()))
        for pragma in (
            "synchronous = FULL",
            "foreign_keys = ON",
            "secure_delete = ON",
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Switching to WAL does not wait for other processes by itself, so wait for it here."""
        deadline = time.monotonic() + self._limits.busy_timeout_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_OPEN_PAUSE_SECONDS)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        steps = migrations.load(SQLITE)
        if _version(connection) == len(steps):
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(migrations.VERSIONS_TABLE)
            for step in migrations.pending(steps, _version(connection), self.where):
                for statement in _statements(step.sql):
                    connection.execute(statement)
                connection.execute(
                    "INSERT INTO schema_versions VALUES (?, ?, ?)", (step.version, step.name, to_us(self.clock.now()))
                )
                failpoints.reach(f"migrate {step.name}:before")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        failpoints.reach("migrate:after")


def _version(connection: sqlite3.Connection) -> int:
    exists = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_versions'").fetchone()
    return connection.execute("SELECT coalesce(max(version), 0) FROM schema_versions").fetchone()[0] if exists else 0


def _statements(script: str) -> list[str]:
    """A script cut into statements, since running it whole would commit what came before."""
    statements: list[str] = []
    gathered = ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            statements.append(gathered)
            gathered = ""
    return statements


def _owners(connection: sqlite3.Connection, scope: Scope) -> tuple[str, ...] | Everyone:
    if isinstance(scope, Everyone):
        return scope
    row = connection.execute("SELECT joined_to FROM aliases WHERE owner = ?", (scope,)).fetchone()
    root: str = row[0] if row else scope
    joined = connection.execute("SELECT owner FROM aliases WHERE joined_to = ? ORDER BY owner", (root,)).fetchall()
    return (root, *(each[0] for each in joined))


def _reached(name: str) -> Exception | None:
    try:
        failpoints.reach(name)
    except Exception as error:  # noqa: BLE001 - an armed failure goes to the caller
        return error
    return None


def _answer(batch: list[_Job]) -> None:
    """Give every caller its result, with one call into each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
    for job in batch:
        by_loop.setdefault(job.loop, []).append(job)
    for loop, jobs in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(partial(_settle, jobs))


def _settle(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.answer.done():
            continue
        if job.error is not None:
            job.answer.set_exception(job.error)
        else:
            job.answer.set_result(job.result)


def _translated(error: Exception, path: Path) -> Exception:
    """The driver's error as one of ours."""
    if not isinstance(error, sqlite3.Error):
        return error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_FULL if "disk is full" in str(error) else 0) & 0xFF
    translated: StoreError
    match code:
        case sqlite3.SQLITE_FULL:
            translated = StoreFull(
                f"the disk that holds {path} is full; nothing was changed. Make room and try again: "
                "what is stored can still be read."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            translated = StoreUnavailable(
                f"another process has kept {path} locked for too long; nothing was changed. Try again, and see "
                "`afterglow doctor` if it goes on."
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            translated = StoreUnusable(
                f"{path} is not a sound SQLite database ({error}); restore it from a backup or an export, or move it "
                "away to begin a new one."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            translated = StoreUnusable(
                f"{path} cannot be written ({error}); make it and its folder writable, or set `data_dir` elsewhere."
            )
        case _:
            translated = StoreError(f"SQLite refused: {error}")
    translated.__cause__ = error
    return translated
