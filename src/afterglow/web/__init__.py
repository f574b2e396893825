"""The HTTP door: the routes, one shape for every error, and the gate before them all."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from afterglow import __version__
from afterglow.errors import AfterglowError
from afterglow.memory import Memory
from afterglow.web import away, contexts, health, metrics, problems, reading, summaries, work, writing
from afterglow.web.gate import behind_gate
from afterglow.working import Beside

OPENAPI = "/api/v1/openapi.json"


def app(memory: Memory, beside: Beside | None = None) -> FastAPI:
    """The door to this memory. It opens and closes nothing by itself; `beside` is what the process does next to it."""
    made = FastAPI(
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
    for door in (health, metrics, reading, contexts, summaries, away, work, writing):
        made.include_router(door.router)
    for kind in (AfterglowError, HTTPException, RequestValidationError):
        made.add_exception_handler(kind, problems.handle)
    made.add_middleware(behind_gate, memory=memory)
    return made


__all__ = ["app"]
