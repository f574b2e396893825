"""The page signs in by a link, once, and then by a cookie that no other page can use."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from afterglow import FixedClock
from afterglow.web.credentials import csrf_of
from afterglow.web.headers import PAGE_POLICY
from afterglow.web.signin import LINK_MINUTES, SESSION_DAYS, new_link
from tests.kit.records import KATE, OTHER
from tests.kit.servers import TURN
from tests.kit.web import LOCAL, Door, browser, check, signed_in

pytestmark = pytest.mark.spec("SAFE-1", "DOOR-5")


async def test_a_link_signs_a_browser_in_and_the_cookie_keeps_it_so(door: Door, clock: FixedClock) -> None:
    async with browser(door) as client:
        assert (await client.get("/api/v1/sessions")).status_code == 401
        told = await signed_in(door, client)
        assert (told["name"], told["scope"], told["owner"]) == ("the page", "owner", None)
        assert check(await client.get("/api/v1/session")) == told
        written = check(await client.post("/api/v1/turns", json=TURN))
        assert written["trust"] == "owner"
        assert check(await client.get("/api/v1/sessions"))["items"][0]["id"] == written["session"]
        clock.move(SESSION_DAYS * 86400)
        assert (await client.get("/api/v1/sessions")).status_code == 401, "it does not last for ever"


async def test_the_cookie_is_out_of_reach_of_scripts_and_of_other_sites(door: Door) -> None:
    link = await new_link(door.memory.store, LOCAL)
    assert link.startswith(f"{LOCAL}/#signin=ag_") and len(link) > 60
    async with browser(door) as client:
        answer = await client.post("/api/v1/session", json={"code": link.partition("=")[2]})
        (cookie,) = answer.headers.get_list("set-cookie")
        assert cookie.startswith("afterglow_8765=ag_")
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert {"httponly", "samesite=strict", "path=/api"} <= parts and "secure" not in parts
        assert not [part for part in parts if part.startswith("domain")]
        secret = client.cookies["afterglow_8765"]
        assert secret not in answer.text and csrf_of(secret) != secret
    (kept,) = await door.memory.store.tokens("session")
    assert secret not in repr(kept)


async def test_behind_tls_the_cookie_goes_over_nothing_else(door: Door) -> None:
    base = "http://memory.example.org"
    code = (await new_link(door.memory.store, base)).partition("=")[2]
    async with browser(door, base, allowed_hosts=("memory.example.org",)) as client:
        client.headers["origin"] = "https://memory.example.org"
        answer = await client.post("/api/v1/session", json={"code": code})
        assert answer.status_code == 201 and "Secure" in answer.headers["set-cookie"]


async def test_a_link_works_once_and_only_for_a_while(door: Door, clock: FixedClock) -> None:
    code = (await new_link(door.memory.store, LOCAL)).partition("=")[2]
    late = (await new_link(door.memory.store, LOCAL)).partition("=")[2]
    async with browser(door) as client:
        assert (await client.post("/api/v1/session", json={"code": code})).status_code == 201
        clock.move(LINK_MINUTES * 60)
        for wrong in (code, late, "ag_nothing", door.tokens["owner"]):
            answer = await client.post("/api/v1/session", json={"code": wrong})
            assert answer.status_code == 403 and "afterglow token link" in check(answer)["error"]["message"]
            assert "set-cookie" not in answer.headers
        for body in ({}, {"code": ""}, {"code": 7}, {"code": "x" * 201}, {"code": code, "scope": "owner"}, []):
            assert (await client.post("/api/v1/session", json=body)).status_code == 400
        assert (await client.post("/api/v1/session", content="code=x")).status_code == 415


@pytest.mark.parametrize(
    "changed",
    [
        {"x-afterglow-csrf": None},
        {"x-afterglow-csrf": "0" * 64},
        {"origin": None, "sec-fetch-site": None},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
async def test_a_write_by_cookie_that_the_page_did_not_send_is_refused(door: Door, changed: dict[str, Any]) -> None:
    async with browser(door) as client:
        await signed_in(door, client)
        for name, value in changed.items():
            if value is None:
                del client.headers[name]
            else:
                client.headers[name] = value
        for method, path in (("POST", "/api/v1/turns"), ("PATCH", "/api/v1/facts/x"), ("DELETE", "/api/v1/session")):
            answer = await client.request(method, path, json=TURN)
            assert answer.status_code == 403, answer.text
            check(answer)
    assert not await door.memory.owners()
    assert len([each for each in await door.memory.store.tokens("session") if each.revoked_at is None]) == 1


async def test_signing_out_and_revoking_end_it_at_once(door: Door) -> None:
    async with browser(door) as client:
        await signed_in(door, client)
        stolen = f"afterglow_8765={client.cookies['afterglow_8765']}"
        answer = await client.request("DELETE", "/api/v1/session", json={})
        assert answer.status_code == 200 and 'afterglow_8765=""' in answer.headers["set-cookie"]
        assert (await client.get("/api/v1/session")).status_code == 401
        assert (await client.get("/api/v1/session", headers={"cookie": stolen})).status_code == 401
        await signed_in(door, client, scope="read", owner=KATE.owner)
        (live,) = [each for each in await door.memory.store.tokens("session") if each.revoked_at is None]
        await door.memory.store.revoke_token(live.id)
        assert (await client.get("/api/v1/session")).status_code == 401


async def test_a_browser_may_be_let_in_to_read_one_owners_memory_alone(door: Door) -> None:
    for binding in (KATE, OTHER):
        await door.memory.append(binding, "user", f"hello from {binding.sender}")
    async with browser(door) as client:
        told = await signed_in(door, client, scope="read", owner=KATE.owner)
        assert (told["scope"], told["owner"]) == ("read", KATE.owner)
        assert {each["owner"] for each in check(await client.get("/api/v1/sessions"))["items"]} == {KATE.owner}
        assert [each["id"] for each in check(await client.get("/api/v1/owners"))["items"]] == [KATE.owner]
        assert (await client.get("/api/v1/sessions", params={"owner": OTHER.owner})).status_code == 403
        assert (await client.post("/api/v1/turns", json=TURN)).status_code == 403
        assert (await client.request("DELETE", "/api/v1/session", json={})).status_code == 200, "but may sign out"


async def test_what_is_joined_to_the_owner_is_the_owners_too(door: Door) -> None:
    for binding in (KATE, OTHER):
        await door.memory.append(binding, "user", f"hello from {binding.sender}")
    await door.memory.join(OTHER.owner, KATE.owner)
    async with door.client("other", open_locally=False) as client:
        assert {each["owner"] for each in check(await client.get("/api/v1/sessions"))["items"]} == {
            KATE.owner,
            OTHER.owner,
        }
        assert [each["id"] for each in check(await client.get("/api/v1/owners"))["items"]] == [KATE.owner]
        assert (await client.get("/api/v1/sessions", params={"owner": KATE.owner})).status_code == 200
        await door.memory.part(OTHER.owner)
        assert (await client.get("/api/v1/sessions", params={"owner": KATE.owner})).status_code == 403


async def test_a_cookie_is_no_token_and_a_token_no_cookie(door: Door) -> None:
    async with browser(door) as client:
        await signed_in(door, client)
        secret = client.cookies["afterglow_8765"]
    async with browser(door) as other:
        answer = await other.get("/api/v1/session", headers={"authorization": f"Bearer {secret}"})
        assert answer.status_code == 401
        other.cookies.set("afterglow_8765", door.tokens["owner"])
        assert (await other.get("/api/v1/session")).status_code == 401


async def test_no_program_on_the_machine_reads_without_a_token_unless_the_settings_say_so(door: Door) -> None:
    await door.memory.append(KATE, "user", "hello")
    async with door.client(open_locally=False) as client:
        assert (await client.get("/api/v1/sessions")).status_code == 401
        assert (await client.get("/healthz")).status_code == 200
    async with door.client(open_locally=True) as client:
        assert (await client.get("/api/v1/sessions")).status_code == 200
        assert (await client.get("/api/v1/session")).status_code == 401, "no browser is signed in all the same"


async def test_the_page_has_its_own_policy_and_everything_else_the_strictest(door: Door) -> None:
    async with door.client(open_locally=False) as client:
        for path in ("/", "/assets/nothing"):
            answer = await client.get(path)
            assert answer.headers.get_list("content-security-policy") == [PAGE_POLICY.decode()]
            assert len(answer.headers.get_list("cache-control")) == 1
        answer = await client.post("/", json={})
        assert answer.status_code == 401, "the page takes nothing"
        for path in ("/assets", "/asset", "/api/v1/session", "//", "/index.html"):
            answer = await client.get(httpx.URL(LOCAL).copy_with(raw_path=path.encode()))
            assert answer.headers["content-security-policy"].startswith("default-src 'none'; frame"), path
