"""The HTTP door: the routes, one shape for every error, and the gate before them all."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from afterglow import __version__
from afterglow.agent import Agent
from afterglow.errors import AfterglowError
from afterglow.mcp_server import http as mcp
from afterglow.memory import Memory
from afterglow.web import (
    audit,
    away,
    chat,
    contexts,
    events,
    facts,
    forgetting,
    health,
    metrics,
    page,
    problems,
    reading,
    remembered,
    signin,
    summaries,
    tasks,
    work,
    writing,
)
from afterglow.web.gate import OPEN_TO_ALL, SIGN_IN, behind_gate
from afterglow.web.whose import heeding, heeds_owner, holds_to_address
from afterglow.working import Beside

OPENAPI = "/api/v1/openapi.json"
_DOORS = (  # they are tried one after the other, so those that are asked most come first
    *(writing, reading, contexts, health, facts, summaries, remembered, chat, events),
    *(metrics, signin, forgetting, away, audit, work, tasks),
)


class _Door(FastAPI):
    """The application, which tells of the token too: the gate asks for it, so the framework does not know of it."""

    def openapi(self) -> dict[str, Any]:
        described = super().openapi()
        token = {"type": "http", "scheme": "bearer", "description": "`afterglow token create` makes one"}
        described["components"]["securitySchemes"] = {"token": token}
        described["security"] = [{"token": []}]
        for path, method in ((OPEN_TO_ALL, "get"), (SIGN_IN, "post")):
            described["paths"][path][method]["security"] = []
        return described


def app(memory: Memory, beside: Beside | None = None, agent: Agent | None = None) -> FastAPI:
    """The door to this memory. It opens and closes nothing by itself; `beside` is what the process does next to it."""
    made = _Door(
        title="Afterglow",
        version=__version__,
        summary="Keeps what matters of every conversation between people and their agents",
        openapi_url=OPENAPI,
        docs_url=None,  # the pages FastAPI would serve load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        responses={"default": {"model": problems.Problem, "description": "What is wrong, in one shape everywhere"}},
    )
    made.state.memory = memory
    made.state.beside = beside
    made.state.agent = agent or Agent(memory)
    made.state.streams = events.Streams()
    made.state.heeding = heeding(door.router for door in _DOORS)
    for door in _DOORS:
        made.include_router(door.router, dependencies=[Depends(heeds_owner), Depends(holds_to_address)])
    made.include_router(page.router)
    made.router.routes.append(Route(mcp.PATH, mcp.Mcp(memory), methods=["POST"], include_in_schema=False))
    for kind in (AfterglowError, HTTPException, RequestValidationError):
        made.add_exception_handler(kind, problems.handle)
    made.add_middleware(behind_gate, memory=memory)
    return made


__all__ = ["app"]
