"""Killed at exact places: just before a commit nothing of it is there, just after it all of it is."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from afterglow import failpoints
from afterglow.clock import FixedClock
from afterglow.errors import BadSettings
from afterglow.store.contract import Store
from tests.conftest import OpenStore
from tests.faults import verbs
from tests.faults.nursery import ROOT, Nursery
from tests.faults.tasks import open_store as open_at
from tests.faults.verbs import WRITING
from tests.kit.promises import broken, dump
from tests.kit.records import KATE, NOON, said


def test_every_verb_of_the_store_stands_in_the_list_of_verbs() -> None:
    public = {name for name, _ in inspect.getmembers(Store, inspect.iscoroutinefunction) if not name.startswith("_")}
    assert public == set(verbs.VERBS), "add the new verb to tests/faults/verbs.py"
    assert len(WRITING) >= 16


@pytest.mark.spec("P1", "P13")
async def test_every_verb_that_writes_passes_a_fail_point_before_and_after_its_commit(open_store: OpenStore) -> None:
    store = await open_store()
    await verbs.prepare(store)
    for name, verb in verbs.VERBS.items():
        if name == "close":
            continue
        reached: list[str] = []
        failpoints.watch(lambda place, reached=reached: place.startswith("index:") or reached.append(place))
        await verb(store)
        failpoints.disarm()
        assert reached == ([f"{name}:before", f"{name}:after"] if name in WRITING else []), name


@pytest.mark.both
@pytest.mark.spec("P1", "P3", "LOG-1", "SAFE-7")
async def test_a_verb_that_is_killed_before_its_commit_has_changed_nothing(address: str, nursery: Nursery) -> None:
    store = await open_at(address, FixedClock(NOON))
    await verbs.prepare(store)
    before = await dump(store)
    for name in WRITING:
        child = nursery.one("run_verb", address=address, verb=name, seed=1, failpoints=f"{name}:before=kill")
        assert child.was_killed and not child.lines, (name, nursery.errors())
        assert await dump(store) == before, f"{name} was killed before its commit and left something behind"
    assert await broken(store) == []
    await store.close()


@pytest.mark.both
@pytest.mark.spec("P1", "P3", "LOG-1", "SAFE-7")
async def test_a_verb_that_is_killed_after_its_commit_has_changed_everything(
    address: str, twin_address: str, nursery: Nursery
) -> None:
    store, twin = await open_at(address, FixedClock(NOON)), await open_at(twin_address, FixedClock(NOON))
    await verbs.prepare(store)
    await verbs.prepare(twin)
    previous = await dump(store)
    for name in WRITING:
        child = nursery.one("run_verb", address=address, verb=name, seed=1, failpoints=f"{name}:after=kill")
        assert child.was_killed and not child.lines, (name, nursery.errors())
        twin.clock = FixedClock(NOON, 1)
        await verbs.VERBS[name](twin)
        changed = await dump(store)
        assert changed == await dump(twin), f"{name} was killed after its commit, and not all of it is there"
        assert changed != previous, f"{name} changed nothing"
        previous = changed
    assert await broken(store) == []
    await store.close()
    await twin.close()


@pytest.mark.spec("LOG-1")
@pytest.mark.parametrize("place", ["append:before", "append:after"])
async def test_a_turn_whose_writer_was_killed_is_there_once_when_it_is_sent_again_with_its_key(
    address: str, nursery: Nursery, place: str
) -> None:
    store = await open_at(address, FixedClock(NOON))
    await verbs.prepare(store)
    assert nursery.one("run_verb", address=address, verb="append", seed=1, failpoints=f"{place}=kill").was_killed
    assert nursery.well("run_verb", address=address, verb="append", seed=2) == ["returned"]
    again = await store.append(KATE.owner, "talk", said("one more", key="one more"))
    talk = await store.turns(KATE.owner, "talk")
    assert [turn.seq for turn in talk if turn.key == "one more"] == [again.seq] == [5]
    assert await broken(store) == []
    await store.close()


@pytest.mark.spec("P1")
async def test_the_third_of_many_turns_in_one_commit_is_killed_and_none_is_half_there(
    address: str, nursery: Nursery
) -> None:
    child = nursery.one("write_until_killed", address=address, seed=1, unanswered=[], failpoints="append:before=kill@3")
    assert child.was_killed
    store = await open_at(address)
    assert await broken(store) == []
    await store.close()


@pytest.mark.spec("P1", "LOG-7")
@pytest.mark.parametrize("place", ["index:before", "index:after"])
async def test_words_are_found_also_when_the_indexing_of_them_is_killed(
    tmp_path: Path, nursery: Nursery, place: str
) -> None:
    address = str(tmp_path / "afterglow.db")
    store = await open_at(address)
    for number in range(3):
        await store.append(KATE.owner, KATE, said(f"kettle {number}"))
    await store.close()
    for _ in range(2):
        assert nursery.one("rest", address=address, failpoints=f"{place}=kill").was_killed
    store = await open_at(address)
    found = await store.word_matches(KATE.owner, ["kettle"])
    assert len(found.turns) == 3 and set(found.stats.holding.values()) == {3, 0}
    assert await broken(store) == []
    await store.close()


@pytest.mark.spec("P1")
def test_fail_points_are_armed_by_the_environment(tmp_path_factory: pytest.TempPathFactory) -> None:
    script = (
        "import afterglow.failpoints as f; f.reach('here'); f.reach('here'); print('once', flush=True); f.reach('here')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "AFTERGLOW_FAILPOINTS": "here=kill@3,there=error"},
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "once\n")


@pytest.mark.parametrize("wrong", ["append:before", "append:before=explode", "append:before=kill@soon"])
def test_a_fail_point_that_cannot_be_read_is_an_error_that_says_what_can(wrong: str) -> None:
    with pytest.raises(BadSettings, match="name=action"):
        failpoints.arm_from(wrong)


@pytest.mark.spec("P1")
async def test_a_verb_that_fails_at_its_fail_point_tells_its_caller(store: Store) -> None:
    failpoints.arm("append:before", "error")
    with pytest.raises(RuntimeError, match="armed to fail"):
        await store.append(KATE.owner, KATE, said("not written"))
    assert await store.sessions(KATE.owner) == []
    failpoints.arm("append:after", "error")
    with pytest.raises(RuntimeError, match="armed to fail"):
        await store.append(KATE.owner, KATE, said("written", key="k"))
    turn = await store.append(KATE.owner, KATE, said("written", key="k"))
    assert turn.seq == 1
    await asyncio.sleep(0)
