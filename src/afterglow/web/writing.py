"""The routes that write to the log: one turn, or a session for those to come.

A turn's trust follows from its role and the token it came with, never from its text.
"""

from __future__ import annotations

import asyncio
import json
import math
from datetime import datetime
from typing import Annotated, Any, cast

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field
from starlette.requests import Request

from afterglow.clock import moment_within
from afterglow.errors import BadInput
from afterglow.store.access import AccessScope
from afterglow.turns import Binding, Role, Session, Trust, Turn, check_name
from afterglow.web.problems import refusal
from afterglow.web.reading import LONG_BYTES, turn_answer
from afterglow.web.whose import Accessed, Opened, check_owner

ENVELOPE_BYTES = 64 * 1024
"""What a body may have beyond the turn itself."""
BODY_SECONDS_MAX = 300
EMPTY_BYTES_MAX = 1000
"""What a body may have where nothing is taken from it."""
USAGE_MAX = 100
PARTS_MAX = 10_000

router = APIRouter(prefix="/api/v1")


def _name(text: str) -> str:
    try:
        check_name(text, "it")
    except BadInput as error:
        raise ValueError(str(error)) from None
    return text


def moment(at: datetime) -> datetime:
    """A moment that can be kept."""
    try:
        return moment_within(at, "it is")
    except BadInput as error:
        raise ValueError(str(error)) from None


def _finite(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """JSON has no NaN and no infinity, though its readers let them pass."""
    waiting: list[Any] = [parts]
    while waiting:
        value = waiting.pop()
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("it holds a number that JSON does not have, such as NaN or 1e999")
        if isinstance(value, dict):
            waiting += cast("dict[str, Any]", value).values()
        elif isinstance(value, list):
            waiting += cast("list[Any]", value)
    return parts


def _counts(usage: dict[str, int]) -> dict[str, int]:
    for name in usage:
        _name(name)
    return usage


Name = Annotated[str, AfterValidator(_name)]
Count = Annotated[int, Field(ge=0, le=2**53)]


class NewTurn(BaseModel):
    """One message for the log."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    agent: Name = Field(examples=["kate"])
    channel: Name = Field(examples=["telegram"])
    sender: Name = Field(examples=["ana"])
    role: Role
    text: str
    session: Name | None = Field(default=None, description="A session of your own naming; made if it is missing")
    key: Name | None = Field(default=None, description="The same key again in a session gives back the same turn")
    parts: Annotated[list[dict[str, Any]], AfterValidator(_finite)] = Field(
        default=[], max_length=PARTS_MAX, description="Tool calls and their results"
    )
    at: Annotated[AwareDatetime, AfterValidator(moment)] | None = Field(default=None, description="When it was said")
    model: Name | None = None
    usage: Annotated[dict[str, Count], AfterValidator(_counts)] | None = Field(default=None, max_length=USAGE_MAX)


class NewSession(BaseModel):
    """A session for what is to be said at an address."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    agent: Name = Field(examples=["kate"])
    channel: Name = Field(examples=["telegram"])
    sender: Name = Field(examples=["ana"])
    session: Name | None = Field(default=None, description="A name of your own; without it, the one that is open")


def trust_of(role: Role, scope: AccessScope) -> Trust:
    """An owner's token speaks for the owner; an agent's cannot, so its user turns are another human's at best."""
    if role == "user":
        return "owner" if scope == "owner" else "other"
    return "external" if role == "tool" else "agent"


_BODY = {"required": True, "content": {"application/json": {"schema": NewTurn.model_json_schema()}}}
_SESSION = {"required": True, "content": {"application/json": {"schema": NewSession.model_json_schema()}}}


@router.post("/turns", status_code=201, response_model=Turn, openapi_extra={"requestBody": _BODY})
async def append(request: Request, memory: Opened, access: Accessed) -> Response:
    """Write down one turn. When this answers, it is on disk; repeating it with the same key is safe."""
    assert access.token is not None, "the gate lets nobody write without a token"
    bytes_max = memory.settings.log.turn_bytes_max + ENVELOPE_BYTES
    body = await read_body(request, bytes_max, " (log.turn_bytes_max and a little)")
    long = len(body) > LONG_BYTES
    new = await asyncio.to_thread(_parsed, body) if long else _parsed(body)
    binding = Binding(agent=new.agent, channel=new.channel, sender=new.sender)
    check_owner(access, binding.owner)
    turn = await memory.append(
        binding,
        new.role,
        new.text,
        session=new.session,
        parts=new.parts,
        trust=trust_of(new.role, access.token.scope),
        origin="person" if new.role == "user" else "agent",
        at=new.at,
        model=new.model,
        usage=new.usage,
        key=key_of(request, new.key),
    )
    return await turn_answer(turn, 201)


@router.post("/sessions", response_model=Session, openapi_extra={"requestBody": _SESSION})
async def open_session(request: Request, memory: Opened, access: Accessed) -> Session:
    """The open session of an address, or a new one; with a name of your own, that session, made if it is missing."""
    new = NewSession.model_validate_json(await read_body(request, ENVELOPE_BYTES))
    binding = Binding(agent=new.agent, channel=new.channel, sender=new.sender)
    check_owner(access, binding.owner)
    return await memory.open_session(binding, new.session)


def _parsed(body: bytes) -> NewTurn:
    return NewTurn.model_validate_json(body)


def key_of(request: Request, given: str | None) -> str | None:
    """What makes a request safe to repeat: it stands in the body, or in the header that other programs send."""
    header = request.headers.get("idempotency-key")
    if header is None:
        return given
    check_name(header, "Idempotency-Key")
    if given not in (None, header):
        raise BadInput("the body and the header Idempotency-Key name different keys; send one of them")
    return header


async def nothing_sent(request: Request) -> None:
    """Holds a request to what its address says."""
    body = await read_body(request, EMPTY_BYTES_MAX)
    try:
        given: Any = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        given = body
    if given != {}:
        names = ", ".join(str(name)[:80] for name in cast("dict[str, Any]", given)) if isinstance(given, dict) else ""
        raise BadInput(
            f"{f'the body holds {names}, and n' if names else 'n'}othing is taken from a body here: send {{}}, or no body. "
            "What can be chosen goes into the address, such as ?owner=kate/telegram/ana; /api/v1/openapi.json lists it"
        )


async def read_body(request: Request, bytes_max: int, why: str = "") -> bytes:
    """The body, refused as soon as it is known to be too large."""
    too_large = refusal(413, f"the body may have {bytes_max:,} bytes{why}; send less")
    declared = request.headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdigit()):
        raise refusal(400, "the Content-Length is not a number")
    if len(declared) > 15 or int(declared) > bytes_max:
        raise too_large
    gathered = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS_MAX):
            async for chunk in request.stream():
                gathered += chunk
                if len(gathered) > bytes_max:
                    raise too_large
    except TimeoutError:
        raise refusal(408, f"the body has not arrived within {BODY_SECONDS_MAX} seconds") from None
    return bytes(gathered)
