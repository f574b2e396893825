"""Many processes on one database at once: no process is turned away, nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from afterglow.clock import SystemClock
from afterglow.store.contract import Store
from afterglow.store.sqlite import SQLiteStore
from afterglow.store.transaction import EVERYONE
from afterglow.turns import Turn
from tests.faults.nursery import Nursery
from tests.faults.tasks import SHARED, binding, open_store
from tests.kit.campaign import Campaign
from tests.kit.promises import broken, doubled
from tests.kit.records import said


def sixteen(address: str) -> int:
    """Fewer on PostgreSQL, which makes no file of its own to fight for."""
    return 4 if address.startswith("postgresql:") else 16


async def write_at_once(address: str, nursery: Nursery, processes: int, rounds: Iterator[int], turns: int = 5) -> int:
    """Let processes open one database and write so many turns of each kind to it, again and again; how many they wrote."""
    told: list[Any] = []
    times = 0
    for number in rounds:
        order = {"address": address, "first": number * turns, "turns": turns}
        told += nursery.well("write_beside_others", children=processes, **order)
        times += 1
    of_each = times * turns
    assert len(told) == processes * of_each * 3

    store = await open_store(address)
    stored = {(turn.owner, turn.session, turn.seq): turn.text for turn in await _all_turns(store)}
    assert {(owner, session, seq): text for owner, session, seq, text in told} == stored
    assert len(await store.sessions(EVERYONE)) == processes + 1, "one session for each binding"
    for number in range(processes):
        (own,) = await store.sessions(binding(number).owner)
        assert own.turns == of_each
    (shared,) = await store.sessions(SHARED.owner)
    assert shared.turns == processes * of_each + of_each, "each shared turn once, each key once"
    keyed = Counter((session, seq, text) for _, session, seq, text in told if text.startswith("keyed"))
    assert (len(keyed), set(keyed.values())) == (of_each, {processes}), "every process was told of the same turn"
    assert await doubled(store) == []
    assert await broken(store) == []
    await store.close()
    return len(told)


@pytest.mark.spec("SUM-11", "LOG-1", "P13")
async def test_processes_that_open_and_write_one_database_at_once_lose_and_double_nothing(
    address: str, nursery: Nursery
) -> None:
    await write_at_once(address, nursery, 4, iter(range(1)))


@pytest.mark.campaign
@pytest.mark.spec("SUM-11", "LOG-1", "P13")
async def test_sixteen_processes_that_open_and_write_one_database_again_and_again_lose_and_double_nothing(
    address: str, nursery: Nursery, campaign: Campaign
) -> None:
    processes = sixteen(address)
    written = await write_at_once(address, nursery, processes, campaign.rounds())
    campaign.did(f"{processes} processes were told of {written} turns")


@pytest.mark.spec("SUM-11", "P13")
@pytest.mark.parametrize("many", [False, pytest.param(True, marks=pytest.mark.whole)])
async def test_processes_that_only_open_a_new_database_at_once_all_succeed(
    address: str, nursery: Nursery, many: bool
) -> None:
    processes = sixteen(address) if many else 4
    assert nursery.well("open_only", children=processes, address=address) == ["opened"] * processes


@pytest.mark.spec("SUM-11")
async def test_the_database_is_locked_is_never_said_because_a_transaction_is_immediate(tmp_path: Path) -> None:
    """Two stores in one process, each reading before it writes: a deferred transaction would fail half-way."""
    stores = [await SQLiteStore.open(tmp_path / "afterglow.db", SystemClock()) for _ in range(2)]
    turns = await asyncio.gather(*(stores[n % 2].append(SHARED.owner, SHARED, said(f"turn {n}")) for n in range(400)))
    assert sorted(turn.seq for turn in turns) == list(range(1, 401))
    for store in stores:
        await store.close()


async def _all_turns(store: Store) -> list[Turn]:
    return [
        turn
        for session in await store.sessions(EVERYONE)
        for turn in await store.turns(EVERYONE, session.id, limit=10**6)
    ]
