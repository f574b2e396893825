"""Every error as one JSON shape: `{"error": {"kind": "BadInput", "message": "…"}}`, with the status it deserves."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Match

from afterglow.errors import (
    AfterglowError,
    BadInput,
    ClaimLost,
    ModelBusy,
    ModelError,
    NotAllowed,
    NotFound,
    StoreFull,
    StoreUnavailable,
)

RETRY_SECONDS = 5
_SHOWN_PROBLEMS = 5
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

# The first that fits counts, so the narrower come first.
_STATUS: Sequence[tuple[type[AfterglowError], int]] = (
    (NotFound, 404),
    (BadInput, 400),
    (NotAllowed, 403),
    (ClaimLost, 409),
    (ModelBusy, 503),
    (ModelError, 502),
    (StoreUnavailable, 503),
    (StoreFull, 507),
    (AfterglowError, 500),
)
_KINDS = {
    401: "NotAllowed",
    403: "NotAllowed",
    404: "NotFound",
    421: "NotAllowed",
    429: "TooManyRequests",
    500: "InternalError",
}
INTERNAL = "internal error; the server's log has the details"

_log = logging.getLogger(__name__)


class Trouble(BaseModel):
    """What is wrong: a kind for programs, a sentence for people."""

    kind: str = Field(examples=["BadInput"])
    message: str = Field(examples=["limit: input should be less than or equal to 200"])


class Problem(BaseModel):
    """The body of every answer that is not a success."""

    error: Trouble


# For answers that are not JSON: the framework would describe their errors as being of the same kind.
PROBLEM: dict[str, Any] = {
    "description": "What is wrong, in one shape everywhere",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> HTTPException:
    """An error that only HTTP knows of, to be raised."""
    return HTTPException(status, message, dict(headers) if headers else None)


async def handle(request: Request, error: Exception) -> JSONResponse:
    """The error as an answer; for the framework, which calls it with the request."""
    if isinstance(error, HTTPException) and error.detail in ("Not Found", "Method Not Allowed"):
        error = _of_the_router(request, error)
    return answer(error)


def answer(error: Exception) -> JSONResponse:
    """The error as an answer. What nobody foresaw is logged with its traceback, which is never sent."""
    match error:
        case HTTPException():
            kind, headers = _KINDS.get(error.status_code, "BadInput"), error.headers
            return _shaped(error.status_code, kind, error.detail, headers)
        case RequestValidationError() | ValidationError():
            return _shaped(400, "BadInput", sentence(error.errors()))
        case AfterglowError():
            status = next(status for kind, status in _STATUS if isinstance(error, kind))
            if status == 500:
                _log.error("%s: %s", type(error).__name__, error)
            headers = {"retry-after": str(RETRY_SECONDS)} if status == 503 else None
            return _shaped(status, type(error).__name__, str(error), headers)
        case _:
            _log.error("a request failed in a way nobody foresaw", exc_info=error)
            return _shaped(500, _KINDS[500], INTERNAL)


def sentence(details: Sequence[Any]) -> str:
    """What pydantic found, in words, without repeating what was sent: it may be secret."""
    told = [_told(each) for each in details[:_SHOWN_PROBLEMS]]
    more = len(details) - len(told)
    return "; ".join([*told, f"and {more} more"] if more else told)


def _told(detail: Mapping[str, Any]) -> str:
    place = [str(part)[:80] for part in detail["loc"]]
    if place and place[0] in ("query", "path"):
        place = place[1:]
    name = ".".join(place) or "the body"
    match detail["type"]:
        case "extra_forbidden" if name in ("trust", "origin"):
            return f"{name}: it is set by the door a turn comes through, never by the caller; leave it out"
        case "extra_forbidden":
            return f"{name}: there is nothing of this name; {_LISTED}"
        case "missing":
            return f"{name}: it must be given; {_LISTED}"
        case "value_error":
            return f"{name}: {detail['ctx']['error']}"
        case _:
            message: str = detail["msg"]
            return f"{name}: {message[:1].lower()}{message[1:]}"


_LISTED = "/api/v1/openapi.json lists what can be given"


def _of_the_router(request: Request, error: HTTPException) -> HTTPException:
    """The router's two errors, in a sentence."""
    path = request.url.path[:200]
    if error.status_code == 404:
        return refusal(404, f"there is nothing at {path}; /api/v1/openapi.json lists what there is")
    allowed = ", ".join(_methods(request)) or (error.headers or {}).get("Allow", "GET")
    return refusal(405, f"{path} does not take {request.method[:20]}; it takes {allowed}", {"allow": allowed})


def _methods(request: Request) -> list[str]:
    """What can be asked of this path: the router's own answer is that of the first route it found."""
    routes: list[Any] = request.app.routes

    def is_taken(method: str) -> bool:
        return any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)

    return [method for method in _METHODS if is_taken(method)]


def _shaped(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": {"kind": kind, "message": message}}, status, headers)
