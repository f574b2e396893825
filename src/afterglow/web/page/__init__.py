"""The page: one document and its styles and modules, served as they lie in `assets`. What it shows, it asks of /api/v1.

Only files that were there at the start are served, by a name that stands in a table; no path of a request ever reaches the
disk. Their addresses hold a tag that is made of all of them, so a browser keeps them for good, and never mixes two versions:
it asks for the document each time, and for the rest once.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.requests import Request

from afterglow.errors import NotFound

DOCUMENT = "index.html"
KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOR_GOOD = "max-age=31536000, immutable"
_FOLDER = Path(__file__).parent / "assets"

router = APIRouter(include_in_schema=False)


@router.get("/")
async def page(request: Request) -> Response:
    """The page itself."""
    headers = {"etag": f'"{tag()}"', "content-type": KINDS[".html"]}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(files()[DOCUMENT].replace(b'"/assets/', f'"/assets/{tag()}/'.encode()), headers=headers)


@router.get("/assets/{version}/{name:path}")
async def asset(version: str, name: str) -> Response:
    """A style, a module or the icon of the page."""
    if version != tag() or name == DOCUMENT or name not in files():
        raise NotFound("the page has no such file, or another since the server was renewed; load the page again")
    return Response(files()[name], headers={"content-type": KINDS[Path(name).suffix], "cache-control": FOR_GOOD})


@cache
def files() -> dict[str, bytes]:
    """Every file of the page by its name, read once."""
    found = sorted(each for each in _FOLDER.rglob("*") if each.suffix in KINDS)
    return {each.relative_to(_FOLDER).as_posix(): each.read_bytes() for each in found}


@cache
def tag() -> str:
    """What tells this version of the page from every other."""
    all_of_them = blake2b(digest_size=12)
    for name, body in files().items():
        all_of_them.update(b"%d %s %d " % (len(name), name.encode(), len(body)))
        all_of_them.update(body)
    return all_of_them.hexdigest()
