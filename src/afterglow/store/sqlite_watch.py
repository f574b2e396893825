"""The files of an open SQLite database: whether they are still at their path, and how to read their bytes.

A process writes to the files that it opened, wherever their names have gone. So a database that is deleted, moved or
replaced under a process would take turns that are gone after the next start. `DatabaseFiles.check` compares the files
at the path with the open ones. A copy that is written over the file keeps its inode, and is not noticed.

POSIX locks belong to the process: closing any descriptor of a file gives up every lock that SQLite holds on it, and
then another process that closes the database deletes the log of changes under this one. So these files are opened here
alone, and their descriptors stay open until no store of this process uses the database.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from afterglow.errors import StoreUnusable

_Identity = tuple[int, int]
_READ_BYTES = 16 << 20
_POSIX = os.name == "posix"
"""Elsewhere a closed descriptor gives up no lock, and there is no `pread`."""


@dataclass(slots=True)
class _Held:
    """What this process has open of one database."""

    users: int = 0
    descriptors: dict[_Identity, int] = field(default_factory=dict[_Identity, int])


_lock = threading.Lock()
_held: dict[_Identity, _Held] = {}


class DatabaseFiles:
    """The files of one open database. Close the connections first: closing this may close the descriptors."""

    def __init__(self, path: Path) -> None:
        self._path = path
        real = Path(os.path.realpath(path))
        self._wal, self._shm = real.with_name(f"{real.name}-wal"), real.with_name(f"{real.name}-shm")
        self._database = _use(path)
        self._beside: dict[Path, _Identity] = {}

    def watch(self, connection: sqlite3.Connection) -> None:
        """Take the files beside the database as this connection has them."""
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()  # opens them
        with _lock:
            self._beside = {path: _open_once(self._database, path) for path in (self._wal, self._shm)}
        self.check()

    def check(self) -> None:
        """Refuse to go on where the files at the path are not the open ones."""
        if not self._are_at_path():
            raise StoreUnusable(
                f"{self._path}, its -wal or its -shm was deleted, moved or replaced while it was open; nothing is written "
                "any more. Stop every process that uses it, put the files in place, and start again"
            )

    def _are_at_path(self) -> bool:
        open_ones = {self._path: self._database, **self._beside}
        try:
            return all(_identity(path.stat()) == identity for path, identity in open_ones.items())
        except OSError:
            return False

    def close(self) -> None:
        _end_use(self._database)


@contextmanager
def chunks_of(path: Path) -> Generator[Iterator[bytes]]:
    """The bytes of a file, which may be one of a database that this process has open."""
    found = _find(path)
    if found is None:
        with path.open("rb") as file:
            yield iter(lambda: file.read(_READ_BYTES), b"")
        return
    database, descriptor = found
    try:
        yield _read(descriptor)
    finally:
        _end_use(database)


def _find(path: Path) -> tuple[_Identity, int] | None:
    """The open database that this is a file of, in use until `_end_use`, and the file's descriptor."""
    identity = _identity(path.stat())
    with _lock:
        for database, held in _held.items():
            if _POSIX and identity in held.descriptors:
                held.users += 1
                return database, held.descriptors[identity]
    return None


def _read(descriptor: int) -> Iterator[bytes]:
    at = 0
    while chunk := os.pread(descriptor, _READ_BYTES, at):
        yield chunk
        at += len(chunk)


def _use(path: Path) -> _Identity:
    """Open the database file, or make it, unless this process has it open."""
    with _lock:
        database = _identity(path.stat()) if path.exists() else None
        if database is None or database not in _held:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            database = _identity(os.fstat(descriptor))
            _held[database] = _Held(descriptors={database: descriptor})
        _held[database].users += 1
        return database


def _open_once(database: _Identity, path: Path) -> _Identity:
    """Open a file beside the database, unless this process has it open."""
    identity = _identity(path.stat())
    descriptors = _held[database].descriptors
    if identity not in descriptors:
        descriptors[identity] = os.open(path, os.O_RDONLY)
    return identity


def _end_use(database: _Identity) -> None:
    with _lock:
        held = _held[database]
        held.users -= 1
        if not held.users:
            del _held[database]
            for descriptor in held.descriptors.values():
                os.close(descriptor)


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino
