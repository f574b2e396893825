"""What Memory can do, can be done over HTTP; and the routes that no other file tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow import Memory, Settings
from afterglow.agent import Agent
from afterglow.agent.tasks import Tasks
from afterglow.clock import FixedClock
from afterglow.forget import Forget
from afterglow.memory_files import MemoryFiles
from afterglow.model.scripted import ScriptedModel
from afterglow.remembering import Remembered
from afterglow.store.sqlite import SQLiteStore
from afterglow.web import app
from tests.kit.loops import for_each
from tests.kit.records import KATE, OTHER
from tests.kit.web import LOCAL, Door, check, document

pytestmark = pytest.mark.spec("DOOR-3")

ROUTES: dict[type, dict[str, str]] = {
    Memory: {
        "append": "POST /turns",
        "audit": "GET /audit",
        "blocks": "GET /sessions/{session}/blocks",
        "clear": "POST /sessions/{session}/clear",
        "compact": "POST /sessions/{session}/compact",
        "context": "GET /sessions/{session}/context",
        "digests": "GET /digests",
        "exchange": "POST /chat",
        "expand": "GET /sessions/{session}/blocks/{number}",
        "go_idle": "POST /sessions/{session}/idle",
        "goals": "GET /goals",
        "grep": "GET /search",
        "health": "GET /status",
        "join": "POST /owners/{owner}/join",
        "on_inbound": "POST /inbound",
        "open_session": "POST /sessions",
        "owners": "GET /owners",
        "part": "POST /owners/{owner}/part",
        "preview_digest": "GET /digests/preview",
        "recall": "GET /recall",
        "record_goal": "POST /goals",
        "restore": "POST /sessions/{session}/restore",
        "search": "GET /search",
        "session": "GET /sessions/{session}",
        "sessions": "GET /sessions",
        "summaries": "GET /summaries",
        "summarize": "POST /sessions/{session}/summary",
        "sunset": "POST /sessions/{session}/sunset",
        "turn": "GET /sessions/{session}/turns/{seq}",
        "turns": "GET /sessions/{session}/turns",
    },
    Remembered: {
        "add": "POST /facts",
        "approve": "POST /facts/{fact}/approve",
        "edit": "PATCH /facts/{fact}",
        "extract": "POST /sessions/{session}/facts",
        "forget": "POST /facts/{fact}/forget",
        "list": "GET /facts",
        "proofs": "GET /facts/{fact}/proofs",
        "rebuild": "POST /files/rebuild",
        "reject": "POST /facts/{fact}/reject",
        "show": "GET /facts/{fact}",
        "state": "POST /facts",
        "superseded_by": "GET /facts/{fact}",
    },
    Forget: {
        "owner": "POST /owners/{owner}/forget",
        "session": "POST /sessions/{session}/forget",
        "turns": "POST /sessions/{session}/forget",
    },
    MemoryFiles: {"file_list": "GET /files", "file_read": "GET /files/text", "rebuild": "POST /files/rebuild"},
    Tasks: {
        "cancel": "POST /tasks/{task}/cancel",
        "create": "POST /tasks",
        "list": "GET /tasks",
        "run": "POST /tasks/{task}/run",
        "show": "GET /tasks/{task}",
    },
}
WITHOUT = {
    **dict.fromkeys(("acts", "act", "watches", "run", "edited", "owners", "bring"), "what the server does by itself"),
    **dict.fromkeys(("close", "settle"), "the end of the process that holds the memory"),
    **dict.fromkeys(("embedder", "frame_of"), "a part of the memory, and nothing that it does"),
    **dict.fromkeys(("goal_log", "goal_words"), "the library's own way to what GET /goals gives"),
    **dict.fromkeys(("write_due_files", "mark_missing"), "done by GET /files"),
    "write_files": "done with every change of a fact; /files/rebuild writes all of them again",
}
"""What has no route, and why."""


@for_each("kind", ROUTES)
def test_whatever_a_memory_can_do_has_a_route_or_a_reason(kind: type) -> None:
    there = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in document()["paths"].items()
        for method in methods
    }
    can = {name for name in dir(kind) if not name.startswith("_")}
    assert not can - ROUTES[kind].keys() - WITHOUT.keys(), "give it a route, or say why it has none"
    assert ROUTES[kind].keys() <= can and set(ROUTES[kind].values()) <= there


SAID = {"agent": "kate", "channel": "telegram", "sender": "ana"}


async def test_a_session_is_opened_goes_idle_and_is_closed(door: Door) -> None:
    async with door.client("agent") as client:
        first, again = [check(await client.post("/api/v1/sessions", json=SAID)) for _ in range(2)]
        assert first == again and first["state"] == "open"
        named = check(await client.post("/api/v1/sessions", json={**SAID, "session": "planning"}))
        assert (named["id"], named["owner"]) == ("planning", KATE.owner)
        for number in range(6):
            await door.memory.append(KATE, "user", f"Point {number} of the review was agreed on.", session="planning")
        assert check(await client.post("/api/v1/sessions/planning/idle", json={}))["state"] == "idle"
        assert check(await client.post("/api/v1/sessions/planning/close", json={}))["state"] == "closed"
        refused = await client.post("/api/v1/sessions", json={"agent": "kate"})
        assert refused.status_code == 400 and "channel" in check(refused)["error"]["message"]
    async with door.client("bound") as client:
        theirs = {"agent": OTHER.agent, "channel": OTHER.channel, "sender": OTHER.sender}
        assert (await client.post("/api/v1/sessions", json=theirs)).status_code == 403
    (line,) = [each for each in await door.memory.audit(owner=KATE.owner) if each.what == "close_session"]
    assert line.who == "token:agent"


@pytest.mark.spec("AGENT-7")
async def test_a_task_is_set_listed_done_and_cancelled(door: Door, tmp_path: Path) -> None:
    memory = Memory(door.memory.store, Settings(data_dir=tmp_path), model=ScriptedModel(["It is blue."]), environ={})
    made = app(memory, None, Agent(memory))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(made), base_url=LOCAL, headers=door.credential("owner")
    ) as client:
        new: dict[str, Any] = {"prompt": "Look at the sky.", "cron": "0 7 * * *", "owner": KATE.owner, "name": "sky"}
        set_ = await client.post("/api/v1/tasks", json=new)
        assert set_.status_code == 201 and check(set_)["id"] == "sky"
        for wrong in ({"cron": "x"}, {"at": "soon", "cron": None}, {"cron": None}, {"owner": "ana"}, {"name": "sky"}):
            assert (await client.post("/api/v1/tasks", json={**new, **wrong})).status_code == 400, wrong
        found = check(await client.get("/api/v1/tasks"))
        assert [each["id"] for each in found["items"]] == ["sky"] and found["next"] is None
        done = check(await client.post("/api/v1/tasks/sky/run", json={}))
        assert done["text"] == "It is blue." and done["task"]["runs"] == 1
        assert check(await client.post("/api/v1/tasks/sky/cancel", json={}))["state"] == "cancelled"
        assert check(await client.get("/api/v1/tasks"))["items"] == []
        assert check(await client.get("/api/v1/tasks?all=true"))["items"][0]["state"] == "cancelled"
        assert check(await client.get("/api/v1/tasks/sky"))["runs"] == 1
        assert (await client.get("/api/v1/tasks/sea")).status_code == 404


@pytest.mark.spec("AGENT-7", "DOOR-3")
async def test_tasks_and_work_are_listed_page_by_page_and_a_task_is_set_once_under_its_key(
    door: Door, tmp_path: Path
) -> None:
    memory = Memory(door.memory.store, Settings(data_dir=tmp_path), model=ScriptedModel([]), environ={})
    made = app(memory, None, Agent(memory))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(made), base_url=LOCAL, headers=door.credential("owner")
    ) as client:
        new: dict[str, Any] = {"prompt": "Look at the sky.", "owner": KATE.owner}
        for number in range(5):
            given = {"json": {**new, "cron": f"{number} 7 * * *"}, "headers": {"idempotency-key": f"t{number}"}}
            first, again = [await client.post("/api/v1/tasks", **given) for _ in range(2)]
            assert (first.status_code, again.status_code) == (201, 201) and check(first) == check(again)
        for number in (1, 3):
            await client.post(f"/api/v1/tasks/t{number}/cancel", json={})
        for path, whole in (("/api/v1/tasks?all=true&limit=2", 5), ("/api/v1/work?limit=2&kind=task", 3)):
            items: list[Any] = []
            page = check(await client.get(path))
            items += page["items"]
            while page["next"] is not None:
                assert len(page["items"]) == 2
                page = check(
                    await client.get(
                        path, params={**dict(httpx.QueryParams(path.split("?")[1])), "after": page["next"]}
                    )
                )
                items += page["items"]
            names = [each.get("id") or each["subject"] for each in items]
            assert len(names) == len(set(names)) == whole, names
            assert (await client.get(f"{path}&after=x")).status_code == 400
        assert names == ["t0", "t2", "t4"]


async def test_what_was_exported_is_imported_and_a_second_time_brings_nothing(
    door: Door, tmp_path: Path, clock: FixedClock
) -> None:
    for text in ("one\u2028line", "two"):
        await door.memory.append(KATE, "user", text, session="s")
    async with door.client("owner") as client:
        lines = (await client.get("/api/v1/export")).content
    store = await SQLiteStore.open(tmp_path / "other.db", clock)
    await store.add_token("owner", "owner", door.tokens["owner"])
    headers = {**door.credential("owner"), "content-type": "application/x-ndjson"}
    empty = Memory(store, Settings(data_dir=tmp_path))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app(empty)), base_url=LOCAL, headers=headers) as client:
        assert check(await client.post("/api/v1/import", content=lines))["new_turns"] == 2
        assert check(await client.post("/api/v1/import", content=lines))["new_turns"] == 0
        for wrong in (b"", b"garbage", b"\xff", lines[: len(lines) // 2]):
            assert (await client.post("/api/v1/import", content=wrong)).status_code == 400, wrong[:20]
    kept = await empty.turns(await empty.session("s", owner=KATE.owner))
    assert [turn.text for turn in kept] == ["one\u2028line", "two"]
    await store.close()
