"""The HTTP door in tests: a token of every sort, all routes, two owners' memories to knock at, and a browser."""

from __future__ import annotations

import copy
import functools
import re
import shutil
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from fastapi import FastAPI, routing

from afterglow import FixedClock, Memory, Settings
from afterglow.agent.tasks import Tasks
from afterglow.clock import new_token
from afterglow.inbound import Inbound
from afterglow.settings import SearchSettings, ServerSettings
from afterglow.settings.away import AwaySettings
from afterglow.store.contract import Store
from afterglow.store.sqlite import SQLiteStore
from afterglow.web import app
from afterglow.web.signin import new_link
from tests.kit.records import KATE, NOON, OTHER

LOCAL = "http://localhost:8765"
PROTECTION = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
OPEN: dict[str, Any] = {"open_locally": True}
"""Most tests ask from the machine itself, without a token."""
BOUND = {"bound": KATE, "other": OTHER}
"""Tokens of scope owner that are bound to one."""
JARGON = re.compile(r"Traceback|File \"|pydantic|sqlite3|psycopg|asyncio|OperationalError")
"""What no error says to a client."""
CANARIES = {KATE.owner: "quokka", OTHER.owner: "narwhal"}
"""A word that stands in all that is an owner's, and nowhere else."""
OPEN_TO_ALL = {("GET", "/healthz"), ("GET", "/"), ("POST", "/api/v1/session")}
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


# --- the door


@dataclass
class Door:
    """A memory behind its door, with a token of every sort."""

    memory: Memory
    tokens: dict[str, str]
    usual: Any = None
    """The application as it mostly is: making one takes longer than most of what is asked of it."""

    def client(
        self, credential: str = "none", base: str = LOCAL, beside: Any = None, **server: Any
    ) -> httpx.AsyncClient:
        memory = self.memory
        if server:
            memory = with_settings(memory, server=ServerSettings(**OPEN | server))
        else:
            memory.settings = memory.settings.model_copy(update={"server": ServerSettings(**OPEN)})
        if server or beside is not None:
            made = app(memory, beside)
        else:
            made = self.usual = self.usual or app(memory)
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(made), base_url=base, headers=self.credential(credential)
        )

    def credential(self, name: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[name]}"} if name in self.tokens else {}


def with_settings(memory: Memory, **changed: Any) -> Memory:
    return Memory(memory.store, memory.settings.model_copy(update=changed))


async def make_door(store: Store, folder: Path, clock: FixedClock) -> Door:
    tokens = {name: new_token(clock) for name in ("garbage", "revoked", "read", "agent", "owner", *BOUND)}
    for name in ("revoked", "read", "agent", "owner"):
        made = await store.add_token(name, "owner" if name == "revoked" else name, tokens[name])  # pyright: ignore
        if name == "revoked":
            await store.revoke_token(made.id)
    for name, binding in BOUND.items():
        await store.add_token(name, "owner", tokens[name], owner=binding.owner)
    return Door(Memory(store, Settings(data_dir=folder)), tokens)


def check(answer: httpx.Response) -> Any:
    """What holds for every answer, whatever was asked."""
    assert {name: answer.headers.get_list(name) for name in PROTECTION} == {k: [v] for k, v in PROTECTION.items()}
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert answer.headers["content-type"] == "application/json"
    if answer.request.method == "HEAD":
        assert not answer.content
        return None
    body = answer.json()
    if answer.status_code >= 400:
        assert list(body) == ["error"] and sorted(body["error"]) == ["kind", "message"]
        assert len(body["error"]["message"]) > 10 and "Traceback" not in answer.text
    if answer.status_code == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")
    return body


async def told(client: httpx.AsyncClient, path: str, status: int = 400, **query: Any) -> str:
    answer = await client.get(path, params=query or None)
    assert answer.status_code == status, answer.text
    return check(answer)["error"]["message"]


# --- the routes


@contextmanager
def routes_made_once() -> Iterator[None]:
    """Within it, what FastAPI works out of a route serves all applications: that takes longer than most requests do."""
    context: Any = routing._EffectiveRouteContext
    make, made = context.from_api_route, dict[Any, Any]()

    def once(*, original_route: Any, include_context: Any) -> Any:
        depends = tuple(each.dependency for each in include_context.dependencies)
        key = (id(original_route), include_context.prefix, depends)
        if key not in made:  # the route is kept with it, so that no other gets its id
            found = make(original_route=original_route, include_context=include_context)
            made[key] = (original_route, found)
        return made[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "from_api_route", once)
        yield


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
        """Whether it answers without a token; what it says is in every copy of the program."""
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


