"""schemathesis on the OpenAPI document: whatever fits it, and whatever does not, is answered as the document says."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error

from afterglow import Memory, Settings
from afterglow.settings import SearchSettings, ServerSettings
from afterglow.web import app
from tests.doors.conftest import LOCAL, Door, with_settings
from tests.kit.records import KATE

load_all_checks()
EXAMPLES = 12
NAMED = ("content_type_conformance", "response_schema_conformance", "status_code_conformance")
CHECKS = [not_a_server_error, *schemathesis.checks.CHECKS.get_by_names(NAMED)]
DOCUMENT = schemathesis.openapi.from_dict(app(Memory(None, Settings())).openapi())  # type: ignore[arg-type]
OPERATIONS = [found.ok() for found in DOCUMENT.get_all_operations()]


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    """What an import is sent as."""
    return str(value).encode(errors="replace")


async def send(client: httpx.AsyncClient, case: Case, token: dict[str, str]) -> httpx.Response:
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
    return await client.request(wanted["method"], wanted["url"], params=query, headers=headers, **body)


@pytest.fixture
async def served(door: Door) -> FastAPI:
    """Made once for all examples of an operation: to make it takes longer than they do."""
    memory = with_settings(
        door.memory, server=ServerSettings(requests_per_second=0), search=SearchSettings(embedder="none")
    )
    await memory.append(KATE, "user", "The review is on 3 March.", session="s")
    made = app(memory)
    made.state.streams.stopping.set()
    return made


@pytest.mark.spec("DOOR-3")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(data=st.data())
async def test_every_operation_keeps_to_its_description(
    door: Door, served: FastAPI, operation: Any, data: st.DataObject
) -> None:
    mode = data.draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
    case = data.draw(operation.as_strategy(generation_mode=mode))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url=LOCAL) as client:
        answer = await send(client, case, door.credential("owner"))
    case.validate_response(answer, checks=CHECKS)
