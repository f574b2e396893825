"""The routes that read what was said: owners, sessions, turns, search."""

from __future__ import annotations

import asyncio
from typing import Annotated, Generic, TypeVar
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from starlette.requests import Request

from afterglow.errors import BadInput
from afterglow.memory import EVERYONE, Memory
from afterglow.search.hits import Found
from afterglow.store.transaction import Scope
from afterglow.turns import Owner, Session, Turn, check_text
from afterglow.web import cursors
from afterglow.web.gate import Access

NAME_CHARS_MAX = 2000
SEQ_MAX = 2**53
LONG_BYTES = 100_000
"""A turn over this is turned into JSON in a thread, so that the event loop goes on."""

T = TypeVar("T")
router = APIRouter(prefix="/api/v1")
_turn_json = TypeAdapter(Turn)


async def opened(request: Request) -> Memory:
    """The memory behind the door."""
    return request.app.state.memory


async def access(request: Request) -> Access:
    """How the request came in; the gate found out."""
    return request.state.access


def _clean(text: str) -> str:
    try:
        check_text(text, "it")
    except BadInput as error:
        raise ValueError(str(error)) from None
    return text


def _decoded(text: str) -> str:
    return unquote(text, errors="strict")


Opened = Annotated[Memory, Depends(opened)]
Accessed = Annotated[Access, Depends(access)]
Text = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX), AfterValidator(_clean)]
SessionName = Annotated[Text, BeforeValidator(_decoded), Path(description="The session's name; a / in it as %2F")]
Seq = Annotated[int, Path(ge=1, le=SEQ_MAX, description="The turn's number in its session")]


class Asked(BaseModel):
    """What can be asked of any route about an owner's things."""

    model_config = ConfigDict(extra="forbid")

    owner: Text | None = Field(default=None, description="Whose memory, such as kate/telegram/ana")


class SessionsAsked(Asked):
    limit: int = Field(default=50, ge=1, le=200)
    after: str | None = Field(default=None, max_length=8000, description="The `next` of the page before")


class TurnsAsked(Asked):
    first: int = Field(default=1, ge=1, le=SEQ_MAX)
    last: int | None = Field(default=None, ge=1, le=SEQ_MAX)
    limit: int = Field(default=100, ge=1, le=500)


class SearchAsked(Asked):
    q: Text = Field(description="Words, or with `regex` a regular expression of RE2's syntax")
    limit: int = Field(default=10, ge=1, le=10_000)
    regex: bool = False
    ignore_case: bool = Field(default=False, description="For a regular expression; words never mind the case")


class OwnersAsked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=100, ge=1, le=1000)
    after: Text | None = Field(default=None, description="The `next` of the page before")


class Page(BaseModel, Generic[T]):
    """A part of a list. `next` asks for the part after it; it is null at the end."""

    items: list[T]
    next: str | int | None


@router.get("/owners")
async def owners(memory: Opened, asked: Annotated[OwnersAsked, Query()]) -> Page[Owner]:
    """Whose memories there are, by name."""
    found = await memory.store.owners(limit=asked.limit + 1, after=asked.after or "")
    items = found[: asked.limit]
    return Page(items=items, next=items[-1].id if len(found) > len(items) else None)


@router.get("/sessions")
async def sessions(memory: Opened, access: Accessed, asked: Annotated[SessionsAsked, Query()]) -> Page[Session]:
    """Sessions, the one with the newest turn first."""
    before = None if asked.after is None else cursors.read(asked.after)
    found = await memory.sessions(owner=scope_of(access, asked.owner), limit=asked.limit + 1, before=before)
    items = found[: asked.limit]
    return Page(items=items, next=cursors.write(items[-1].place) if len(found) > len(items) else None)


@router.get("/sessions/{session}")
async def session(memory: Opened, access: Accessed, session: SessionName, asked: Annotated[Asked, Query()]) -> Session:
    """One session with its counters."""
    return await found_session(memory, access, session, asked.owner)


@router.get("/sessions/{session}/turns")
async def turns(
    memory: Opened, access: Accessed, session: SessionName, asked: Annotated[TurnsAsked, Query()]
) -> Page[Turn]:
    """A run of turns in order; giant ones are cut, and their own address gives them whole."""
    found = await found_session(memory, access, session, asked.owner)
    items = await memory.turns(found, first_seq=asked.first, last_seq=asked.last, limit=asked.limit)
    last = min(asked.last or found.turns, found.turns)
    return Page(items=items, next=items[-1].seq + 1 if items and items[-1].seq < last else None)


@router.get("/sessions/{session}/turns/{seq}", response_model=Turn)
async def turn(
    memory: Opened, access: Accessed, session: SessionName, seq: Seq, asked: Annotated[Asked, Query()]
) -> Response:
    """One turn, whole."""
    found = await found_session(memory, access, session, asked.owner)
    return await turn_answer(await memory.turn(found, seq))


@router.get("/search")
async def search(memory: Opened, asked: Annotated[SearchAsked, Query()]) -> Found:
    """The turns that fit the words best; with `regex`, the newest that the expression matches."""
    owner = asked.owner or await _only_owner(memory)
    if asked.regex:
        return await memory.grep(asked.q, owner=owner, limit=asked.limit, ignore_case=asked.ignore_case)
    return await memory.search(asked.q, owner=owner, limit=asked.limit)


async def turn_answer(turn: Turn, status: int = 200) -> Response:
    """The turn as JSON."""
    body = (
        await asyncio.to_thread(_turn_json.dump_json, turn) if turn.bytes > LONG_BYTES else _turn_json.dump_json(turn)
    )
    return Response(body, status, media_type="application/json")


def scope_of(access: Access, owner: str | None) -> Scope:
    """Whose rows a request is about. Only on the operator's own machine may it be everyone's."""
    if owner is not None:
        return owner
    if not access.local:
        raise BadInput("owner: from another machine it must be given; /api/v1/owners lists those there are")
    return EVERYONE


async def found_session(memory: Memory, access: Access, name: str, owner: str | None) -> Session:
    """The session of this name that the request may be about."""
    return await memory.session(name, owner=scope_of(access, owner))


async def _only_owner(memory: Memory) -> str:
    found = await memory.store.owners(limit=2)
    if len(found) == 1:
        return found[0].id
    raise BadInput(
        "owner: say whose memory to search, such as ?owner=kate/telegram/ana; /api/v1/owners lists those there are"
    )
