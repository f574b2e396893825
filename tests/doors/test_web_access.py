"""Every route with every credential: what is not allowed is refused, changes nothing and tells nothing of another owner.

The routes are those of the application itself, so that a new one cannot be forgotten: it is walked here from the day it is
there, or the test says which sample value it lacks.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from afterglow.settings import ServerSettings
from afterglow.store.contract import Store
from afterglow.web import app
from tests.kit.promises import dump
from tests.kit.records import KATE, OTHER
from tests.kit.web import BODIES, CANARIES, LOCAL, Door, Route, TwoOwners, Walk, every_route, with_settings

OPERATORS = {
    *(("GET", path) for path in ("/readyz", "/metrics", "/api/v1/sources")),
    *(("POST", f"/api/v1/owners/{{owner}}/{act}") for act in ("join", "part")),
    ("POST", "/api/v1/import"),
}
"""About more than one owner: closed to every token that is bound to one."""
OWNERS_ONLY = re.compile(
    r"/(approve|reject|forget|join|part|chat|import|cancel|run)$|^/api/v1/(facts(/\{fact\})?|tasks)$"
)
"""What no agent may do, where it is a write."""
HOSTILE = [
    ({"host": "evil.example:8765"}, 421),
    ({"host": "127.0.0.1.evil.example:8765"}, 421),
    ({"host": "localhost:8765@evil.example"}, 400),
    ({"host": ""}, 400),
    ({"origin": "http://evil.example"}, 403),
    ({"origin": "http://localhost:3000"}, 403),
    ({"origin": "https://localhost:8765"}, 403),
    ({"origin": "null"}, 403),
    ({"sec-fetch-site": "cross-site"}, 403),
    ({"sec-fetch-site": "same-site"}, 403),
]


def check_silent(answer: httpx.Response, owner: str, where: object) -> None:
    """Nothing of this owner is in the answer, and nothing broke."""
    assert answer.status_code < 500, (where, answer.text)
    told = answer.text + " ".join(answer.headers.values())
    assert CANARIES[owner] not in told and owner not in told, (where, told[:2000])


async def things(walk: Walk) -> dict[str, list[str]]:
    """All rows but those of access tokens, which note their last use."""
    store: Store = walk.door.memory.store
    return {table: rows for table, rows in (await dump(store)).items() if table != "access_tokens"}


@pytest.mark.spec("SAFE-1", "SAFE-2", "DOOR-3")
async def test_who_may_not_come_in_learns_nothing_and_changes_nothing(walk: Walk) -> None:
    before = await things(walk)
    knocked = 0
    for route in every_route():
        for credential in ("none", "garbage", "revoked"):
            for owner in (None, KATE.owner):
                answer = await walk.knock(route, credential, owner, KATE.owner)
                wanted = (200, 403, 404) if route.is_open else (401,)
                assert answer.status_code in wanted, (route, credential, answer.status_code, answer.text)
                for each in CANARIES:
                    check_silent(answer, each, (route, credential))
                knocked += 1
    assert knocked >= 250
    assert await things(walk) == before


@pytest.mark.spec("SAFE-1", "DOOR-3")
async def test_no_route_answers_to_a_hostile_host_or_page_whatever_is_shown(walk: Walk) -> None:
    before = await things(walk)
    for route in every_route():
        for headers, status in HOSTILE:
            for credential in ("none", "owner", "bound"):
                answer = await walk.knock(route, credential, None, KATE.owner, headers)
                assert answer.status_code == status, (route, credential, headers, answer.text)
                for each in CANARIES:
                    check_silent(answer, each, (route, credential, headers))
    assert await things(walk) == before


@pytest.mark.spec("SAFE-1", "SAFE-2")
async def test_who_is_bound_to_an_owner_is_refused_everything_of_another(walk: Walk) -> None:
    before = await things(walk)
    for route in every_route():
        if route.path in ("/mcp", "/api/v1/session", "/api/v1/openapi.json") or route.is_open:
            continue
        for owner in (None, KATE.owner) if route.takes_owner else (None,):
            if route.writes and owner is None and route.takes_owner and "{" not in route.path:
                continue  # that is about its own things
            answer = await walk.knock(route, "other", owner, KATE.owner)
            where = (route, owner, answer.status_code)
            if owner is not None or (route.writes and not re.search(r"\{(session|fact|task)\}", route.path)):
                assert answer.status_code == 403, (*where, answer.text)
            check_silent(answer, KATE.owner, where)
    assert await things(walk) == before


@pytest.mark.spec("SAFE-2", "DOOR-3")
async def test_a_free_token_that_names_one_owner_gets_that_owners_things_alone(walk: Walk) -> None:
    """As the page and other clients that serve many owners ask: each list and search is narrowed by the address alone."""
    asked = 0
    for route in every_route():
        if route.writes or not route.takes_owner:
            continue
        for mine, other in ((KATE.owner, OTHER.owner), (OTHER.owner, KATE.owner)):
            answer = await walk.knock(route, "owner", mine, mine)
            told = answer.text.replace("quokka narwhal", "")  # the words that are searched for
            assert answer.status_code < 500, (route, answer.text)
            assert CANARIES[other] not in told and other not in told, (route, mine, told[:2000])
            asked += answer.status_code == 200
    assert asked >= 30, "most of them are there"


@pytest.mark.spec("SAFE-1")
async def test_who_may_only_read_writes_nowhere_and_an_agent_decides_nothing(walk: Walk) -> None:
    before = await things(walk)
    for route in every_route():
        if not route.writes or route.path in ("/mcp", "/api/v1/session"):
            continue
        answer = await walk.knock(route, "read", KATE.owner, KATE.owner)
        assert answer.status_code == 403, (route, answer.text)
        if OWNERS_ONLY.search(route.path):
            answer = await walk.knock(route, "agent", KATE.owner, KATE.owner)
            assert answer.status_code == 403, (route, answer.text)
    assert await things(walk) == before


async def _endless() -> AsyncIterator[bytes]:
    for _ in range(5_000):
        yield b" " * 64 * 1024


@pytest.mark.spec("DOOR-3", "SAFE-1")
async def test_no_route_reads_a_body_without_end(door: Door, subtests: pytest.Subtests) -> None:
    memory = with_settings(
        door.memory,
        server=ServerSettings(requests_per_second=0),
        log=door.memory.settings.log.model_copy(update={"turn_bytes_max": 1_000_000}),
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app(memory)), base_url=LOCAL) as client:
        for credential in ("none", "read", "agent", "owner", "bound"):
            headers = {"content-type": "application/json", **door.credential(credential)}
            taken = set[int]()
            for route in every_route():
                if not route.writes:
                    continue
                sent: dict[str, Any] = {"content": _endless(), "headers": headers}
                with subtests.test(credential=credential, route=f"{route.method} {route.path}"):
                    answer = await client.request(route.method, route.address("f", None), **sent)
                    taken.add(answer.status_code)
                    wanted = (413,) if credential == "owner" else (401, 403, 413)
                    assert answer.status_code in wanted, answer.text
            assert taken == {"none": {401, 413}, "owner": {413}}.get(credential, {403, 413}), credential


@pytest.mark.spec("DOOR-3")
async def test_no_route_passes_over_a_parameter_that_it_does_not_know(walk: Walk) -> None:
    async with walk.client("owner") as client:
        for route in every_route():
            if route.path == "/" or route.path.startswith("/assets/") or route.path == "/api/v1/openapi.json":
                continue
            address = route.address(walk.facts[KATE.owner], KATE.owner)
            address += ("&" if "?" in address else "?") + "junk=1"
            body = BODIES.get(route.key, {}) if route.writes else None
            answer = await client.request(route.method, address, json=body)
            if route.path == "/mcp":
                assert "junk" in answer.json()["error"]["message"]
            else:
                assert answer.status_code == 400 and "junk" in answer.json()["error"]["message"], (route, answer.text)
        answer = await client.post("/api/v1/facts?owner=x", json={})
        assert "as its field owner" in answer.json()["error"]["message"]


@pytest.mark.spec("SAFE-2", "DOOR-3")
async def test_who_is_bound_to_an_owner_gets_that_owners_things_alone(
    two_owners: TwoOwners, walk: Walk, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """What reads shares one memory; each write has a copy of its own, or a forgotten session would hide what comes after."""
    for number, route in enumerate(every_route()):
        if route.path in ("/mcp", "/api/v1/openapi.json"):
            continue
        with subtests.test(route=f"{route.method} {route.path}"):
            if not route.writes:
                await one_owners_things_alone(walk, route)
                continue
            async with two_owners.walk(tmp_path / f"write-{number}") as own:
                await one_owners_things_alone(own, route)


async def one_owners_things_alone(walk: Walk, route: Route) -> None:
    answer = await walk.knock(route, "bound", None, KATE.owner)
    check_silent(answer, OTHER.owner, route)
    if route.key in OPERATORS:
        assert answer.status_code == 403, answer.text
    elif route.path == "/api/v1/session":
        assert answer.status_code in (200, 400, 403)
    else:
        assert answer.status_code not in (401, 403), answer.text
    theirs = await walk.door.memory.session("t", owner=OTHER.owner)
    assert theirs.turns == 24, "another's things stay as they are"
