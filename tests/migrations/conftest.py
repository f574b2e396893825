"""Migrations are tried in real processes on both databases, as the faults are; the past schemas are made once and copied."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import psycopg
import pytest

from afterglow.store import migrations, sqlite_file
from afterglow.store.transaction import SQLITE
from tests.faults.conftest import nursery
from tests.faults.tasks import open_store
from tests.kit.databases import SCHEMA, copy_of
from tests.migrations.rows import ROWS

__all__ = ["nursery"]

LATEST = len(migrations.load(SQLITE))
_really_migrate = sqlite_file._migrate  # before the tests' own copying of prepared files takes its place


@pytest.fixture(autouse=True)
def nothing_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new SQLite file is migrated here like any other, not copied."""
    monkeypatch.setattr(sqlite_file, "_migrate", _really_migrate)


class PastSchemas(Protocol):
    """Databases as each version of the past made them, with rows in all their tables. Number 0 is an empty database."""

    def copy(self, number: int, to: Path) -> contextlib.AbstractContextManager[str]:
        """The address of a copy; `to` is where it is put if it is a file."""
        ...


class PastFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for number in range(1, LATEST + 1):
            if number > 1:
                shutil.copy(self._file(number - 1), self._file(number))
            _upgrade(str(self._file(number)), number)
            with contextlib.closing(sqlite3.connect(self._file(number))) as connection, connection:
                for statement in ROWS[number]:
                    connection.execute(statement)

    @contextlib.contextmanager
    def copy(self, number: int, to: Path) -> Iterator[str]:
        if number:
            shutil.copy(self._file(number), to)
        yield str(to)

    def _file(self, number: int) -> Path:
        return self._folder / f"{number}.db"


class PastDatabases:
    def __init__(self, opened: contextlib.ExitStack) -> None:
        self._names = ["template1"]
        for number in range(LATEST + 1):
            address = opened.enter_context(copy_of(self._names[-1]))
            if number == 0:
                with psycopg.connect(address) as connection:
                    connection.execute(f"CREATE SCHEMA {SCHEMA}")
                self._names.clear()
            else:
                _upgrade(address, number)
                with psycopg.connect(address) as connection:
                    for statement in ROWS[number]:
                        connection.execute(statement)  # type: ignore[arg-type]
            self._names.append(urlsplit(address).path.removeprefix("/"))

    def copy(self, number: int, to: Path) -> contextlib.AbstractContextManager[str]:
        return copy_of(self._names[number])


def _upgrade(address: str, number: int) -> None:
    """Open a database as the version of that time did, which knew this many steps."""

    async def open_and_close() -> None:
        await (await open_store(address)).close()

    load = migrations.load
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as aside:  # a test's own loop may be running
        patch.setattr(sqlite_file, "_migrate", _really_migrate)
        patch.setattr(migrations, "load", lambda dialect: load(dialect)[:number])
        aside.submit(asyncio.run, open_and_close()).result()


@pytest.fixture(scope="session")
def past_files(tmp_path_factory: pytest.TempPathFactory) -> PastFiles:
    return PastFiles(tmp_path_factory.mktemp("past"))


@pytest.fixture(scope="session")
def past_databases() -> Iterator[PastDatabases]:
    with contextlib.ExitStack() as opened:
        yield PastDatabases(opened)


@pytest.fixture(params=["sqlite", "postgres"])
def past_schemas(request: pytest.FixtureRequest) -> PastSchemas:
    return request.getfixturevalue("past_files" if request.param == "sqlite" else "past_databases")
