"""MCP over streamable HTTP: behind the same gate as everything else, for the owner of the token alone."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from afterglow.mcp_server import http
from tests.doors.hostile import HOSTILE
from tests.kit.loops import for_each
from tests.kit.mcp_client import ACCEPT, PATH, READING, WRITING, asked, call, message, post, text_of
from tests.kit.records import KATE, OTHER
from tests.kit.servers import Server, Start, add_token
from tests.kit.web import Door

pytestmark = pytest.mark.spec("DOOR-4")


@pytest.mark.spec("SAFE-2")
async def test_a_token_for_one_owner_hears_nothing_of_the_fleet(door: Door) -> None:
    turn = await door.memory.append(OTHER, "user", "something of another owner")
    await door.memory.sunset(await door.memory.session(turn.session, owner=OTHER.owner))
    async with door.client() as client:
        bound = (await post(client, call("health"), **door.credential("bound"))).json()["result"]["structuredContent"]
        free = (await post(client, call("health"), **door.credential("read"))).json()["result"]["structuredContent"]
    assert free["summarization"]["queueDepth"] == 1 and free["summarization"]["off"]
    block = bound["summarization"]
    assert (block["queueDepth"], block["off"], block["primaryHolder"], block["oldestDueAt"]) == (0, [], None, None)


# --- who gets in

ADDRESSED = [
    ({"host": "localhost:8765"}, None),
    ({"host": "[::1]:8765", "origin": "http://[::1]:8765"}, None),
    ({"host": "evil.example"}, 421),
    ({"host": "localhost:8765", "origin": "http://evil.example"}, 403),
    ({"host": "localhost:8765", "origin": "null"}, 403),
    ({"host": "localhost:8765", "sec-fetch-site": "cross-site"}, 403),
    ({"host": "localhost:8765", "content-type": "text/plain"}, 415),
]
CREDENTIALS = {"none": 401, "garbage": 401, "revoked": 401, "read": 200, "agent": 200, "owner": 200, "bound": 200}


@pytest.mark.spec("SAFE-1")
async def test_it_stands_behind_the_gate_with_every_credential_and_address(door: Door) -> None:
    async with door.client(open_locally=True) as client:
        for (credential, status), (headers, refused) in itertools.product(CREDENTIALS.items(), ADDRESSED):
            answer = await post(client, message(), **{**door.credential(credential), **headers})
            wanted = refused if refused in (421, 403) or (refused and status == 200) else status
            assert answer.status_code == wanted, (credential, headers, answer.text)
            assert ("result" in answer.json()) == (wanted == 200)


@pytest.mark.spec("SAFE-1")
@for_each("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_nothing_but_a_post_is_taken(door: Door, method: str) -> None:
    async with door.client("owner") as client:
        answer = await client.request(method, "/mcp", headers=ACCEPT)
        assert answer.status_code == 405 and answer.json()["error"]["message"]


@pytest.mark.spec("SAFE-1")
async def test_a_token_that_may_only_read_gets_the_tools_that_read(door: Door) -> None:
    await door.memory.append(KATE, "user", "hello", session="s")
    async with door.client("read") as client:
        tools = (await post(client, message())).json()["result"]["tools"]
        assert {tool["name"] for tool in tools} == READING
        for body in (call("add_turn", role="user", text="x"), call("sunset")):
            answer = await post(client, body)
            assert answer.json()["result"]["isError"] and "the token may only read" in text_of(answer)
        assert "hello" in text_of(await post(client, call("context", session="s")))
    assert (await door.memory.session("s", owner=KATE.owner)).turns == 1


@pytest.mark.spec("SAFE-1", "SAFE-3")
@pytest.mark.parametrize("credential", ["read", "agent"])
async def test_who_is_not_the_owner_forgets_nothing_and_is_not_offered_it(door: Door, credential: str) -> None:
    await door.memory.append(KATE, "user", "hello", session="s")
    fact = await door.memory.facts.add(KATE.owner, "Ana likes tea.")
    async with door.client(credential) as client:
        tools = (await post(client, message())).json()["result"]["tools"]
        assert "forget" not in {tool["name"] for tool in tools}
        for given in ({"fact": fact.id}, {"session": "s", "first": 1}, {"session": "s", "whole_session": True}):
            answer = await post(client, call("forget", **given))
            assert answer.json()["result"]["isError"] and "it needs a token of scope owner" in text_of(answer)
    assert (await door.memory.session("s", owner=KATE.owner)).turns == 1
    assert (await door.memory.facts.show(KATE.owner, fact.id)).status == "active"


@pytest.mark.spec("SAFE-3")
@pytest.mark.parametrize("credential", ["owner", "bound"])
async def test_a_token_of_the_owner_is_offered_forgetting_and_does_it(door: Door, credential: str) -> None:
    await door.memory.append(KATE, "user", "hello", session="s")
    async with door.client(credential) as client:
        tools = (await post(client, message())).json()["result"]["tools"]
        assert {tool["name"] for tool in tools} == READING | WRITING
        assert "1 turns" in text_of(await post(client, call("forget", session="s", first=1)))


@pytest.mark.spec("FACT-10")
@pytest.mark.parametrize("credential", ["agent", "owner", "bound"])
async def test_not_even_an_owners_token_speaks_as_the_owner_here(door: Door, credential: str) -> None:
    async with door.client(credential) as client:
        await post(client, call("add_turn", role="user", text="I am the owner.", session="s"))
    (turn,) = await door.memory.turns(await door.memory.session("s", owner=KATE.owner))
    assert turn.trust == "other"


# --- whose memory


@pytest.mark.spec("SAFE-2")
async def test_a_bound_token_opens_its_own_memory_whatever_the_address_says(door: Door) -> None:
    await door.memory.append(KATE, "user", "mine", session="s")
    await door.memory.append(OTHER, "user", "theirs", session="s")
    async with door.client("bound") as client:
        assert "mine" in text_of(await post(client, call("context"), "/mcp"))
        assert "mine" in text_of(await post(client, call("context"), PATH))
        other = f"/mcp?owner={quote(OTHER.owner, safe='')}"
        for body in (call("context"), call("add_turn", role="user", text="x"), call("forget", session="s", first=1)):
            answer = await post(client, body, other)
            assert answer.json()["result"]["isError"] and "does not open this memory" in text_of(answer)
            assert "theirs" not in answer.text
        for body in (message(), message("resources/list"), message("prompts/get", name="recap")):
            error = (await post(client, body, other)).json()["error"]
            assert "does not open this memory" in error["message"]
    assert (await door.memory.session("s", owner=OTHER.owner)).turns == 1


@pytest.mark.spec("SAFE-2")
async def test_what_is_joined_to_the_owner_of_a_token_is_open_to_it(door: Door) -> None:
    await door.memory.append(KATE, "user", "mine", session="a")
    await door.memory.append(OTHER, "user", "joined", session="b")
    await door.memory.join(OTHER.owner, KATE.owner)
    async with door.client("bound") as client:
        other = f"/mcp?owner={quote(OTHER.owner, safe='')}"
        assert "joined" in text_of(await post(client, call("context", session="b"), other))
        await door.memory.part(OTHER.owner)
        assert "does not open" in text_of(await post(client, call("context", session="b"), other))


async def test_without_an_owner_it_is_the_only_one_and_with_several_it_asks(door: Door) -> None:
    async with door.client("agent") as client:
        await door.memory.append(KATE, "user", "mine", session="s")
        assert "mine" in text_of(await post(client, call("context"), "/mcp"))
        await door.memory.append(OTHER, "user", "theirs", session="s")
        said = text_of(await post(client, call("context"), "/mcp"))
        assert "several owners" in said and "/mcp?owner=kate/telegram/ana" in said
        assert "theirs" in text_of(await post(client, call("context"), f"/mcp?owner={OTHER.owner}"))
        assert "agent/channel/sender" in text_of(await post(client, call("context"), "/mcp?owner=ana"))


# --- what is sent


@for_each(
    "body, status",
    [
        (b"", 400),
        (b"{", 400),
        (b"null", 400),
        (b"[]", 400),
        (b"[" * 200_000, 400),
        (b'{"jsonrpc":"2.0","id":1}', 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}', 200),
        (b'{"jsonrpc":"2.0","id":1,"method":"nope"}', 200),
        (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', 202),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"\xff"}}', 400),
        (b"x" * (http.BODY_BYTES_MAX + 1), 413),
    ],
)
async def test_what_is_no_message_is_refused_without_a_trace(door: Door, body: bytes, status: int) -> None:
    async with door.client("agent") as client:
        answer = await client.post(PATH, content=body, headers=ACCEPT)
        assert answer.status_code == status, answer.text
        assert "Traceback" not in answer.text and "result" not in answer.text and "pydantic" not in answer.text


async def test_half_of_a_surrogate_pair_gets_a_sentence(door: Door) -> None:
    async with door.client("agent") as client:
        body = json.dumps(call("add_turn", role="user", text="\ud800", session="\udfff"))
        answer = await client.post(PATH, content=body.encode(), headers=ACCEPT)
        assert answer.status_code in (200, 400) and "Traceback" not in answer.text
    assert not await door.memory.sessions(owner=KATE.owner)


async def test_sixty_hostile_strings_come_back_as_json(door: Door) -> None:
    async with door.client("agent") as client:
        for hostile in HOSTILE:
            for body in (
                call("add_turn", role="user", text=hostile, session="s"),
                call("memory_search", query=hostile),
            ):
                answer = await post(client, body)
                assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    assert (await door.memory.session("s", owner=KATE.owner)).turns == len(HOSTILE)


async def test_requests_leave_no_tasks_behind(door: Door) -> None:
    async with door.client("agent") as client:
        await post(client, call("health"))
        before = len(asyncio.all_tasks())
        answers = await asyncio.gather(*(post(client, call("health")) for _ in range(20)))
        assert {answer.status_code for answer in answers} == {200}
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) <= before


async def test_without_the_package_the_rest_goes_on_and_the_answer_says_what_is_missing(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    from afterglow.errors import MissingPackage

    def missing(name: str) -> None:
        raise MissingPackage(
            "the MCP door needs the package mcp; install it with: pip install '.[mcp]' in Afterglow's folder"
        )

    monkeypatch.setattr(http, "import_module", missing)
    async with door.client("agent") as client:
        answer = await post(client, message())
        assert answer.status_code == 500 and "[mcp]" in answer.json()["error"]["message"]
        assert (await client.get("/readyz")).status_code == 200


# --- a real server


@asynccontextmanager
async def reached(server: Server, secret: str, query: str = "") -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http_client:
        async with Client(streamable_http_client(f"{server.url}/mcp{query}", http_client=http_client)) as client:
            yield client


async def test_the_official_client_uses_a_real_server(start: Start, tmp_path: Path) -> None:
    server = start()
    mine, theirs = await add_token(tmp_path, owner=KATE.owner), await add_token(tmp_path, owner=OTHER.owner)

    async def say(secret: str, name: str) -> None:
        async with reached(server, secret) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == READING | WRITING
            for number in range(10):
                await asked(client, "add_turn", role="user", text=f"{name} {number} window", session="s")
            found = await asked(client, "memory_search", query="window", limit=50)
            assert f"{name} 9" in found and found.count(" window") == 10
            assert (await client.list_resources()).resources and (await client.get_prompt("handover")).messages

    await asyncio.gather(say(mine, "ana"), say(theirs, "ben"))
    assert server.stop(signal.SIGTERM) == 0
    assert server.errors == ""


@pytest.mark.whole
async def test_a_client_of_the_handshake_era_is_served_too(start: Start, tmp_path: Path) -> None:
    server = start()
    secret = await add_token(tmp_path, owner=KATE.owner)
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {secret}"}) as http_client:
        transport = streamable_http_client(f"{server.url}/mcp", http_client=http_client)
        async with Client(transport, mode="legacy") as client:
            await asked(client, "add_turn", role="user", text="hello", session="s")
            assert "hello" in await asked(client, "context", session="s")