@functools.cache
def _without_memory() -> FastAPI:
    nothing: Any = SimpleNamespace(clock=FixedClock(NOON))
    return app(Memory(nothing, Settings()))


@functools.cache
def document() -> dict[str, Any]:
    """The description of the API for programs. Writing it takes a third of a second, so each process does it once."""
    return _without_memory().openapi()


@functools.cache
def every_route() -> tuple[Route, ...]:
    """All routes there are. What cannot be asked of a path is not asked of it."""
    described = document()["paths"]
    found: list[Route] = []
    for route in _each_route(_without_memory().routes):
        path: str = route.path
        for method in sorted((getattr(route, "methods", None) or {"GET"}) - {"HEAD"}):
            told = described.get(path.replace(":path", ""), {}).get(method.lower(), {})
            query = [each for each in told.get("parameters", ()) if each["in"] == "query"]
            required = tuple(each["name"] for each in query if each.get("required"))
            assert not (missing := [name for name in required if name not in SAMPLES]), f"give a sample of {missing}"
            takes = any(each["name"] == "owner" for each in query)
            found.append(Route(method, path, required, takes))
    return tuple(found)


def _each_route(given: Iterable[Any]) -> Iterator[Any]:
    """The routes given, and those of the routers that they include."""
    for route in given:
        inner = getattr(route, "original_router", None)
        yield from [route] if inner is None else _each_route(inner.routes)


# --- a memory of two owners


async def _fill(memory: Memory) -> dict[str, str]:
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


async def _nowhere(binding: Any, part: Any) -> None: ...


def _walked(memory: Memory) -> Memory:
    return with_settings(
        memory,
        server=ServerSettings(requests_per_second=0),
        away_summary=AwaySettings(enabled=True, threshold_hours=0),
        search=SearchSettings(embedder="none"),  # an embedder would write vectors when a token searches
    )


@dataclass
class Walk:
    """Two owners' memories behind the door, and a way to knock."""

    door: Door
    made: FastAPI
    facts: dict[str, str]

    def client(self, credential: str = "none") -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.made)
        return httpx.AsyncClient(transport=transport, base_url=LOCAL, headers=self.door.credential(credential))

    async def knock(
        self, route: Route, credential: str, owner: str | None, about: str, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        body = BODIES.get(route.key, {}) if route.writes else None
        if body and "sender" in body:
            body = {**body, "sender": about.rpartition("/")[2]}
        if body and "owner" in body:
            body = {**body, "owner": about}
        address = route.address(self.facts[about], owner)
        if "/owners/{owner}" in route.path:
            address = route.address(self.facts[about], about)
        async with self.client(credential) as client:
            return await client.request(route.method, address, json=body, headers=headers)


@dataclass(frozen=True)
class TwoOwners:
    """The data folder of a memory that two owners filled, with a token of every sort. Each walk has a copy of it."""

    folder: Path
    clock: FixedClock
    tokens: dict[str, str]
    facts: dict[str, str]

    @classmethod
    async def make(cls, folder: Path) -> TwoOwners:
        clock = FixedClock(NOON)
        store = await SQLiteStore.open(folder / "afterglow.db", clock)
        door = await make_door(store, folder, clock)
        facts = await _fill(_walked(door.memory))
        await store.close()
        return cls(folder, clock, door.tokens, facts)

    @asynccontextmanager
    async def walk(self, folder: Path) -> AsyncIterator[Walk]:
        shutil.copytree(self.folder, folder)
        store = await SQLiteStore.open(folder / "afterglow.db", copy.deepcopy(self.clock))
        try:
            memory = _walked(Memory(store, Settings(data_dir=folder)))
            made = app(memory)
            made.state.streams.stopping.set()  # a stream of events ends when it has begun
            yield Walk(Door(memory, self.tokens), made, self.facts)
        finally:
            await store.close()


# --- a browser


def browser(door: Door, base: str = LOCAL, **server: Any) -> httpx.AsyncClient:
    """It keeps cookies, and has no token."""
    memory = with_settings(door.memory, server=ServerSettings(**server))
    own = {"origin": base, "sec-fetch-site": "same-origin"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app(memory)), base_url=base, headers=own)


async def signed_in(door: Door, client: httpx.AsyncClient, **link: Any) -> dict[str, Any]:
    code = (await new_link(door.memory.store, LOCAL, **link)).partition("#signin=")[2]
    answer = await client.post("/api/v1/session", json={"code": code})
    assert answer.status_code == 201, answer.text
    told = check(answer)
    client.headers["x-afterglow-csrf"] = told["csrf"]
    return told
