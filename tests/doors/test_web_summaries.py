"""Quiet and ended sessions over HTTP: summaries, sunset, clearing, the work behind them, and how the server is doing."""

from __future__ import annotations

import asyncio
import itertools
import math
import re
import socket
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from afterglow import Binding, FixedClock, Memory, Session, Settings, StoreUnavailable
from afterglow.errors import ModelError
from afterglow.health import Summarization
from afterglow.model import Model, Request, scripted
from afterglow.model.offline import OfflineModel
from afterglow.model.scripted import ScriptedModel
from afterglow.spend import Amount, Call
from afterglow.summaries import Filled
from afterglow.web.metrics import CONTENT_TYPE, Family, Sample, exposition
from afterglow.work import KINDS, Due
from afterglow.worker import Worker
from afterglow.working import working
from tests.kit.command_line import wait_until
from tests.kit.loops import for_each
from tests.kit.models import form_filler
from tests.kit.records import KATE, NOON, OTHER
from tests.kit.servers import PATIENCE_SECONDS, TURN, starting, token
from tests.kit.talks import drain
from tests.kit.web import PROTECTION, Door, check, told

TALK = "/api/v1/sessions/talk"
BLOCK = {
    *("triggerSource", "lastSweepAt", "lastSuccessAt", "primaryFlag", "primaryHolder", "queueDepth", "oldestDueAt"),
    *("parked", "inProgress", "deferred", "lastSweepFound", "off"),
}


def with_model(door: Door, model: Model | None = None, **more: Any) -> Door:
    """The same door, with this model behind it."""
    chosen = Settings.model_validate({"data_dir": str(door.memory.settings.data_dir), "zone": "UTC", **more})
    return replace(
        door,
        memory=Memory(door.memory.store, chosen, model=model or ScriptedModel(form_filler), environ={}, folds=False),
    )


async def talk(memory: Memory, named: str = "talk", to: Binding = KATE, count: int = 2) -> Session:
    for number in range(1, count + 1):
        await memory.append(to, "user", f"FACT-{number:05d} is on the table.", session=named)
        await memory.append(to, "assistant", "I see.", session=named)
    return await memory.session(named, owner=to.owner)


