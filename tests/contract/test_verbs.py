"""Every verb of the store, on both databases: the same answer and the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterglow.clock import FixedClock
from afterglow.store.postgres import PostgresStore
from afterglow.store.sqlite import SQLiteStore
from tests.faults import verbs
from tests.kit.promises import broken, dump
from tests.kit.records import NOON

SEED = 7


@pytest.mark.spec("P13")
async def test_every_verb_gives_the_same_answer_and_leaves_the_same_rows_on_both_databases(
    tmp_path: Path, emptied_address: str
) -> None:
    one = await SQLiteStore.open(tmp_path / "afterglow.db", FixedClock(NOON, SEED))
    other = await PostgresStore.open(emptied_address, FixedClock(NOON, SEED))
    stores = (one, other)
    for store in stores:
        await verbs.prepare(store)
    differing: list[str] = []
    for name, verb in verbs.VERBS.items():
        if name != "close":
            answers = [await verb(store) for store in stores]
            if answers[0] != answers[1]:
                differing.append(f"{name}: {answers[0]!r} on SQLite, {answers[1]!r} on PostgreSQL")
    assert differing == []
    assert await dump(one) == await dump(other)
    assert [await broken(store) for store in stores] == [[], []]
    for store in stores:
        await verbs.VERBS["close"](store)
