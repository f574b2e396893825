"""Hostile words through every input of the HTTP door: paths, queries, bodies and headers. Nothing comes alive or breaks."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import httpx
import pytest

from tests.doors.hostile import HOSTILE
from tests.kit.records import KATE, OTHER
from tests.kit.web import BODIES, JARGON, PROTECTION, SAMPLES, Door, Walk, document

pytestmark = pytest.mark.spec("DOOR-3", "SAFE-5")

INERT = {"application/json", "application/x-ndjson", "text/event-stream; charset=utf-8"}
OWN_HEADERS = {*PROTECTION, "content-type", "content-length", "location", "allow", "retry-after", "www-authenticate"}
Input = tuple[str, str, str, str]
"""A method at a path, and one of its inputs: where it stands, and its name."""


def inputs() -> Iterator[Input]:
    for path, methods in document()["paths"].items():
        for method, told in methods.items():
            for each in told.get("parameters", ()):
                yield method.upper(), path, each["in"], each["name"]
            body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            for name in body.get("properties", ()):
                yield method.upper(), path, "body", name
            if body:
                yield method.upper(), path, "header", "idempotency-key"


async def send(client: httpx.AsyncClient, given: Input, hostile: str, fact: str) -> httpx.Response:
    """A request that is right but for one input."""
    method, path, where, name = given
    values = {**SAMPLES, "fact": fact, "owner": KATE.owner}
    if where == "path":
        values[name] = hostile
    address = re.sub(r"\{(\w+)\}", lambda match: quote(str(values[match[1]]), safe="").replace(".", "%2E"), path)
    told = document()["paths"][path][method.lower()].get("parameters", ())
    query = {each["name"]: values[each["name"]] for each in told if each["in"] == "query" and each.get("required")}
    query |= {name: hostile} if where == "query" else {}
    body = {**BODIES.get((method, path), {}), **({name: hostile} if where == "body" else {})}
    headers = {"content-type": b"application/json"} | ({name: hostile.encode()} if where == "header" else {})
    return await client.request(
        method,
        f"{address}?{urlencode(query)}" if query else address,
        json=body if method != "GET" else None,
        headers=headers,
    )


def check(answer: httpx.Response, where: object) -> None:
    assert answer.status_code < 500, (where, answer.text[:500])
    assert answer.headers["content-type"] in INERT, (where, answer.headers)
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]
    assert set(answer.headers) <= OWN_HEADERS | {"x-accel-buffering"}, where
    assert all(value.isprintable() and value.isascii() for value in answer.headers.values()), where
    if answer.headers["content-type"] == "application/json":
        told = answer.json()
        if answer.status_code >= 400:
            assert not JARGON.search(told["error"]["message"]) and len(told["error"]["message"]) < 1_500, where


@pytest.mark.parametrize("every", [pytest.param(29, id="some"), pytest.param(1, id="all", marks=pytest.mark.whole)])
async def test_sixty_hostile_strings_in_every_input_of_every_route(walk: Walk, every: int) -> None:
    """Of all pairs of an input and a string the quick suite sends every 29th: each input and each string several times."""
    found = sorted(inputs(), key=lambda each: each[1].endswith("/forget"))  # what destroys comes last
    assert len(found) > 150
    async with walk.client("owner") as client:
        for given, hostile in itertools.islice(itertools.product(found, HOSTILE), 0, None, every):
            if given[:2] != ("GET", "/metrics"):
                check(await send(client, given, hostile, walk.facts[KATE.owner]), (*given, hostile[:50]))
    memory = walk.door.memory
    theirs = await memory.session("t", owner=OTHER.owner)
    assert theirs.turns == 24
    assert all("narwhal" in turn.text for turn in await memory.turns(theirs) if turn.role == "user")


async def test_what_was_kept_of_them_comes_back_word_for_word_as_json(door: Door) -> None:
    said = {"agent": "kate", "channel": "telegram", "sender": "ana", "role": "user", "session": "s"}
    async with door.client("owner") as client:
        for hostile in HOSTILE:
            answer = await client.post("/api/v1/turns", json={**said, "text": f"needle {hostile}"})
            assert answer.status_code == 201, answer.text
        for path in ("turns", "context", "blocks", "reports"):
            check(await client.get(f"/api/v1/sessions/s/{path}"), path)
        kept = (await client.get("/api/v1/sessions/s/turns")).json()["items"]
        lines = await client.get("/api/v1/export", params={"owner": KATE.owner})
        check(lines, "export")
    assert [turn["text"] for turn in kept] == [f"needle {hostile}" for hostile in HOSTILE]
    *records, nothing = lines.text.split("\n")
    assert nothing == "" and "\r" not in lines.text
    assert all(isinstance(json.loads(record), dict) for record in records), "one record a line"
