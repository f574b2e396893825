"""Opening a SQLite file: making it, its settings, its schema, and its errors as ours."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

from afterglow import failpoints
from afterglow.clock import Clock, Deadline, to_us
from afterglow.errors import StoreError, StoreFull, StoreUnavailable, StoreUnusable
from afterglow.store import migrations
from afterglow.store.transaction import SQLITE

_OPEN_PAUSE_SECONDS = 0.02
_PRAGMAS = ("synchronous = FULL", "foreign_keys = ON", "secure_delete = ON", "journal_size_limit = 67108864")


def prepare(path: Path, clock: Clock, busy_timeout_seconds: float) -> sqlite3.Connection:
    """Open the file, or make it, and bring its schema up to date. A file from a newer version is not touched."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        reason = f"{path.parent} is a file, not a folder" if path.parent.is_file() else error.strerror
        raise StoreUnusable(
            f"cannot write the database at {path}: {reason}; "
            "make its folder writable, or set `data_dir` or `database` to another place"
        ) from None
    try:
        connection = connect(path, clock, busy_timeout_seconds)
        try:
            migrations.pending(migrations.load(SQLITE), _version(connection), str(path))
            _use_wal(connection, busy_timeout_seconds)
            _migrate(connection, path, clock)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise translated(error, path) from error
    return connection


def connect(path: Path, clock: Clock, busy_timeout_seconds: float) -> sqlite3.Connection:
    """A connection with the settings every one of ours has."""
    connection = sqlite3.connect(
        path, timeout=busy_timeout_seconds, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.row_factory = sqlite3.Row
        connection.create_function("now_us", 0, lambda: to_us(clock.now()))
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def roll_back(connection: sqlite3.Connection) -> None:
    """Undo what is open. Some errors (a full disk) have undone it already."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def translated(error: Exception, path: Path) -> Exception:
    """The driver's error as one of ours."""
    if not isinstance(error, sqlite3.Error):
        return error
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_FULL if "disk is full" in str(error) else 0)
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:  # there is no room for the file that readers and writers share
        code = sqlite3.SQLITE_FULL
    ours: StoreError
    match code & 0xFF:
        case sqlite3.SQLITE_FULL:
            ours = StoreFull(
                f"the disk that holds {path} is full; nothing was changed. Make room and try again: "
                "what is stored can still be read."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            ours = StoreUnavailable(
                f"another process has kept {path} locked for too long; nothing was changed. Try again, and see "
                "`afterglow doctor` if it goes on."
            )
        case sqlite3.SQLITE_IOERR:
            ours = StoreUnavailable(
                f"the disk that holds {path} failed ({error}); see to it, then try again with the same key: what was "
                "under way may or may not have been written."
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            ours = StoreUnusable(
                f"{path} is not a sound SQLite database ({error}); restore it from a backup or an export, or move it "
                "away to begin a new one."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            ours = StoreUnusable(
                f"{path} cannot be written ({error}); make it and its folder writable, or set `data_dir` elsewhere."
            )
        case _:
            ours = StoreError(f"SQLite refused: {error}")
    ours.__cause__ = error
    return ours


def _use_wal(connection: sqlite3.Connection, busy_timeout_seconds: float) -> None:
    """Switching to WAL does not wait for other processes by itself, so wait for it here."""
    deadline = Deadline(busy_timeout_seconds)
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or deadline.passed:
                raise
            time.sleep(_OPEN_PAUSE_SECONDS)


def _migrate(connection: sqlite3.Connection, path: Path, clock: Clock) -> None:
    steps = migrations.load(SQLITE)
    if _version(connection) == len(steps):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(migrations.VERSIONS_TABLE)
        for step in migrations.pending(steps, _version(connection), str(path)):
            for statement in _statements(step.sql):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO schema_versions VALUES (?, ?, ?)", (step.version, step.name, to_us(clock.now()))
            )
            failpoints.reach(f"migrate {step.name}:before")
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
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
