"""Facts, forgetting, files, spend and export over HTTP."""

from __future__ import annotations

import json
import logging
from typing import Any
from urllib.parse import quote

import pytest

from afterglow.spend import Amount, Call, Reservation, Usage
from tests.kit.records import KATE, OTHER
from tests.kit.web import Door, check, told

pytestmark = pytest.mark.spec("DOOR-3")
MINE = {"owner": KATE.owner}


async def state(door: Door, *contents: str, to: Any = KATE) -> list[str]:
    await door.memory.append(to, "user", "hello", session="s")
    return [(await door.memory.facts.add(to.owner, content)).id for content in contents]


@pytest.mark.spec("FACT-4")
async def test_the_owner_states_edits_and_forgets_a_fact(any_door: Door) -> None:
    async with any_door.client("owner") as client:
        new = {"content": "Ana prefers the window seat.", "type": "preference", "owner": KATE.owner}
        answer = await client.post("/api/v1/facts", json=new)
        assert answer.status_code == 201
        first = check(answer)
        assert (first["status"], first["trust"], first["way"]) == ("active", "owner", "owner")
        again = await client.post("/api/v1/facts", json=new)
        assert (again.status_code, check(again)["id"]) == (200, first["id"]), "stating it again is safe"
        edited = check(await client.patch(f"/api/v1/facts/{first['id']}", json={"content": "Ana prefers the aisle."}))
        assert (edited["supersedes"], edited["type"]) == (first["id"], "preference")
        old = check(await client.get(f"/api/v1/facts/{first['id']}"))
        assert (old["status"], old["superseded_by"]["id"]) == ("superseded", edited["id"])
        assert check(await client.get(f"/api/v1/facts/{edited['id']}"))["superseded_by"] is None
        (listed,) = check(await client.get("/api/v1/facts"))["items"]
        assert listed["id"] == edited["id"]
        assert {each["status"] for each in check(await client.get("/api/v1/facts?all=true"))["items"]} == {
            "active",
            "superseded",
        }
        (proof,) = check(await client.get(f"/api/v1/facts/{edited['id']}/proofs"))["items"]
        assert proof["evidence"]["quote"] == "Ana prefers the aisle."
        gone = check(await client.post(f"/api/v1/facts/{edited['id']}/forget?verify=true", json={}))
        assert gone["fact"]["status"] == "forgotten" and gone["proof"]["clean"]
        assert check(await client.post(f"/api/v1/facts/{edited['id']}/forget", json={}))["proof"] is None


async def test_facts_come_page_by_page_and_are_found_by_their_words(any_door: Door) -> None:
    await state(any_door, *(f"The kettle number {n} is red." for n in range(5)))
    await state(any_door, "The kettle of Ben is blue.", to=OTHER)
    async with any_door.client("read") as client:
        whole = check(await client.get("/api/v1/facts", params=MINE))
        assert (len(whole["items"]), whole["next"]) == (5, None)
        gathered: list[Any] = []
        after: dict[str, str] | None = {}
        while after is not None:
            page = check(await client.get("/api/v1/facts", params={**MINE, **after, "limit": 2}))
            gathered += page["items"]
            after = {"after": page["next"]} if page["next"] else None
        assert gathered == whole["items"]
        found = check(await client.get("/api/v1/facts", params={**MINE, "q": "kettle 3", "limit": 1}))["items"]
        assert [each["content"] for each in found] == ["The kettle number 3 is red."]
        kettles = {**MINE, "q": "kettle", "kinds": "fact"}
        recalled = check(await client.get("/api/v1/recall", params=kettles))
        assert {hit["owner"] for hit in recalled["hits"]} == {KATE.owner} and len(recalled["hits"]) == 5
        assert recalled["more"] is False and "at_us" not in recalled["hits"][0]["why"]
        few = check(await client.get("/api/v1/recall", params={**kettles, "limit": 4}))
        assert (few["hits"], few["more"]) == (recalled["hits"][:4], True)
        assert "kinds" in await told(client, "/api/v1/recall", q="x", owner=KATE.owner, kinds="fact,secret")
        assert "q" in await told(client, "/api/v1/facts", q="x", session="s", owner=KATE.owner)
        assert "day" in await told(client, "/api/v1/facts", since="yesterday", owner=KATE.owner)


