"""Killed at every place of a reading: each fact is there once, no part is repeated, and the files agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from afterglow.store.contract import Store
from afterglow.work import Due
from tests.faults.nursery import Nursery
from tests.faults.tasks import HOUR, open_store
from tests.kit.promises import broken
from tests.kit.records import KATE, said

WORDS = ("alpha", "bravo", "cedar", "delta", "ember", "frost", "grove", "harbor", "indigo", "jasper", "kernel", "lotus")
PLACES = [
    *("claim:after", "commit_facts:before", "commit_facts:after", "commit_facts:after@3"),
    *("finish:before", "finish:after", "commit_files:before"),
    *(
        pytest.param(place, marks=pytest.mark.whole)
        for place in ("commit_facts:before@2", "commit_facts:after@2", "commit_facts:before@3")
    ),
]


async def state_preferences(store: Store) -> None:
    """Two sessions of one owner that state the same dozen preferences, both to be read."""
    for name in ("one", "two"):
        await store.open_session(KATE, name)
        for word in WORDS:
            await store.append(KATE.owner, name, said(f"I prefer {word} number {word}", tokens=40))
            await store.append(KATE.owner, name, said("I see", "assistant", tokens=5))
        await store.mark_due(KATE.owner, Due(kind="facts", at=store.clock.now(), reason="idle", subject=name))


@pytest.mark.spec("FACT-2", "FACT-5", "FACT-6", "P3", "P13")
@pytest.mark.parametrize("place", PLACES)
async def test_after_a_kill_each_fact_is_there_once_and_the_files_agree(
    address: str, nursery: Nursery, tmp_path: Path, place: str
) -> None:
    store = await open_store(address)
    await state_preferences(store)
    name, _, count = place.partition("@")
    order = {"module": "facts_tasks", "address": address, "data_dir": str(tmp_path)}
    killed = nursery.one("read_for_facts", **order, failpoints=f"{name}=kill@{count or 1}")
    assert killed.was_killed, nursery.errors()
    nursery.well("read_for_facts", later=HOUR, **order)
    facts = await store.facts(KATE.owner, limit=100)
    assert sorted(fact.content for fact in facts) == [f"The user prefers {word} number {word}" for word in WORDS]
    assert {proof.session for fact in facts for proof in fact.evidence} == {"one", "two"}
    assert all(len(fact.evidence) == 2 for fact in facts), "each session proves each of them, once"
    read = [(session, reading) for _, session, reading in await store.readings(KATE.owner, limit=100)]
    assert sum(each.stored for _, each in read) == len(WORDS), "no part was committed twice"
    assert sum(each.stored + each.again for session, each in read if session == "one") == len(WORDS)
    assert [(await store.session(KATE.owner, each)).facts_seq for each in ("one", "two")] == [24, 24]
    (index,) = tmp_path.rglob("index.json")
    assert json.loads(index.read_text())["count"] == len(WORDS)
    assert await broken(store) == []
    await store.close()


@pytest.mark.spec("FACT-5", "P3")
async def test_many_processes_that_read_at_once_store_each_fact_once(
    address: str, nursery: Nursery, tmp_path: Path
) -> None:
    store = await open_store(address)
    await state_preferences(store)
    order = {"module": "facts_tasks", "address": address, "data_dir": str(tmp_path)}
    nursery.well("read_for_facts", children=3, limits={"lease_seconds": 0.5}, **order)
    facts = await store.facts(KATE.owner, limit=100)
    assert len(facts) == len(WORDS) and all(len(fact.evidence) == 2 for fact in facts)
    await store.close()
