"""Every route with every credential: what is not allowed is refused, changes nothing and tells nothing of another owner.

The routes are those of the application itself, so that a new one cannot be forgotten: it is walked here from the day it is
there, or the test says which sample value it lacks.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from fastapi import FastAPI

from afterglow import Binding, Memory
from afterglow.agent.tasks import Tasks
from afterglow.inbound import Inbound
from afterglow.settings import SearchSettings, ServerSettings
from afterglow.settings.away import AwaySettings
from afterglow.store.contract import Store
from afterglow.web import app
from tests.doors.conftest import LOCAL, Door, with_settings
from tests.faults.promises import dump
from tests.kit.records import KATE, OTHER

CANARIES = {KATE.owner: "quokka", OTHER.owner: "narwhal"}
OPEN_TO_ALL = {("GET", "/healthz"), ("GET", "/"), ("POST", "/api/v1/session")}
OPERATORS = {
    *(("GET", path) for path in ("/readyz", "/metrics", "/api/v1/sources")),
    *(("POST", f"/api/v1/owners/{{owner}}/{act}") for act in ("join", "part")),
    ("POST", "/api/v1/import"),
}
"""About more than one owner: closed to whoever is bound to one."""
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
SAMPLES: dict[str, Any] = {
    "session": "s",
    "task": "look",
    "seq": 1,
    "number": 1,
    "q": "quokka narwhal",
    "path": "facts/index.json",
    "to": OTHER.owner,
    "version": "v",
    "name": "page.js",
    "fact": "",  # filled in by the walk, like the next
    "owner": "",
}
_SAID = {"agent": "kate", "channel": "telegram", "sender": "ana"}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/api/v1/turns"): {**_SAID, "role": "user", "text": "hello", "session": "s"},
    ("POST", "/api/v1/goals"): {**_SAID, "goal": "g", "outcome": "done"},
    ("POST", "/api/v1/inbound"): {**_SAID, "id": "m-9"},
    ("POST", "/api/v1/facts"): {"content": "Ana likes tea.", "owner": KATE.owner},
    ("PATCH", "/api/v1/facts/{fact}"): {"content": "Ana likes green tea."},
    ("POST", "/api/v1/sessions"): {**_SAID, "session": "s"},
    ("POST", "/api/v1/tasks"): {"prompt": "Look at the sky.", "cron": "0 7 * * *", "owner": KATE.owner},
    ("POST", "/api/v1/chat"): {"text": "hello", "owner": KATE.owner},
    ("POST", "/api/v1/session"): {"code": "ag_wrong"},
    ("POST", "/mcp"): {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
}


@dataclass(frozen=True)
class Route:
    """A method at a path, as the application knows it."""

    method: str
    path: str
    parameters: tuple[str, ...]
    """Those of the query that must be given."""
    takes_owner: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.method, self.path

    @property
    def is_open(self) -> bool:
        """To everybody; what it says is in every copy of the program."""
        return self.key in OPEN_TO_ALL or self.path.startswith("/assets/")

    @property
    def writes(self) -> bool:
        return self.method not in ("GET", "HEAD")

    def address(self, fact: str, owner: str | None) -> str:
        """Where to send it, about this owner's things."""
        values = {**SAMPLES, "fact": fact, "owner": owner or KATE.owner}
        path = re.sub(r"\{(\w+)(?::path)?\}", lambda match: quote(str(values[match[1]]), safe=""), self.path)
        query = {name: values[name] for name in self.parameters}
        if owner is not None and self.takes_owner:
            query["owner"] = owner
        return f"{path}?{urlencode(query)}" if query else path


def routes(door: FastAPI) -> list[Route]:
    """All routes there are. What cannot be asked of a path is not asked of it."""
    described = door.openapi()["paths"]
    found: list[Route] = []
    for route in each_route(door.routes):
        path: str = route.path
        for method in sorted((getattr(route, "methods", None) or {"GET"}) - {"HEAD"}):
            told = described.get(path.replace(":path", ""), {}).get(method.lower(), {})
            query = [each for each in told.get("parameters", ()) if each["in"] == "query"]
            required = tuple(each["name"] for each in query if each.get("required"))
            assert not (missing := [name for name in required if name not in SAMPLES]), f"give a sample of {missing}"
            takes = any(each["name"] == "owner" for each in query)
            found.append(Route(method, path, required, takes))
    return found


