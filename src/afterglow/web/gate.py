"""The gate before every route, unknown paths and errors included: host, origin, token, and the headers of the answer.

It is the outermost layer, so that no route can be reached around it, and the last to catch what nobody foresaw.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterglow.errors import StoreUnavailable
from afterglow.memory import Memory
from afterglow.store.access import AccessToken
from afterglow.web import origins, problems
from afterglow.web.origins import Host
from afterglow.web.problems import refusal

OPEN_TO_ALL = "/healthz"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

_TOKEN_CHARS_MAX = 200
_FORWARDED = frozenset({b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})
_STOPPING = "the server is stopping; repeat this later with the same key: it may or may not have been written"
_CHALLENGE = 'Bearer realm="afterglow"'

_log = logging.getLogger(__name__)

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """How a request came in: from this machine itself, or not, and with which token."""

    local: bool
    token: AccessToken | None


def behind_gate(app: ASGIApp, memory: Memory) -> ASGIApp:
    """The application behind its gate."""

    async def pass_through(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        elif scope["type"] == "http":
            await _guarded(app, memory, scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    return pass_through


async def _guarded(app: ASGIApp, memory: Memory, scope: Scope, receive: Receive, send: Send) -> None:
    loop = asyncio.get_running_loop()
    began, status = loop.time(), 0

    async def answer(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        elif scope["method"] == "HEAD":
            message = {**message, "body": b""}
        await send(message)

    try:
        access = await admitted(memory, scope)
        await app(_routed(scope, access), receive, answer)
    except ClientDisconnect:
        _log.info("%s %s: the client went away", scope["method"], _path(scope))
    except asyncio.CancelledError:  # the server stops, and the time to finish is over
        if not status:
            await problems.answer(StoreUnavailable(_STOPPING))(scope, receive, answer)
        raise
    except Exception as error:
        if status:  # the answer is under way: all that is left is to break it off
            raise
        await problems.answer(error)(scope, receive, answer)
    finally:
        _log.info("%s %s %d %.1f ms", scope["method"], _path(scope), status, 1000 * (loop.time() - began))


async def admitted(memory: Memory, scope: Scope) -> Access:
    """How the request came in, if it may; else the refusal is raised."""
    headers: Headers = scope["headers"]
    server = memory.settings.server
    host = _host(headers, origins.own_names(server.host, server.allowed_hosts))
    _check_page(headers, host, scope["scheme"])
    _check_query(scope["query_string"])
    local = (
        origins.is_loopback(server.host)
        and (host.name in origins.LOOPBACK_NAMES or host.name == server.host)
        and not any(name in _FORWARDED for name, _ in headers)
    )
    if _path(scope) == OPEN_TO_ALL and scope["method"] in SAFE_METHODS:
        return Access(local=local, token=None)
    token = await _token(memory, headers)
    if token is None and not local:
        raise _unauthorized("this needs a token; `afterglow token create` makes one, sent as: Authorization: Bearer …")
    if scope["method"] not in SAFE_METHODS:
        _check_write(headers, token)
    return Access(local=local, token=token)


def _host(headers: Headers, own: frozenset[str]) -> Host:
    given = _one(headers, b"host")
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
    origin = _one(headers, b"origin")
    if origin is not None and not origins.is_own_page(origin, host, scheme):
        raise refusal(403, "this was sent by a page from elsewhere (Origin); pages may call only their own server")
    site = _one(headers, b"sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        raise refusal(403, "this was sent by a page from elsewhere (Sec-Fetch-Site); open the address by itself")


def _check_query(query: bytes) -> None:
    try:
        names = [name for name, _ in parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")]
    except ValueError:
        raise refusal(400, "the part of the address after ? is not UTF-8; encode it with %") from None
    if len(names) != len(set(names)):
        raise refusal(400, "the same parameter is given twice; give each once")


async def _token(memory: Memory, headers: Headers) -> AccessToken | None:
    given = _one(headers, b"authorization")
    if given is None:
        return None
    scheme, _, secret = given.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not 0 < len(secret) <= _TOKEN_CHARS_MAX:
        raise _unauthorized("the Authorization header is not understood; send: Authorization: Bearer ag_…")
    token = await memory.store.find_token(secret)
    if token is None:
        raise _unauthorized("this token is not known, or it was revoked; `afterglow token create` makes another")
    return token


def _check_write(headers: Headers, token: AccessToken | None) -> None:
    if token is None:
        raise _unauthorized("writing needs a token; `afterglow token create` makes one")
    if token.scope == "read":
        raise refusal(403, f"the token {token.name!r} may only read; writing needs one of scope agent or owner")
    content = (_one(headers, b"content-type") or "").partition(";")[0].strip().lower()
    if content != "application/json":
        raise refusal(415, "send the header Content-Type: application/json, with a body of JSON or with none")


def _unauthorized(message: str) -> Exception:
    return refusal(401, message, {"www-authenticate": _CHALLENGE})


def _one(headers: Headers, name: bytes) -> str | None:
    """The header's value; twice the same header is how one reader is made to see another value than the next."""
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise refusal(400, f"the header {name.decode()} is given twice; send it once")
    return values[0].decode("latin-1") if values else None


def _routed(scope: Scope, access: Access) -> Scope:
    """The request for the router: a HEAD is a GET, and names in the path stay encoded, so that they may hold a /."""
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    return {**scope, "method": method, "path": _path(scope), "state": {**scope.get("state", {}), "access": access}}


def _path(scope: Scope) -> str:
    raw: bytes | None = scope.get("raw_path")
    return scope["path"] if raw is None else raw.decode("latin-1")