async def break_store(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("another process has kept it locked")

    monkeypatch.setattr(door.memory.store, "_read", fail)


# --- summaries ------------------------------------------------------------------------------------------------------


@pytest.mark.spec("SUM-7")
async def test_summaries_come_newest_first_the_session_that_just_ended_on_top(
    any_door: Door, clock: FixedClock
) -> None:
    door = with_model(any_door)
    for number in range(7):
        clock.move(60)
        await door.memory.sunset(await talk(door.memory, f"s{number}", replace(KATE, channel=f"c{number}")))
    await drain(door.memory)
    async with door.client() as client:
        page = check(await client.get("/api/v1/summaries"))
    assert [each["session"] for each in page["items"]] == ["s6", "s5", "s4", "s3", "s2"], "five unless told otherwise"
    assert page["degraded"] is None and page["next"]
    assert set(page) == {"items", "next", "degraded"}
    first = page["items"][0]
    assert (first["title"], first["category"], first["trigger"]) == ("A talk about facts", "planning", "sunset-event")
    assert (first["first_seq"], first["last_seq"], first["open_threads"]) == (1, 4, ["Ask Carla."])


@pytest.mark.spec("SUM-7")
async def test_pages_of_summaries_hold_each_once_also_where_moments_are_the_same(
    any_door: Door, subtests: pytest.Subtests
) -> None:
    door = with_model(any_door)
    for number in range(7):
        to = replace(KATE, sender=f"p{number % 3}")
        await door.memory.summarize(await talk(door.memory, f"s{number}", to, count=1))
    async with door.client() as client:
        for limit, words in itertools.product((1, 2, 3, 7, 8), (None, "facts")):
            with subtests.test(limit=limit, words=words):
                seen: list[str] = []
                after: str | None = None
                for _ in range(9):
                    query = {"limit": limit, "words": words, "after": after}
                    page = check(await client.get("/api/v1/summaries", params={k: v for k, v in query.items() if v}))
                    seen += [each["session"] for each in page["items"]]
                    assert page["items"], "no page is empty"
                    after = page["next"]
                    if after is None:
                        break
                assert sorted(seen) == [f"s{number}" for number in range(7)]


@pytest.mark.spec("SUM-7")
async def test_summaries_can_be_filtered(any_door: Door, clock: FixedClock) -> None:
    door = with_model(any_door)
    for hour, agent in enumerate(("otto", "kate", "kate")):
        clock.move(3600 if hour else 0)
        to = Binding(agent=agent, channel=f"c{hour}", sender="ana")
        await door.memory.summarize(await talk(door.memory, f"s{hour}", to))

    async with door.client() as client:

        async def found(**query: str) -> list[str]:
            page = check(await client.get("/api/v1/summaries", params=query))
            return [each["session"] for each in page["items"]]

        assert await found(agent="kate") == ["s2", "s1"]
        assert await found(category="planning") == ["s2", "s1", "s0"]
        assert await found(category="fix") == []
        assert await found(owner="otto/c0/ana") == ["s0"]
        assert await found(owner="zoe/at/all") == []
        assert await found(since="2026-03-02T13:00:00Z") == ["s2", "s1"]
        assert await found(until="2026-03-02T14:00:00+01:00") == ["s0"], "an offset counts"
        assert await found(since="2026-03-02T13:00:00Z", until="2026-03-02T14:00:00Z") == ["s1"]
        assert await found(words="carla FACTS") == ["s2", "s1", "s0"]
        assert await found(words="carla walrus") == []


@pytest.mark.spec("SUM-7")
async def test_the_answer_says_when_it_is_degraded(door: Door) -> None:
    offline = with_model(door, OfflineModel())
    await offline.memory.summarize(await talk(offline.memory))
    async with offline.client() as client:
        page = check(await client.get("/api/v1/summaries"))
    assert page["degraded"] == "1 of these was made without a model"
    assert page["items"][0]["degraded"] is True


@pytest.mark.spec("SUM-7")
async def test_summaries_that_hold_words_are_found_page_by_page_however_many_do_not(door: Door) -> None:
    def named(request: Request) -> scripted.Step:
        about = "100%_walrus" if request.session in ("s0", "s3") else "100xxwalrus stone"
        return Filled(title=f"The {about}", summary="They talked.", category="other").model_dump_json()

    door = with_model(door, ScriptedModel(named))
    for number in range(5):
        await door.memory.summarize(await talk(door.memory, f"s{number}", replace(KATE, channel=f"c{number}")))
    async with door.client() as client:
        query = {"words": "walrus talked", "limit": "1"}
        first = check(await client.get("/api/v1/summaries", params=query))
        assert [each["session"] for each in first["items"]] == ["s3"] and first["next"]
        rest = check(await client.get("/api/v1/summaries", params={**query, "after": first["next"]}))
        none = check(await client.get("/api/v1/summaries", params={"words": "walrus stone"}))
    assert ([each["session"] for each in rest["items"]], rest["next"]) == (["s0"], None)
    assert none["items"] == [], "all of the words"


@pytest.mark.spec("SUM-7")
async def test_a_broken_database_is_never_passed_off_as_an_empty_list(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    await break_store(door, monkeypatch)
    async with door.client() as client:
        for path in ("/api/v1/summaries", "/api/v1/summaries?words=facts", f"{TALK}/summary", "/api/v1/work"):
            assert "locked" in await told(client, path, 503), path
            assert "items" not in (await client.get(path)).json()


@for_each(
    "query, word",
    [
        ("since=yesterday", "since: it is no moment"),
        ("since=5", "since: it is no moment"),
        ("until=", "until: it is no moment"),
        ("since=2026-03-02", "since: it has no zone"),
        ("since=2026-03-02T12:00:00", "since: it has no zone"),
        ("since=2026-03-02T12:00:00+01:00", "%2B"),
        ("since=2026-13-02T12:00:00Z", "since: it is no moment"),
        ("until=9999-12-31T23:59:59Z", "years"),
        ("until=9999-12-31T23:59:59-23:59", "years"),
        ("since=0001-01-01T00:00:00%2B23:59", "years"),
        ("since=%00", "since: it is no moment"),
        ("since=2026-03-02T12:00:00Z&until=2026-03-02T12:00:00Z", "until: it must be later than since"),
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=201", "results_max"),
        ("limit=99999999999999999999999", "limit"),
        ("limit=many", "limit"),
        ("category=nonsense", "category"),
        ("category=", "category"),
        ("agent=", "agent"),
        ("agent=%00", "NUL"),
        ("words=the", "no word to look for"),
        ("words=" + "x" * 2001, "words"),
        ("words=%00", "NUL"),
        ("owner=", "owner"),
        ("after=", "after"),
        ("after=x", "after"),
        ("after=WzEsMl0", "after"),
        ("after=" + "A" * 9000, "after"),
        ("before=1", "before"),
        ("limit=1&limit=2", "twice"),
    ],
)
async def test_what_cannot_be_asked_of_summaries_is_named(door: Door, query: str, word: str) -> None:
    door = with_model(door, summaries={"results_max": 200})
    async with door.client() as client:
        assert word in await told(client, f"/api/v1/summaries?{query}")


# --- the summary of one session -------------------------------------------------------------------------------------


@pytest.mark.spec("SUM-5", "SUM-8")
async def test_a_summary_is_made_by_hand_once_unless_it_is_forced(any_door: Door) -> None:
    model = ScriptedModel(form_filler)
    door = with_model(any_door, model, auto_summarize=False, primary="false")
    await talk(door.memory)
    async with door.client("agent") as client:
        assert "a POST to the same address makes it" in await told(client, f"{TALK}/summary", 404)
        made = await client.post(f"{TALK}/summary", json={})
        assert made.status_code == 201, "a manual run is never gated"
        body = check(made)
        assert (body["trigger"], body["last_seq"], body["session"]) == ("manual", 4, "talk")
        assert check(await client.get(made.headers["location"])) == body
        again = await client.post(f"{TALK}/summary", json={})
        assert (again.status_code, check(again), len(model.requests)) == (200, body, 1)
        forced = await client.post(f"{TALK}/summary?force=true", json={})
        assert (forced.status_code, len(model.requests)) == (201, 2)
        await door.memory.append(KATE, "user", "FACT-00009 is new.", session="talk")
        newer = await client.post(f"{TALK}/summary", json={})
        assert (newer.status_code, check(newer)["last_seq"]) == (201, 5)
        assert len(check(await client.get("/api/v1/summaries"))["items"]) == 1, "one for each session"


async def test_a_session_in_which_nothing_was_said_has_nothing_to_summarise(door: Door) -> None:
    door = with_model(door)
    await door.memory.open_session(KATE, "talk")
    async with door.client("owner") as client:
        for query in ("", "?force=true"):
            answer = await client.post(f"{TALK}/summary{query}", json={})
            assert answer.status_code == 400 and "nothing was said" in check(answer)["error"]["message"]


@pytest.mark.spec("SUM-7", "P6")
async def test_a_model_that_fails_is_an_error_and_no_summary(door: Door) -> None:
    door = with_model(door, ScriptedModel(lambda request: scripted.RATE_LIMITED))
    await talk(door.memory)
    async with door.client("owner") as client:
        answer = await client.post(f"{TALK}/summary", json={})
        assert answer.status_code == 503 and check(answer)["error"]["kind"] == "ModelBusy"
        await told(client, f"{TALK}/summary", 404)


# --- the end of a session -------------------------------------------------------------------------------------------


@pytest.mark.spec("SUM-2")
async def test_a_sunset_ends_the_session_and_its_summary_is_made_behind_the_answer(any_door: Door) -> None:
    model = ScriptedModel(form_filler)
    door = with_model(any_door, model)
    await talk(door.memory)
    async with door.client("agent") as client:
        answer = await client.post(f"{TALK}/sunset", json={})
        assert answer.status_code == 202
        body = check(answer)
        assert (body["due"], body["session"]["state"], body["session"]["sunset_seq"]) == (True, "closed", 4)
        assert not model.requests, "the answer does not wait for the model"
        (waiting,) = check(await client.get("/api/v1/work", params={"kind": "summary"}))["items"]
        assert (waiting["state"], waiting["reason"], waiting["subject"]) == ("due", "sunset-event", "talk")
        await drain(door.memory)
        summary = check(await client.get(answer.headers["location"]))
        assert (summary["trigger"], summary["last_seq"]) == ("sunset-event", 4)
        assert all([(await client.get(link)).status_code == 200 for link in body["links"].values()])
        again = await client.post(f"{TALK}/sunset", json={})
        assert (again.status_code, check(again)["due"]) == (200, False)
        await drain(door.memory)
    assert [request.purpose for request in model.requests].count("summary") == 1


@pytest.mark.spec("SUM-2")
async def test_a_sunset_at_a_process_that_is_not_primary_is_stored(door: Door) -> None:
    door = with_model(door, primary="false", auto_summarize=False)
    await talk(door.memory)
    async with door.client("owner") as client:
        assert (await client.post(f"{TALK}/sunset", json={})).status_code == 202
        block = check(await client.get("/readyz"))["summarization"]
    assert (block["queueDepth"], block["primaryHolder"], block["lastSuccessAt"]) == (1, None, None)
    assert any("no process is primary" in each for each in block["off"])
    assert await drain(with_model(door).memory) >= 1
    assert (await door.memory.store.summary_of(KATE.owner, "talk")) is not None


@pytest.mark.spec("IDLE-2")
async def test_clearing_is_announced_and_can_be_undone_until_another_session_follows(any_door: Door) -> None:
    door = with_model(any_door)
    await talk(door.memory)
    async with door.client("owner") as client:
        answer = await client.post(f"{TALK}/restore", json={})
        assert answer.status_code == 400 and "not closed" in check(answer)["error"]["message"]
        cleared = check(await client.post(f"{TALK}/clear", json={}))
        assert (cleared["state"], cleared["closed_by"], cleared["turns"], cleared["said_seq"]) == (
            "closed",
            "cleared",
            5,
            4,
        )
        turns = check(await client.get(f"{TALK}/turns"))["items"]
        assert len(turns) == 5 and "sessions restore" in turns[-1]["text"], "turns stay"
        again = check(await client.post(f"{TALK}/clear", json={}))
        assert (again["state"], again["turns"]) == ("closed", 5), "it is announced once"
        assert check(await client.post(f"{TALK}/restore", json={}))["state"] == "open"
        check(await client.post(f"{TALK}/clear", json={}))
        await door.memory.append(KATE, "user", "hello again")
        answer = await client.post(f"{TALK}/restore", json={})
        assert answer.status_code == 400 and "has followed it" in check(answer)["error"]["message"]


ACTS = ("summary", "sunset", "clear", "restore")


@pytest.mark.spec("SAFE-1")
async def test_only_who_may_write_ends_sessions_and_no_form_can(door: Door, subtests: pytest.Subtests) -> None:
    door = with_model(door)
    before = await talk(door.memory)
    for credential, status in (("none", 401), ("garbage", 401), ("revoked", 401), ("read", 403), ("owner", 415)):
        async with door.client(credential) as client:
            for path in (*(f"{TALK}/{act}" for act in ACTS), "/api/v1/work/retry"):
                with subtests.test(credential=credential, path=path):
                    sent = {"data": {"a": "b"}} if status == 415 else {"json": {}}
                    answer = await client.post(path, **sent)
                    assert answer.status_code == status
                    check(answer)
        assert await door.memory.session("talk", owner=KATE.owner) == before


SENT = "othing is taken from a body here: send {}, or no body. What can be chosen goes into the address"


@pytest.mark.spec("SUM-2", "DOOR-3")
async def test_whatever_is_sent_to_a_sunset_the_answers_agree(door: Door) -> None:
    door = with_model(door)
    await talk(door.memory)
    headers = {"content-type": "application/json"}
    async with door.client("owner") as client:
        for path in (f"{TALK}/sunset", f"{TALK}/compact"):
            for body in (b"[]", b'"x"', b"null", b"x", b"{", b"\xff"):
                answer = await client.post(path, content=body, headers=headers)
                error = check(answer)["error"]
                assert (answer.status_code, error["kind"]) == (400, "BadInput")
                assert error["message"].startswith(f"n{SENT}"), body
            named = check(await client.post(path, json={"owner": KATE.owner, "why": 1}))["error"]["message"]
            assert named.startswith(f"the body holds owner, why, and n{SENT}, such as ?owner=")
            bare = await client.post(path)
            assert bare.status_code == 415
            assert check(bare)["error"]["message"] == (
                "send the header Content-Type: application/json, with a body of JSON or with none"
            )
            unknown = check(await client.post(f"{path}?why=1", json={}))["error"]["message"]
            assert unknown == "why: there is nothing of this name; /api/v1/openapi.json lists what can be given"
        missing = await client.post("/api/v1/sessions/nope/sunset", json={})
        assert missing.status_code == 404 and "there is no session 'nope'" in check(missing)["error"]["message"]
        for body in (b"", b" ", b"{}", b"{ }\n"):
            assert (await client.post(f"{TALK}/sunset", content=body, headers=headers)).status_code == 202


async def test_orders_go_into_the_address(door: Door, subtests: pytest.Subtests) -> None:
    door = with_model(door)
    before = await talk(door.memory)
    headers = {"content-type": "application/json"}
    async with door.client("owner") as client:
        for path in (*(f"{TALK}/{act}" for act in ACTS), "/api/v1/work/retry"):
            for body in (b"[]", b'{"force": true}', b"x", b"{", b" " * 1001):
                with subtests.test(path=path, body=body[:20]):
                    answer = await client.post(path, content=body, headers=headers)
                    assert answer.status_code == (413 if len(body) > 1000 else 400)
                    check(answer)
            with subtests.test(path=path, query="model=x"):
                assert (await client.post(f"{path}?model=x", json={})).status_code == 400
        assert (await client.post(f"{TALK}/summary?force=perhaps", json={})).status_code == 400
    assert await door.memory.session("talk", owner=KATE.owner) == before


@pytest.mark.both
@pytest.mark.spec("SAFE-2")
async def test_sessions_of_another_owner_are_not_there_and_stay_as_they_are(any_door: Door) -> None:
    door = with_model(any_door)
    assert await door.memory.summarize(await talk(door.memory, "theirs", OTHER))
    before = await door.memory.session("theirs", owner=OTHER.owner)
    due = Due(kind="summary", at=NOON, reason="manual", subject="theirs")
    await door.memory.store.mark_due(OTHER.owner, due)
    async with door.client("owner") as client:
        for name in ("theirs", "nope"):
            address = f"/api/v1/sessions/{name}"
            answers = [await client.get(f"{address}/summary", params={"owner": KATE.owner})]
            answers += [await client.post(f"{address}/{act}", params={"owner": KATE.owner}, json={}) for act in ACTS]
            for answer in answers:
                assert answer.status_code == 404 and "facts" not in answer.text
                check(answer)
        for path in ("/api/v1/summaries", "/api/v1/work"):
            assert check(await client.get(path, params={"owner": KATE.owner}))["items"] == []
            theirs = check(await client.get(path, params={"owner": OTHER.owner}))["items"]
            assert theirs and {each["owner"] for each in theirs} == {OTHER.owner}
    assert await door.memory.session("theirs", owner=OTHER.owner) == before


@pytest.mark.spec("SAFE-1", "SAFE-2")
async def test_from_another_machine_the_owner_must_be_named(door: Door) -> None:
    base, server = "http://memory.example.org", {"allowed_hosts": ("memory.example.org",)}
    await talk(door.memory)
    async with door.client("owner", base, **server) as client:
        for path in ("/api/v1/summaries", f"{TALK}/summary", "/api/v1/work"):
            assert "owner" in await told(client, path)
        for path in (*(f"{TALK}/{act}" for act in ACTS), "/api/v1/work/retry"):
            assert (await client.post(path, json={})).status_code == 400
        assert (await client.get("/api/v1/work", params={"owner": KATE.owner})).status_code == 200


@for_each("name", ["a/b", "..", "été", "x?y#z"])
async def test_an_odd_name_can_be_summarised_and_ended(door: Door, name: str) -> None:
    door = with_model(door)
    await talk(door.memory, name)
    address = f"/api/v1/sessions/{quote(name, safe='').replace('.', '%2E')}"
    async with door.client("owner") as client:
        made = await client.post(f"{address}/summary", json={})
        assert check(await client.get(made.headers["location"]))["session"] == name
        ended = await client.post(f"{address}/sunset", json={})
        assert check(await client.get(check(ended)["links"]["session"]))["id"] == name


# --- the work behind it ---------------------------------------------------------------------------------------------


@pytest.mark.spec("SUM-10")
async def test_what_keeps_failing_is_parked_and_listed_and_can_be_retried(any_door: Door, clock: FixedClock) -> None:
    door = with_model(any_door, ScriptedModel(lambda request: scripted.SERVER_ERROR), timeout_summarize_seconds=0)
    await door.memory.sunset(await talk(door.memory))
    await door.memory.store.mark_due(OTHER.owner, Due(kind="digest", at=NOON, reason="manual", subject="x"))
    async with door.client("agent") as client:
        await drain(door.memory)
        block = check(await client.get("/api/v1/status"))["summarization"]
        assert (block["deferred"], block["queueDepth"], block["lastSuccessAt"]) == (1, 0, None), "deferred is not done"
        for _ in range(12):
            clock.move(7200)
            await drain(door.memory)
        (parked,) = check(await client.get("/api/v1/work", params={"state": "parked", "kind": "summary"}))["items"]
        assert (parked["kind"], parked["subject"], parked["state"]) == ("summary", "talk", "parked")
        assert parked["attempts"] >= 5 and parked["last_error"]
        assert check(await client.get("/readyz"))["summarization"]["parked"] == 1
        assert check(await client.get("/api/v1/work", params={"state": "due", "kind": "summary"}))["items"] == []
        assert check(await client.get("/api/v1/work", params={"kind": "digest"}))["items"][0]["owner"] == OTHER.owner
        first = check(await client.get("/api/v1/work", params={"limit": 1}))
        assert len(first["items"]) == 1 and first["next"]
        assert check(await client.get("/api/v1/work", params={"limit": 100}))["next"] is None
        for query in ({"kind": "digest"}, {"owner": OTHER.owner}):
            assert check(await client.post("/api/v1/work/retry", params=query, json={})) == {"retried": 0}
        answer = await client.post("/api/v1/work/retry", params={"subject": "nope"}, json={})
        assert answer.status_code == 404 and "has failed" in check(answer)["error"]["message"]
        query = {"kind": "summary", "owner": KATE.owner, "subject": "talk"}
        assert check(await client.post("/api/v1/work/retry", params=query, json={})) == {"retried": 1}
        await drain(with_model(door).memory)
        assert check(await client.get(f"{TALK}/summary"))["trigger"] == "sunset-event"


@for_each("query", ["state=done", "kind=nothing", "limit=0", "limit=1001", "limit=x", "owner=", "subject=x", "state="])
async def test_what_cannot_be_asked_of_the_work_is_named(door: Door, query: str) -> None:
    async with door.client() as client:
        assert query.partition("=")[0] in await told(client, f"/api/v1/work?{query}")


# --- how it is doing ------------------------------------------------------------------------------------------------


@dataclass
class Background:
    is_primary: bool = True
    trouble: str = ""


@pytest.mark.spec("SUM-9")
async def test_the_block_has_its_names_everywhere(any_door: Door, clock: FixedClock) -> None:
    door = with_model(any_door)
    await talk(door.memory)
    store = door.memory.store
    await store.take_primary("host:1", 7, lease_seconds=30)
    await store.sweep("periodic-sweep", quiet_before=NOON + timedelta(hours=1), newest=5, oldest=1)
    async with door.client() as client:
        for path in ("/readyz", "/api/v1/status"):
            block = check(await client.get(path))["summarization"]
            assert set(block) == BLOCK
            assert (block["primaryFlag"], block["primaryHolder"]) == ("auto", "host:1"), "a server is a candidate"
            assert (block["lastSweepAt"], block["lastSweepFound"]) == ("2026-03-02T12:00:00Z", 1)
            assert (block["queueDepth"], block["oldestDueAt"], block["off"]) == (1, "2026-03-02T12:00:00Z", [])
            assert (block["triggerSource"], block["lastSuccessAt"]) == (None, None)
        clock.move(10)
        await drain(door.memory)
        block = check(await client.get("/readyz"))["summarization"]
        assert (block["triggerSource"], block["lastSuccessAt"]) == ("periodic-sweep", "2026-03-02T12:00:10Z")
        assert (block["queueDepth"], block["oldestDueAt"], block["parked"]) == (0, None, 0)
    assert set((await door.memory.health()).block()) == BLOCK
    assert isinstance(await door.memory.health(), Summarization)


@pytest.mark.spec("SUM-9", "DOOR-3")
async def test_a_sign_of_life_says_what_the_process_knows_by_itself(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    await break_store(door, monkeypatch)
    for beside, is_primary in ((None, None), (Background(), True), (Background(is_primary=False), False)):
        async with door.client(beside=beside) as client:
            block = check(await client.get("/healthz"))
            assert block == {"status": "ok", "summarization": {"primaryFlag": "auto", "isPrimary": is_primary}}
            assert "locked" in await told(client, "/readyz", 503)


@pytest.mark.spec("SUM-9", "DOOR-3")
async def test_it_is_not_ready_while_nothing_is_done_in_the_background(door: Door) -> None:
    beside = Background()
    async with door.client(beside=beside) as client:
        assert (await client.get("/readyz")).status_code == 200
        beside.trouble = "the worker has stopped; start the server again"
        answer = await client.get("/readyz")
        assert (answer.status_code, check(answer)["error"]) == (503, {"kind": "NotReady", "message": beside.trouble})
        assert "retry-after" in answer.headers
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.spec("SUM-9", "DOOR-3")
async def test_it_is_not_ready_once_its_own_worker_has_died(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    died = asyncio.Event()

    async def die(*_: Any) -> None:
        await died.wait()
        raise RuntimeError("out of memory")

    memory = door.memory
    monkeypatch.setattr(Worker, "run", die)
    async with (
        working(memory.store, memory.acts, memory.settings, "auto") as beside,
        door.client(beside=beside) as client,
    ):
        try:
            assert (await client.get("/readyz")).status_code == 200
            assert check(await client.get("/healthz"))["summarization"]["isPrimary"] is True
        finally:
            died.set()  # or its end would be waited for without end
        for _ in range(5):  # its end is noticed when the loop comes round
            await asyncio.sleep(0)
        assert "the background worker stopped" in await told(client, "/readyz", 503)


# --- metrics --------------------------------------------------------------------------------------------------------

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
Labels = frozenset[tuple[str, str]]


def parsed(text: str) -> dict[str, dict[Labels, float]]:
    """The text format of Prometheus, read strictly: every family once, announced, and no sample twice."""
    assert text.endswith("\n") and "\r" not in text
    families: dict[str, dict[Labels, float]] = {}
    helped, current = "", ""
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            helped, about = line[7:].split(" ", 1)
            assert re.fullmatch(NAME, helped) and about and re.fullmatch(r"(?:[^\\]|\\[\\n])*", about)
            assert helped not in families, f"{helped} comes twice"
        elif line.startswith("# TYPE "):
            current, kind = line[7:].split(" ")
            assert (current, kind) == (helped, "gauge")
            families[current] = {}
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] == current, f"{match[1]} stands among {current}"
            pairs = re.findall(LABEL, match[2] or "")
            assert len(pairs) == len(dict(pairs)), line
            labels = frozenset((name, unescaped(value)) for name, value in pairs)
            assert labels not in families[current], line
            families[current][labels] = float(match[len(match.groups())])
            assert math.isfinite(families[current][labels])
    assert all(families.values()), "a family without a sample"
    return families


def unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), value)


def labelled(**labels: str) -> Labels:
    return frozenset(labels.items())


async def measured(client: httpx.AsyncClient) -> dict[str, dict[Labels, float]]:
    answer = await client.get("/metrics")
    assert (answer.status_code, answer.headers["content-type"]) == (200, CONTENT_TYPE)
    assert {name: answer.headers[name] for name in PROTECTION} == PROTECTION
    return parsed(answer.text)


@pytest.mark.spec("SUM-9")
async def test_the_metrics_count_what_is_there(any_door: Door, clock: FixedClock) -> None:
    door = with_model(any_door)
    store = door.memory.store
    async with door.client() as client:
        found = await measured(client)
        assert found["afterglow_primary_held"] == {labelled(): 0}
        assert "afterglow_primary_info" not in found
        assert "afterglow_last_sweep_timestamp_seconds" not in found, "what never happened has no moment"
        assert "afterglow_last_success_timestamp_seconds" not in found
        assert set(found["afterglow_work"].values()) == {0}
        assert len(found["afterglow_work"]) == 4 * len(KINDS), "what is zero is there too"
        assert found["afterglow_turns"] == {labelled(): 0}

        await talk(door.memory)
        await store.take_primary('host "one"\\two:1', 7, lease_seconds=3600)
        await store.sweep("periodic-sweep", quiet_before=NOON + timedelta(hours=1), newest=5, oldest=1)
        call = Call(day="2026-03-02", model="m", purpose="fold", owner=KATE.owner, session="talk")
        big = Amount(tokens=10**9, micro_usd=10**9)
        await store.reserve_spend(call, Amount(tokens=1000, micro_usd=2500), big)
        await store.reserve_spend(replace(call, day="2026-03-01"), Amount(tokens=7, micro_usd=7), big)
        clock.move(90)
        found = await measured(client)
        assert found["afterglow_work"][labelled(kind="summary", state="due")] == 1
        assert found["afterglow_work"][labelled(kind="idle", state="waiting")] == 1
        assert found["afterglow_work_oldest_due_age_seconds"][labelled(kind="summary")] == 90
        assert found["afterglow_work_oldest_due_age_seconds"][labelled(kind="idle")] == 0
        assert found["afterglow_primary_held"] == {labelled(): 1}
        assert found["afterglow_primary_info"] == {labelled(holder='host "one"\\two:1'): 1}
        assert found["afterglow_last_sweep_timestamp_seconds"] == {labelled(): NOON.timestamp()}
        assert found["afterglow_last_sweep_found"] == {labelled(): 1}
        counts = {name: found[f"afterglow_{name}"][labelled()] for name in ("owners", "sessions", "turns")}
        assert counts == {"owners": 1, "sessions": 1, "turns": 4}
        of_fold = labelled(model="m", purpose="fold")
        spent = [found[f"afterglow_spend_today_{name}"][of_fold] for name in ("calls", "tokens", "usd")]
        assert spent == [1, 1000, 0.0025], "today's alone"
        ceilings = [found[f"afterglow_spend_day_ceiling_{name}"][labelled()] for name in ("tokens", "usd")]
        assert ceilings == [5_000_000, 5.0]

        await drain(door.memory)
        found = await measured(client)
        assert found["afterglow_last_success_timestamp_seconds"] == {labelled(): NOON.timestamp() + 90}
        assert found["afterglow_work"][labelled(kind="summary", state="due")] == 0


@pytest.mark.spec("SUM-9")
async def test_a_look_at_the_metrics_costs_a_handful_of_reads(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    read, names = door.memory.store._read, list[str]()

    async def counted(name: str, *rest: Any) -> Any:
        names.append(name)
        return await read(name, *rest)

    monkeypatch.setattr(door.memory.store, "_read", counted)
    async with door.client() as client:
        await measured(client)
    assert sorted(names) == ["backlog_by_kind", "fleet", "spend_by_model", "totals"]


@pytest.mark.spec("SAFE-4")
async def test_a_model_that_is_left_alone_is_told_of(door: Door) -> None:
    failing = ScriptedModel(lambda request: scripted.SERVER_ERROR)
    door = with_model(door, failing, spend={"breaker_failures": 1, "breaker_seconds": 40})
    meter = door.memory.means_of.answering("kate")
    async with door.client() as client:
        found = await measured(client)
        assert found["afterglow_model_left_alone_seconds"] == {labelled(model="scripted"): 0}
        assert check(await client.get("/api/v1/spend"))["left_alone"] == {}
        with pytest.raises(ModelError):
            await meter.complete(
                Request(purpose="fold", instructions="", material="x", tokens_max=9, deadline_seconds=9)
            )
        found = await measured(client)
        assert found["afterglow_model_left_alone_seconds"] == {labelled(model="scripted"): 40}
        assert check(await client.get("/api/v1/spend"))["left_alone"] == {"scripted": 40}


def test_metrics_are_escaped_as_the_format_has_it() -> None:
    odd = 'a "quoted" \\ back\nslash {x="y"} ü'
    family = Family(name="odd", about="one\\two\nthree", samples=[Sample(value=1.5, labels={"a": odd, "b": ""})])
    text = exposition([family, Family(name="none", about="nothing", samples=[])])
    assert text.splitlines()[0] == r"# HELP odd one\\two\nthree"
    assert parsed(text) == {"odd": {labelled(a=odd, b=""): 1.5}}
    assert exposition([]) == ""


@pytest.mark.spec("SAFE-1")
async def test_metrics_are_for_those_who_may_read_the_status(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    for server in ({}, {"host": "0.0.0.0"}):
        for credential in ("none", "garbage", "revoked", "read", "agent", "owner"):
            async with door.client(credential, **server) as client:
                status = (await client.get("/api/v1/status")).status_code
                answer = await client.get("/metrics")
                assert answer.status_code == status, (server, credential)
                assert (await client.head("/metrics")).status_code == status
                assert status == 200 or check(answer)
    async with door.client("owner") as client:
        assert (await client.post("/metrics", json={})).status_code == 405
    await break_store(door, monkeypatch)
    async with door.client() as client:
        assert "locked" in await told(client, "/metrics", 503), "a monitor is not told zeroes"


# --- a server in a process of its own -------------------------------------------------------------------------------


@pytest.mark.spec("SUM-2", "SUM-9", "IDLE-2")
def test_a_real_server_summarises_a_session_that_ended(tmp_path: Path) -> None:
    secret = token(tmp_path)
    headers = {"authorization": f"Bearer {secret}"}
    with starting(tmp_path) as start:
        server = start(**{"work.poll_seconds": 0.1})
        with httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS) as client:
            assert client.post("/api/v1/turns", json={**TURN, "session": "talk"}).status_code == 201
            assert client.post(f"{TALK}/sunset", json={}).status_code == 202
            wait_until(lambda: client.get(f"{TALK}/summary").status_code == 200)
            (summary,) = check(client.get("/api/v1/summaries"))["items"]
            assert (summary["session"], summary["trigger"], summary["last_seq"]) == ("talk", "sunset-event", 1)
            block = check(client.get("/readyz"))["summarization"]
            assert (block["primaryHolder"], block["triggerSource"]) == (
                f"{socket.gethostname()}:{server.process.pid}",
                "sunset-event",
            )
            assert (block["primaryFlag"], block["off"]) == ("auto", [])
            found = parsed(client.get("/metrics").text)
            counted = [found[f"afterglow_{name}"] for name in ("primary_held", "sessions")]
            assert counted == [{labelled(): 1}, {labelled(): 1}]
            assert check(client.get("/healthz"))["summarization"] == {"primaryFlag": "auto", "isPrimary": True}
            assert check(client.post(f"{TALK}/restore", json={}))["state"] == "open"
            assert check(client.post(f"{TALK}/clear", json={}))["closed_by"] == "cleared"
        assert (server.stop(), server.errors) == (0, "")
