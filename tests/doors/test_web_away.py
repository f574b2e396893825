"""Goals and digests over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from afterglow import Binding, FixedClock, Inbound, Part
from tests.kit.loops import for_each
from tests.kit.records import KATE, OTHER
from tests.kit.web import Door, check, told, with_settings

pytestmark = pytest.mark.spec("DOOR-3")
STEP: dict[str, Any] = {"agent": "kate", "channel": "telegram", "sender": "ana", "goal": "deploy", "outcome": "done"}


@pytest.mark.spec("AWAY-12", "AWAY-5")
async def test_a_step_is_written_down_once_and_read_by_its_owner_alone(door: Door) -> None:
    async with door.client("agent") as client:
        first, again = [check(await client.post("/api/v1/goals", json={**STEP, "step": "1"})) for _ in range(2)]
        assert first == again and (first["outcome"], first["number"]) == ("completed", 1)
        check(await client.post("/api/v1/goals", json={**STEP, "outcome": "escalate", "note": "sign it"}))
        page = check(await client.get("/api/v1/goals", params={"owner": KATE.owner}))
        assert [each["outcome"] for each in page["items"]] == ["needs_you", "completed"]
        assert check(await client.get("/api/v1/goals", params={"owner": OTHER.owner}))["items"] == []
        assert check(await client.get("/api/v1/goals"))["items"] == page["items"], "on this machine, everyone's"
        assert "agent/channel/sender" in await told(client, "/api/v1/presence", owner="kate")


@pytest.mark.spec("DOOR-3")
async def test_goals_come_page_by_page_each_once(any_door: Door) -> None:
    for n in range(5):
        for to in (KATE, OTHER):
            await any_door.memory.record_goal(to, "deploy", "running", step=str(n + 1))
    async with any_door.client() as client:
        for query, wanted in (({}, 10), ({"owner": KATE.owner}, 5)):
            whole = check(await client.get("/api/v1/goals", params=query))
            assert (len(whole["items"]), whole["next"]) == (wanted, None)
            gathered: list[Any] = []
            after: dict[str, str] | None = {}
            while after is not None:
                page = check(await client.get("/api/v1/goals", params={**query, **after, "limit": 2}))
                gathered += page["items"]
                after = {"after": page["next"]} if page["next"] else None
            assert gathered == whole["items"]
        for path in ("/api/v1/goals", "/api/v1/digests", "/api/v1/facts"):
            for cursor in ("", "x", "bnVsbA", "W10", "WzEsMiwzXQ", "WzFlOTk5LCJhIiwiYiJd"):
                assert "`next`" in await told(client, path, after=cursor)


@pytest.mark.spec("AWAY-7")
async def test_who_is_back_is_told_by_the_answer_and_only_once(door: Door, clock: FixedClock) -> None:
    away = door.memory.settings.away_summary.model_copy(update={"enabled": True, "threshold_hours": 1})
    door.memory.settings = door.memory.settings.model_copy(update={"away_summary": away})
    message = {name: STEP[name] for name in ("agent", "channel", "sender")}
    async with door.client("agent") as client:
        first = check(await client.post("/api/v1/inbound", json={**message, "id": "m-1"}))
        assert first == {"again": False, "parts": [], "stopped_by": "first"}
        check(await client.post("/api/v1/goals", json={**STEP, "title": "Deploy the site"}))
        clock.move(7200)
        shown = check(await client.get("/api/v1/digests/preview", params={"owner": KATE.owner}))
        assert shown["total"] == 1 and shown["stopped_by"] is None
        headers = {"idempotency-key": "m-2"}
        told_first, told_again = [
            check(await client.post("/api/v1/inbound", json=message, headers=headers)) for _ in range(2)
        ]
        assert "Deploy the site" in told_first["parts"][0]["text"] or told_first["parts"]
        assert told_again == {"again": True, "parts": [], "stopped_by": None}
        assert check(await client.get("/api/v1/presence", params={"owner": KATE.owner}))["untold"] == 0
        (digest,) = check(await client.get("/api/v1/digests"))["items"]
        assert digest["status"] == "delivered"


@pytest.mark.spec("AWAY-12", "SAFE-1")
@for_each("credential, status", [("none", 401), ("garbage", 401), ("revoked", 401), ("read", 403)])
async def test_who_may_not_write_writes_no_goal(door: Door, credential: str, status: int) -> None:
    async with door.client(credential) as client:
        answer = await client.post("/api/v1/goals", json=STEP)
        assert answer.status_code == status, check(answer)
    assert await door.memory.goals(KATE) == []


@pytest.mark.spec("AWAY-12")
@for_each(
    "wrong",
    [
        {"goal": ""},
        {"outcome": 3},
        {"colour": "red"},
        {"at": "yesterday"},
        {"step": "x" * 500},
        {"title": "x" * 20_000},
    ],
)
async def test_a_wrong_step_is_refused_in_a_sentence(door: Door, wrong: dict[str, Any]) -> None:
    async with door.client("agent") as client:
        answer = await client.post("/api/v1/goals", json={**STEP, **wrong})
        assert answer.status_code in (400, 422)
        assert next(iter(wrong)) in check(answer)["error"]["message"]
    assert await door.memory.goals(KATE) == []


@pytest.mark.spec("AWAY-7")
async def test_digests_are_listed_with_the_reason_where_there_was_none(door: Door) -> None:
    settings = door.memory.settings
    away = settings.away_summary.model_copy(update={"enabled": True, "threshold_hours": 0})
    memory = with_settings(door.memory, away_summary=away)

    async def deliver(to: Binding, part: Part) -> None: ...

    for _ in range(2):
        await memory.on_inbound(Inbound(binding=KATE, text="hello"), deliver=deliver)
    async with door.client("read") as client:
        page = check(await client.get("/api/v1/digests", params={"owner": KATE.owner}))
        assert [(each["status"], each["reason"]) for each in page["items"]] == [("none", "nothing happened")]
        assert check(await client.get("/api/v1/digests", params={"owner": OTHER.owner}))["items"] == []
