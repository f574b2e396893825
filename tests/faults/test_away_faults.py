"""Killed at every place of an arrival: no owner is told twice, what was lost says so, and the message is answered."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from afterglow.store.arrivals import Arriving, Handler
from tests.faults.nursery import Nursery
from tests.faults.tasks import HOUR, open_store
from tests.faults.verbs import EVERY_TIME
from tests.kit.promises import broken
from tests.kit.records import KATE

PLACES = [f"{verb}:{side}" for verb in ("come_in", "end_digest", "handled") for side in ("before", "after")]


def said(lines: list[Any], what: str) -> list[str]:
    return [text for kind, text in lines if kind == what]


async def away(address: str, order: dict[str, Any], nursery: Nursery, steps: int = 3) -> None:
    """The owner was seen, and then three steps were made."""
    store = await open_store(address)
    arriving = Arriving(binding=KATE, message=None, handler=Handler(name="w", token=1), lease_seconds=1)
    await store.come_in(KATE.owner, arriving, EVERY_TIME)
    await store.close()
    nursery.well("act", steps=steps, **order)


@pytest.mark.spec("AWAY-7", "AWAY-6", "P9", "P13")
@pytest.mark.parametrize("place", PLACES)
async def test_after_a_kill_no_owner_is_told_twice_and_the_message_is_answered(
    address: str, nursery: Nursery, tmp_path: Path, place: str
) -> None:
    order = {"module": "away_tasks", "address": address, "data_dir": str(tmp_path)}
    await away(address, order, nursery)
    killed = nursery.one("write", id="m", same=True, **order, failpoints=f"{place}=kill")
    assert killed.was_killed, nursery.errors()
    lines = killed.lines + nursery.well("write", id="m", same=True, later=HOUR, **order)
    told = said(lines, "digest")
    assert len(told) <= 1, "at most one digest for an absence"
    assert said(lines, "answer"), "and the message is answered, whatever happened"
    store = await open_store(address)
    digests = [each for each in await store.digests(KATE.owner) if each.total]
    assert len(digests) == 1 and digests[0].total == 3
    if place != "come_in:after":
        assert len(told) == 1
    else:
        assert not told and digests[0].status == "claimed", "it is lost, and its row is there to say so"
    again = nursery.well("write", id="m", same=True, later=HOUR, **order)
    assert again == [], "it is known now"
    assert await broken(store) == []
    await store.close()


@pytest.mark.spec("AWAY-7", "P9")
async def test_of_many_processes_at_one_moment_one_tells(address: str, nursery: Nursery, tmp_path: Path) -> None:
    order = {"module": "away_tasks", "address": address, "data_dir": str(tmp_path)}
    await away(address, order, nursery)
    lines = nursery.well("write", children=6, id="m", **order)
    assert len(said(lines, "digest")) == 1 and len(said(lines, "answer")) == 6
    nursery.well("act", steps=5, **order)
    lines = nursery.well("write", children=4, id="n", same=True, **order)
    assert len(said(lines, "digest")) == 1 and len(said(lines, "answer")) == 1, "one message, delivered four times"


@pytest.mark.spec("AWAY-7", "AWAY-12")
async def test_every_event_is_told_once_however_it_falls(address: str, nursery: Nursery, tmp_path: Path) -> None:
    order = {"module": "away_tasks", "address": address, "data_dir": str(tmp_path)}
    await away(address, order, nursery, steps=1)
    lines = nursery.well("act_or_write", children=6, id="m", steps=30, times=30, **order)
    lines += nursery.well("write", id="last", **order)
    told = [int(re.findall(r"(\d+) goal turn", text)[0]) for text in said(lines, "digest")]
    assert sum(told) == 3 * 30 + 1
    store = await open_store(address)
    assert await broken(store) == []
    await store.close()
