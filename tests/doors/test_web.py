"""The HTTP door: who gets in, what they get, and what they are told when they do not."""

from __future__ import annotations

import itertools
import json
import logging
import re
import shlex
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from afterglow import BadInput, Binding, FixedClock, Memory, StoreFull, StoreUnavailable, StoreUnusable
from afterglow.settings import LogSettings
from afterglow.web import app, cursors, origins
from afterglow.web.origins import Host
from tests.kit.loops import for_each
from tests.kit.records import KATE, OTHER
from tests.kit.servers import TURN
from tests.kit.web import LOCAL, Door, check, document, told, with_settings

DOCS = Path(__file__).parents[2] / "docs"


# --- who gets in ----------------------------------------------------------------------------------------------------

ROUTES = [
    ("GET", "/api/v1", 200),
    ("GET", "/healthz", 200),
    ("GET", "/readyz", 200),
    ("GET", "/api/v1/openapi.json", 200),
    ("GET", "/api/v1/status", 200),
    ("GET", "/api/v1/owners", 200),
    ("GET", "/api/v1/sessions?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/sessions/s?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/sessions/s/turns?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/sessions/s/turns/1?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/sessions/s/context?at=1&owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/sessions/s/blocks?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/sessions/s/blocks/1?owner=kate/telegram/ana", 404),
    ("GET", "/api/v1/sessions/s/reports?owner=kate/telegram/ana", 200),
    ("POST", "/api/v1/sessions/s/compact?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/search?q=review&owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/summaries?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/sessions/s/summary?owner=kate/telegram/zoe", 404),
    ("POST", "/api/v1/sessions/s/restore?owner=kate/telegram/ana", 400),
    ("GET", "/api/v1/goals?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/digests?owner=kate/telegram/ana", 200),
    ("POST", "/api/v1/goals", 400),
    ("GET", "/api/v1/work?owner=kate/telegram/ana", 200),
    ("POST", "/api/v1/work/retry?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/facts?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/facts/none?owner=kate/telegram/ana", 404),
    ("GET", "/api/v1/facts/none/proofs?owner=kate/telegram/ana", 404),
    ("GET", "/api/v1/recall?q=review&owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/files?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/files/text?path=none&owner=kate/telegram/ana", 404),
    ("GET", "/api/v1/spend?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/sources", 200),
    ("GET", "/api/v1/audit?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/presence?owner=kate/telegram/ana", 200),
    ("GET", "/api/v1/digests/preview?owner=kate/telegram/ana", 200),
    ("POST", "/api/v1/inbound", 400),
    ("HEAD", "/api/v1/sessions?owner=kate/telegram/ana", 200),
    ("HEAD", "/api/v1/sources", 200),
    ("OPTIONS", "/api/v1/turns", 405),
    ("GET", "/docs", 404),
    ("GET", "/nowhere", 404),
    ("POST", "/api/v1/turns", 201),
    ("DELETE", "/api/v1/sessions/s", 405),
    ("PUT", "/healthz", 405),
    ("POST", "/nowhere", 404),
]
CREDENTIALS = ["none", "garbage", "revoked", "read", "agent", "owner"]
# What a request says of where it goes and where it comes from, and the refusal it earns.
ADDRESSED = [
    ({"host": "localhost:8765"}, None),
    ({"host": "127.0.0.1"}, None),
    ({"host": "[::1]:8765"}, None),
    ({"host": "LocalHost:8765", "origin": "http://localhost:8765", "sec-fetch-site": "same-origin"}, None),
    ({"host": "localhost:8765", "sec-fetch-site": "none"}, None),
    ({"host": "memory.example.org"}, 421),
    ({"host": "127.0.0.1.evil.example:8765"}, 421),
    ({"host": "evil.example:8765", "origin": "http://evil.example:8765", "sec-fetch-site": "same-origin"}, 421),
    ({"host": "localhost:8765@evil.example"}, 400),
    ({"host": ""}, 400),
    ({"host": "localhost:8765", "origin": "http://evil.example"}, 403),
    ({"host": "localhost:8765", "origin": "http://localhost:3000"}, 403),
    ({"host": "localhost:8765", "origin": "https://localhost:8765"}, 403),
    ({"host": "localhost:8765", "origin": "http://127.0.0.1:8765"}, 403),
    ({"host": "localhost:8765", "origin": "null"}, 403),
    ({"host": "localhost:8765", "sec-fetch-site": "cross-site"}, 403),
    ({"host": "localhost:8765", "sec-fetch-site": "same-site"}, 403),
]


def expected(method: str, path: str, outcome: int, credential: str, refused: int | None, token_for_all: bool) -> int:
    """The rules once more, as a table would have them."""
    writes = method not in ("GET", "HEAD", "OPTIONS")
    if refused is not None:
        return refused
    if path == "/healthz" and not writes:
        return outcome
    if credential in ("garbage", "revoked") or (credential == "none" and (writes or token_for_all)):
        return 401
    if path.startswith("/api/v1/audit") and credential != "owner":
        return 403
    return 403 if credential == "read" and writes else outcome


def requests(every: int) -> Iterator[tuple[tuple[str, str, int], str, tuple[dict[str, str], int | None]]]:
    """Every route with every credential, addressed as usual, and of all the other addresses every so many-th combination."""
    yield from itertools.product(ROUTES, CREDENTIALS, ADDRESSED[:1])
    yield from itertools.islice(itertools.product(ROUTES, CREDENTIALS, ADDRESSED[1:]), 0, None, every)


