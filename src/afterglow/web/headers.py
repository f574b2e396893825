"""The headers that decide, read strictly, and those that every answer carries."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import Message, Scope

from afterglow.web.problems import refusal

Headers = Sequence[tuple[bytes, bytes]]

_POLICY, _CACHE = b"content-security-policy", b"cache-control"
_OF_ALL: Headers = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
HEADERS: Headers = (*_OF_ALL, (_CACHE, b"no-store"), (_POLICY, b"default-src 'none'; frame-ancestors 'none'"))
PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
PAGE_HEADERS: Headers = (*_OF_ALL, (_CACHE, b"no-cache"), (_POLICY, PAGE_POLICY))


def path_of(scope: Scope) -> str:
    """The path as it was sent, its names still encoded."""
    raw: bytes | None = scope.get("raw_path")
    return scope["path"] if raw is None else raw.decode("latin-1")


def is_of_page(path: str) -> bool:
    """Whether the page and its files are there, which hold nothing that anybody said."""
    return path == "/" or path.startswith("/assets/")


def one(headers: Headers, name: bytes) -> str | None:
    """The header's value; twice the same header is how one reader is made to see another value than the next."""
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise refusal(400, f"the header {name.decode()} is given twice; send it once")
    return values[0].decode("latin-1") if values else None


def protect(message: Message, path: str) -> None:
    """Give the beginning of an answer what every answer carries. A file of the page may say how long it can be kept."""
    own: list[tuple[bytes, bytes]] = list(message.get("headers", ()))
    page = is_of_page(path)
    given = {name.lower() for name, _ in own}
    added = PAGE_HEADERS if page else HEADERS
    message["headers"] = [*own, *(each for each in added if not (page and each[0] == _CACHE and _CACHE in given))]
