"""Whose memory a request is about, and who may have what done. The one place where a door decides that.

A token that is bound to an owner opens that owner's memory and no other. A route can heed that only if it asks how the request
came in, so one that does not ask is closed to such a token.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.requests import Request

from afterglow.errors import BadInput, NotAllowed, NotFound
from afterglow.memory import EVERYONE, Memory
from afterglow.reading import is_owner
from afterglow.store.transaction import Scope
from afterglow.web.credentials import Access


async def opened(request: Request) -> Memory:
    """The memory behind the door."""
    return request.app.state.memory


async def access(request: Request) -> Access:
    """How the request came in; the gate found out."""
    return request.state.access


Opened = Annotated[Memory, Depends(opened)]
Accessed = Annotated[Access, Depends(access)]


async def heeds_owner(request: Request) -> None:
    """For all routes: who is bound to an owner comes only where that is asked after."""
    if request.state.access.owners is not None and request.scope.get("endpoint") not in request.app.state.heeding:
        raise NotAllowed("this is about all owners together, and the token is bound to one; use one that is not")


async def holds_to_address(request: Request) -> None:
    """For all routes: where the address takes no parameter, one in it is told of, and not passed over in silence."""
    route: APIRoute = request.scope["route"]
    if not request.query_params or route.dependant.query_params:  # those that take some are strict by their model
        return
    name, extra = next(iter(request.query_params))[:80], route.openapi_extra or {}
    content: dict[str, Any] = extra["requestBody"]["content"] if extra else {}
    fields: Container[str] = content.get("application/json", {"schema": {"properties": ()}})["schema"]["properties"]
    where = (
        f"it goes into the body here, as its field {name}" if name in fields else "the address takes no parameter here"
    )
    raise BadInput(f"{name}: {where}; /api/v1/openapi.json lists what can be given")


async def owners_word(access: Accessed) -> None:
    """For what the owner alone decides: no agent's token does it."""
    if access.token is None or access.token.scope != "owner":
        raise NotAllowed("this is the owner's to decide; it needs a token of scope owner")


async def operators_word(access: Accessed) -> None:
    """For what concerns more than one owner."""
    await owners_word(access)
    if access.owners is not None:
        raise NotAllowed("this concerns more than one owner, and the token is bound to one; use one that is not")


def scope_of(access: Access, owner: str | None) -> Scope:
    """Whose rows a request is about. Only on the operator's own machine may it be everyone's."""
    if owner is not None:
        check_owner(access, owner)
        return owner
    if access.token is not None and access.token.owner is not None:
        return access.token.owner
    signed_in = access.token is not None and access.token.kind == "session"  # by a link that the operator gave out
    if not (access.local or signed_in):
        raise BadInput("owner: from another machine it must be given; /api/v1/owners lists those there are")
    return EVERYONE


def check_owner(access: Access, owner: str) -> None:
    """Who is bound to another owner is refused, whether this one exists or not."""
    if access.owners is not None and owner not in access.owners:
        raise NotAllowed("the token is bound to another owner, and opens that owner's memory alone")


async def root_of(memory: Memory, access: Access) -> str:
    """The owner under which the one that the token is bound to is listed."""
    assert access.token is not None and access.token.owner is not None, "it is bound to an owner"
    root, *_ = await memory.store.folder_owners(access.token.owner)
    return root


async def one_owner(memory: Memory, access: Access, owner: str | None) -> str:
    """The owner that is named, the one that the token is bound to, or the only one there is."""
    bound = None if access.token is None else access.token.owner
    if owner is not None or bound is not None:
        scope = scope_of(access, owner)
        assert isinstance(scope, str), "an owner was named"
        return scope
    found = await memory.store.owners(limit=2)
    if len(found) == 1:
        return found[0].id
    raise BadInput(
        "owner: say whose memory is meant, such as ?owner=kate/telegram/ana, or `owner` in what is sent; "
        "/api/v1/owners lists those there are"
    )


async def check_there(memory: Memory, access: Access, owner: str) -> None:
    """No mistyped name makes an owner: where there are others it must be one of them, or the one a token was made for."""
    if access.owners is not None or await is_owner(memory.store, owner) or not await memory.store.owners(limit=1):
        return
    raise NotFound(
        f"owner: there is no owner {owner[:200]!r}; /api/v1/owners lists those there are, and one comes with its first turn"
    )


def heeding(routers: Iterable[APIRouter]) -> frozenset[Any]:
    """What stands behind the routes that ask how a request came in."""
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    return frozenset(route.endpoint for route in routes if _asks(route.dependant))


def _asks(dependant: Dependant) -> bool:
    return any(each.call is access or _asks(each) for each in dependant.dependencies)
