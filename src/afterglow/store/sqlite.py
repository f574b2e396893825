"""SQLite: one writer thread with group commit, readers beside it.

The writer takes the verbs that wait in its queue, runs each in its own savepoint inside one immediate transaction,
commits once, and answers them all. While it waits for the disk, the next batch gathers, so the more callers there are,
the more turns share one fsync. Other processes on the same file are welcome: a transaction is immediate from its start,
so it waits for its turn instead of failing half-way.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from afterglow import failpoints
from afterglow.clock import Clock, Deadline
from afterglow.errors import StoreUnavailable, StoreUnusable
from afterglow.store import sqlite_bytes, sqlite_file
from afterglow.store.contract import Store
from afterglow.store.holding import Scrubbed
from afterglow.store.sqlite_file import roll_back, translated
from afterglow.store.transaction import EVERYONE, SQLITE, Everyone, Row, Scope, Tx, check_scope, own_first
from afterglow.store.waiting import Waiters

T = TypeVar("T")

_log = logging.getLogger(__name__)
_UNINDEXED_MAX = 256
_QUIET_SECONDS = 0.05
_INDEX_SOME = f"""INSERT INTO search_index (rowid, terms)
  SELECT id, mark || replace(terms, ' ', ' ' || mark) FROM search_terms
  WHERE id > (SELECT indexed_to FROM search_progress WHERE id = 1) ORDER BY id LIMIT {_UNINDEXED_MAX}"""
_NOTE_INDEXED = f"""UPDATE search_progress SET indexed_to = (SELECT max(id) FROM (
  SELECT id FROM search_terms WHERE id > (SELECT indexed_to FROM search_progress WHERE id = 1)
  ORDER BY id LIMIT {_UNINDEXED_MAX}))
  WHERE id = 1"""


@dataclass(frozen=True, kw_only=True, slots=True)
class SQLiteLimits:
    """How much one group commit takes in, and how long a lock is waited for."""

    batch_max: int = 256
    batch_milliseconds: float = 20
    busy_timeout_seconds: float = 30
    readers: int = 8


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
    words: int = 0


class _SQLiteTx(Tx):
    dialect = SQLITE

    def __init__(self, connection: sqlite3.Connection, owners: tuple[str, ...] | Everyone) -> None:
        super().__init__(owners)
        self._connection = connection
        self.wakes = False
        self.words = 0

    def _execute(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def words_written(self) -> None:
        self.words += 1

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
        self._waiters = Waiters()
        self._door = threading.Lock()
        """Held to put a job in the queue and to end the queue, so that no job comes after its end."""
        self._closed = False
        self._writer_ended = False
        self._unindexed = 1  # there may be some from before

    @classmethod
    async def open(cls, path: Path, clock: Clock, limits: SQLiteLimits | None = None) -> SQLiteStore:
        """Open the file, or make it, and bring its schema up to date."""
        store = cls(path, clock, limits or SQLiteLimits())
        store._writing = await asyncio.to_thread(sqlite_file.prepare, path, clock, store._limits.busy_timeout_seconds)
        store._writer.start()
        return store

    @property
    def where(self) -> str:
        return str(self.path)

    async def _write(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T:
        with self._door:
            self._check_usable()
            loop = asyncio.get_running_loop()
            answer: asyncio.Future[T] = loop.create_future()
            self._jobs.put(_Job(name=name, verb=verb, scope=scope, loop=loop, answer=answer))
        return await answer

    async def _read(self, name: str, scope: Scope, verb: Callable[[Tx], T]) -> T:
        with self._door:
            self._check_usable()
            answer = asyncio.get_running_loop().run_in_executor(self._readers, self._read_now, scope, verb)
        return await answer

    async def wait_for_work(self, seconds: float) -> None:
        self._check_usable()
        await self._waiters.wait(seconds)

    async def close(self) -> None:
        with self._door:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        self._waiters.wake()
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

    async def scrub(self, *, whole: bool = False) -> Scrubbed:
        """Beside the writer, on a connection of its own: a step of it holds up nobody for long, unless it is for the whole."""
        self._check_usable()
        return await asyncio.to_thread(
            sqlite_bytes.scrub, self.path, self.clock, self._limits.busy_timeout_seconds, whole
        )

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreUnusable(f"the store at {self.path} is closed; open it again")
        if self._writer_ended:
            raise StoreUnusable(
                f"the thread that writes {self.path} has come to an end; close the store and open it again"
            )
        if os.getpid() != self._process:
            raise StoreUnusable(f"the store at {self.path} was opened before this process was forked; open it here")

    # --- the writer's thread

    def _serve(self) -> None:
        batch: list[_Job] = []
        try:
            while (first := self._first_job()) is not None:
                batch = [first]
                self._run_batch(batch)
                for job in batch:
                    if job.error is None:
                        job.error = _reached(f"{job.name}:after")
                _answer(batch)
                self._unindexed += sum(job.words for job in batch if job.error is None)
                if any(job.wakes and job.error is None for job in batch):
                    self._waiters.wake()
                batch = []
        finally:
            self._end_writing(batch)

    def _first_job(self) -> _Job | None:
        """Wait for a verb; in a quiet moment, or after many, index some of the words that were written."""
        while self._unindexed:
            if self._unindexed < _UNINDEXED_MAX:
                with suppress(queue.Empty):
                    return self._jobs.get(timeout=_QUIET_SECONDS)
            self._index_some_words()
            with suppress(queue.Empty):
                return self._jobs.get_nowait()
        return self._jobs.get()

    def _end_writing(self, batch: list[_Job]) -> None:
        """However the thread comes to its end, nobody is left waiting."""
        with self._door:
            self._writer_ended = True
        while (job := self._waiting_job()) is not None:
            batch.append(job)
        for job in batch:
            job.error = StoreUnavailable(
                f"the thread that writes {self.path} has come to an end; close the store, open it again, and try again "
                "with the same key: what was under way may or may not have been written"
            )
        _answer(batch)
        self._writing.close()

    def _run_batch(self, batch: list[_Job]) -> None:
        """Run what waits in one transaction; if that fails as a whole, each in a transaction of its own."""
        try:
            self._begin()
        except sqlite3.Error as error:
            self._refuse(batch, error)
            return
        try:
            deadline = Deadline(self._limits.batch_milliseconds / 1000)
            self._run_in_savepoint(batch[0])
            while (job := self._next_job(len(batch), deadline)) is not None:
                batch.append(job)
                self._run_in_savepoint(job)
            self._commit(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes to the callers
            self._roll_back()
            if len(batch) == 1:
                batch[0].error = translated(error, self.path)
                return
            for each in batch:
                self._run_alone(each)

    def _refuse(self, batch: list[_Job], error: sqlite3.Error) -> None:
        """No transaction could begin: all who wait are told so now, not each after a wait of its own."""
        while len(batch) < self._limits.batch_max and (job := self._waiting_job()) is not None:
            batch.append(job)
        for job in batch:
            job.error = translated(error, self.path)

    def _next_job(self, taken: int, deadline: Deadline) -> _Job | None:
        if taken >= self._limits.batch_max or deadline.passed:
            return None
        return self._waiting_job()

    def _waiting_job(self) -> _Job | None:
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
            job.error = translated(error, self.path)

    def _run_in_savepoint(self, job: _Job) -> None:
        self._writing.execute("SAVEPOINT verb")
        try:
            tx = _SQLiteTx(self._writing, _owners(self._writing, job.scope))
            job.result = job.verb(tx)
            job.wakes, job.words = tx.wakes, tx.words
        except Exception as error:
            if not self._writing.in_transaction:
                raise
            self._writing.execute("ROLLBACK TO verb")
            job.error = translated(error, self.path)
        self._writing.execute("RELEASE verb")

    def _begin(self) -> None:
        self._writing.execute("BEGIN IMMEDIATE")

    def _commit(self, batch: list[_Job]) -> None:
        for job in batch:
            if job.error is None:
                failpoints.reach(f"{job.name}:before")
        self._writing.execute("COMMIT")

    def _index_some_words(self) -> None:
        """Bring the index nearer to what was written, by this process or another."""
        try:
            self._begin()
            taken = self._writing.execute(_INDEX_SOME).rowcount
            if taken:
                self._writing.execute(_NOTE_INDEXED)
            failpoints.reach("index:before")
            self._writing.execute("COMMIT")
            failpoints.reach("index:after")
            self._unindexed = taken if taken == _UNINDEXED_MAX else 0
        except Exception as error:  # noqa: BLE001 - search finds what is not indexed too, only slower: try again later
            self._roll_back()
            self._unindexed = 0
            _log.warning("new words are not in the index yet: %s", translated(error, self.path))

    def _roll_back(self) -> None:
        try:
            roll_back(self._writing)
        except sqlite3.Error:  # then this connection is of no more use: closing it undoes what it had open
            self._writing.close()
            self._writing = self._connect()

    def _connect(self) -> sqlite3.Connection:
        return sqlite_file.connect(self.path, self.clock, self._limits.busy_timeout_seconds)

    # --- the readers' threads

    def _read_now(self, scope: Scope, verb: Callable[[Tx], T]) -> T:
        try:
            connection = self._reader()
            connection.execute("BEGIN")
            try:
                return verb(_SQLiteTx(connection, _owners(connection, scope)))
            finally:
                roll_back(connection)
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    def _reader(self) -> sqlite3.Connection:
        """This thread's own connection."""
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._connect()
            self._reading.append(connection)
            connection.execute("PRAGMA query_only = ON")
            self._own.connection = connection
        return connection


def _owners(connection: sqlite3.Connection, scope: Scope) -> tuple[str, ...] | Everyone:
    if isinstance(scope, Everyone):
        return scope
    check_scope(scope)
    row = connection.execute("SELECT joined_to FROM aliases WHERE owner = ?", (scope,)).fetchone()
    root: str = row[0] if row else scope
    joined = connection.execute("SELECT owner FROM aliases WHERE joined_to = ? ORDER BY owner", (root,)).fetchall()
    return own_first(scope, [root, *(each[0] for each in joined)])


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
