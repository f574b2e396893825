"""The gate before every route, unknown paths and errors included: host, origin, token, rate, and the headers of the answer.

It is the outermost layer, so that no route can be reached around it, and the last to catch what nobody foresaw.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterglow.acting import acting_as
from afterglow.errors import StoreUnavailable
from afterglow.mcp_server import http as mcp
from afterglow.memory import Memory
from afterglow.web import credentials, origins, problems
from afterglow.web.credentials import Access, unauthorized
from afterglow.web.headers import HEADERS, Headers, is_of_page, one, path_of, protect
from afterglow.web.origins import Host
from afterglow.web.problems import refusal
from afterglow.web.rate import Buckets

OPEN_TO_ALL = "/healthz"
SIGN_IN = "/api/v1/session"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_FORWARDED = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})
_OWNER = re.compile(r"^(/api/v1/owners/).+(/[a-z]+)$")
_STOPPING = "the server is stopping; repeat this later with the same key: it may or may not have been written"

_log = logging.getLogger(__name__)


def behind_gate(app: ASGIApp, memory: Memory) -> ASGIApp:
    """The application behind its gate."""
    buckets = Buckets(memory.settings.server.requests_per_second)

    async def pass_through(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        elif scope["type"] == "http":
            await _guarded(app, memory, buckets, scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    return pass_through


async def _guarded(app: ASGIApp, memory: Memory, buckets: Buckets, scope: Scope, receive: Receive, send: Send) -> None:
    loop = asyncio.get_running_loop()
    began, status = loop.time(), 0

    async def answer(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            protect(message, path_of(scope))
        elif scope["method"] == "HEAD":
            message = {**message, "body": b""}
        await send(message)

    try:
        access = await _counted(memory, buckets, scope, began)
        with acting_as(credentials.who(access)):
            await app(_routed(scope, access), receive, answer)
    except ClientDisconnect:
        _log.info("%s %s: the client went away", scope["method"], _logged(scope))
    except asyncio.CancelledError:  # the server stops, and the time to finish is over
        if not status:
            await problems.answer(StoreUnavailable(_STOPPING))(scope, receive, answer)
        raise
    except Exception as error:
        if status:  # the answer is under way: all that is left is to break it off
            raise
        await problems.answer(error)(scope, receive, answer)
    finally:
        _log.info("%s %s %d %.1f ms", scope["method"], _logged(scope), status, 1000 * (loop.time() - began))


def _logged(scope: Scope) -> str:
    """The path as it may be logged: who was forgotten by this request is not named by it afterwards."""
    return _OWNER.sub(r"\1…\2", path_of(scope))


async def _counted(memory: Memory, buckets: Buckets, scope: Scope, now: float) -> Access:
    """How the request came in, if it may, and not too often. Who is turned away is counted by address."""
    address = f"address {(scope.get('client') or ('unknown',))[0]}"
    try:
        access = await admitted(memory, scope)
    except HTTPException as error:
        if error.status_code == 401:
            _take(buckets, address, now)
        raise
    if path_of(scope) != OPEN_TO_ALL:
        _take(buckets, address if access.token is None else access.token.id, now)
    return access


def _take(buckets: Buckets, who: str, now: float) -> None:
    wait = buckets.take(who, now)
    if wait:
        seconds = str(math.ceil(wait))
        raise refusal(
            429,
            "so many requests at once are too many; repeat after Retry-After seconds (server.requests_per_second)",
            {"retry-after": seconds},
        )


async def admitted(memory: Memory, scope: Scope) -> Access:
    """How the request came in, if it may; else the refusal is raised."""
    headers: Headers = scope["headers"]
    server = memory.settings.server
    path, reads = path_of(scope), scope["method"] in SAFE_METHODS
    host = _host(headers, origins.own_names(server.host, server.allowed_hosts))
    _check_page(headers, host, scope["scheme"])
    _check_query(scope["query_string"])
    local = (
        origins.is_loopback(server.host)
        and (host.name in origins.LOOPBACK_NAMES or host.name == server.host)
        and not any(name in _FORWARDED for name, _ in headers)
    )
    if reads and (path == OPEN_TO_ALL or is_of_page(path)):
        return Access(local=local)
    if scope["method"] == "POST" and path == SIGN_IN:
        _check_kind(headers)
        return Access(local=local)
    access = await credentials.shown(memory, headers, host, local=local)
    if access.token is None and not (reads and local and server.open_locally):
        raise unauthorized("this needs a token; `afterglow token create` makes one, sent as: Authorization: Bearer …")
    if not reads:
        _check_write(access, headers, path)
    return access


def _host(headers: Headers, own: frozenset[str]) -> Host:
    given = one(headers, b"host")
    host = origins.parse(given or "")
    if host is None:
        raise refusal(400, "the Host header is missing or is no host; send one, such as localhost:8765")
    if host.name not in own:
        raise refusal(
            421, f"this server does not go by the name {host.name}; call it localhost, or set server.allowed_hosts"
        )
    return host


def _check_page(headers: Headers, host: Host, scheme: str) -> None:
    """What a browser says of the page that sent the request. Programs that are no browsers say nothing."""
    origin = one(headers, b"origin")
    if origin is not None and not origins.is_own_page(origin, host, scheme):
        raise refusal(403, "this was sent by a page from elsewhere (Origin); pages may call only their own server")
    site = one(headers, b"sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        raise refusal(403, "this was sent by a page from elsewhere (Sec-Fetch-Site); open the address by itself")


def _check_query(query: bytes) -> None:
    try:
        names = [name for name, _ in parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")]
    except ValueError:
        raise refusal(400, "the part of the address after ? is not UTF-8; encode it with %") from None
    if len(names) != len(set(names)):
        raise refusal(400, "the same parameter is given twice; give each once")


def _check_write(access: Access, headers: Headers, path: str) -> None:
    assert access.token is not None, "nobody writes without a token"
    if access.token.scope == "read" and path not in (SIGN_IN, mcp.PATH):  # it may sign out, and ask over MCP
        raise refusal(403, f"the token {access.token.name!r} may only read; writing needs one of scope agent or owner")
    credentials.check_page(access, headers)
    _check_kind(headers)


def _check_kind(headers: Headers) -> None:
    """JSON is what no form can send, and neither can it send lines of it."""
    content = (one(headers, b"content-type") or "").partition(";")[0].strip().lower()
    if content not in ("application/json", "application/x-ndjson"):
        raise refusal(415, "send the header Content-Type: application/json, with a body of JSON or with none")


def _routed(scope: Scope, access: Access) -> Scope:
    """The request for the router: a HEAD is a GET, and names in the path stay encoded, so that they may hold a /."""
    head = scope["method"] == "HEAD"
    state = {**scope.get("state", {}), "access": access, "head": head}
    return {**scope, "method": "GET" if head else scope["method"], "path": path_of(scope), "state": state}


__all__ = ["HEADERS", "Access", "admitted", "behind_gate"]
