"""The routes of the work behind the replies: what is due, under way or parked, and trying it again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from afterglow.web import cursors
from afterglow.web.reading import Asked, Page, Text
from afterglow.web.whose import Accessed, Opened, scope_of
from afterglow.web.writing import nothing_sent
from afterglow.work import Kind, State, Work

router = APIRouter(prefix="/api/v1")


class WorkAsked(Asked):
    state: State | None = None
    kind: Kind | None = None
    limit: int = Field(default=100, ge=1, le=1000)
    after: str | None = Field(default=None, max_length=8000, description="The `next` of the page before")


class RetryAsked(Asked):
    kind: Kind | None = None
    subject: Text | None = Field(default=None, description="A session, a task or an owner; everything without it")


class Retried(BaseModel):
    """How much is tried again."""

    retried: int


@router.get("/work")
async def work(memory: Opened, access: Accessed, asked: Annotated[WorkAsked, Query()]) -> Page[Work]:
    """The work that is due, under way, waiting for its time or parked, what is ready first at the top, with its last error."""
    scope = scope_of(access, asked.owner)
    after = None if asked.after is None else cursors.work(asked.after)
    found = await memory.store.work_list(scope, asked.state, asked.limit + 1, kind=asked.kind, after=after)
    items = found[: asked.limit]
    return Page(items=items, next=cursors.of_work(items[-1]) if len(found) > len(items) else None)


@router.post("/work/retry", dependencies=[Depends(nothing_sent)])
async def retry(memory: Opened, access: Accessed, asked: Annotated[RetryAsked, Query()]) -> Retried:
    """Make what failed or is parked due at once, with its failed tries forgotten."""
    scope = scope_of(access, asked.owner)
    return Retried(retried=await memory.store.retry(scope, kind=asked.kind, subject=asked.subject))
