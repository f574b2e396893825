"""What the server says of itself: where things are, that it lives, whether it can work, how much there is."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.requests import Request

from afterglow import __version__
from afterglow.errors import StoreUnavailable
from afterglow.primary import Flag
from afterglow.store import migrations
from afterglow.store.sessions import Totals
from afterglow.store.transaction import EVERYONE, SQLITE
from afterglow.web.problems import RETRY_SECONDS, Problem, Trouble
from afterglow.web.whose import Accessed, Opened, access, scope_of
from afterglow.work import Backlog
from afterglow.working import Beside

READY_SECONDS_MAX = 5

router = APIRouter()


async def beside(request: Request) -> Beside | None:
    """What the process does beside answering; None where it does nothing else."""
    return request.app.state.beside


Besides = Annotated[Beside | None, Depends(beside)]
_SUMMARIZATION = "Whether summaries of sessions are made: by whom, when last, how many wait, and why anything is off"


class Welcome(BaseModel):
    """What stands at the root."""

    name: str = "afterglow"
    version: str = __version__
    links: dict[str, str] = Field(
        default={
            "page": "/",
            "openapi": "/api/v1/openapi.json",
            "status": "/api/v1/status",
            "sessions": "/api/v1/sessions",
            "summaries": "/api/v1/summaries",
            "alive": "/healthz",
            "ready": "/readyz",
            "metrics": "/metrics",
        }
    )


class Primary(BaseModel):
    """What the process knows by itself of who makes summaries."""

    primary_flag: Flag = Field(serialization_alias="primaryFlag", description="What it was told")
    is_primary: bool | None = Field(
        serialization_alias="isPrimary",
        description="Whether it is primary; null where it does nothing in the background",
    )


class Alive(BaseModel):
    """A sign of life."""

    status: str = "ok"
    summarization: Primary


class Ready(BaseModel):
    """It can work."""

    status: str = "ok"
    summarization: dict[str, Any] = Field(description=_SUMMARIZATION)


class Status(BaseModel):
    """What is running, on which database, and how much there is."""

    version: str
    where: str | None = Field(description="Where the data is, without its password; null to who is bound to an owner")
    schema_version: int = Field(serialization_alias="schema")
    totals: Totals
    backlog: Backlog
    summarization: dict[str, Any] | None = Field(description=f"{_SUMMARIZATION}; null to who is bound to an owner")
    trouble: str | None = Field(
        description="What has stopped that should run in the background; null where nothing has"
    )


@router.get("/api/v1", dependencies=[Depends(access)])
async def welcome() -> Welcome:
    """Name, version and where to go from here."""
    return Welcome()


@router.get("/healthz")
async def alive(memory: Opened, beside: Besides) -> Alive:
    """The process lives and answers. It asks nothing of the database."""
    is_primary = None if beside is None else beside.is_primary
    return Alive(summarization=Primary(primary_flag=memory.settings.primary, is_primary=is_primary))


@router.get("/readyz", response_model=Ready)
async def ready(memory: Opened, beside: Besides) -> Ready | JSONResponse:
    """The database can be read, and what runs in the background runs; if not, 503 and the reason."""
    if beside is not None and beside.trouble:
        problem = Problem(error=Trouble(kind="NotReady", message=beside.trouble))
        return JSONResponse(problem.model_dump(), 503, {"retry-after": str(RETRY_SECONDS)})
    try:
        async with asyncio.timeout(READY_SECONDS_MAX):
            told = await memory.health(memory.settings.primary)
    except TimeoutError:
        raise StoreUnavailable(f"the database has not answered within {READY_SECONDS_MAX} seconds") from None
    return Ready(summarization=told.block())


@router.get("/api/v1/status")
async def status(memory: Opened, access: Accessed, beside: Besides) -> Status:
    """Version, place, schema, how much there is and is to do, and how it goes with the summaries."""
    bound = access.owners is not None
    scope = scope_of(access, None) if bound else EVERYONE
    totals, backlog, told = await asyncio.gather(
        memory.store.totals(scope), memory.store.backlog(scope), memory.health(memory.settings.primary)
    )
    return Status(
        version=__version__,
        where=None if bound else memory.store.where,
        schema_version=len(migrations.load(SQLITE)),  # an open store has taken every step this version knows
        totals=totals,
        backlog=backlog,
        summarization=None if bound else told.block(),
        trouble=(beside.trouble or None) if beside else None,
    )
