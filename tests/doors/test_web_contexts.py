"""The routes of what the model sees, over HTTP: contexts, blocks, reports, and asking for a compaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from afterglow import Binding, Memory, Session, Settings
from afterglow.model import scripted
from afterglow.model.scripted import ScriptedModel
from tests.kit.loops import for_each
from tests.kit.models import Calendar, summary
from tests.kit.records import KATE, OTHER
from tests.kit.talks import drain
from tests.kit.web import Door, check, told

pytestmark = pytest.mark.spec("DOOR-3")

PADDING = "so to speak " * 13
TALK = "/api/v1/sessions/talk"


def with_model(door: Door, model: ScriptedModel, *answers: str | Exception, **compaction: Any) -> Door:
    """The same door, with this model behind it, and a calendar that is asked if it has answers."""
    given: dict[str, Any] = {"data_dir": str(door.memory.settings.data_dir), "zone": "UTC"}
    given["timeout_summarize_seconds"] = 0  # no timer among the work
    if answers:
        given["sources"] = {"calendar": {"kind": "agent", "address": "tests.kit.models:Calendar"}}
        compaction["context_sources"] = ({"source": "calendar"},)
    chosen = Settings.model_validate({**given, "compaction": compaction})
    sources = {"calendar": Calendar(*answers)} if answers else {}
    return replace(door, memory=Memory(door.memory.store, chosen, model=model, sources=sources, environ={}))


async def talk(memory: Memory, count: int, *, named: str = "talk", to: Binding = KATE) -> Session:
    for number in range(count):
        await memory.exchange(to, f"FACT-{number:05d} {PADDING}", lambda context: f"I see. {PADDING}", session=named)
        await memory.settle()
    return await memory.session(named, owner=to.owner)


async def every_page(client: httpx.AsyncClient, path: str, limit: int) -> list[Any]:
    """The pages of a list, one after the other."""
    pages = [check(await client.get(path, params={"limit": limit}))]
    while following := pages[-1]["next"]:
        assert len(pages) < 20, "it never ends"
        pages.append(check(await client.get(path, params={"first": following, "limit": limit})))
    return pages


# reading


@pytest.mark.spec("CTX-7", "DOOR-3")
async def test_the_context_at_any_turn_is_what_the_model_saw_then(any_door: Door) -> None:
    door = with_model(any_door, ScriptedModel(summary))
    session = await talk(door.memory, 12)
    async with door.client() as client:
        for at in (1, 9, 11, 24):
            shown = check(await client.get(f"{TALK}/context", params={"at": at}))
            assert [each["text"] for each in shown["messages"]] == [
                each.text for each in (await door.memory.context(session, at=at)).messages
            ]
        now = check(await client.get(f"{TALK}/context"))
        assert [part["name"] for part in now["portions"]] == ["block", "block", "around the record", "tail"]
        assert sum(part["tokens"] for part in now["portions"]) == now["tokens"]
        assert "there is no context at turn 25" in await told(client, f"{TALK}/context", 404, at=25)


@pytest.mark.spec("CTX-7")
async def test_blocks_are_listed_page_by_page_and_expanded_to_their_turns(any_door: Door) -> None:
    door = with_model(any_door, ScriptedModel(summary), fanout=2)
    await talk(door.memory, 17)
    async with door.client() as client:
        every = check(await client.get(f"{TALK}/blocks"))
        assert [(each["number"], each["level"]) for each in every["items"]] == [(1, 0), (2, 0), (3, 1), (4, 0)]
        assert {"first_seq", "last_seq", "children", "input_hash", "prompt", "model", "reason"} <= set(
            every["items"][0]
        )
        pages = await every_page(client, f"{TALK}/blocks", limit=3)
        assert [each for page in pages for each in page["items"]] == every["items"]
        shown = check(await client.get(f"{TALK}/blocks", params={"shown": "true"}))
        assert [each["number"] for each in shown["items"]] == [3, 4]

        pages = await every_page(client, f"{TALK}/blocks/3", limit=4)
        assert all(page["block"] == every["items"][2] for page in pages)
        seqs = [each["seq"] for page in pages for each in page["items"]]
        assert seqs == list(range(1, 15)), "as the block's span has them"
        before = check(await client.get(f"{TALK}/blocks/2", params={"first": 1}))
        assert [each["seq"] for each in before["items"]] == list(range(5, 15)), "no turn of another block"
        beyond = check(await client.get(f"{TALK}/blocks/1", params={"first": 9}))
        assert (beyond["items"], beyond["next"]) == ([], None)
        assert "has no block 9" in await told(client, f"{TALK}/blocks/9", 404)


@pytest.mark.spec("SRC-5")
async def test_reports_are_listed_with_their_windows_the_oldest_first(any_door: Door) -> None:
    door = with_model(any_door, ScriptedModel(summary), "dentist at 2 PM", "dentist is over")
    await talk(door.memory, 12)
    async with door.client() as client:
        first = check(await client.get(f"{TALK}/reports", params={"limit": 1}))
        assert ([each["text"] for each in first["items"]], first["next"]) == (["dentist at 2 PM"], 2)
        second = check(await client.get(f"{TALK}/reports", params={"first": first["next"]}))
        assert ([each["text"] for each in second["items"]], second["next"]) == (["dentist is over"], None)
        assert {"source", "start_at", "end_at", "asked_at", "failed_at", "shown_from"} <= set(first["items"][0])


@pytest.mark.both
@pytest.mark.spec("SAFE-2")
async def test_blocks_and_reports_of_another_owner_are_not_there(any_door: Door) -> None:
    door = with_model(any_door, ScriptedModel(summary), "secret")
    await talk(door.memory, 12, named="theirs", to=OTHER)
    theirs = "/api/v1/sessions/theirs"
    async with door.client("owner") as client:
        for path in ("/blocks", "/blocks/1", "/reports", "/context"):
            answer = await client.get(f"{theirs}{path}", params={"owner": KATE.owner})
            assert answer.status_code == 404 and "secret" not in answer.text
            assert (await client.get(f"{theirs}{path}", params={"owner": OTHER.owner})).status_code == 200
        answer = await client.post(f"{theirs}/compact", params={"owner": KATE.owner}, json={})
        assert answer.status_code == 404
    assert not await door.memory.store.work_list(OTHER.owner)


# asking for a compaction


@pytest.mark.spec("DOOR-3", "P5", "CTX-1")
async def test_a_compaction_is_asked_for_at_once_and_done_behind_the_answer(any_door: Door) -> None:
    model = ScriptedModel(summary)
    door = with_model(any_door, model, interval=0)
    await talk(door.memory, 12)
    async with door.client("agent") as client:
        answer = await client.post(f"{TALK}/compact", json={})
        assert answer.status_code == 202
        body = check(answer)
        assert body["due"] is True and body["session"]["folded"]["version"] == 0
        assert not model.requests, "the answer does not wait for the model"
        assert (await client.post(f"{TALK}/compact", json={})).status_code == 202
        assert [each.wanted for each in await door.memory.store.work_list(KATE.owner)] == [2]
        assert await drain(door.memory) == 1
        assert len(model.requests) == 1, "asking twice folds once"
        folded = check(await client.get(answer.headers["location"]))["folded"]
        assert folded["to_seq"] == 18 and folded["version"] == 1
        for link in body["links"].values():
            assert (await client.get(link)).status_code == 200
        again = await client.post(f"{TALK}/compact", json={})
        assert (again.status_code, check(again)["due"]) == (200, False)
    assert not await door.memory.store.work_list(KATE.owner), "where nothing is to be folded nothing is due"


async def test_a_session_shorter_than_its_tail_has_nothing_to_fold(door: Door) -> None:
    await talk(door.memory, 3)
    async with door.client("owner") as client:
        answer = await client.post(f"{TALK}/compact", json={})
        assert (answer.status_code, check(answer)["due"]) == (200, False)


@for_each("name", ["a/b", "..", "été", "x?y#z"])
async def test_the_links_of_an_odd_name_lead_to_its_session(door: Door, name: str) -> None:
    await talk(door.memory, 2, named=name)
    address = f"/api/v1/sessions/{quote(name, safe='').replace('.', '%2E')}"
    async with door.client("owner") as client:
        answer = await client.post(f"{address}/compact", json={})
        assert check(await client.get(answer.headers["location"]))["id"] == name
        assert check(await client.get(check(answer)["links"]["context"]))["session"] == name


async def test_a_compaction_takes_no_orders(door: Door, subtests: pytest.Subtests) -> None:
    door = with_model(door, ScriptedModel(summary), interval=0)
    await talk(door.memory, 12)
    headers = {"content-type": "application/json"}
    refused = [(b"[]", 400), (b'{"model": "x"}', 400), (b"x", 400), (b" " * 1001, 413)]
    async with door.client("owner") as client:
        for body, status in refused:
            with subtests.test(body=body[:20]):
                answer = await client.post(f"{TALK}/compact", content=body, headers=headers)
                assert answer.status_code == status
                check(answer)
        assert (await client.post(f"{TALK}/compact?model=x", json={})).status_code == 400
        assert (await client.post("/api/v1/sessions/nope/compact", json={})).status_code == 404
        assert not await door.memory.store.work_list(KATE.owner)
        for wanted, body in enumerate((b"", b"{}", b" {} "), 1):
            answer = await client.post(f"{TALK}/compact", content=body, headers=headers)
            assert answer.status_code == 202, body
            check(answer)
            (waiting,) = await door.memory.store.work_list(KATE.owner)
            assert waiting.wanted == wanted


@pytest.mark.spec("SAFE-1")
async def test_only_who_may_write_may_ask_for_a_compaction(door: Door, subtests: pytest.Subtests) -> None:
    door = with_model(door, ScriptedModel(summary), interval=0)
    await talk(door.memory, 12)
    for credential, status in (("none", 401), ("garbage", 401), ("read", 403), ("agent", 202)):
        with subtests.test(credential=credential):
            async with door.client(credential) as client:
                answer = await client.post(f"{TALK}/compact", json={})
                assert answer.status_code == status
                check(answer)
            assert len(await door.memory.store.work_list(KATE.owner)) == (status == 202)


@pytest.mark.spec("SUM-10", "P6")
async def test_asking_again_does_not_wake_a_model_that_is_left_alone(door: Door) -> None:
    model = ScriptedModel([scripted.RATE_LIMITED])
    door = with_model(door, model, interval=0)
    await talk(door.memory, 12)
    async with door.client("owner") as client:
        for _ in range(3):
            assert (await client.post(f"{TALK}/compact", json={})).status_code == 202
            await drain(door.memory)
    assert len(model.requests) == 1
    (waiting,) = await door.memory.store.work_list(KATE.owner)
    assert waiting.state == "waiting" and "429" in (waiting.last_error or "")


async def test_the_description_for_programs_has_both_answers(door: Door) -> None:
    async with door.client() as client:
        document = check(await client.get("/api/v1/openapi.json"))
    operation = document["paths"]["/api/v1/sessions/{session}/compact"]["post"]
    for status in ("200", "202"):
        schema = operation["responses"][status]["content"]["application/json"]["schema"]
        assert schema["$ref"].endswith("/CompactionAsked")
    at = document["paths"]["/api/v1/sessions/{session}/context"]["get"]["parameters"]
    assert {each["name"] for each in at} == {"session", "owner", "at"}
    assert set(document["components"]["schemas"]["Expanded"]["required"]) == {"items", "next", "block"}
