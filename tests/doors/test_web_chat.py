"""POST /api/v1/chat: the agent over HTTP, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow.agent import Agent, Event, Text
from afterglow.clock import FixedClock
from afterglow.memory import Memory
from afterglow.model import scripted
from afterglow.model.scripted import ScriptedModel, calls
from afterglow.settings import Settings
from afterglow.store.contract import Store
from afterglow.web import app
from tests.kit.records import KATE, OTHER
from tests.kit.web import LOCAL, Door, make_door

SCRIPT = [calls(("file_list", {}), text="I look."), "There is nothing.", scripted.SERVER_ERROR, "Here I am."]


@pytest.fixture
async def talking(store: Store, tmp_path: Path, clock: FixedClock) -> tuple[Door, httpx.AsyncClient]:
    door = await make_door(store, tmp_path, clock)
    memory = Memory(store, Settings(data_dir=tmp_path, zone="UTC"), model=ScriptedModel(SCRIPT), environ={})
    made = app(memory, None, Agent(memory))
    return door, httpx.AsyncClient(transport=httpx.ASGITransport(made), base_url=LOCAL)


def events(text: str) -> list[tuple[str, Any]]:
    blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in text.split("\n\n") if block]
    return [(block["event"], json.loads(block["data"])) for block in blocks]


@pytest.mark.spec("AGENT-9", "DOOR-3")
async def test_an_answer_comes_as_events_and_is_in_the_log(talking: tuple[Door, httpx.AsyncClient]) -> None:
    door, client = talking
    sent = {"json": {"text": "What is there?", "owner": KATE.owner, "key": "m1"}, "headers": door.credential("owner")}
    answer = await client.post("/api/v1/chat", **sent)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer.text)
    assert [kind for kind, _ in told if kind != "text"] == ["tool", "done"]
    assert "".join(data["text"] for kind, data in told if kind == "text") == "I look.There is nothing."
    done = told[-1][1]
    assert (done["owner"], done["text"]) == (KATE.owner, "There is nothing.")
    session = await door.memory.session(done["session"], owner=KATE.owner)
    turns = await door.memory.turns(session)
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "assistant"] and turns[0].trust == "owner"
    again = events((await client.post("/api/v1/chat", **sent)).text)
    assert [kind for kind, _ in again] == ["done"] and again[0][1]["text"] == "There is nothing.", (
        "and not answered twice"
    )


@pytest.mark.spec("AGENT-9", "DOOR-3")
async def test_the_header_that_others_send_is_a_key_here_too(talking: tuple[Door, httpx.AsyncClient]) -> None:
    door, client = talking
    headers = {**door.credential("owner"), "idempotency-key": "m1"}
    sent = {"json": {"text": "What is there?", "owner": KATE.owner}, "headers": headers}
    first, again = [events((await client.post("/api/v1/chat", **sent)).text) for _ in range(2)]
    assert [kind for kind, _ in again] == ["done"] and again[-1][1] == first[-1][1]
    other = await client.post("/api/v1/chat", json={"text": "x", "key": "m2"}, headers=headers)
    assert other.status_code == 400 and "Idempotency-Key" in other.json()["error"]["message"]


@pytest.mark.spec("AGENT-9", "DOOR-3")
async def test_an_answer_that_the_servers_end_breaks_off_says_so_although_the_model_is_silent(
    talking: tuple[Door, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    door, client = talking
    made = client._transport.app  # type: ignore[attr-defined]
    asked = asyncio.Event()

    async def silent(*_: Any, **__: Any) -> AsyncGenerator[Event]:
        yield Text(text="I look.")
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(made.state.agent, "stream", silent)
    sent = {"json": {"text": "What is there?", "key": "m1"}, "headers": door.credential("owner")}
    answer = asyncio.create_task(client.post("/api/v1/chat", **sent))
    await asked.wait()
    made.state.streams.stopping.set()
    told = events((await answer).text)
    assert [kind for kind, _ in told] == ["text", "error"]
    assert "stopping" in told[-1][1]["message"] and "key" in told[-1][1]["message"]


@pytest.mark.spec("AGENT-6", "AGENT-9")
async def test_who_goes_away_before_the_answer_finds_it_in_the_session(
    talking: tuple[Door, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    door, client = talking
    made = client._transport.app  # type: ignore[attr-defined]
    stream, asked, slow = made.state.agent.stream, asyncio.Event(), asyncio.Event()

    async def slowly(*given: Any, **more: Any) -> AsyncGenerator[Event]:
        asked.set()
        await slow.wait()  # as the first message of a process, for which the agent is loaded
        async for event in stream(*given, **more):
            yield event

    monkeypatch.setattr(made.state.agent, "stream", slowly)
    sent = {"json": {"text": "What is there?", "owner": KATE.owner}, "headers": door.credential("owner")}
    answer = asyncio.create_task(client.post("/api/v1/chat", **sent))
    await asked.wait()
    answer.cancel()
    await asyncio.wait([answer])
    slow.set()
    await asyncio.wait(made.state.streams.answers)
    (session,) = await door.memory.sessions(owner=KATE.owner)
    roles = [turn.role for turn in await door.memory.turns(session)]
    assert roles == ["user", "assistant", "tool", "assistant"]


@pytest.mark.spec("DOOR-3")
async def test_an_answer_that_breaks_off_in_an_unforeseen_way_says_so(
    talking: tuple[Door, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    door, client = talking

    async def broken(*_: Any, **__: Any) -> AsyncGenerator[Event]:
        yield Text(text="I look.")
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(client._transport.app.state.agent, "stream", broken)  # type: ignore[attr-defined]
    sent = {"json": {"text": "What is there?"}, "headers": door.credential("owner")}
    answer = (await client.post("/api/v1/chat", **sent)).text
    told = events(answer)
    assert [kind for kind, _ in told] == ["text", "error"] and "secret detail" not in answer
    assert told[-1][1]["kind"] == "InternalError"


@pytest.mark.spec("AGENT-9", "P6")
async def test_a_model_that_fails_is_an_event_and_the_message_can_be_sent_again(
    talking: tuple[Door, httpx.AsyncClient],
) -> None:
    door, client = talking
    headers = door.credential("owner")
    await client.post("/api/v1/chat", json={"text": "One"}, headers=headers)
    sent = {"json": {"text": "Are you there?", "key": "m2"}, "headers": headers}
    ((kind, data),) = events((await client.post("/api/v1/chat", **sent)).text)
    assert kind == "error" and data["kind"] == "ModelBusy" and "HTTP 500" in data["message"]
    told = events((await client.post("/api/v1/chat", **sent)).text)
    assert told[-1][0] == "done" and told[-1][1]["owner"] == "assistant/page/me"


@pytest.mark.spec("SAFE-1", "SAFE-2")
async def test_only_the_owner_speaks_as_the_owner(talking: tuple[Door, httpx.AsyncClient]) -> None:
    door, client = talking
    for credential, owner, status in (
        ("none", KATE.owner, 401),
        ("read", KATE.owner, 403),
        ("agent", KATE.owner, 403),
        ("bound", OTHER.owner, 403),
        ("owner", "zoe", 400),
    ):
        body = {"text": "Hello", "owner": owner}
        answer = await client.post("/api/v1/chat", json=body, headers=door.credential(credential))
        assert answer.status_code == status, (credential, answer.text)
    for body in ({}, {"text": ""}, {"text": 5}, {"text": "x", "more": 1}, {"text": "x", "owner": "\n"}):
        answer = await client.post("/api/v1/chat", json=body, headers=door.credential("owner"))
        assert answer.status_code in (400, 422) and answer.json()["error"]["message"]
