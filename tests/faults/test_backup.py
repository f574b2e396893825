"""Backups taken while others write are whole: a copy of SQLite's file made by SQLite, a dump of PostgreSQL."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from afterglow.clock import SystemClock
from afterglow.store.contract import Store
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE
from tests.faults.tasks import binding
from tests.kit.promises import broken, dump
from tests.kit.records import KATE, said

pytestmark = pytest.mark.spec("P1")


async def write_meanwhile(store: Store, stop: asyncio.Event) -> None:
    for count in range(10**6):
        if stop.is_set():
            return
        await asyncio.gather(*(store.append(binding(n).owner, binding(n), said(f"turn {count}")) for n in range(4)))


@pytest.mark.parametrize("way", ["backup", "vacuum"])
async def test_a_copy_that_sqlite_makes_while_others_write_is_whole(tmp_path: Path, way: str) -> None:
    store = await SQLiteStore.open(tmp_path / "afterglow.db", SystemClock())
    acknowledged = [await store.append(KATE.owner, KATE, said(f"turn {n}")) for n in range(50)]
    stop = asyncio.Event()
    writing = asyncio.create_task(write_meanwhile(store, stop))

    def copy() -> None:
        source = sqlite3.connect(store.path)
        if way == "vacuum":
            source.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
        else:
            target = sqlite3.connect(tmp_path / "copy.db")
            source.backup(target)
            target.close()
        source.close()

    await asyncio.to_thread(copy)
    stop.set()
    await writing
    copied = await SQLiteStore.open(tmp_path / "copy.db", SystemClock())
    assert await broken(copied) == []
    assert await copied.turns(KATE.owner, acknowledged[0].session) == acknowledged
    assert (await copied.append(KATE.owner, KATE, said("life goes on"))).seq == 51
    for each in (store, copied):
        await each.close()


def copy_database(server: Any, original: str, restored: str) -> None:
    """`pg_dump original | psql restored`, as an administrator: row-level security binds even the tables' owner."""
    command = [server.bin_path / "pg_dump", server.get_uri(database=original)]
    dumped = subprocess.run(command, capture_output=True, check=True)
    command = [server.bin_path / "psql", "-v", "ON_ERROR_STOP=1", server.get_uri(database=restored)]
    subprocess.run(command, input=dumped.stdout, capture_output=True, check=True)


@pytest.mark.whole
async def test_a_dump_of_postgresql_by_an_administrator_is_whole_and_guarded_when_restored(own_server: Any) -> None:
    with psycopg.connect(own_server.get_uri(), autocommit=True) as admin:
        for name in ("original", "restored"):
            admin.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
    store = await PostgresStore.open(own_server.get_uri(database="original"), SystemClock())
    for number in range(50):
        await store.append(KATE.owner, KATE, said(f"turn {number}"))
    copy_database(own_server, "original", "restored")
    restored = await PostgresStore.open(own_server.get_uri(database="restored"), SystemClock())
    assert await dump(restored) == await dump(store)
    assert await broken(restored) == []
    assert len(await restored.sessions(EVERYONE)) == 1 and await restored.sessions("another") == []
    assert (await restored.append(KATE.owner, KATE, said("life goes on"))).seq == 51
    for each in (store, restored):
        await each.close()
