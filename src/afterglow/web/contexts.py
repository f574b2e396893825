"""The routes of what the model sees: the context, its blocks and reports, and asking for a compaction."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from afterglow.compaction import Block, choose_span, is_met
from afterglow.context import Context, Report
from afterglow.memory import Memory
from afterglow.turns import Session, Turn
from afterglow.web.reading import SEQ_MAX, Asked, Page, SessionName, found_session
from afterglow.web.whose import Accessed, Opened
from afterglow.web.writing import nothing_sent
from afterglow.work import Due

TAIL_MAX = 1_000
_PLACES = "The first of the page; the `next` of the page before"

router = APIRouter(prefix="/api/v1")
Number = Annotated[int, Path(ge=1, le=SEQ_MAX, description="The block's number in its session")]


class ContextAsked(Asked):
    at: int | None = Field(
        default=None, ge=1, le=SEQ_MAX, description="What the model saw when this turn was the newest; else now"
    )


class BlocksAsked(Asked):
    first: int = Field(default=1, ge=1, le=SEQ_MAX, description=_PLACES)
    limit: int = Field(default=100, ge=1, le=500)
    shown: bool = Field(default=False, description="Only those that the model sees now")


class ExpandAsked(Asked):
    first: int | None = Field(default=None, ge=1, le=SEQ_MAX, description="The turn to begin at; the block's first")
    limit: int = Field(default=100, ge=1, le=500)


class ReportsAsked(Asked):
    first: int = Field(default=1, ge=1, le=SEQ_MAX, description=_PLACES)
    limit: int = Field(default=100, ge=1, le=500)


class Expanded(Page[Turn]):
    """A block, and a part of the turns that it stands for."""

    block: Block


class CompactionAsked(BaseModel):
    """What becomes of asking for a compaction. Once `folded.version` of the session has grown, it is done."""

    due: bool = Field(description="Whether it is to be done; false where there is nothing to fold")
    session: Session
    links: dict[str, str] = Field(description="Where to look for what came of it")


@router.get("/sessions/{session}/context")
async def context(
    memory: Opened, access: Accessed, session: SessionName, asked: Annotated[ContextAsked, Query()]
) -> Context:
    """What the model is to see of this session now, or what it saw at a turn, with the tokens of each part."""
    return await memory.context(await found_session(memory, access, session, asked.owner), at=asked.at)


@router.get("/sessions/{session}/blocks")
async def blocks(
    memory: Opened, access: Accessed, session: SessionName, asked: Annotated[BlocksAsked, Query()]
) -> Page[Block]:
    """The blocks of a session by number, those that others took the place of too."""
    every = await memory.blocks(await found_session(memory, access, session, asked.owner))
    found = [
        each for each in every if each.number >= asked.first and not (asked.shown and each.shown_until is not None)
    ]
    following = found[asked.limit : asked.limit + 1]
    return Page(items=found[: asked.limit], next=following[0].number if following else None)


@router.get("/sessions/{session}/blocks/{number}")
async def block(
    memory: Opened, access: Accessed, session: SessionName, number: Number, asked: Annotated[ExpandAsked, Query()]
) -> Expanded:
    """One block, with the turns that it stands for; giant ones are cut, and their own address gives them whole."""
    found = await found_session(memory, access, session, asked.owner)
    one = await memory.store.block(found.owner, found.id, number)
    first = max(one.first_seq, asked.first or 1)
    turns = await memory.turns(found, first_seq=first, last_seq=one.last_seq, limit=asked.limit)
    more = bool(turns) and turns[-1].seq < one.last_seq
    return Expanded(block=one, items=turns, next=turns[-1].seq + 1 if more else None)


@router.get("/sessions/{session}/reports")
async def reports(
    memory: Opened, access: Accessed, session: SessionName, asked: Annotated[ReportsAsked, Query()]
) -> Page[Report]:
    """What the session's sources reported, the oldest first, also what newer reports took the place of."""
    found = await found_session(memory, access, session, asked.owner)
    every = await memory.store.reports(found.owner, found.id)
    end = asked.first - 1 + asked.limit
    return Page(items=every[asked.first - 1 : end], next=end + 1 if len(every) > end else None)


@router.post(
    "/sessions/{session}/compact",
    status_code=202,
    responses={200: {"model": CompactionAsked}},
    dependencies=[Depends(nothing_sent)],
)
async def compact(
    response: Response,
    memory: Opened,
    access: Accessed,
    session: SessionName,
    asked: Annotated[Asked, Query()],
) -> CompactionAsked:
    """Ask for a compaction. It is done behind this answer, by the server's worker: 202, or 200 with nothing to do."""
    found = await found_session(memory, access, session, asked.owner)
    due = await _has_something_to_fold(memory, found)
    if due:
        wish = Due(kind="context", at=memory.store.clock.now(), reason="manual", subject=found.id)
        await memory.store.mark_due(found.owner, wish)
    address = f"/api/v1/sessions/{quote(found.id, safe='').replace('.', '%2E')}"
    owner = f"?owner={quote(found.owner, safe='')}"
    response.status_code = 202 if due else 200
    response.headers["location"] = address + owner
    links = {"session": address + owner, **{name: f"{address}/{name}{owner}" for name in ("blocks", "context")}}
    return CompactionAsked(due=due, session=found, links=links)


async def _has_something_to_fold(memory: Memory, session: Session) -> bool:
    limits = memory.frame_of(session.binding.agent).limits
    if is_met(session, "manual", limits):
        return False
    tail = await memory.turns(session, first_seq=session.folded.to_seq + 1, limit=TAIL_MAX)
    return choose_span(tail, session, "manual", limits) is not None
