"""Killed at every place of a task: it is set whole or not at all, and done once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.nursery import Nursery
from tests.faults.tasks import HOUR, open_store
from tests.kit.promises import broken
from tests.kit.records import KATE

PLACES = [
    f"{verb}:{side}" for verb in ("claim", "begin_exchange", "append", "commit_task") for side in ("before", "after")
]

pytestmark = pytest.mark.spec("AGENT-7", "P9")


@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_task_is_set_with_its_work_or_not_at_all(
    address: str, nursery: Nursery, tmp_path: Path, side: str
) -> None:
    order = {"module": "agent_tasks", "address": address, "data_dir": str(tmp_path)}
    assert nursery.one("create", **order, failpoints=f"add_task:{side}=kill").was_killed, nursery.errors()
    store = await open_store(address)
    tasks, work = await store.tasks(KATE.owner), await store.work_list(KATE.owner)
    assert [task.id for task in tasks] == [each.subject for each in work] == ([] if side == "before" else ["hello"])
    await store.close()


@pytest.mark.spec("AWAY-12")
@pytest.mark.parametrize("place", PLACES)
async def test_killed_at_any_place_of_a_run_it_is_done_once(
    address: str, nursery: Nursery, tmp_path: Path, place: str
) -> None:
    order = {"module": "agent_tasks", "address": address, "data_dir": str(tmp_path)}
    nursery.well("create", **order)
    killed = nursery.one("drain", **order, failpoints=f"{place}=kill")
    assert killed.was_killed, nursery.errors()
    lines = killed.lines + nursery.well("drain", later=HOUR, **order)
    assert len(lines) == (2 if place == "append:before" else 1), (
        "an answer that was written down is not asked for again"
    )
    store = await open_store(address)
    task = await store.task(KATE.owner, "hello")
    assert (task.state, task.runs, task.note) == ("done", 1, "Hello.")
    assert [each.outcome for each in await store.goal_events(KATE.owner, KATE.agent)] == ["completed"]
    (session,) = await store.sessions(KATE.owner)
    assert [turn.role for turn in await store.turns(KATE.owner, session.id)] == ["user", "assistant"]
    assert await store.work_list(KATE.owner, kind="task") == [] and await broken(store) == []
    await store.close()


async def test_of_several_processes_only_the_primary_does_it(address: str, nursery: Nursery, tmp_path: Path) -> None:
    order = {"module": "agent_tasks", "address": address, "data_dir": str(tmp_path)}
    nursery.well("create", **order)
    ended = nursery.run("work", children=4, **order)
    assert [child.status for child in ended] == [0] * 4, nursery.errors()
    assert [line for child in ended for line in child.lines] == [["model", True]], "once, by who holds the lease"
