"""What the server says of itself: where things are, that it lives, whether it can work, how much there is."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from pydantic import BaseModel, Field

from afterglow import __version__
from afterglow.errors import StoreUnavailable
from afterglow.store import migrations
from afterglow.store.sessions import Totals
from afterglow.store.transaction import EVERYONE, SQLITE
from afterglow.web.reading import Opened
from afterglow.work import Backlog

READY_SECONDS_MAX = 5

router = APIRouter()


class Welcome(BaseModel):
    """What stands at the root."""

    name: str = "afterglow"
    version: str = __version__
    links: dict[str, str] = Field(
        default={
            "openapi": "/api/v1/openapi.json",
            "status": "/api/v1/status",
            "sessions": "/api/v1/sessions",
            "alive": "/healthz",
            "ready": "/readyz",
        }
    )


class Health(BaseModel):
    """A sign of life."""

    status: str = "ok"


class Status(BaseModel):
    """What is running, on which database, and how much there is."""

    version: str
    where: str = Field(description="Where the data is, without its password")
    schema_version: int = Field(serialization_alias="schema")
    totals: Totals
    backlog: Backlog


@router.get("/")
async def welcome() -> Welcome:
    """Name, version and where to go from here."""
    return Welcome()


@router.get("/healthz")
async def alive() -> Health:
    """The process lives and answers. It asks nothing of the database."""
    return Health()


@router.get("/readyz")
async def ready(memory: Opened) -> Health:
    """The database can be read; if not, 503 and the reason."""
    try:
        async with asyncio.timeout(READY_SECONDS_MAX):
            await memory.store.owners(limit=1)
    except TimeoutError:
        raise StoreUnavailable(f"the database has not answered within {READY_SECONDS_MAX} seconds") from None
    return Health()


@router.get("/api/v1/status")
async def status(memory: Opened) -> Status:
    """Version, place, schema, and how much there is and is to do."""
    totals, backlog = await asyncio.gather(memory.store.totals(EVERYONE), memory.store.backlog(EVERYONE))
    return Status(
        version=__version__,
        where=memory.store.where,
        schema_version=len(migrations.load(SQLITE)),  # an open store has taken every step this version knows
        totals=totals,
        backlog=backlog,
    )