def each_route(given: Iterable[Any]) -> Iterator[Any]:
    """Those of included routers too."""
    for route in given:
        inner = getattr(route, "original_router", None)
        yield from [route] if inner is None else each_route(inner.routes)


def every_route() -> list[Route]:
    """The routes, without a memory behind them."""
    from afterglow import Settings

    return routes(app(Memory(None, Settings())))  # type: ignore[arg-type]


def ids(route: Route) -> str:
    return f"{route.method} {route.path}"


async def fill(memory: Memory) -> dict[str, str]:
    """The same of everything for two owners, each with a word of its own; the answer is a fact of each."""
    facts: dict[str, str] = {}
    for binding in (KATE, OTHER):
        word = CANARIES[binding.owner]
        session = await memory.open_session(binding, "s" if binding is KATE else "t")
        for n in range(24):
            text = f"Point {n} about the {word} of {word}s was talked about at length, and nothing was decided."
            await memory.append(session, "assistant" if n % 2 else "user", text, key=f"{word}-{n}")
        await memory.compact(session)
        await memory.summarize(await memory.session(session.id, owner=binding.owner))
        facts[binding.owner] = (await memory.facts.add(binding.owner, f"The {word} is blue.")).id
        await memory.record_goal(binding, f"feed-{word}", "completed", step="1", title=f"Feed the {word}")
        await Tasks(memory).create(
            f"Look at the {word}.", cron="0 7 * * *", to=binding, id="look" if binding is KATE else "gaze"
        )
        await memory.on_inbound(Inbound(binding=binding, id=word), deliver=_nowhere)
        await memory.record_goal(binding, f"feed-{word}", "failed", step="2", title=f"Feed the {word}")
    return facts


async def _nowhere(binding: Binding, part: Any) -> None: ...


@dataclass
class Walk:
    """Two owners' memories behind the door, and a way to knock."""

    door: Door
    made: FastAPI
    facts: dict[str, str]

    async def knock(
        self, route: Route, credential: str, owner: str | None, about: str, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        body = BODIES.get(route.key, {}) if route.writes else None
        if body and "sender" in body:
            body = {**body, "sender": about.rpartition("/")[2]}
        if body and "owner" in body:
            body = {**body, "owner": about}
        sent = {**self.door.credential(credential), **(headers or {})}
        address = route.address(self.facts[about], owner)
        if "/owners/{owner}" in route.path:
            address = route.address(self.facts[about], about)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self.made), base_url=LOCAL) as client:
            return await client.request(route.method, address, json=body, headers=sent)


async def walking(door: Door, **server: Any) -> Walk:
    memory = with_settings(
        door.memory,
        server=ServerSettings(requests_per_second=0, **server),
        away_summary=AwaySettings(enabled=True, threshold_hours=0),
        search=SearchSettings(embedder="none"),  # which would write vectors for who searches
    )
    facts = await fill(memory)
    made = app(memory)
    made.state.streams.stopping.set()  # a stream of events ends when it has begun
    return Walk(door, made, facts)


def check_silent(answer: httpx.Response, owner: str, where: object) -> None:
    """Nothing of this owner is in the answer, and nothing broke."""
    assert answer.status_code < 500, (where, answer.text)
    told = answer.text + " ".join(answer.headers.values())
    assert CANARIES[owner] not in told and owner not in told, (where, told[:2000])


async def things(store: Store) -> dict[str, list[str]]:
    """All rows but those of who came in."""
    return {table: rows for table, rows in (await dump(store)).items() if table != "access_tokens"}


@pytest.mark.spec("SAFE-1", "SAFE-2", "DOOR-3")
async def test_who_may_not_come_in_learns_nothing_and_changes_nothing(door: Door) -> None:
    walk = await walking(door)
    before = await things(door.memory.store)
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
    assert await things(door.memory.store) == before


@pytest.mark.spec("SAFE-1", "DOOR-3")
async def test_no_route_answers_to_a_hostile_host_or_page_whatever_is_shown(door: Door) -> None:
    walk = await walking(door)
    before = await things(door.memory.store)
    for route in every_route():
        for headers, status in HOSTILE:
            for credential in ("none", "owner", "bound"):
                answer = await walk.knock(route, credential, None, KATE.owner, headers)
                assert answer.status_code == status, (route, credential, headers, answer.text)
                for each in CANARIES:
                    check_silent(answer, each, (route, credential, headers))
    assert await things(door.memory.store) == before