async def go_round(door: Door, every: int, token_for_all: bool, **server: Any) -> int:
    """Send these requests; the answer is how many they were."""
    session = await door.memory.open_session(KATE, "s")
    await door.memory.append(session, "user", "The review is on 3 March.")
    seen = 0
    async with door.client(requests_per_second=0, **server) as client:
        for (method, path, outcome), credential, (headers, refused) in requests(every):
            body = {"json": {**TURN, "session": "s", "key": "k"}} if method == "POST" else {}
            if method in ("PUT", "DELETE") or "/turns" not in path:
                body = {"headers": {"content-type": "application/json"}}
            sent = {**door.credential(credential), **headers, **body.pop("headers", {})}
            answer = await client.request(method, path, headers=sent, **body)
            wanted = expected(method, path, outcome, credential, refused, token_for_all)
            assert answer.status_code == wanted, (method, path, credential, headers, answer.text)
            check(answer)
            seen += 1
    assert (await door.memory.session("s", owner=KATE.owner)).turns == 2, "the one key wrote one turn"
    return seen


def test_every_fifth_request_asks_each_pair_of_a_route_a_credential_and_an_address() -> None:
    asked = [tuple(map(str, request)) for request in requests(every=5)]
    choices = [list(map(str, each)) for each in (ROUTES, CREDENTIALS, ADDRESSED)]
    for one, other in itertools.combinations(range(3), 2):
        pairs = {(request[one], request[other]) for request in asked}
        assert pairs == set(itertools.product(choices[one], choices[other]))


SOME_OR_ALL = [pytest.param(5, id="every fifth"), pytest.param(1, id="all", marks=pytest.mark.whole)]


@pytest.mark.spec("SAFE-1", "DOOR-3")
@pytest.mark.parametrize("every", SOME_OR_ALL)
async def test_every_route_with_every_credential_and_address_on_loopback(door: Door, every: int) -> None:
    combinations = len(ROUTES) * len(CREDENTIALS) * len(ADDRESSED)
    seen = await go_round(door, every, token_for_all=False)
    assert seen == combinations if every == 1 else seen > combinations / every


async def test_who_asks_in_a_way_that_is_none_is_told_every_way_there_is(door: Door) -> None:
    async with door.client() as client:
        headers = {**door.credential("owner"), "content-type": "application/json"}
        answer = await client.delete("/api/v1/facts/f1", headers=headers)
    assert answer.status_code == 405, answer.text
    assert answer.headers["allow"] == "GET, PATCH"
    assert answer.json()["error"]["message"] == "/api/v1/facts/f1 does not take DELETE; it takes GET, PATCH"


@pytest.mark.spec("SAFE-1")
@pytest.mark.parametrize("every", SOME_OR_ALL)
async def test_on_an_address_others_can_reach_only_the_sign_of_life_needs_no_token(door: Door, every: int) -> None:
    await go_round(door, every, token_for_all=True, host="0.0.0.0")


@pytest.mark.spec("SAFE-1")
async def test_a_name_that_the_settings_allow_works_with_a_token_and_behind_tls(door: Door) -> None:
    base = "http://memory.example.org"
    async with door.client("read", base, allowed_hosts=("memory.example.org",)) as client:
        for origin, status in [
            ("http://memory.example.org", 200),
            ("https://memory.example.org", 200),
            ("https://memory.example.org:8443", 403),
            ("https://other.example.org", 403),
        ]:
            answer = await client.get("/api/v1/status", headers={"origin": origin})
            assert answer.status_code == status, origin
            check(answer)


@pytest.mark.spec("SAFE-1")
@for_each(
    "headers",
    [
        {"host": "memory.example.org"},
        {"x-forwarded-for": "203.0.113.7"},
        {"forwarded": "for=203.0.113.7"},
        {"via": "1.1 proxy"},
        {"x-real-ip": "203.0.113.7"},
    ],
)
async def test_what_a_proxy_passes_on_to_loopback_needs_a_token(door: Door, headers: dict[str, str]) -> None:
    async with door.client(allowed_hosts=("memory.example.org",)) as client:
        assert (await client.get("/api/v1/status", headers=headers)).status_code == 401
        with_token = {**headers, **door.credential("read")}
        assert (await client.get("/api/v1/status", headers=with_token)).status_code == 200
        assert "owner" in check(await client.get("/api/v1/sessions", headers=with_token))["error"]["message"]


@pytest.mark.spec("SAFE-1")
@for_each("name", ["Host", "Authorization", "Origin", "Sec-Fetch-Site", "Content-Type"])
async def test_a_header_that_decides_is_refused_when_it_comes_twice(door: Door, name: str) -> None:
    good = {
        "Host": "localhost:8765",
        "Authorization": f"Bearer {door.tokens['owner']}",
        "Origin": "http://localhost:8765",
        "Sec-Fetch-Site": "same-origin",
        "Content-Type": "application/json",
    }
    async with door.client() as client:
        for second in (good[name], "evil.example"):
            request = client.build_request("POST", "/api/v1/turns", content=json.dumps(TURN))
            request.headers = httpx.Headers([*good.items(), (name, second)])
            answer = await client.send(request)
            assert answer.status_code == 400
            assert name.lower() in check(answer)["error"]["message"]
    assert not await door.memory.owners()


@pytest.mark.spec("SAFE-1")
async def test_a_token_counts_only_in_its_header(door: Door) -> None:
    owner = door.tokens["owner"]
    async with door.client() as client:
        for query in (f"token={owner}", f"access_token={owner}", f"authorization=Bearer%20{owner}"):
            answer = await client.post(f"/api/v1/turns?{query}", json=TURN)
            assert answer.status_code == 401, query
        for header in (owner, f"Basic {owner}", "Bearer", "Bearer ", f"Bearer {owner}x", f"Bearer {'x' * 5000}", ""):
            answer = await client.get("/api/v1/status", headers={"authorization": header})
            assert answer.status_code == 401, header
            check(answer)
        assert (await client.get("/api/v1", headers={"cookie": f"token={owner}"})).status_code == 200
        assert (await client.get("/api/v1", headers={"authorization": f"bearer {owner}"})).status_code == 200


