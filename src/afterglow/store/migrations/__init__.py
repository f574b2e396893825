"""Plain SQL steps, forward only, each committed together with its number, so that a crash leaves no half of one."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from afterglow.errors import StoreUnusable
from afterglow.store.transaction import Dialect

VERSIONS_TABLE = """
CREATE TABLE IF NOT EXISTS schema_versions (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
)"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """One step: the SQL both databases share, then what only this one needs."""

    version: int
    name: str
    sql: str


def load(dialect: Dialect) -> list[Migration]:
    """All steps for this database, oldest first."""
    folder = {entry.name: entry for entry in files(__name__).iterdir() if entry.name.endswith(".sql")}
    steps: list[Migration] = []
    for file_name in sorted(name for name in folder if name.count(".") == 1):
        stem = file_name.removesuffix(".sql")
        own = folder.get(f"{stem}.{dialect.name}.sql")
        sql = folder[file_name].read_text() + (own.read_text() if own else "")
        steps.append(Migration(version=int(stem[:4]), name=stem[5:], sql=dialect.ddl(sql)))
    assert [step.version for step in steps] == list(range(1, len(steps) + 1))
    return steps


def pending(steps: list[Migration], current: int, where: str) -> list[Migration]:
    """The steps still to take; a database from the future is refused, since writing to it might harm it."""
    if current > len(steps):
        raise StoreUnusable(
            f"the database at {where} has schema {current}, and this version of Afterglow knows schemas up to "
            f"{len(steps)}; upgrade Afterglow, or point `database` at another file. Nothing was changed."
        )
    return steps[current:]