@pytest.mark.spec("SAFE-1", "SAFE-2")
async def test_who_is_bound_to_an_owner_is_refused_everything_of_another(door: Door) -> None:
    walk = await walking(door)
    before = await things(door.memory.store)
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
    assert await things(door.memory.store) == before


@pytest.mark.spec("SAFE-1")
async def test_who_may_only_read_writes_nowhere_and_an_agent_decides_nothing(door: Door) -> None:
    walk = await walking(door)
    before = await things(door.memory.store)
    for route in every_route():
        if not route.writes or route.path in ("/mcp", "/api/v1/session"):
            continue
        answer = await walk.knock(route, "read", KATE.owner, KATE.owner)
        assert answer.status_code == 403, (route, answer.text)
        if OWNERS_ONLY.search(route.path):
            answer = await walk.knock(route, "agent", KATE.owner, KATE.owner)
            assert answer.status_code == 403, (route, answer.text)
    assert await things(door.memory.store) == before


async def _endless() -> AsyncIterator[bytes]:
    for _ in range(5_000):
        yield b" " * 64 * 1024


@pytest.mark.spec("DOOR-3", "SAFE-1")
@pytest.mark.parametrize("credential", ["none", "read", "agent", "owner", "bound"])
async def test_no_route_reads_a_body_without_end(door: Door, credential: str) -> None:
    memory = with_settings(
        door.memory,
        server=ServerSettings(requests_per_second=0),
        log=door.memory.settings.log.model_copy(update={"turn_bytes_max": 1_000_000}),
    )
    headers = {"content-type": "application/json", **door.credential(credential)}
    taken = set[int]()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app(memory)), base_url=LOCAL) as client:
        for route in every_route():
            if not route.writes:
                continue
            answer = await client.request(route.method, route.address("f", None), content=_endless(), headers=headers)
            assert answer.status_code in ((413,) if credential == "owner" else (401, 403, 413)), (route, answer.text)
            taken.add(answer.status_code)
    assert taken == {"none": {401, 413}, "owner": {413}, "bound": {403, 413}}.get(credential, {403, 413})


@pytest.mark.spec("DOOR-3")
async def test_no_route_passes_over_a_parameter_that_it_does_not_know(door: Door) -> None:
    walk = await walking(door)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(walk.made), base_url=LOCAL) as client:
        for route in every_route():
            if route.path == "/" or route.path.startswith("/assets/") or route.path == "/api/v1/openapi.json":
                continue
            address = route.address(walk.facts[KATE.owner], KATE.owner)
            address += ("&" if "?" in address else "?") + "junk=1"
            body = BODIES.get(route.key, {}) if route.writes else None
            answer = await client.request(route.method, address, json=body, headers=door.credential("owner"))
            if route.path == "/mcp":
                assert "junk" in answer.json()["error"]["message"]
            else:
                assert answer.status_code == 400 and "junk" in answer.json()["error"]["message"], (route, answer.text)
        answer = await client.post("/api/v1/facts?owner=x", json={}, headers=door.credential("owner"))
        assert "as its field owner" in answer.json()["error"]["message"]


def of_one_owner() -> list[Route]:
    return [route for route in every_route() if route.path not in ("/mcp", "/api/v1/openapi.json")]


@pytest.mark.spec("SAFE-2", "DOOR-3")
@pytest.mark.parametrize("route", of_one_owner(), ids=ids)
async def test_who_is_bound_to_an_owner_gets_that_owners_things_alone(door: Door, route: Route) -> None:
    walk = await walking(door)
    answer = await walk.knock(route, "bound", None, KATE.owner)
    check_silent(answer, OTHER.owner, route)
    if route.key in OPERATORS:
        assert answer.status_code == 403, answer.text
    elif route.path == "/api/v1/session":
        assert answer.status_code in (200, 400, 403)
    else:
        assert answer.status_code not in (401, 403), answer.text
    theirs = await door.memory.session("t", owner=OTHER.owner)
    assert theirs.turns == 24, "another's things stay as they are"
