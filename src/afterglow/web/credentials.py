"""What somebody shows to be let in: a token in its header, or a browser's cookie.

The cookie is out of the reach of scripts and goes to no other site. A write by it must also carry a word that only the page
knows, which no other page can read, and must say which page it comes from.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from dataclasses import dataclass

from starlette.requests import cookie_parser

from afterglow.errors import AfterglowError
from afterglow.memory import Memory
from afterglow.store.access import AccessToken, is_used_anew
from afterglow.web.headers import Headers, one
from afterglow.web.origins import Host
from afterglow.web.problems import refusal

CSRF_HEADER = "x-afterglow-csrf"
SECRET_CHARS_MAX = 200
_NOTE_SECONDS_MAX = 2
_CHALLENGE = 'Bearer realm="afterglow"'

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """How a request came in: from this machine itself, or not, with which token, and whose memory it may see."""

    local: bool
    token: AccessToken | None = None
    owners: frozenset[str] | None = None
    """The owner that the token is bound to, with those joined to it; None where it opens everyone's memory."""
    secret: str | None = None
    """The secret of the cookie, where it came with one."""


def cookie_name(host: Host) -> str:
    """A browser sends the cookies of one name to every port: two servers on a machine have each its own."""
    return f"afterglow_{host.port or 0}"


def csrf_of(secret: str) -> str:
    """The word that a page must send with every write. Who has it cannot make the cookie of it."""
    return hmac.new(secret.encode(), b"the page's own word", "sha256").hexdigest()


def who(access: Access) -> str:
    """By which name the audit knows whoever came in so."""
    if access.token is None:
        return "http"
    return f"{'page' if access.token.kind == 'session' else 'token'}:{access.token.name}"


async def shown(memory: Memory, headers: Headers, host: Host, *, local: bool) -> Access:
    """How the request came in. A header goes before a cookie, which is then not looked at."""
    given = one(headers, b"authorization")
    secret = None if given is not None else _cookie(headers, host)
    if given is not None:
        token = await memory.store.find_token(_bearer(given))
        if token is None:
            raise unauthorized("this token is not known, or it was revoked; `afterglow token create` makes another")
    elif secret is not None:
        token = await memory.store.find_token(secret, "session")  # one that is over counts as none
    else:
        token = None
    if token is None:
        return Access(local=local)
    await _note(memory, token)
    owners = None if token.owner is None else frozenset(await memory.store.folder_owners(token.owner))
    return Access(local=local, token=token, owners=owners, secret=secret)


def check_page(access: Access, headers: Headers) -> None:
    """A write that came with a cookie was sent by our own page, and by nobody who only has the cookie sent along."""
    if access.secret is None:
        return
    if one(headers, b"origin") is None:
        raise refusal(403, "a write with a cookie must say which page it comes from (Origin); programs use a token")
    word = one(headers, CSRF_HEADER.encode()) or ""
    if not hmac.compare_digest(word.encode("latin-1"), csrf_of(access.secret).encode()):
        raise refusal(
            403, f"the header {CSRF_HEADER} is missing or wrong; GET /api/v1/session gives the page its value"
        )


def unauthorized(message: str) -> Exception:
    """A refusal that says how to come in."""
    return refusal(401, message, {"www-authenticate": _CHALLENGE})


def _bearer(given: str) -> str:
    scheme, _, secret = given.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not 0 < len(secret) <= SECRET_CHARS_MAX:
        raise unauthorized("the Authorization header is not understood; send: Authorization: Bearer ag_…")
    return secret


def _cookie(headers: Headers, host: Host) -> str | None:
    given = one(headers, b"cookie")
    secret = None if given is None else cookie_parser(given).get(cookie_name(host))
    return secret if secret and len(secret) <= SECRET_CHARS_MAX else None


async def _note(memory: Memory, token: AccessToken) -> None:
    """When it was used; where that cannot be written down, the request goes on all the same."""
    if not is_used_anew(token, memory.store.clock.now()):
        return
    try:
        async with asyncio.timeout(_NOTE_SECONDS_MAX):
            await memory.store.note_use(token.id)
    except (AfterglowError, TimeoutError) as error:
        _log.warning("that the token %s was used could not be written down: %s", token.id, error)
