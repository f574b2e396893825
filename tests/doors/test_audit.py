"""SAFE-7 through the doors: the audit names each caller, and is shown to the owner it concerns."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import pytest

from afterglow import EVERYONE, Memory
from afterglow.acting import who
from tests.kit.command_line import Run, remember, session_of
from tests.kit.mcp_client import asked, call, client_of, post
from tests.kit.records import KATE, OTHER
from tests.kit.web import Door, browser, check, signed_in, told

pytestmark = pytest.mark.spec("SAFE-7")

CLEAR = f"/api/v1/sessions/s/clear?owner={KATE.owner}"
AUDIT = "/api/v1/audit"


async def newest(memory: Memory) -> tuple[str, str]:
    (line,) = await memory.audit(owner=EVERYONE, limit=1)
    return line.who, line.what


async def say(memory: Memory) -> None:
    await memory.append(await memory.open_session(KATE, "s"), "user", "The review is on 3 March.")


async def test_a_token_and_a_signed_in_page_are_named(any_door: Door) -> None:
    await say(any_door.memory)
    async with any_door.client("agent") as client:
        assert (await client.post(CLEAR, json={})).status_code == 200
    assert await newest(any_door.memory) == ("token:agent", "clear_session")
    async with browser(any_door) as client:
        await signed_in(any_door, client)
        assert await newest(any_door.memory) == ("http", "sign_in")
        restored = await client.post(f"/api/v1/sessions/s/restore?owner={KATE.owner}", json={})
        assert restored.status_code == 200, restored.text
    assert await newest(any_door.memory) == ("page:the page", "reopen_session")
    assert who() == "library", "each request is named by itself"


async def test_a_client_of_mcp_is_named(any_door: Door) -> None:
    await say(any_door.memory)
    async with any_door.client("bound") as client:
        assert (await post(client, call("sunset", session="s"))).status_code == 200
    assert await newest(any_door.memory) == ("mcp:bound", "request_sunset")
    async with client_of(any_door.memory) as client:
        await asked(client, "sunset", session="s")
    assert await newest(any_door.memory) == ("mcp:stdio", "request_sunset")


async def test_who_writes_turns_over_http_and_mcp_is_named(any_door: Door) -> None:
    await say(any_door.memory)
    turn = {"agent": "kate", "channel": "telegram", "sender": "ana", "role": "user", "text": "hello", "session": "s"}
    async with any_door.client("agent") as client:
        for _ in range(2):
            assert (await client.post("/api/v1/turns", json=turn)).status_code == 201
        assert (await post(client, call("add_turn", role="user", text="hello", session="s"))).status_code == 200
    told = [(line.who, line.what, line.about) for line in await any_door.memory.audit(owner=KATE.owner, limit=2)]
    assert told == [("mcp:agent", "append", {"first_seq": 4}), ("token:agent", "append", {"first_seq": 2})]


async def test_the_library_is_named_where_no_caller_is_known(any_door: Door) -> None:
    await any_door.memory.facts.add(KATE.owner, "Ana likes tea.")
    lines = await any_door.memory.audit(owner=KATE.owner, limit=1)
    assert [(line.who, line.what, list(line.about)) for line in lines] == [("library", "commit_facts", ["new"])]


async def test_over_http_it_comes_in_pages_to_owners_alone(any_door: Door) -> None:
    await say(any_door.memory)
    session = await any_door.memory.session("s", owner=KATE.owner)
    for _ in range(3):
        await any_door.memory.clear(session)
        await any_door.memory.restore(session)
    async with any_door.client() as client:
        for credential in ("none", "read", "agent"):
            client.headers = {**client.headers, **any_door.credential(credential)}
            assert "scope owner" in await told(client, AUDIT, 403, owner=KATE.owner)
    async with any_door.client("owner") as client:
        found, after = [], None
        while True:
            query = {"owner": KATE.owner, "limit": 4, **({"after": after} if after else {})}
            page = check(await client.get(AUDIT, params=query))
            found += page["items"]
            if (after := page["next"]) is None:
                break
        assert [each["what"] for each in found] == ["reopen_session", "clear_session"] * 3 + ["add_token"]
        assert len(check(await client.get(AUDIT))["items"]) == 13, "and with them those of everyone's tokens"
        assert check(await client.get(AUDIT, params={"since": "2190-01-01T00:00:00Z"}))["items"] == []
    async with any_door.client("bound") as client:
        assert {each["owner"] for each in check(await client.get(AUDIT))["items"]} == {KATE.owner}
        assert "another owner" in await told(client, AUDIT, 403, owner=OTHER.owner)


def test_on_the_command_line_it_names_who_typed_it(run: Run, filled: Path) -> None:
    session = session_of(run)
    run("sessions", "close", session)
    run("token", "create", "bot")
    items = json.loads(run("audit", "--json").stdout)["items"]
    me = f"cli:{getpass.getuser()}"
    assert [(each["who"], each["what"]) for each in items] == [
        (me, "add_token"),
        (me, "close_session"),
        (me, "add_token"),  # that of init
    ]
    assert (items[1]["owner"], items[1]["session"]) == (KATE.owner, session)
    own = json.loads(run("audit", "--json", "--owner", KATE.owner, "--limit", "1").stdout)
    assert [each["what"] for each in own["items"]] == ["close_session"]
    shown = run("audit")
    assert "close session" in shown.stdout and "add token" in shown.stdout and "everyone" in shown.stdout
    assert "--limit shows more" in run("audit", "--limit", "1").stderr
    assert "Nothing was changed since then." in run("audit", "--since", "2190-01-01T00:00").stderr
    run("audit", "--owner", "zoe/at/all", code=2)


def test_what_a_person_asks_for_is_done_in_their_name(run: Run, filled: Path) -> None:
    run("summarize", "--all")
    remember(filled, lambda memory: memory.facts.add(KATE.owner, "Ana likes tea."))
    items = json.loads(run("audit", "--json", "--limit", "2").stdout)["items"]
    assert [(each["who"], each["what"]) for each in items] == [
        ("library", "commit_facts"),
        (f"cli:{getpass.getuser()}", "commit_summary"),
    ]
