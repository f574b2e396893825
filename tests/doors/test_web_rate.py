"""How often a client may ask: past the limit it is refused with 429 and told when to come again, and then it may."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import httpx
import pytest

from afterglow.settings import ServerSettings
from afterglow.web.rate import BURST_SECONDS, NAMES_MAX, Buckets
from tests.kit.mcp_client import call, post
from tests.kit.records import KATE
from tests.kit.web import Door, browser, check, signed_in

pytestmark = pytest.mark.spec("SAFE-1", "DOOR-5")
SESSIONS = "/api/v1/sessions"


@dataclass
class Now:
    """What time it is for the limit, in seconds."""

    seconds: float = 1000.0

    def move(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
async def now(monkeypatch: pytest.MonkeyPatch) -> Now:
    """A fixed clock in place of that of the loop, by which requests are counted."""
    fixed = Now()
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: fixed.seconds)
    return fixed


async def statuses(client: httpx.AsyncClient, count: int) -> list[int]:
    return [(await client.get(SESSIONS)).status_code for _ in range(count)]


async def retry_after(client: httpx.AsyncClient, path: str = SESSIONS) -> int:
    """In how many seconds a refused client may ask again, as it is told."""
    answer = await client.get(path)
    assert (answer.status_code, check(answer)["error"]["kind"]) == (429, "TooManyRequests"), answer.text
    assert "server.requests_per_second" in check(answer)["error"]["message"]
    return int(answer.headers["retry-after"])


async def test_past_the_limit_requests_are_refused_until_the_time_that_was_told_is_over(door: Door, now: Now) -> None:
    async with door.client("read", requests_per_second=0.25) as client:
        assert await statuses(client, 1) == [200]
        assert await retry_after(client) == 4
        now.move(3)
        assert await retry_after(client) == 1
        now.move(1)
        assert await statuses(client, 2) == [200, 429], "one request came in, and no more"
        now.move(3600)
        assert await statuses(client, 2) == [200, 429], "a bucket holds no more than it did at first"


async def test_a_refused_request_changes_nothing_and_a_repeated_one_is_done_once(door: Door, now: Now) -> None:
    turn = {"agent": "kate", "channel": "telegram", "sender": "ana", "role": "user", "text": "hello", "session": "s"}
    async with door.client("owner", requests_per_second=1) as client:
        sent = [(await client.post("/api/v1/turns", json={**turn, "key": f"k-{n}"})).status_code for n in range(4)]
        assert sent == [201, 201, 429, 429]
        assert (await door.memory.session("s", owner=KATE.owner)).turns == 2
        now.move(2)
        sent = [(await client.post("/api/v1/turns", json={**turn, "key": f"k-{n}"})).status_code for n in (2, 3)]
        assert sent == [201, 201]
    assert (await door.memory.session("s", owner=KATE.owner)).turns == 4


async def test_without_a_setting_there_is_a_limit_all_the_same(door: Door, now: Now) -> None:
    most = int(ServerSettings().requests_per_second * BURST_SECONDS)
    assert most == 1000
    async with door.client("read") as client:
        for _ in range(most):
            assert (await client.get("/api/v1")).status_code == 200
        assert await retry_after(client) == 1
        now.move(1)
        assert await statuses(client, 1) == [200]


async def test_each_token_and_each_address_is_counted_by_itself(door: Door, now: Now) -> None:
    async with door.client("read", requests_per_second=0.5) as client:
        assert await statuses(client, 2) == [200, 429]
        assert (await client.get("/healthz")).status_code == 200, "a look whether it lives is never counted"
        other = await client.get(SESSIONS, headers=door.credential("agent"))
        assert other.status_code == 200, "another token is counted by itself"
        for wanted in (401, 429, 429):
            answer = await client.get(SESSIONS, headers=door.credential("garbage"))
            assert answer.status_code == wanted, "what shows no valid token is counted by its address"
        now.move(2)
        assert (await client.get(SESSIONS, headers=door.credential("garbage"))).status_code == 401


async def test_guesses_at_a_link_and_calls_over_mcp_are_counted_too(door: Door, now: Now) -> None:
    async with door.client(requests_per_second=1) as client:
        guesses = [(await client.post("/api/v1/session", json={"code": "ag_x"})).status_code for _ in range(3)]
        assert guesses == [403, 403, 429]
        headers = door.credential("bound")
        calls = [(await post(client, call("health"), **headers)).status_code for _ in range(3)]
        assert calls == [200, 200, 429]
        now.move(1)
        assert (await post(client, call("health"), **headers)).status_code == 200


async def test_a_browser_is_counted_by_its_cookie(door: Door, now: Now) -> None:
    async with browser(door, requests_per_second=1) as client:
        await signed_in(door, client)
        assert await statuses(client, 3) == [200, 200, 429]
        now.move(1)
        assert await statuses(client, 2) == [200, 429]


async def test_zero_is_no_limit(door: Door, now: Now) -> None:
    async with door.client("read", requests_per_second=0) as client:
        assert set(await statuses(client, 50)) == {200}


# --- the buckets


def test_a_bucket_holds_twice_what_comes_in_in_a_second_and_fills_again() -> None:
    buckets = Buckets(10)
    assert [buckets.take("a", 0.0) for _ in range(20)] == [0.0] * 20
    assert buckets.take("a", 0.0) == pytest.approx(0.1)
    assert buckets.take("b", 0.0) == 0.0, "another has a bucket of its own"
    assert buckets.take("a", 0.1) == 0.0 and buckets.take("a", 0.1) > 0
    assert [buckets.take("a", 1000.0) for _ in range(20)] == [0.0] * 20 and buckets.take("a", 1000.0) > 0
    assert buckets.take("a", 0.0) > 0, "a clock that was set back gives nothing"
    assert not any(Buckets(0).take("a", 0.0) for _ in range(1000))


def test_the_buckets_do_not_grow_with_who_asks() -> None:
    buckets = Buckets(1)
    for n in range(NAMES_MAX + 500):
        buckets.take(f"address {n}", 0.0)
    assert len(buckets._left) == NAMES_MAX