async def test_an_edit_is_safe_to_repeat(door: Door) -> None:
    await state(door, "The kettle is red.")
    async with door.client("owner") as client:
        (old,) = check(await client.get("/api/v1/facts", params=MINE))["items"]
        path, body = f"/api/v1/facts/{old['id']}", {"content": "The kettle is  blue."}
        first, again = [check(await client.patch(path, json=body)) for _ in range(2)]
        assert first == again and first["supersedes"] == old["id"]
        other = await client.patch(path, json={"content": "The kettle is green."})
        assert other.status_code == 400 and "superseded" in check(other)["error"]["message"]
        assert len(check(await client.get("/api/v1/facts", params=MINE))["items"]) == 1


@pytest.mark.spec("FACT-11")
async def test_a_type_alone_is_changed_and_stays_where_none_is_given(any_door: Door) -> None:
    async with any_door.client("owner") as client:
        new = {"content": "The kettle is red.", "owner": KATE.owner}
        fact = check(await client.post("/api/v1/facts", json=new))
        path = f"/api/v1/facts/{fact['id']}"
        for body in ({"type": "event"}, {"type": "person", "content": "The kettle is red."}):
            edited = check(await client.patch(path, json=body))
            assert (edited["id"], edited["type"], edited["supersedes"]) == (fact["id"], body["type"], None)
        assert check(await client.post("/api/v1/facts", json=new))["type"] == "person"
        again = await client.post("/api/v1/facts", json={**new, "type": "decision"})
        assert (again.status_code, check(again)["id"], check(again)["type"]) == (200, fact["id"], "decision")
        nothing = await client.patch(path, json={})
        assert nothing.status_code == 400 and "content, type" in check(nothing)["error"]["message"]


