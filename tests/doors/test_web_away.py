"""Goals and digests over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from afterglow import Binding, Inbound, Part
from tests.conftest import KATE, OTHER
from tests.doors.conftest import Door, check, told, with_settings

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
        assert "owner" in await told(client, "/api/v1/goals")
        assert "agent/channel/sender" in await told(client, "/api/v1/goals", owner="kate")


@pytest.mark.spec("AWAY-12", "SAFE-1")
@pytest.mark.parametrize(("credential", "status"), [("none", 401), ("garbage", 401), ("revoked", 401), ("read", 403)])
async def test_who_may_not_write_writes_no_goal(door: Door, credential: str, status: int) -> None:
    async with door.client(credential) as client:
        answer = await client.post("/api/v1/goals", json=STEP)
        assert answer.status_code == status, check(answer)
    assert await door.memory.goals(KATE) == []


@pytest.mark.spec("AWAY-12")
@pytest.mark.parametrize(
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
