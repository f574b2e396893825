"""The routes that read what was said: owners, sessions, turns, search."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, fields
from typing import Annotated, Generic, TypeVar
from urllib.parse import unquote

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from afterglow.errors import BadInput
from afterglow.memory import Memory
from afterglow.recollection import FoundTurns, one_more, turns_found
from afterglow.turns import Owner, Session, SessionState, Turn, check_text
from afterglow.web import cursors
from afterglow.web.credentials import Access
from afterglow.web.whose import Accessed, Opened, one_owner, root_of, scope_of

NAME_CHARS_MAX = 2000
SEQ_MAX = 2**53
LONG_BYTES = 100_000
"""A turn over this is turned into JSON in a thread, so that the event loop goes on."""

T = TypeVar("T")
router = APIRouter(prefix="/api/v1")
_turn_json = TypeAdapter(Turn)


def _clean(text: str) -> str:
    try:
        check_text(text, "it")
    except BadInput as error:
        raise ValueError(str(error)) from None
    return text


def decoded(text: str) -> str:
    """A name of a path."""
    return unquote(text, errors="strict")


Text = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX), AfterValidator(_clean)]
SessionName = Annotated[Text, BeforeValidator(decoded), Path(description="The session's name; a / in it as %2F")]
Seq = Annotated[int, Path(ge=1, le=SEQ_MAX, description="The turn's number in its session")]


class Strict(BaseModel):
    """What can be asked, and nothing else."""

    model_config = ConfigDict(extra="forbid")


class Asked(Strict):
    """What can be asked of any route about an owner's things."""

    owner: Text | None = Field(default=None, description="Whose memory, such as kate/telegram/ana")


class SessionsAsked(Asked):
    state: SessionState | None = Field(default=None, description="Only those in this state")
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


class OwnersAsked(Strict):
    limit: int = Field(default=100, ge=1, le=1000)
    after: Text | None = Field(default=None, description="The `next` of the page before")


class Page(BaseModel, Generic[T]):
    """A part of a list. `next` asks for the part after it; it is null at the end."""

    items: list[T]
    next: str | int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedSession(Session):
    """A session, and what it is about."""

    title: str | None
    """Of its newest summary, if it has one."""


@router.get("/owners")
async def owners(memory: Opened, access: Accessed, asked: Annotated[OwnersAsked, Query()]) -> Page[Owner]:
    """Whose memories there are, by name; to who is bound to an owner, that one."""
    only = None if access.owners is None else await root_of(memory, access)
    found = await memory.store.owners(limit=asked.limit + 1, after=asked.after or "", only=only)
    items = found[: asked.limit]
    return Page(items=items, next=items[-1].id if len(found) > len(items) else None)


@router.get("/sessions")
async def sessions(memory: Opened, access: Accessed, asked: Annotated[SessionsAsked, Query()]) -> Page[ListedSession]:
    """Sessions, the one with the newest turn first, each with the title of its summary."""
    before, scope = None if asked.after is None else cursors.read(asked.after), scope_of(access, asked.owner)
    found = await memory.sessions(owner=scope, limit=asked.limit + 1, before=before, state=asked.state)
    items = found[: asked.limit]
    titles = await memory.store.titles(scope, [(each.owner, each.id) for each in items])
    listed = [_listed(each, titles.get((each.owner, each.id))) for each in items]
    return Page(items=listed, next=cursors.write(items[-1].place) if len(found) > len(items) else None)


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
async def search(memory: Opened, access: Accessed, asked: Annotated[SearchAsked, Query()]) -> FoundTurns:
    """The turns that fit the words best; with `regex`, the newest that the expression matches."""
    owner, limit = await one_owner(memory, access, asked.owner), one_more(memory, asked.limit)
    if asked.regex:
        found = await memory.grep(asked.q, owner=owner, limit=limit, ignore_case=asked.ignore_case)
    else:
        found = await memory.search(asked.q, owner=owner, limit=limit)
    return turns_found(found, asked.limit)


def _listed(session: Session, title: str | None) -> ListedSession:
    return ListedSession(title=title, **{field.name: getattr(session, field.name) for field in fields(Session)})


async def turn_answer(turn: Turn, status: int = 200) -> Response:
    """The turn as JSON."""
    body = (
        await asyncio.to_thread(_turn_json.dump_json, turn) if turn.bytes > LONG_BYTES else _turn_json.dump_json(turn)
    )
    return Response(body, status, media_type="application/json")


async def found_session(memory: Memory, access: Access, name: str, owner: str | None) -> Session:
    """The session of this name that the request may be about."""
    return await memory.session(name, owner=scope_of(access, owner))
