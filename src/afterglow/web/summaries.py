"""The routes of what sessions were about, and of their end: summaries, sunset, clearing, and its undoing."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, Field

from afterglow.errors import BadInput, NotFound
from afterglow.summaries import Category, Summary, is_stale
from afterglow.turns import Session
from afterglow.web import cursors
from afterglow.web.reading import Asked, Page, SessionName, Text, found_session
from afterglow.web.whose import Accessed, Opened, scope_of
from afterglow.web.writing import moment, nothing_sent

LIMIT_MAX = 100_000
"""What can be asked for at all; `summaries.results_max` is what is given."""

router = APIRouter(prefix="/api/v1")


def _moment(given: Any) -> datetime:
    try:
        at = datetime.fromisoformat(given)
    except (TypeError, ValueError):
        raise ValueError("it is no moment; write one such as 2026-03-02T12:00:00Z, with a + in it as %2B") from None
    if at.tzinfo is None:
        raise ValueError("it has no zone; end it with Z, or with an offset such as %2B01:00")
    return moment(at)


Moment = Annotated[datetime, BeforeValidator(_moment)]


class SummariesAsked(Asked):
    agent: Text | None = Field(default=None, description="Only of sessions with this agent")
    category: Category | None = None
    since: Moment | None = Field(default=None, description="Sessions with a turn at this moment or later")
    until: Moment | None = Field(default=None, description="Sessions whose newest turn is before this moment")
    words: Text | None = Field(default=None, description="Only summaries that hold every one of these words")
    limit: int = Field(default=5, ge=1, le=LIMIT_MAX)
    after: str | None = Field(default=None, max_length=8000, description="The `next` of the page before")


class SummaryWanted(Asked):
    force: bool = Field(default=False, description="Make it anew although nothing was said since")


class SummaryPage(Page[Summary]):
    """A part of the summaries, and how far it can be relied on."""

    degraded: str | None = Field(description="Why this is not all it could be, in a sentence; null where it is")


class Ended(BaseModel):
    """A session that has ended. Once its summary covers the turn `sunset_seq`, the sunset is done."""

    due: bool = Field(description="Whether its summary is to be made; false where there is one that covers all")
    session: Session
    links: dict[str, str] = Field(description="Where to look for what came of it")


@router.get("/summaries")
async def summaries(memory: Opened, access: Accessed, asked: Annotated[SummariesAsked, Query()]) -> SummaryPage:
    """What sessions were about, the one with the newest turn first."""
    if asked.since and asked.until and asked.since >= asked.until:
        raise BadInput("until: it must be later than since; nothing lies between them as they are")
    chosen: dict[str, Any] = {name: getattr(asked, name) for name in ("agent", "category", "since", "until")}
    chosen |= {"owner": scope_of(access, asked.owner), "words": asked.words or ""}
    before = None if asked.after is None else cursors.read(asked.after)
    found = await memory.summaries(limit=asked.limit, before=before, **chosen)
    return SummaryPage(
        items=list(found),
        next=cursors.write(found[-1].place) if found.more else None,
        degraded=found.degraded or None,
    )


@router.get("/sessions/{session}/summary")
async def summary(memory: Opened, access: Accessed, session: SessionName, asked: Annotated[Asked, Query()]) -> Summary:
    """What the session was about, as its newest summary says."""
    found = await found_session(memory, access, session, asked.owner)
    made = await memory.store.summary_of(found.owner, found.id)
    if made is None:
        raise NotFound(f"session {found.id!r} has no summary yet; a POST to the same address makes it")
    return made


@router.post(
    "/sessions/{session}/summary",
    status_code=201,
    responses={200: {"model": Summary}},
    dependencies=[Depends(nothing_sent)],
)
async def summarize(
    response: Response,
    memory: Opened,
    access: Accessed,
    session: SessionName,
    asked: Annotated[SummaryWanted, Query()],
) -> Summary:
    """Make the session's summary now: 201; or 200 and the one there is, where nothing was said since."""
    found = await found_session(memory, access, session, asked.owner)
    made = await memory.summarize(found, force=asked.force)
    if made is None:
        raise BadInput(f"nothing was said in session {found.id!r} yet, so there is nothing to summarise")
    response.status_code = 201 if asked.force or is_stale(found) else 200
    response.headers["location"] = _address(found, "/summary")
    return made


@router.post(
    "/sessions/{session}/sunset",
    status_code=202,
    responses={200: {"model": Ended}},
    dependencies=[Depends(nothing_sent)],
)
async def sunset(
    response: Response, memory: Opened, access: Accessed, session: SessionName, asked: Annotated[Asked, Query()]
) -> Ended:
    """The session has ended. Its summary is made behind this answer: 202, or 200 where one covers all that was said."""
    ended = await memory.sunset(await found_session(memory, access, session, asked.owner))
    due = is_stale(ended)
    response.status_code = 202 if due else 200
    response.headers["location"] = _address(ended, "/summary")
    return Ended(due=due, session=ended, links={"session": _address(ended), "summary": _address(ended, "/summary")})


@router.post("/sessions/{session}/idle", dependencies=[Depends(nothing_sent)])
async def go_idle(memory: Opened, access: Accessed, session: SessionName, asked: Annotated[Asked, Query()]) -> Session:
    """Fold the whole session into its summary now, as if nobody had written for long, and wait for it."""
    return await memory.go_idle(await found_session(memory, access, session, asked.owner))


@router.post("/sessions/{session}/close", dependencies=[Depends(nothing_sent)])
async def close(memory: Opened, access: Accessed, session: SessionName, asked: Annotated[Asked, Query()]) -> Session:
    """Close the session and do nothing else: the next message opens another."""
    found = await found_session(memory, access, session, asked.owner)
    return await memory.store.close_session(found.owner, found.id)


@router.post("/sessions/{session}/clear", dependencies=[Depends(nothing_sent)])
async def clear(memory: Opened, access: Accessed, session: SessionName, asked: Annotated[Asked, Query()]) -> Session:
    """Clear the context and close the session: the next message opens another. Turns and summary stay."""
    return await memory.clear(await found_session(memory, access, session, asked.owner))


@router.post("/sessions/{session}/restore", dependencies=[Depends(nothing_sent)])
async def restore(memory: Opened, access: Accessed, session: SessionName, asked: Annotated[Asked, Query()]) -> Session:
    """Reopen a closed session, while none has followed it."""
    return await memory.restore(await found_session(memory, access, session, asked.owner))


def _address(session: Session, rest: str = "") -> str:
    name = quote(session.id, safe="").replace(".", "%2E")
    return f"/api/v1/sessions/{name}{rest}?owner={quote(session.owner, safe='')}"
