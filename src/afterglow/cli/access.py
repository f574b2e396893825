"""`token`: what programs and browsers show to be let in."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from afterglow.cli.call import Call, command, group
from afterglow.cli.owners import PANEL
from afterglow.store.access import AccessScope, AccessToken
from afterglow.turns import check_name, check_text

if TYPE_CHECKING:
    from afterglow.memory import Memory

ScopeOption = Annotated[
    AccessScope,
    typer.Option(metavar="|".join(get_args(AccessScope)), help="owner may do all, agent may write, read may look."),
]
BoundOption = Annotated[
    str | None,
    typer.Option("--owner", metavar="OWNER", help="The only owner whose memory it opens; everyone's without it."),
]
ListeningPortOption = Annotated[
    int | None,
    typer.Option("--port", min=1, max=65535, help="The port that `serve --port` was given; else the settings' own."),
]


def add_to(app: typer.Typer) -> None:
    inner = group(app, "token", "List what lets programs and browsers in, make it, or revoke it.", panel=PANEL)
    command(inner, "list", list_tokens)
    command(inner, "create", create)
    command(inner, "link", link)
    command(inner, "revoke", revoke)


def list_tokens(call: Call) -> None:
    """List tokens, the oldest first, and then the browsers that are signed in to the page.

    The tokens themselves are not kept and cannot be shown again.
    """

    async def read(memory: Memory) -> list[AccessToken]:
        return [*await memory.store.tokens(), *await memory.store.tokens("session")]

    tokens = call.run(read)
    columns = ("id", "~name", "scope", "~owner", "created", "last used", "revoked")
    rows = [_row(call, each) for each in tokens]
    call.screen.items(tokens, columns, rows, empty="There are no tokens; `afterglow token create` makes one.")


def _row(call: Call, token: AccessToken) -> tuple[str, ...]:
    used, revoked = (
        call.screen.time(each) if each is not None else "" for each in (token.last_used_at, token.revoked_at)
    )
    name = f"{token.name} (a browser)" if token.kind == "session" else token.name
    return (token.id, name, token.scope, token.owner or "everyone", call.screen.time(token.created_at), used, revoked)


def create(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for, such as the program's name.")],
    scope: ScopeOption = "agent",
    owner: BoundOption = None,
) -> None:
    """Make a token and show it, this once."""
    check_name(name, "the token's name")
    _check_owner(owner)

    async def act(memory: Memory) -> tuple[AccessToken, str, bool]:
        from afterglow.clock import new_token

        secret = new_token(memory.store.clock)
        made = await memory.store.add_token(name, scope, secret, owner=owner)
        return made, secret, owner is None or await _is_known(memory, owner)

    token, secret, known = call.run(act)
    call.screen.answer({**asdict(token), "token": secret}, secret)
    if not known:
        call.screen.note(f"There is no owner {owner!r} yet: the token opens its memory once something is said there.")
    call.screen.note(f"This is shown only once. `afterglow token revoke {token.id}` makes it worthless.")


def link(call: Call, scope: ScopeOption = "owner", owner: BoundOption = None, port: ListeningPortOption = None) -> None:
    """Print a link that signs one browser in to the page of the server that runs here. It works once, for ten minutes."""
    _check_owner(owner)
    server = call.loaded.settings.server
    at = port or server.port

    async def act(memory: Memory) -> str:
        from afterglow.web.signin import new_link

        host = "127.0.0.1" if server.host in ("0.0.0.0", "::") else server.host
        address = f"http://[{host}]:{at}" if ":" in host else f"http://{host}:{at}"
        return await new_link(memory.store, address, scope=scope, owner=owner)

    made = call.run(act)
    call.screen.answer({"link": made}, made)


def revoke(call: Call, token: Annotated[str, typer.Argument(metavar="ID", help="The id of the token.")]) -> None:
    """Revoke a token, or sign a browser out: it opens nothing any more."""

    async def act(memory: Memory) -> AccessToken:
        return await memory.store.revoke_token(token)

    revoked = call.run(act)
    assert revoked.revoked_at is not None
    call.screen.answer(
        revoked, f"{revoked.name} ({revoked.id}) is revoked since {call.screen.time(revoked.revoked_at)}."
    )


def _check_owner(owner: str | None) -> None:
    if owner is not None:
        check_text(owner, "the owner's name")
        check_name(owner[:200], "the owner's name")


async def _is_known(memory: Memory, owner: str) -> bool:
    return bool((await memory.store.totals(owner)).sessions)
