"""The route of who changed memory."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from afterglow.store.audit import AuditLine
from afterglow.web.reading import SEQ_MAX, Asked, Page
from afterglow.web.summaries import Moment
from afterglow.web.whose import Accessed, Opened, owners_word, scope_of

router = APIRouter(prefix="/api/v1")


class AuditAsked(Asked):
    since: Moment | None = Field(default=None, description="Only what was done from this moment on")
    limit: int = Field(default=50, ge=1, le=999)
    after: int | None = Field(default=None, ge=1, le=SEQ_MAX, description="The `next` of the page before")


@router.get("/audit", dependencies=[Depends(owners_word)])
async def audit(memory: Opened, access: Accessed, asked: Annotated[AuditAsked, Query()]) -> Page[AuditLine]:
    """Who changed memory, what they did and when, the newest first; without a word of what was said."""
    scope = scope_of(access, asked.owner)
    found = await memory.audit(owner=scope, since=asked.since, limit=asked.limit + 1, before=asked.after)
    items = found[: asked.limit]
    return Page(items=items, next=items[-1].id if len(found) > len(items) else None)
