"""What a store's file promises of the disk: what is acknowledged is on it, and what is deleted is no longer on it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from afterglow.clock import FixedClock
from afterglow.store.log import Entry, Shown
from afterglow.store.sqlite import SQLiteLimits, SQLiteStore
from afterglow.store.transaction import EVERYONE, Tx
from tests.kit.records import KATE, NOON, said

KEPT = {"synchronous": 2, "secure_delete": 1, "foreign_keys": 1, "journal_mode": "wal"}
"""What SQLite answers where it waits for the disk at each commit (FULL is 2) and writes over what it deletes."""


@pytest.mark.spec("P1", "P12")
async def test_every_connection_of_a_store_waits_for_the_disk_and_writes_over_what_it_deletes(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: list[dict[str, Any]] = []

    class Watched(sqlite3.Connection):
        """Says when it is closed how it was set."""

        def close(self) -> None:
            settings.append({name: self.execute(f"PRAGMA {name}").fetchone()[0] for name in KEPT})
            super().close()

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: connect(*given, **more, factory=Watched))
    store = await SQLiteStore.open(tmp_path / "afterglow.db", clock, SQLiteLimits(readers=3))
    at_once = threading.Barrier(3)

    def read(tx: Tx) -> None:
        at_once.wait(60)  # each has a thread of its own, and so a connection

    await store.append(KATE.owner, KATE, said("hello"))
    await asyncio.gather(*(store._read("look", EVERYONE, read) for _ in range(3)))
    await store.scrub()
    await store.close()
    assert len(settings) >= 1 + 3 + 1, "the writer, three readers and the one that scrubs"
    assert [each for each in settings if each != KEPT] == []


@pytest.mark.spec("P12", "SAFE-3")
async def test_the_words_of_a_forgotten_turn_leave_the_file_without_a_scrub(tmp_path: Path, clock: FixedClock) -> None:
    path, words = tmp_path / "afterglow.db", ("quokka4711", "numbat4712")

    def in_the_files() -> list[str]:
        held = b"".join(each.read_bytes() for each in tmp_path.glob("afterglow.db*"))
        return [word for word in words if word.encode() in held]

    store = await SQLiteStore.open(path, clock)
    session = (await store.append(KATE.owner, KATE, said(f"the {words[0]} is mine"))).session
    giant = said(f"a giant {words[1]} " * 2000, "tool", at=NOON)
    shown = Shown(text="a giant …", parts=())
    await store.append(KATE.owner, session, Entry(draft=giant.draft, terms=[words[1]], bytes=giant.bytes, shown=shown))
    await store.close()
    assert in_the_files() == list(words), "they were there"
    store = await SQLiteStore.open(path, clock)
    await store.forget_turns(KATE.owner, session, 1, 2)
    await store.close()
    assert in_the_files() == []
