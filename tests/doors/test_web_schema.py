"""schemathesis on the OpenAPI document: whatever fits it, and whatever does not, is answered as the document says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error

from afterglow import FixedClock
from afterglow.settings import SearchSettings, ServerSettings
from afterglow.store.sqlite import SQLiteStore
from afterglow.web import app
from tests.kit.records import KATE, NOON
from tests.kit.web import LOCAL, Door, document, make_door, with_settings

load_all_checks()
NAMED = ("content_type_conformance", "response_schema_conformance", "status_code_conformance")
CHECKS = [not_a_server_error, *schemathesis.checks.CHECKS.get_by_names(NAMED)]


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    """What an import is sent as."""
    return str(value).encode(errors="replace")


async def send(made: FastAPI, case: Case, token: dict[str, str]) -> httpx.Response:
    """The request as schemathesis wants it, by a token that may do all."""
    wanted: dict[str, Any] = case.as_transport_kwargs(base_url=LOCAL)
    headers = {name.lower(): value.encode("latin-1", "replace") for name, value in wanted["headers"].items()} | token
    body = {name: wanted[name] for name in ("json", "data", "content") if name in wanted}
    body["content"] = body.pop("data", body.get("content"))
    if "json" in body or isinstance(body["content"], dict):
        body = {"json": body.get("json", body["content"])}
    headers.setdefault("content-type", "application/json")
    query = httpx.QueryParams(wanted["params"] or {})
    assume(len(str(query)) < 60_000)  # more is not sent by this client
    async with httpx.AsyncClient(transport=httpx.ASGITransport(made), base_url=LOCAL) as client:
        return await client.request(wanted["method"], wanted["url"], params=query, headers=headers, **body)


@dataclass
class Served:
    """An application on a loop of its own: examples are drawn outside of it."""

    runner: asyncio.Runner
    door: Door
    made: FastAPI

    def send(self, case: Case) -> httpx.Response:
        return self.runner.run(send(self.made, case, self.door.credential("owner")))


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """An application over one session of one turn."""

    async def serve() -> Served:
        clock = FixedClock(NOON)
        store = await SQLiteStore.open(folder / "afterglow.db", clock)
        door = await make_door(store, folder, clock)
        memory = with_settings(
            door.memory, server=ServerSettings(requests_per_second=0), search=SearchSettings(embedder="none")
        )
        await memory.append(KATE, "user", "The review is on 3 March.", session="s")
        made = app(memory)
        made.state.streams.stopping.set()
        return Served(runner, door, made)

    with asyncio.Runner() as runner:
        it = runner.run(serve())
        yield it
        runner.run(it.door.memory.store.close())


def check_operation(served: Served, operation: Any, examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
        case = data.draw(operation.as_strategy(generation_mode=mode))
        case.validate_response(served.send(case), checks=CHECKS)

    holds()


@pytest.mark.spec("DOOR-3")
@pytest.mark.parametrize("examples", [2, pytest.param(12, marks=pytest.mark.whole)])
def test_every_operation_keeps_to_its_description(tmp_path: Path, examples: int, subtests: pytest.Subtests) -> None:
    """Each operation that may write has an application of its own, so that it leaves the others theirs."""
    operations = [found.ok() for found in schemathesis.openapi.from_dict(document()).get_all_operations()]
    assert len(operations) >= 60
    with served(tmp_path) as shared:
        for number, operation in enumerate(operations):
            reads = operation.method.lower() == "get"
            with subtests.test(operation=operation.label):
                with nullcontext(shared) if reads else served(tmp_path / str(number)) as application:
                    check_operation(application, operation, examples)
