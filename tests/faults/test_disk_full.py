"""The disk becomes full: a clear error, nothing half-written, what is there stays readable, and writing goes on."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from afterglow import failpoints
from afterglow.clock import SystemClock
from afterglow.errors import StoreFull
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from afterglow.turns import Turn
from tests.faults.small_disk import SmallDisk, small_disk
from tests.faults.tasks import binding
from tests.kit.promises import broken
from tests.kit.records import KATE, OTHER, said

pytestmark = pytest.mark.spec("P1", "LOG-1")

TEXT = "kettle " * 3000


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[SmallDisk]:
    with small_disk(tmp_path / "disk", megabytes=2) as disk:
        yield disk


@pytest.fixture
async def store(disk: SmallDisk) -> AsyncIterator[SQLiteStore]:
    store = await SQLiteStore.open(disk.folder / "afterglow.db", SystemClock())
    if not disk.mounted:  # SQLite itself then says that there is no room
        store._writing.execute("PRAGMA max_page_count = 200")
    yield store
    await store.close()


def make_room(disk: SmallDisk, store: SQLiteStore) -> None:
    if disk.mounted:
        disk.grow(64)
    else:
        store._writing.execute("PRAGMA max_page_count = 1000000")


async def fill(store: SQLiteStore) -> list[Turn]:
    """Write until there is no more room."""
    written: list[Turn] = []
    with pytest.raises(StoreFull, match="is full; nothing was changed"):
        for number in range(1000):
            written.append(await store.append(KATE.owner, KATE, said(f"{number} {TEXT}", key=f"key {number}")))
    assert written
    return written


async def test_a_full_disk_is_said_to_be_full_and_what_is_there_stays_readable(store: SQLiteStore) -> None:
    written = await fill(store)
    assert await store.turns(KATE.owner, written[0].session, limit=1000) == written
    assert (await store.word_matches(KATE.owner, ["kettle"])).turns
    assert await broken(store) == []


async def test_writing_goes_on_when_there_is_room_again(disk: SmallDisk, store: SQLiteStore) -> None:
    written = await fill(store)
    with pytest.raises(StoreFull):
        await store.append(KATE.owner, KATE, said(TEXT, key=f"key {len(written)}"))
    make_room(disk, store)
    more = [await store.append(KATE.owner, KATE, said(TEXT, key=f"key {len(written) + n}")) for n in range(50)]
    assert [turn.seq for turn in more] == list(range(len(written) + 1, len(written) + 51))
    assert await store.turns(KATE.owner, written[0].session, limit=1000) == written + more
    assert await broken(store) == []


async def test_of_many_callers_at_once_those_that_fit_are_answered_and_the_others_are_told(
    disk: SmallDisk, store: SQLiteStore
) -> None:
    answers = [
        answer
        for start in range(0, 320, 32)
        for answer in await asyncio.gather(
            *(
                store.append(binding(n % 4).owner, binding(n % 4), said(f"{n} {TEXT}", key=f"key {n}"))
                for n in range(start, start + 32)
            ),
            return_exceptions=True,
        )
    ]
    kept = [answer for answer in answers if isinstance(answer, Turn)]
    refused = [answer for answer in answers if not isinstance(answer, Turn)]
    assert kept and refused
    assert {type(answer) for answer in refused} == {StoreFull}
    assert len({str(id(answer)) for answer in refused}) == len(refused), "everybody has an error of their own"
    stored = [turn for n in range(4) for turn in await store.turns_before(binding(n).owner, None, 1000)]
    assert {(turn.session, turn.seq, turn.text) for turn in stored} == {(t.session, t.seq, t.text) for t in kept}
    assert await broken(store) == []
    make_room(disk, store)
    assert await store.append(OTHER.owner, OTHER, said("there is room"))


async def test_a_disk_too_full_for_a_new_database_says_so_and_leaves_nothing_half_made(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", megabytes=2) as disk:
        if not disk.mounted:
            pytest.skip("no file system of one's own can be mounted here")
        filler = disk.folder / "filler"
        with pytest.raises(OSError, match="No space"):
            filler.write_bytes(b"x" * 4_000_000)
        with pytest.raises(StoreFull):
            await SQLiteStore.open(disk.folder / "afterglow.db", SystemClock())
        filler.unlink()
        store = await SQLiteStore.open(disk.folder / "afterglow.db", SystemClock())
        assert (await store.append(KATE.owner, KATE, said("there is room"))).seq == 1
        assert await broken(store) == []
        await store.close()


async def test_a_disk_that_is_full_at_the_commit_itself_fails_no_turn_that_fits(store: SQLiteStore) -> None:
    """The whole batch is undone then; those in it are tried one by one."""
    failpoints.arm("append:before", "full")
    answers = await asyncio.gather(
        *(store.append(KATE.owner, KATE, said(f"turn {n}")) for n in range(20)), return_exceptions=True
    )
    refused = [answer for answer in answers if not isinstance(answer, Turn)]
    assert len(refused) <= 1
    assert {type(answer) for answer in refused} <= {StoreFull}
    session = await store.current_session(KATE)
    assert session is not None and session.turns == 20 - len(refused)
    assert await broken(store) == []


@pytest.mark.whole
async def test_a_full_disk_of_postgresql_is_said_to_be_full_and_writing_goes_on_when_there_is_room(
    own_server: Any, tmp_path: Path
) -> None:
    with small_disk(Path(tempfile.mkdtemp()) / "disk", megabytes=24) as disk:
        if not disk.mounted:
            pytest.skip("no file system of one's own can be mounted here")
        if own_server.system_user is not None:
            disk.folder.parent.chmod(0o755)
            shutil.chown(disk.folder, own_server.system_user)
        with psycopg.connect(own_server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{disk.folder}'")
            connection.execute("CREATE DATABASE small TABLESPACE small")
        store = await PostgresStore.open(own_server.get_uri(database="small"), SystemClock())
        noise = random.Random(1)
        written: list[Turn] = []
        with pytest.raises(StoreFull, match="is full; nothing was changed"):
            for number in range(1000):
                entry = said(noise.randbytes(100_000).hex(), key=f"key {number}", terms=["noise"])
                written.append(await store.append(KATE.owner, KATE, entry))
        assert await store.turns(KATE.owner, written[0].session, limit=1000) == written
        disk.grow(64)
        more = await store.append(KATE.owner, KATE, said("there is room", key=f"key {len(written)}"))
        assert more.seq == len(written) + 1
        assert await broken(store) == []
        await store.close()
        with psycopg.connect(own_server.get_uri(), autocommit=True) as connection:
            connection.execute("DROP DATABASE small")
            connection.execute("DROP TABLESPACE small")
