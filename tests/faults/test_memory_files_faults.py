"""Killed at every place: after a restart the database, the files and the index agree, and no edit is lost or doubled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from afterglow.memory_files.documents import documents
from afterglow.store.contract import Store
from afterglow.store.facts import WantedFacts
from tests.faults.files_tasks import EDITED, edit, facts_folder, files_of
from tests.faults.nursery import Nursery
from tests.faults.tasks import HOUR, open_store
from tests.kit.campaign import Campaign
from tests.kit.facts import remember
from tests.kit.promises import broken
from tests.kit.records import KATE

PLACES = [
    "claim:after",
    "append:before",
    "append:after",
    "commit_facts:before",
    "commit_facts:after",
    "file:before",
    "file:after",
    "file:before@2",
    "file:after@2",
    "file removed:after",
    "days:after",
    "file:before@3",
    "file:after@3",
    "files:after",
    "commit_files:before",
    "commit_files:after",
]


def texts(data_dir: Path) -> str:
    return "\n".join(path.read_text() for path in (data_dir / "memory").rglob("*") if path.is_file())


async def disagreements(store: Store, data_dir: Path) -> list[str]:
    """What is in the files and not in the database, and the reverse."""
    wanted = {name: data.decode() for name, data in documents(await store.remembered(KATE.owner)).items()}
    folder = facts_folder(data_dir)
    there = {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}
    return [
        f"{name} is not as it should be" for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name)
    ]


@pytest.mark.spec("FACT-6", "P12", "P13")
@pytest.mark.parametrize("place", PLACES)
async def test_after_a_kill_at_any_place_database_files_and_index_agree(
    address: str, nursery: Nursery, tmp_path: Path, place: str
) -> None:
    store = await open_store(address)
    await remember(store, "The review is on 3 March", "2026-03-01")
    gone = await remember(store, "UNSAYABLE thing", "2026-03-02")
    await remember(store, "Ana has a boat", "2026-03-03")
    await files_of(store, tmp_path).rebuild(KATE.owner)
    await store.forget_fact(KATE.owner, gone.id)
    await remember(store, "Tea is at five", "2026-03-01")
    edit(facts_folder(tmp_path) / "2026-03-03.json", "Ana has two boats")
    name, _, count = place.partition("@")
    order = {"module": "files_tasks", "address": address, "data_dir": str(tmp_path)}
    killed = nursery.one("write_files", **order, failpoints=f"{name}=kill@{count or 1}")
    assert killed.was_killed, nursery.errors()
    assert {path.name for path in facts_folder(tmp_path).iterdir()} >= {
        "2026-03-01.json",
        "2026-03-03.json",
        "index.json",
    }
    for path in facts_folder(tmp_path).glob("[!.]*"):
        assert json.loads(path.read_text())["facts"], "no file is ever half"
    nursery.well("write_files", later=HOUR, **order)
    assert await disagreements(store, tmp_path) == []
    assert "UNSAYABLE" not in texts(tmp_path)
    pending = await store.facts(KATE.owner, WantedFacts(status="pending"))
    assert [fact.content for fact in pending] == ["Ana has two boats"]
    (session,) = [each for each in await store.sessions(KATE.owner) if each.binding.channel == "files"]
    assert session.turns == 1, "the sentence stands in the log once"
    assert await store.file_troubles(KATE.owner) == []
    assert await broken(store) == []
    await store.close()


@pytest.mark.spec("FACT-6", "P12")
async def test_a_kill_before_the_commit_does_not_make_the_files_look_edited(
    address: str, nursery: Nursery, tmp_path: Path
) -> None:
    store = await open_store(address)
    await remember(store, "The review is on 3 March", "2026-03-01")
    order = {"module": "files_tasks", "address": address, "data_dir": str(tmp_path)}
    assert nursery.one("write_files", **order, failpoints="commit_files:before=kill").was_killed
    fact = await remember(store, "UNSAYABLE thing", "2026-03-01")
    assert nursery.one("write_files", later=HOUR, **order, failpoints="file:after=kill").was_killed
    await store.forget_fact(KATE.owner, fact.id)
    nursery.well("write_files", later=2 * HOUR, **order)
    assert [each.content for each in await store.facts(KATE.owner, WantedFacts(status=None))] == [
        "The review is on 3 March"
    ]
    assert await disagreements(store, tmp_path) == []
    assert "UNSAYABLE" not in texts(tmp_path)
    await store.close()


@pytest.mark.campaign
@pytest.mark.spec("FACT-6", "P12")
async def test_processes_that_write_edit_forget_and_die_leave_files_that_agree(
    address: str, nursery: Nursery, tmp_path: Path, campaign: Campaign
) -> None:
    order = {"module": "files_tasks", "address": address, "data_dir": str(tmp_path)}
    dying = {"children": 4, "kill_every": 0.4, "kills": 4, "limits": {"lease_seconds": 0.5}}
    told: list[Any] = []
    died = 0
    for number in campaign.rounds(at_least=3):
        children = nursery.run("live_with_files", **order, **dying, seed=campaign.seed + number)
        assert all(child.was_killed for child in children), f"{campaign}, round {number}: {nursery.errors()}"
        told += [line for child in children for line in child.lines]
        died += len(children)
    nursery.well("write_files", later=HOUR, **order)
    store = await open_store(address)
    await files_of(store, tmp_path).rebuild(KATE.owner)
    nursery.well("write_files", later=HOUR, **order)
    for left in facts_folder(tmp_path).glob(f"{EDITED}*"):
        left.unlink()
    assert await disagreements(store, tmp_path) == []
    assert await store.file_troubles(KATE.owner) == []
    forgotten = {line[1] for line in told}
    assert forgotten, f"{campaign}: nothing was forgotten"
    known = {fact.content for fact in await store.facts(KATE.owner, WantedFacts(status=None), limit=10**6)}
    text = texts(tmp_path)
    assert [word for word in forgotten - known if word in text] == []
    assert await broken(store) == []
    await store.close()
    campaign.did(f"{died} processes killed, {len(forgotten)} facts forgotten, {len(known)} facts left")
