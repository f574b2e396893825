"""Attempts to break forgetting: killed at every commit, two at once, beside those who write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from afterglow import forgetting
from afterglow.clock import FixedClock
from afterglow.errors import NotFound
from afterglow.memory import Memory
from afterglow.proof import prove
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.store.sqlite import SQLiteStore
from tests.faults.nursery import Nursery
from tests.faults.tasks import open_store as open_at
from tests.kit.forgetting import SECRET, holders, made, miscounted
from tests.kit.promises import broken
from tests.kit.records import KATE, NOON, said

pytestmark = pytest.mark.spec("SAFE-3", "P12", "P13")

OWNER = KATE.owner
TASKS = {"module": "forgetting_tasks"}


async def opened(address: str) -> Store:
    return await open_at(address, FixedClock(NOON))


async def forget_again(store: Store, what: str) -> None:
    """As the next process does: what has a mark is gone on with; turns that are to be forgotten are asked for again."""
    unfinished = await store.unfinished_forgetting()
    assert await forgetting.finish_forgetting(store) == len(unfinished)
    if what == "owner" and not unfinished:
        with pytest.raises(NotFound):
            await forgetting.forget_owner(store, OWNER)
    elif what == "session" and not unfinished:
        with pytest.raises(NotFound):
            await store.session(OWNER, "talk")
    elif what == "turns":
        session = await store.session(OWNER, "talk")
        await forgetting.forget_turns(store, session, 1, session.turns)


@pytest.mark.parametrize("what", ["turns", "session", "owner"])
@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("time", [1, 2])
async def test_forgetting_that_is_killed_at_any_step_leaves_a_sound_database_and_is_gone_on_with(
    address: str, nursery: Nursery, what: str, place: str, time: int
) -> None:
    store = await opened(address)
    await made(store)
    failpoint = f"forget_{what}:{place}=kill@{time}"
    child = nursery.one("forget", address=address, what=what, failpoints=failpoint, **TASKS)
    assert child.was_killed and not child.lines, nursery.errors()
    assert await broken(store) == [] and await miscounted(store) == []
    if time == 2 and what != "turns":
        assert len(await store.unfinished_forgetting()) == (0 if place == "after" else 1)
        assert {"blocks", "summaries", "facts"} & set(await holders(store, SECRET)) == set(), (
            "they go at the first step"
        )
    if (place, time) == ("before", 1):
        assert await store.unfinished_forgetting() == []
        await getattr(forgetting, f"forget_{what}")(store, *await _arguments(store, what))
    else:
        await forget_again(store, what)
    expected = ["reports"] if what == "turns" else []
    assert await holders(store, SECRET) == expected
    assert await broken(store) == []
    await store.close()


async def _arguments(store: Store, what: str) -> list[Any]:
    if what == "owner":
        return [OWNER]
    session = await store.session(OWNER, "talk")
    return [session] if what == "session" else [session, 1, session.turns]


async def test_a_proof_that_is_killed_while_the_index_is_merged_harms_nothing(tmp_path: Path, nursery: Nursery) -> None:
    address = str(tmp_path / "afterglow.db")
    store = await opened(address)
    await made(store)
    await store.close()
    child = nursery.one("forget", address=address, what="session", verify=True, failpoints="index:merged=kill", **TASKS)
    assert child.was_killed, nursery.errors()
    store = await opened(address)
    assert isinstance(store, SQLiteStore)
    assert await broken(store) == []
    proof = await prove(store, [SECRET], owner=OWNER, session="talk")
    assert proof.clean, proof
    await store.close()


@pytest.mark.parametrize("what", ["turns", "session", "owner"])
async def test_several_processes_that_forget_the_same_at_once_all_come_to_a_good_end(
    address: str, nursery: Nursery, what: str
) -> None:
    store = await opened(address)
    await made(store)
    told = nursery.well("forget", children=4, address=address, what=what, at_once=1, **TASKS)
    assert "forgotten" in told
    assert await holders(store, SECRET) == (["reports"] if what == "turns" else [])
    assert await store.unfinished_forgetting() == []
    assert await broken(store) == []
    await store.close()


async def test_what_is_forgotten_while_others_write_and_write_again_stays_forgotten(
    address: str, nursery: Nursery
) -> None:
    store = await opened(address)
    await store.open_session(KATE, "talk")
    told = nursery.well("write_and_forget", children=4, address=address, turns=20, **TASKS)
    assert len({seq for seq, _ in told}) == len(told) == 40, "every message has its number, once"
    session = await store.session(OWNER, "talk")
    assert session.turns == 40
    await store.forget_turns(OWNER, "talk", 1, 40)
    for seq, key in told:
        again = await store.append(OWNER, "talk", said(f"canary{key}", key=key))
        assert (again.seq, again.text) == (seq, "")
    assert await holders(store, "canary") == []
    assert await broken(store) == [] and await miscounted(store) == []
    await store.close()


@pytest.mark.spec("FACT-11")
@pytest.mark.parametrize("place", ["before", "after"])
async def test_a_statement_that_is_forgotten_goes_with_its_turn_or_not_at_all(
    address: str, nursery: Nursery, tmp_path: Path, place: str
) -> None:
    store = await opened(address)
    memory = Memory(store, Settings.model_validate({"data_dir": str(tmp_path), "zone": "UTC"}), environ={})
    stated = await memory.facts.add(OWNER, f"I keep {SECRET}.")
    order = {"address": address, "data_dir": str(tmp_path), "fact": stated.id, **TASKS}
    child = nursery.one("forget_statement", failpoints=f"forget_fact:{place}=kill", **order)
    assert child.was_killed and not child.lines, nursery.errors()
    is_there = (await store.fact(OWNER, stated.id)).status == "active"
    assert is_there is (place == "before")
    assert bool(await holders(store, SECRET)) is is_there, "the words of what was forgotten went with it"
    nursery.well("forget_statement", **order)
    assert await holders(store, SECRET) == []
    assert await broken(store) == [] and await miscounted(store) == []
    await store.close()


@pytest.mark.spec("FACT-11")
async def test_a_note_whose_writer_was_killed_before_the_fact_was_stored_goes_when_that_is_forgotten(
    address: str, nursery: Nursery, tmp_path: Path
) -> None:
    order = {"address": address, "data_dir": str(tmp_path), "content": f"I keep {SECRET}.", **TASKS}
    child = nursery.one("state", failpoints="commit_facts:before=kill", **order)
    assert child.was_killed and not child.lines, nursery.errors()
    nursery.well("state", **order)
    store = await opened(address)
    (stated,) = await store.facts(OWNER)
    assert len(stated.evidence) == 1 and stated.evidence[0].seq == 2
    nursery.well("forget_statement", **order, fact=stated.id)
    assert await holders(store, SECRET) == []
    assert await broken(store) == [] and await miscounted(store) == []
    await store.close()
