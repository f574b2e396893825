"""The agent killed in the middle of many talks: what was taken is answered by the next one, in order and once."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from afterglow.settings import Settings
from tests.faults.nursery import Nursery
from tests.faults.tasks import HOUR, open_store
from tests.kit.agents import person
from tests.kit.campaign import Campaign
from tests.kit.promises import broken

PEOPLE, MESSAGES = 200, 10
KILLS = 3
AT_ONCE = Settings().answering.concurrency
VERBS = ("put_message", "claim_one", "take_messages", "begin_exchange", "append", "end_messages")


async def check(address: str, people: int, messages: int, heard: Counter[tuple[str, str]]) -> int:
    """All stand in the log, in order and once, all are answered, and no answer was heard twice; say how many never were."""
    store = await open_store(address)
    assert not await store.waiting_places()
    answers: set[tuple[str, str]] = set()
    for who in range(people):
        session = await store.current_session(person(who))
        assert session is not None
        turns = await store.turns(session.owner, session.id, limit=1000)
        assert [turn.text for turn in turns if turn.role == "user"] == [f"message {n}" for n in range(messages)]
        assert turns[-1].role == "assistant"
        assert not any(one.role == two.role == "assistant" for one, two in pairwise(turns)), "nothing is answered twice"
        answers |= {(person(who).sender, turn.text) for turn in turns if turn.role == "assistant"}
    assert heard.keys() <= answers and set(heard.values()) <= {1}, "what is heard is in the log, and is heard once"
    assert await broken(store) == []
    await store.close()
    return len(answers - heard.keys())


def heard_in(lines: list[Any]) -> Counter[tuple[str, str]]:
    return Counter((who, text) for kind, who, text in lines if kind == "heard")


@pytest.mark.campaign
@pytest.mark.spec("AGENT-6", "P1", "P7", "P13")
async def test_killed_in_the_middle_of_many_talks_nothing_is_lost(
    address: str, nursery: Nursery, tmp_path: Path, campaign: Campaign
) -> None:
    """An answer is unheard only where its process died while it handed it over: of each at most what it did at once."""
    order: dict[str, Any] = {"module": "line_tasks", "address": address, "data_dir": str(tmp_path), "people": PEOPLE}
    order |= {"messages": MESSAGES, "pause": 0.5, "lease_seconds": 1.0}
    sent, lines, kills = [0] * PEOPLE, list[Any](), 0
    for number in campaign.rounds(at_least=KILLS):
        wait = 1 + 2 * campaign.random.random()
        killed = nursery.one("talk", seed=campaign.seed + number, sent=sent, kill_after=wait, **order)
        lines += killed.lines
        kills += killed.was_killed
        assert killed.was_killed or killed.status == 0, nursery.errors()
        sent = [sum(each[:2] == ["acknowledged", who] for each in lines) for who in range(PEOPLE)]
        if not killed.was_killed:
            break
    assert kills, f"{campaign}: the talk was over before the first kill"
    lines += nursery.well("talk", seed=campaign.seed, sent=sent, **order)
    unheard = await check(address, PEOPLE, MESSAGES, heard_in(lines))
    assert unheard <= kills * AT_ONCE
    campaign.did(f"{kills} kills in talks of {PEOPLE} with {MESSAGES} messages each, {unheard} answers unheard")


@pytest.mark.spec("AGENT-6", "P3")
@pytest.mark.parametrize("place", [f"{verb}:{side}" for verb in VERBS for side in ("before", "after")])
async def test_killed_at_any_verb_the_message_is_answered_once_and_heard_once(
    address: str, nursery: Nursery, tmp_path: Path, place: str
) -> None:
    order: dict[str, Any] = {"module": "line_tasks", "address": address, "data_dir": str(tmp_path), "people": 1}
    order |= {"seed": 1, "messages": 2, "sent": [0], "pause": 0}
    killed = nursery.one("talk", failpoints=f"{place}=kill", **order)
    assert killed.was_killed, nursery.errors()
    lines = nursery.well("talk", later=HOUR, **order)  # what got no answer is sent again
    assert [each for each in lines if each[0] == "acknowledged"] == [["acknowledged", 0, 0], ["acknowledged", 0, 1]]
    unheard = await check(address, 1, 2, heard_in(killed.lines + lines))
    assert unheard == (1 if place == "end_messages:after" else 0), "it died while it handed it over"