@pytest.mark.spec("SAFE-3")
async def test_a_turn_a_session_and_an_owner_are_forgotten(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    await door.memory.append(KATE, "user", "The combination is 1234.", session="s")
    await door.memory.append(KATE, "user", "hello", session="s")
    await door.memory.append(OTHER, "user", "theirs", session="t")
    async with door.client("owner") as client:
        done = check(await client.post("/api/v1/sessions/s/forget?first=1&verify=true", json={}))
        assert done["forgotten"]["turns"] == 1 and done["proof"]["clean"]
        assert [each["text"] for each in check(await client.get("/api/v1/sessions/s/turns"))["items"]] == ["", "hello"]
        assert (await client.post("/api/v1/sessions/s/forget?last=1", json={})).status_code == 400
        assert (await client.post("/api/v1/sessions/s/forget?first=9", json={})).status_code == 404
        check(await client.post("/api/v1/sessions/s/forget", json={}))
        assert (await client.get("/api/v1/sessions/s")).status_code == 404
        owner = quote(OTHER.owner, safe="")
        with caplog.at_level(logging.INFO, "afterglow"):
            assert check(await client.post(f"/api/v1/owners/{owner}/forget", json={}))["forgotten"]["done"]
        assert "POST /api/v1/owners/…/forget 200" in caplog.text and owner not in caplog.text
        assert OTHER.owner not in (await client.get("/api/v1/owners")).text


async def test_two_owners_become_one_and_are_parted_again(door: Door) -> None:
    await state(door, "The kettle is red.")
    await door.memory.append(OTHER, "user", "theirs", session="t")
    async with door.client("owner") as client:
        path = f"/api/v1/owners/{quote(OTHER.owner, safe='')}"
        joined = check(await client.post(f"{path}/join", params={"to": KATE.owner}, json={}))
        assert (joined["id"], joined["joined"]) == (KATE.owner, [OTHER.owner])
        assert check(await client.post(f"{path}/part", json={}))["id"] == OTHER.owner
        assert (await client.post(f"{path}/part", json={})).status_code == 404


async def test_the_memory_files_are_listed_read_and_rebuilt(door: Door) -> None:
    await state(door, "The kettle is red.")
    async with door.client("agent") as client:
        check(await client.post("/api/v1/files/rebuild", params=MINE, json={}))
        listed = check(await client.get("/api/v1/files", params={**MINE, "path": "facts"}))["items"]
        assert "facts/index.json" in [each["path"] for each in listed]
        text = check(await client.get("/api/v1/files/text", params={**MINE, "path": "facts/index.json"}))["text"]
        assert "recalled" in text
        for path in ("../x", "/etc/passwd", "a\\b"):
            answer = await client.get("/api/v1/files/text", params={**MINE, "path": path})
            assert answer.status_code in (403, 404), path


@pytest.mark.spec("SAFE-4")
async def test_spend_is_told_by_model_and_to_an_owner_its_own(door: Door) -> None:
    store, day = door.memory.store, "2026-03-02"
    for binding, tokens in ((KATE, 100), (OTHER, 900)):
        call = Call(day=day, model="openai:small", purpose="fold", owner=binding.owner)
        kept = await store.reserve_spend(
            call, Amount(tokens=1000, micro_usd=500), Amount(tokens=10**9, micro_usd=10**9)
        )
        assert isinstance(kept, Reservation)
        await store.settle_spend(kept, Usage(input_tokens=tokens, output_tokens=0), tokens)
    async with door.client() as client:
        whole = check(await client.get("/api/v1/spend", params={"day": day}))
        assert whole["total"] == {"calls": 2, "tokens": 1000, "usd": 0.001}
        assert [(each["model"], each["purpose"], each["calls"]) for each in whole["models"]] == [
            ("openai:small", "fold", 2)
        ]
        mine = check(await client.get("/api/v1/spend", params={"day": day}, headers=door.credential("bound")))
        assert mine["total"] == {"calls": 1, "tokens": 100, "usd": 0.0001}
        for day in ("today", "2026-99-99", "2026-02-30", "0000-01-01"):
            assert "day" in await told(client, "/api/v1/spend", day=day)


@pytest.mark.spec("SAFE-2")
async def test_an_export_is_lines_of_the_owner_alone(door: Door) -> None:
    await state(door, "The kettle is red.")
    await door.memory.append(OTHER, "user", "theirs", session="t")
    async with door.client("bound", open_locally=False) as client:
        answer = await client.get("/api/v1/export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert len(lines) > 4 and "theirs" not in answer.text and OTHER.owner not in answer.text


async def test_a_session_is_listed_with_its_title_and_by_its_state(any_door: Door) -> None:
    memory = any_door.memory
    for name in ("one", "two"):
        await memory.append(KATE, "user", f"Let us talk about the {name} kettle.", session=name)
    await memory.summarize(await memory.session("one", owner=KATE.owner))
    async with any_door.client() as client:
        titles = {each["id"]: each["title"] for each in check(await client.get("/api/v1/sessions"))["items"]}
        assert titles["one"] and titles["two"] is None
        check(await client.post("/api/v1/sessions/two/clear", json={}, headers=any_door.credential("owner")))
        closed = check(await client.get("/api/v1/sessions?state=closed"))["items"]
        assert [each["id"] for each in closed] == ["two"]
        assert "state" in await told(client, "/api/v1/sessions", state="gone")


async def test_the_header_that_others_send_is_a_key_too(door: Door) -> None:
    turn = {"agent": "kate", "channel": "telegram", "sender": "ana", "role": "user", "text": "hello", "session": "s"}
    async with door.client("owner") as client:
        headers = {"idempotency-key": "k-1"}
        first, again = [check(await client.post("/api/v1/turns", json=turn, headers=headers)) for _ in range(2)]
        assert first == again and first["key"] == "k-1"
        answer = await client.post("/api/v1/turns", json={**turn, "key": "k-2"}, headers=headers)
        assert answer.status_code == 400 and "Idempotency-Key" in check(answer)["error"]["message"]
