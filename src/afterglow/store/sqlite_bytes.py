"""The bytes of a SQLite file: after a scrub nothing that was removed stays in the index, the free space or the log.

What is deleted is overwritten at once (`secure_delete`). The index of words still has it in older parts until they are merged,
the write-ahead log until it is emptied, and a page may keep an old copy of a row that was moved to another one until the file
is written anew.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from pathlib import Path

from afterglow import failpoints
from afterglow.clock import Clock, Deadline
from afterglow.errors import StoreUnavailable
from afterglow.store import sqlite_file

_PAGES_AT_ONCE = 500
_PAUSE_SECONDS = 0.02
_STEPS_BETWEEN_LOOKS = 10_000


def scrub(path: Path, clock: Clock, busy_timeout_seconds: float, stop: threading.Event) -> None:
    """Merge the index, write the file anew, and empty the log. Others write in between, and wait while the file is written.

    It is broken off when `stop` is set. What was done until then stays done.
    """
    try:
        connection = sqlite_file.connect(path, clock, busy_timeout_seconds)
        try:
            connection.set_progress_handler(stop.is_set, _STEPS_BETWEEN_LOOKS)
            _merge_index(connection)
            failpoints.reach("index:merged")
            _empty_log(
                connection, path, busy_timeout_seconds
            )  # first, since the file may be too large for the disk to be written anew
            connection.execute("VACUUM")
            failpoints.reach("file:written anew")
            _empty_log(connection, path, busy_timeout_seconds)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise sqlite_file.translated(error, path) from error


def files_of(path: Path) -> tuple[Path, ...]:
    """The file, and those beside it that SQLite keeps."""
    names = (path.name + ending for ending in ("", "-wal", "-shm", "-journal"))
    return tuple(each for each in (path.with_name(name) for name in names) if each.exists())


def _empty_log(connection: sqlite3.Connection, path: Path, busy_timeout_seconds: float) -> None:
    """Where another connection empties the log at this moment, SQLite does not wait by itself, so wait for it here."""
    deadline = Deadline(busy_timeout_seconds)
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if deadline.passed:
            raise StoreUnavailable(f"{path}-wal could not be emptied, since another process reads it; try again")
        time.sleep(_PAUSE_SECONDS)


def _merge_index(connection: sqlite3.Connection) -> None:
    """All parts of the index become one, a step at a time, so that nobody waits for the whole of it."""
    pages = -_PAGES_AT_ONCE  # less than none: begin with all parts there are
    while True:
        before = connection.total_changes
        connection.execute("INSERT INTO search_index (search_index, rank) VALUES ('merge', ?)", (pages,))
        if connection.total_changes - before < 2:  # so it says that there was nothing to do
            return
        pages = _PAGES_AT_ONCE