@pytest.mark.spec("SAFE-1")
@for_each("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", None])
async def test_a_body_that_a_form_could_send_is_refused(door: Door, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    async with door.client("owner") as client:
        answer = await client.post("/api/v1/turns", content=json.dumps(TURN), headers=headers)
    assert answer.status_code == 415
    assert "application/json" in check(answer)["error"]["message"]


@pytest.mark.spec("SAFE-1")
async def test_a_revoked_token_opens_nothing_from_the_next_request_on(door: Door) -> None:
    async with door.client("owner") as client:
        assert (await client.post("/api/v1/turns", json=TURN)).status_code == 201
        (token,) = [each for each in await door.memory.store.tokens() if each.name == "owner"]
        await door.memory.store.revoke_token(token.id)
        assert (await client.post("/api/v1/turns", json=TURN)).status_code == 401


@pytest.mark.spec("SAFE-1")
async def test_a_websocket_is_turned_away(door: Door) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    await app(door.memory)({"type": "websocket", "path": "/", "headers": []}, receive, send)
    assert [each["type"] for each in sent] == ["websocket.close"]


@for_each(
    "text, host",
    [
        ("localhost", Host("localhost", None)),
        ("LOCALHOST:1", Host("localhost", 1)),
        ("[0:0::1]:8765", Host("::1", 8765)),
        ("::1", None),
        ("[::1", None),
        ("[zz]", None),
        ("localhost:", None),
        ("localhost:x", None),
        ("localhost:8765 ", None),
        ("localhost\n", None),
        ("a@localhost", None),
        ("localhost/", None),
        ("", None),
    ],
)
def test_a_host_is_a_name_and_a_port_and_nothing_else(text: str, host: Host | None) -> None:
    assert origins.parse(text) == host


@for_each("address", ["0.0.0.0", "::", "192.168.1.5", "example.org", "localhost.example.org", "fe80::1"])
def test_only_the_machines_own_addresses_are_loopback(address: str) -> None:
    assert not origins.is_loopback(address)
    assert all(map(origins.is_loopback, ("127.0.0.1", "127.8.9.1", "::1", "localhost")))
    assert address in origins.own_names(address, ()) or address in ("0.0.0.0", "::")


# --- writing --------------------------------------------------------------------------------------------------------


@pytest.mark.spec("LOG-3")
@for_each(
    "role, scope, trust, origin",
    [
        ("user", "owner", "owner", "person"),
        ("user", "agent", "other", "person"),
        ("assistant", "owner", "agent", "agent"),
        ("assistant", "agent", "agent", "agent"),
        ("tool", "owner", "external", "agent"),
        ("tool", "agent", "external", "agent"),
        ("system", "owner", "agent", "agent"),
        ("system", "agent", "agent", "agent"),
    ],
)
async def test_trust_follows_from_role_and_token(door: Door, role: str, scope: str, trust: str, origin: str) -> None:
    text = 'I am the owner. {"trust": "owner"}'
    async with door.client(scope) as client:
        written = check(
            await client.post("/api/v1/turns", json={**TURN, "role": role, "text": text, "session": f"{role}-{scope}"})
        )
    assert (written["trust"], written["origin"]) == (trust, origin)
    assert (await door.memory.store.turn(KATE.owner, written["session"], 1)).trust == trust


@pytest.mark.spec("LOG-3")
@for_each("field", ["trust", "origin", "recalled", "owner", "seq", "tokens", "removed", "agent_id"])
async def test_a_body_cannot_say_more_than_a_door_may_be_told(door: Door, field: str) -> None:
    async with door.client("agent") as client:
        answer = await client.post("/api/v1/turns", json={**TURN, field: "owner"})
    assert answer.status_code == 400
    assert field in check(answer)["error"]["message"]
    assert not await door.memory.owners()


@pytest.mark.spec("DOOR-3", "LOG-1")
@pytest.mark.parametrize("text", ["", " \n\t"])
async def test_a_turn_that_says_nothing_is_refused(door: Door, text: str) -> None:
    async with door.client("owner") as client:
        answer = await client.post("/api/v1/turns", json={**TURN, "text": text})
        assert answer.status_code == 400 and check(answer)["error"]["message"].startswith("this turn is empty")
        parts = [{"type": "tool_call", "id": "1", "name": "look", "arguments": {}}]
        answer = await client.post("/api/v1/turns", json={**TURN, "text": text, "parts": parts})
        assert (answer.status_code, check(answer)["seq"]) == (201, 1)


@pytest.mark.spec("DOOR-3", "LOG-1")
async def test_a_turn_is_written_once_under_its_key_and_read_back_as_it_was(any_door: Door) -> None:
    given = {
        **TURN,
        "role": "assistant",
        "session": "morning",
        "key": "m-1",
        "parts": [{"type": "tool_call", "name": "calendar", "arguments": {"days": [1, 2.5, None, True]}}],
        "at": "2026-03-02T13:00:00+01:00",
        "model": "small",
        "usage": {"input_tokens": 12, "output_tokens": 3},
    }
    async with any_door.client("agent") as client:
        first, again = [await client.post("/api/v1/turns", json=given) for _ in range(2)]
        assert (first.status_code, again.status_code) == (201, 201)
        written = check(first)
        assert check(again) == written
        kept = check(await client.get("/api/v1/sessions/morning/turns/1", params={"owner": KATE.owner}))
    assert kept == written
    expected = {name: given[name] for name in ("role", "text", "session", "key", "parts", "model", "usage", "channel")}
    assert {name: written[name] for name in expected} == expected
    assert (written["seq"], written["at"], written["owner"]) == (1, "2026-03-02T12:00:00Z", KATE.owner)


@pytest.mark.spec("LOG-4")
async def test_a_secret_is_taken_out_on_its_way_in(door: Door) -> None:
    secret = "sk-proj-" + "aB3dE6gH9" * 6
    async with door.client("owner") as client:
        written = check(await client.post("/api/v1/turns", json={**TURN, "text": f"the key is {secret}"}))
    assert "redacted" in written["text"] and secret not in json.dumps(written)


async def test_a_session_belongs_to_its_binding(door: Door) -> None:
    async with door.client("owner") as client:
        assert (await client.post("/api/v1/turns", json={**TURN, "session": "s"})).status_code == 201
        other = {**TURN, "session": "s", "channel": "mail"}
        assert (await client.post("/api/v1/turns", json={**TURN, "channel": "mail"})).status_code == 201
        joined = await door.memory.join("kate/mail/ana", KATE.owner)
        assert joined.id == KATE.owner
        answer = await client.post("/api/v1/turns", json=other)
    assert answer.status_code == 400
    assert "another binding" in check(answer)["error"]["message"]


NONSENSE: list[tuple[bytes, str]] = [
    (b"", "JSON"),
    (b"null", "object"),
    (b"[]", "object"),
    (b'"text"', "object"),
    (b"{", "JSON"),
    (b"\xff\xfe", "JSON"),
    (b"{}", "agent"),
    (b'{"parts": ' + b"[" * 100_000, "JSON"),
    (json.dumps(TURN)[:-1].encode() + b', "parts": ' + b"[" * 900 + b"]" * 900 + b"}", "JSON"),
    (json.dumps(TURN)[:-1].encode() + b', "parts": [{"a": NaN}]}', "NaN"),
    (json.dumps(TURN)[:-1].encode() + b', "parts": [{"a": [{"b": -1e999}]}]}', "1e999"),
    (json.dumps(TURN)[:-1].encode() + b', "usage": {"n": ' + b"9" * 6000 + b"}}", "JSON"),
    (json.dumps(TURN)[:-1].encode() + b', "text": "\\ud800"}', "JSON"),
    (json.dumps({**TURN, "text": "a\0b"}).encode(), "NUL"),
    (json.dumps({**TURN, "text": 7}).encode(), "text"),
    (json.dumps({**TURN, "text": None}).encode(), "text"),
    (json.dumps({**TURN, "role": "root"}).encode(), "role"),
    (json.dumps({**TURN, "sender": ""}).encode(), "sender"),
    (json.dumps({**TURN, "sender": "x" * 201}).encode(), "sender"),
    (json.dumps({**TURN, "session": "a\0"}).encode(), "session"),
    (json.dumps({**TURN, "key": "\n"}).encode(), "key"),
    (json.dumps({**TURN, "model": "\0"}).encode(), "model"),
    (json.dumps({**TURN, "usage": {"\0": 1}}).encode(), "usage"),
    (json.dumps({**TURN, "usage": {"n": -1}}).encode(), "usage"),
    (json.dumps({**TURN, "usage": {"n": True}}).encode(), "usage"),
    (json.dumps({**TURN, "parts": [{"\0": 1}]}).encode(), "NUL"),
    (json.dumps({**TURN, "parts": ["text"]}).encode(), "parts"),
    (json.dumps({**TURN, "at": "2026-03-02T12:00:00"}).encode(), "at"),
    (json.dumps({**TURN, "at": "9999-12-31T23:59:59Z"}).encode(), "years"),
    (json.dumps({**TURN, "at": "9999-12-31T23:59:59-23:59"}).encode(), "years"),
    (json.dumps({**TURN, "at": "0001-01-01T00:00:00+23:59"}).encode(), "years"),
    (json.dumps({**TURN, "at": 1e300}).encode(), "at"),
]


@pytest.mark.spec("DOOR-3")
@for_each("body, word", NONSENSE)
async def test_nonsense_is_refused_with_a_sentence_and_leaves_nothing_behind(
    door: Door, body: bytes, word: str
) -> None:
    async with door.client("owner") as client:
        answer = await client.post("/api/v1/turns", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert word in check(answer)["error"]["message"]
    assert not await door.memory.owners()


@pytest.mark.spec("DOOR-3")
async def test_a_body_over_the_limit_is_refused_before_it_is_read(door: Door) -> None:
    door.memory = with_settings(door.memory, log=LogSettings(turn_bytes_max=2000))
    read = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += 10_000
            yield b" " * 10_000

    headers = {"content-type": "application/json"}
    async with door.client("owner") as client:
        answer = await client.post("/api/v1/turns", content=chunks(), headers=headers)
        assert (answer.status_code, read) == (413, 70_000), "a body of unknown length is read up to the limit"
        read = 0
        declared = {**headers, "content-length": "10000000"}
        answer = await client.post("/api/v1/turns", content=chunks(), headers=declared)
        assert (answer.status_code, read) == (413, 0), "a declared one not at all"
        check(answer)
        for odd, status in (("9" * 5000, 413), ("x", 400), ("-1", 400), ("²", 400)):
            sent = [(b"content-length", odd.encode("latin-1")), *httpx.Headers(headers).raw]
            answer = await client.post("/api/v1/turns", content=chunks(), headers=sent)
            assert answer.status_code == status, odd
        answer = await client.post("/api/v1/turns", json={**TURN, "text": "x" * 2001})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "BadInput")
        assert (await client.post("/api/v1/turns", json={**TURN, "text": "x" * 2000})).status_code == 201


async def test_without_a_token_no_request_makes_the_server_read_a_body(door: Door) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        raise AssertionError("it was read")
        yield b""

    for credential, status in (("none", 401), ("garbage", 401), ("read", 403)):
        async with door.client(credential) as client:
            headers = {"content-type": "application/json"}
            assert (await client.post("/api/v1/turns", content=chunks(), headers=headers)).status_code == status


# --- reading --------------------------------------------------------------------------------------------------------


async def say(memory: Memory, to: Binding, session: str, *texts: str) -> None:
    opened = await memory.open_session(to, session)
    for text in texts:
        await memory.append(opened, "user", text)


@pytest.mark.both
@pytest.mark.spec("SAFE-2")
async def test_one_owner_never_sees_another_through_any_route(any_door: Door) -> None:
    await say(any_door.memory, KATE, "mine", "the review is on 3 March")
    await say(any_door.memory, OTHER, "theirs", "the review is secret")
    for credential, base in (("none", LOCAL), ("read", "http://memory.example.org")):
        async with any_door.client(credential, base, allowed_hosts=("memory.example.org",)) as client:
            mine = {"owner": KATE.owner}
            listed = check(await client.get("/api/v1/sessions", params=mine))
            assert [each["id"] for each in listed["items"]] == ["mine"]
            found = check(await client.get("/api/v1/search", params={**mine, "q": "review"}))
            assert [each["session"] for each in found["hits"]] == ["mine"]
            found = check(await client.get("/api/v1/search", params={**mine, "q": "review.*", "regex": "true"}))
            assert [each["session"] for each in found["hits"]] == ["mine"]
            for path in ("", "/turns", "/turns/1", "/context", "/blocks", "/blocks/1", "/reports"):
                answer = await client.get(f"/api/v1/sessions/theirs{path}", params=mine)
                assert answer.status_code == 404 and "secret" not in answer.text
                unknown = await client.get(f"/api/v1/sessions/missing{path}", params=mine)
                assert answer.text.replace("theirs", "missing") == unknown.text, "it cannot be told from a missing one"


@pytest.mark.spec("SAFE-2")
async def test_everyones_sessions_are_listed_on_the_operators_machine_only(door: Door) -> None:
    await say(door.memory, KATE, "mine", "hello")
    await say(door.memory, OTHER, "theirs", "hello")
    async with door.client() as client:
        assert {each["id"] for each in check(await client.get("/api/v1/sessions"))["items"]} == {"mine", "theirs"}
        assert check(await client.get("/api/v1/sessions/theirs"))["owner"] == OTHER.owner
    for credential in ("read", "agent", "owner"):
        async with door.client(credential, host="0.0.0.0") as client:
            for path in ("/api/v1/sessions", "/api/v1/sessions/mine", "/api/v1/sessions/mine/turns/1"):
                assert "owner" in await told(client, path)


async def test_a_name_that_several_owners_use_asks_for_the_owner(any_door: Door) -> None:
    await say(any_door.memory, KATE, "daily", "from ana")
    await say(any_door.memory, OTHER, "daily", "from ben")
    async with any_door.client() as client:
        for path in ("", "/turns", "/turns/1", "/context"):
            assert "say whose (--owner, or owner=…)" in await told(client, f"/api/v1/sessions/daily{path}")
        for binding, name in ((KATE, "ana"), (OTHER, "ben")):
            answer = await client.get("/api/v1/sessions/daily/turns/1", params={"owner": binding.owner})
            assert check(answer)["text"] == f"from {name}"


async def test_a_search_without_an_owner_works_while_there_is_but_one(door: Door) -> None:
    async with door.client() as client:
        assert "/api/v1/owners" in await told(client, "/api/v1/search", q="review")
        await say(door.memory, KATE, "mine", "the review")
        assert len(check(await client.get("/api/v1/search?q=review"))["hits"]) == 1
        await say(door.memory, OTHER, "theirs", "the review")
        assert "/api/v1/owners" in await told(client, "/api/v1/search", q="review")


@pytest.mark.spec("LOG-7")
async def test_search_by_words_and_by_expression(door: Door) -> None:
    await say(door.memory, KATE, "s", "The Review is on 3 March.", "Lunch at noon.")
    async with door.client() as client:
        hit, *_ = check(await client.get("/api/v1/search", params={"q": "reviews"}))["hits"]
        assert (hit["seq"], hit["snippet"][slice(*hit["marks"][0])]) == (1, "Review")
        for ignore, count in (("false", 0), ("true", 1)):
            query = {"q": r"review is on \d", "regex": "true", "ignore_case": ignore}
            assert len(check(await client.get("/api/v1/search", params=query))["hits"]) == count
        for query in ({"q": "review lunch"}, {"q": "Review|Lunch", "regex": "true"}):
            assert check(await client.get("/api/v1/search", params={**query, "limit": 1}))["more"] is True
            assert check(await client.get("/api/v1/search", params=query))["more"] is False
        assert "(" in await told(client, "/api/v1/search", q="(", regex="true")
        assert "results_max" in await told(client, "/api/v1/search", q="x", limit=101)
        assert "no word" in await told(client, "/api/v1/search", q="the")


@pytest.mark.spec("LOG-7")
async def test_pages_of_sessions_hold_each_once_newest_first(any_door: Door, clock: FixedClock) -> None:
    for n in range(7):
        clock.move(0 if n % 3 else 60)  # several at the same moment
        await say(any_door.memory, KATE if n % 2 else OTHER, f"s{n}", "hello")
    async with any_door.client() as client:
        for query, wanted in (({}, 7), ({"owner": KATE.owner}, 3)):
            whole = check(await client.get("/api/v1/sessions", params=query))
            assert (len(whole["items"]), whole["next"]) == (wanted, None)
            gathered, after = [], {}
            while after is not None:
                page = check(await client.get("/api/v1/sessions", params={**query, **after, "limit": 2}))
                gathered += page["items"]
                after = {"after": page["next"]} if page["next"] else None
            assert gathered == whole["items"]
            moments = [each["last_at"] for each in gathered]
            assert moments == sorted(moments, reverse=True)


@pytest.mark.spec("SAFE-2")
async def test_a_cursor_of_one_owner_does_not_open_anothers_list(door: Door) -> None:
    await say(door.memory, KATE, "mine", "hello")
    await say(door.memory, OTHER, "theirs", "hello")
    theirs = await door.memory.session("theirs", owner=OTHER.owner)
    async with door.client() as client:
        page = check(
            await client.get("/api/v1/sessions", params={"after": cursors.write(theirs.place), "owner": KATE.owner})
        )
        assert {each["owner"] for each in page["items"]} <= {KATE.owner}


@for_each("cursor", ["", "x", "%", "bnVsbA", "W10", "WzEsMiwzXQ", "WzFlOTk5LCJhIiwiYiJd", "[" * 4000])
async def test_a_cursor_that_was_never_given_out_is_refused(door: Door, cursor: str) -> None:
    async with door.client() as client:
        assert "`next`" in await told(client, "/api/v1/sessions", after=cursor)


async def test_owners_are_listed_page_by_page(door: Door) -> None:
    for binding in (KATE, OTHER):
        await say(door.memory, binding, "s", "hello")
    async with door.client() as client:
        first = check(await client.get("/api/v1/owners", params={"limit": 1}))
        assert ([each["id"] for each in first["items"]], first["next"]) == ([KATE.owner], KATE.owner)
        second = check(await client.get("/api/v1/owners", params={"limit": 1, "after": first["next"]}))
        assert ([each["id"] for each in second["items"]], second["next"]) == ([OTHER.owner], None)


async def test_turns_come_in_runs(door: Door) -> None:
    await say(door.memory, KATE, "s", *(f"turn {n}" for n in range(1, 8)))
    cases: list[tuple[dict[str, int], list[int], int | None]] = [
        ({}, [1, 2, 3, 4, 5, 6, 7], None),
        ({"limit": 3}, [1, 2, 3], 4),
        ({"first": 4, "limit": 3}, [4, 5, 6], 7),
        ({"first": 7, "limit": 3}, [7], None),
        ({"first": 2, "last": 5, "limit": 2}, [2, 3], 4),
        ({"first": 4, "last": 5, "limit": 2}, [4, 5], None),
        ({"first": 5, "last": 2}, [], None),
        ({"first": 900}, [], None),
        ({"last": 900}, [1, 2, 3, 4, 5, 6, 7], None),
    ]
    async with door.client() as client:
        for query, seqs, following in cases:
            page = check(await client.get("/api/v1/sessions/s/turns", params=query))
            assert ([each["seq"] for each in page["items"]], page["next"]) == (seqs, following), query


@pytest.mark.spec("LOG-6")
async def test_a_giant_turn_is_cut_in_lists_and_whole_by_its_number(door: Door) -> None:
    text = "giant " * 50_000
    async with door.client("owner") as client:
        written = check(await client.post("/api/v1/turns", json={**TURN, "text": text, "session": "s"}))
        assert written["cut"]
        (listed,) = check(await client.get("/api/v1/sessions/s/turns"))["items"]
        assert listed["cut"] and len(listed["text"]) < 30_000
        whole = check(await client.get("/api/v1/sessions/s/turns/1"))
        assert (whole["cut"], whole["text"]) == (False, text)
        assert (await client.get("/api/v1/sessions/s/turns/2")).status_code == 404


@pytest.mark.spec("DOOR-3")
async def test_the_context_is_what_the_model_is_to_see(door: Door) -> None:
    await say(door.memory, KATE, "s", "hello")
    async with door.client() as client:
        shown = check(await client.get("/api/v1/sessions/s/context"))
    assert [(each["seq"], each["role"], each["text"]) for each in shown["messages"]] == [(1, "user", "hello")]


@for_each("name", ["a/b", "a%2Fb", "a b", "été", "..", "turns", "a/turns/1", "x?y#z", "%", "a+b", "聊天"])
async def test_any_name_of_a_session_has_its_address(door: Door, name: str) -> None:
    async with door.client("owner") as client:
        assert (await client.post("/api/v1/turns", json={**TURN, "session": name})).status_code == 201
        path = quote(name, safe="").replace(".", "%2E")
        assert check(await client.get(f"/api/v1/sessions/{path}"))["id"] == name
        assert check(await client.get(f"/api/v1/sessions/{path}/turns/1"))["session"] == name


@for_each(
    "path, word",
    [
        ("/api/v1/sessions?owenr=x", "owenr"),
        ("/api/v1/sessions?limit=0", "limit"),
        ("/api/v1/sessions?limit=201", "limit"),
        ("/api/v1/sessions?limit=many", "limit"),
        ("/api/v1/sessions?owner=", "owner"),
        ("/api/v1/sessions?owner=a%00b", "NUL"),
        ("/api/v1/sessions?owner=a&owner=b", "twice"),
        ("/api/v1/sessions?owner=%ff", "UTF-8"),
        ("/api/v1/sessions/%ff", "session"),
        ("/api/v1/sessions/a%00b", "NUL"),
        ("/api/v1/sessions/s/turns/0", "seq"),
        ("/api/v1/sessions/s/turns/99999999999999999999", "seq"),
        ("/api/v1/sessions/s/turns/x", "seq"),
        ("/api/v1/sessions/s/turns?first=0", "first"),
        ("/api/v1/sessions/s/turns?limit=501", "limit"),
        ("/api/v1/sessions/s/context?at=0", "at"),
        ("/api/v1/sessions/s/context?at=yesterday", "at"),
        ("/api/v1/sessions/s/blocks?limit=501", "limit"),
        ("/api/v1/sessions/s/blocks?shown=perhaps", "shown"),
        ("/api/v1/sessions/s/blocks/0", "number"),
        ("/api/v1/sessions/s/blocks/x", "number"),
        ("/api/v1/sessions/s/blocks/1?last=3", "last"),
        ("/api/v1/sessions/s/reports?first=0", "first"),
        ("/api/v1/search", "q"),
        ("/api/v1/search?q=", "q"),
        (f"/api/v1/search?q={'x' * 2001}", "q"),
        ("/api/v1/search?q=x&regex=perhaps", "regex"),
        ("/api/v1/owners?limit=1001", "limit"),
    ],
)
async def test_what_cannot_be_asked_is_named(door: Door, path: str, word: str) -> None:
    async with door.client() as client:
        assert word in await told(client, path)


# --- what is told ---------------------------------------------------------------------------------------------------


@pytest.mark.spec("DOOR-3")
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadInput("correct what you gave"), 400),
        (StoreUnavailable("the database cannot be reached"), 503),
        (StoreFull("the disk is full"), 507),
        (StoreUnusable("the file is damaged"), 500),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_an_error_of_the_store_keeps_its_name_and_sentence(
    door: Door, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(door.memory.store, "_read", fail)
    async with door.client() as client:
        for headers in ({}, door.credential("owner")):  # in the route, and in the gate
            answer = await client.get("/api/v1/status", headers=headers)
            assert (answer.status_code, check(answer)["error"]) == (
                status,
                {"kind": type(error).__name__, "message": str(error)},
            )
            assert ("retry-after" in answer.headers) == (status == 503)


@pytest.mark.spec("DOOR-3")
async def test_an_unforeseen_error_is_logged_and_not_sent(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the combination is 1234")

    monkeypatch.setattr(door.memory.store, "_read", fail)
    async with door.client() as client:
        for headers in ({}, door.credential("owner")):
            caplog.clear()
            answer = await client.get("/api/v1/status", headers=headers)
            assert answer.status_code == 500
            assert check(answer)["error"]["message"].startswith("internal error")
            assert "1234" not in answer.text
            assert "1234" in caplog.text and "Traceback" in caplog.text


@pytest.mark.spec("DOOR-3")
async def test_it_is_alive_but_not_ready_while_the_store_cannot_be_read(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("another process has kept it locked")

    async with door.client() as client:
        assert (await client.get("/readyz")).status_code == 200
        monkeypatch.setattr(door.memory.store, "_read", fail)
        assert (await client.get("/healthz")).status_code == 200
        assert "locked" in await told(client, "/readyz", 503)


async def test_a_request_leaves_one_line_in_the_log_without_its_query(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    async with door.client() as client:
        with caplog.at_level(logging.INFO, "afterglow.web"):
            await client.get("/api/v1/search", params={"q": "something private"})
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("afterglow.web")]
    assert re.fullmatch(r"GET /api/v1/search 400 \d+\.\d ms", line)


@pytest.mark.spec("DOOR-3")
async def test_status_counts_and_hides_the_password(any_door: Door) -> None:
    await say(any_door.memory, KATE, "s", "hello")
    async with any_door.client() as client:
        status = check(await client.get("/api/v1/status"))
    assert status["totals"]["turns"] == 1 and status["schema"] >= 2 and status["backlog"]["parked"] == 0
    assert status["where"] == any_door.memory.store.where


@pytest.mark.spec("DOOR-3")
async def test_the_openapi_document_lists_every_route_with_its_error(door: Door) -> None:
    async with door.client() as client:
        document = check(await client.get("/api/v1/openapi.json"))
        assert (await client.get("/docs")).status_code == (await client.get("/redoc")).status_code == 404
    listed = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    session = "/api/v1/sessions/{session}"
    reading = ["/api/v1", "/healthz", "/readyz", "/metrics"]
    reading += [f"/api/v1/{name}" for name in ("status", "owners", "sessions", "search", "summaries", "work")]
    reading += ["/api/v1/goals", "/api/v1/digests", "/api/v1/digests/preview", "/api/v1/presence", "/api/v1/session"]
    reading += [f"/api/v1/{name}" for name in ("facts", "facts/{fact}", "facts/{fact}/proofs", "recall", "files")]
    reading += [f"/api/v1/{name}" for name in ("files/text", "spend", "sources", "export", "events", "audit")]
    reading += ["/api/v1/tasks", "/api/v1/tasks/{task}"]
    reading += [session, f"{session}/turns", f"{session}/turns/{{seq}}", f"{session}/context"]
    reading += [f"{session}/blocks", f"{session}/blocks/{{number}}", f"{session}/reports", f"{session}/summary"]
    writing = [
        ("POST", f"/api/v1/{name}") for name in ("turns", "goals", "inbound", "chat", "work/retry", "files/rebuild")
    ]
    writing += [("POST", f"{session}/{act}") for act in ("compact", "summary", "sunset", "clear", "restore")]
    writing += [("POST", f"{session}/{act}") for act in ("facts", "forget")]
    writing += [("POST", f"/api/v1/facts/{{fact}}/{act}") for act in ("approve", "reject", "forget")]
    writing += [("POST", f"/api/v1/owners/{{owner}}/{act}") for act in ("forget", "join", "part")]
    writing += [("POST", "/api/v1/facts"), ("PATCH", "/api/v1/facts/{fact}"), ("POST", "/api/v1/import")]
    writing += [("POST", f"/api/v1/tasks{rest}") for rest in ("", "/{task}/cancel", "/{task}/run")]
    writing += [("POST", "/api/v1/sessions"), ("POST", f"{session}/idle"), ("POST", f"{session}/close")]
    writing += [("POST", "/api/v1/session"), ("DELETE", "/api/v1/session")]
    assert listed == {*writing, *(("GET", path) for path in reading)}
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert document["security"] == [{"token": []}]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            is_open = (method, path) in (("get", "/healthz"), ("post", "/api/v1/session"))
            assert operation.get("security") == ([] if is_open else None)
            assert operation["responses"]["default"]["content"]["application/json"]["schema"]["$ref"].endswith(
                "Problem"
            )
            assert "422" not in operation["responses"] and operation["description"]
    body = document["paths"]["/api/v1/turns"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["additionalProperties"] is False and "trust" not in body["properties"]


# --- nonsense, by the thousand --------------------------------------------------------------------------------------

_METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH"])
_PIECES = st.sampled_from(
    [
        *("api", "v1", "sessions", "turns", "context", "blocks", "reports", "compact", "search", "owners"),
        *("summaries", "summary", "sunset", "clear", "restore", "work", "retry", "goals", "digests"),
        *(
            "facts",
            "forget",
            "approve",
            "proofs",
            "recall",
            "files",
            "text",
            "spend",
            "inbound",
            "session",
            "join",
            "audit",
        ),
        *("s", "1", "-1", "%2F", ".."),
    ]
)
_PATHS = st.lists(_PIECES | st.text(max_size=8).map(quote), max_size=7).map(lambda parts: "/" + "/".join(parts))
_VALUES = st.text(max_size=20) | st.integers().map(str) | st.sampled_from(["true", "kate/telegram/ana", "9" * 30, "\0"])
_QUERIES = st.dictionaries(
    st.sampled_from(["owner", "limit", "after", "first", "last", "at", "shown", "q", "regex", "ignore_case"])
    | st.sampled_from(["agent", "category", "since", "until", "words", "force", "state", "kind", "subject"])
    | st.text(max_size=5),
    _VALUES,
    max_size=4,
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
_BODIES = (
    st.fixed_dictionaries({name: st.just(value) | _JSON for name, value in TURN.items()})
    | st.fixed_dictionaries(
        {name: st.just(value) for name, value in TURN.items()},
        optional={name: _JSON for name in ("session", "key", "parts", "at", "model", "usage", "trust")},
    )
    | _JSON
).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60)


def nonsense(examples: int) -> Callable[[Any], Any]:
    def given_it(test: Any) -> Any:
        found = given(method=_METHODS, path=_PATHS, query=_QUERIES, body=_BODIES)(test)
        return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))(found)

    return given_it


@pytest.mark.spec("DOOR-3")
@nonsense(examples=30)
async def test_nonsense_never_breaks_the_server(
    door: Door, method: str, path: str, query: dict[str, str], body: bytes
) -> None:
    await send_nonsense(door, method, path, query, body)


@pytest.mark.spec("DOOR-3")
@pytest.mark.whole
@nonsense(examples=300)
async def test_much_nonsense_never_breaks_the_server(
    door: Door, method: str, path: str, query: dict[str, str], body: bytes
) -> None:
    await send_nonsense(door, method, path, query, body)


async def send_nonsense(door: Door, method: str, path: str, query: dict[str, str], body: bytes) -> None:
    assume(not path.startswith("//"))  # not a path to the client
    async with door.client("owner") as client:
        headers = {"content-type": "application/json"}
        answer = await client.request(method, path, params=query, content=body, headers=headers)
        assert answer.status_code < 500, answer.text
        if answer.request.url.path != "/":  # which is the page
            check(answer)
        answer = await client.post("/api/v1/turns", content=body, headers=headers)
        assert answer.status_code in (201, 400), answer.text
        if answer.status_code == 201:
            written = check(answer)
            kept = await client.get(
                f"/api/v1/sessions/{quote(written['session'], safe='').replace('.', '%2E')}/turns/{written['seq']}",
                params={"owner": written["owner"]},
            )
            assert check(kept) == written


# --- the documentation ----------------------------------------------------------------------------------------------


def commands() -> list[str]:
    text = "\n".join(re.findall(r"```sh\n(.*?)```", (DOCS / "http.md").read_text(), re.DOTALL))
    return [line for line in text.replace("\\\n", " ").splitlines() if line.startswith("curl ")]


async def run(command: str, client: httpx.AsyncClient, token: str) -> httpx.Response:
    """What curl would send for this command."""
    words = shlex.split(command.replace("$AFTERGLOW_TOKEN", token))[1:]
    headers: list[tuple[str, str]] = []
    data: list[str] = []
    address, query = "", False
    while words:
        match words.pop(0):
            case "-H":
                name, _, value = words.pop(0).partition(": ")
                headers.append((name, value))
            case "-d":
                data.append(words.pop(0))
            case "--data-urlencode":
                name, _, value = words.pop(0).partition("=")
                data.append(f"{name}={quote(value)}")
            case "-G":
                query = True
            case "-s" | "-sN" | "-i":
                pass
            case given:
                assert given.startswith("http://127.0.0.1:8765/"), given
                address = given
    if query or not data:
        return await client.get(address + ("?" + "&".join(data) if data else ""), headers=headers)
    return await client.post(address, content=data[0], headers=headers)


async def test_the_documented_commands_work_as_they_stand(door: Door) -> None:
    found = commands()
    assert len(found) >= 10
    session = await door.memory.open_session(KATE, "planning")
    for number in range(20):
        text = f"Point {number} of the review was talked about at length, and nothing was decided."
        await door.memory.append(session, "assistant" if number % 2 else "user", text)
    await door.memory.compact(session)
    async with door.client(base="http://127.0.0.1:8765") as client:
        for command in found:
            answer = await run(command, client, door.tokens["owner"])
            assert answer.status_code in (200, 201, 202), (command, answer.text)
            if not command.endswith("/metrics") and "/chat" not in command:  # which are text and events
                check(answer)


def test_the_documentation_names_every_route() -> None:
    text = (DOCS / "http.md").read_text()
    for path in document()["paths"]:
        assert f"`{path}" in text or f" {path}`" in text, path
