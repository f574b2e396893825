"""The routes by which a browser signs in: once, with the code of a link, and then by a cookie."""

from __future__ import annotations

from datetime import datetime, timedelta

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from afterglow.clock import new_token
from afterglow.errors import BadInput
from afterglow.store.access import AccessScope, AccessToken
from afterglow.store.contract import Store
from afterglow.web.credentials import SECRET_CHARS_MAX, cookie_name, csrf_of, unauthorized
from afterglow.web.origins import Host, parse
from afterglow.web.whose import Accessed, Opened
from afterglow.web.writing import nothing_sent, read_body

LINK_MINUTES = 10
SESSION_DAYS = 7
PAGE = "the page"
_BODY_BYTES_MAX = 2_000

router = APIRouter(prefix="/api/v1")


class Code(BaseModel):
    """What stands behind `#signin=` in the link that `serve` and `token link` print."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)

    code: str = Field(min_length=1, max_length=SECRET_CHARS_MAX)


class SignedIn(BaseModel):
    """Who is signed in, and what a page must send with every write."""

    name: str
    scope: AccessScope
    owner: str | None = Field(description="Whose memory alone it opens; null where it opens everyone's")
    expires_at: datetime | None
    csrf: str | None = Field(description="For the header X-Afterglow-Csrf of writes; null where there is no cookie")


class SignedOut(BaseModel):
    """The cookie opens nothing any more."""

    signed_out: bool = True


_BODY = {"required": True, "content": {"application/json": {"schema": Code.model_json_schema()}}}


@router.post("/session", status_code=201, response_model=SignedIn, openapi_extra={"requestBody": _BODY})
async def sign_in(request: Request, memory: Opened) -> Response:
    """Sign a browser in with the code of a link, which works once."""
    given = Code.model_validate_json(await read_body(request, _BODY_BYTES_MAX))
    clock, secret = memory.store.clock, new_token(memory.store.clock)
    token = await memory.store.sign_in(given.code, secret, clock.now() + timedelta(days=SESSION_DAYS))
    answer = JSONResponse(_told(token, secret).model_dump(mode="json"), 201)
    _set_cookie(request, answer, secret, SESSION_DAYS * 86400)
    return answer


@router.get("/session")
async def session(access: Accessed) -> SignedIn:
    """Who is signed in."""
    if access.token is None:
        raise unauthorized("nobody is signed in; `afterglow token link` prints a link that does it")
    return _told(access.token, access.secret)


@router.delete("/session", response_model=SignedOut, dependencies=[Depends(nothing_sent)])
async def sign_out(request: Request, memory: Opened, access: Accessed) -> Response:
    """Sign the browser out: its cookie opens nothing any more."""
    if access.token is None or access.secret is None:
        raise BadInput("there is no browser to sign out; `afterglow token revoke` ends a token")
    await memory.store.revoke_token(access.token.id)
    answer = JSONResponse(SignedOut().model_dump())
    _set_cookie(request, answer, "", 0)
    return answer


async def new_link(store: Store, address: str, *, scope: AccessScope = "owner", owner: str | None = None) -> str:
    """A link that lets one browser sign in to the server at this address, once, within a few minutes.

    The code stands behind a #, which a browser sends to nobody: it is in no log, and in no list of addresses.
    """
    code = new_token(store.clock)
    until = store.clock.now() + timedelta(minutes=LINK_MINUTES)
    await store.add_token(PAGE, scope, code, owner=owner, kind="link", expires_at=until)
    return f"{address}/#signin={code}"


def _told(token: AccessToken, secret: str | None) -> SignedIn:
    return SignedIn(
        name=token.name,
        scope=token.scope,
        owner=token.owner,
        expires_at=token.expires_at,
        csrf=None if secret is None else csrf_of(secret),
    )


def _set_cookie(request: Request, answer: Response, secret: str, seconds: int) -> None:
    host = parse(request.headers.get("host", "")) or Host("", None)
    secure = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")
    answer.set_cookie(
        cookie_name(host), secret, max_age=seconds, path="/api", httponly=True, samesite="strict", secure=secure
    )
