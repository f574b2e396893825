"""The bytes of a SQLite file: after something was removed, nothing of it stays in the index, the free space or the log.

What is deleted is overwritten at once (`secure_delete`). The index of words still has it in older parts until they are merged,
and the write-ahead log until it is emptied. Writing the whole file anew is only needed where bytes were left behind when
pages were moved.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from afterglow import failpoints
from afterglow.clock import Clock
from afterglow.store import sqlite_file
from afterglow.store.holding import Scrubbed

_PAGES_AT_ONCE = 500


def scrub(path: Path, clock: Clock, busy_timeout_seconds: float, whole: bool) -> Scrubbed:
    """Merge the index, write the file anew if `whole`, and empty the log. Others go on writing in between."""
    try:
        connection = sqlite_file.connect(path, clock, busy_timeout_seconds)
        try:
            _merge_index(connection)
            failpoints.reach("index:merged")
            if whole:
                connection.execute("VACUUM")
            emptied = not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise sqlite_file.translated(error, path) from error
    unseen = () if emptied else (f"{path}-wal could not be emptied, since somebody reads it; try again",)
    return Scrubbed(files=files_of(path), unseen=unseen, plain=True)


def files_of(path: Path) -> tuple[Path, ...]:
    """The file, and those beside it that SQLite keeps."""
    names = (path.name + ending for ending in ("", "-wal", "-shm", "-journal"))
    return tuple(each for each in (path.with_name(name) for name in names) if each.exists())


def _merge_index(connection: sqlite3.Connection) -> None:
    """All parts of the index become one, a step at a time, so that nobody waits for the whole of it."""
    pages = -_PAGES_AT_ONCE  # less than none: begin with all parts there are
    while True:
        before = connection.total_changes
        connection.execute("INSERT INTO search_index (search_index, rank) VALUES ('merge', ?)", (pages,))
        if connection.total_changes - before < 2:  # so it says that there was nothing to do
            return
        pages = _PAGES_AT_ONCE
