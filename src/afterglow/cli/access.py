"""`token`: what programs show to be let in."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from afterglow.cli.call import Call, command, group
from afterglow.cli.owners import PANEL
from afterglow.store.access import AccessScope, AccessToken
from afterglow.turns import check_name

if TYPE_CHECKING:
    from afterglow.memory import Memory


def add_to(app: typer.Typer) -> None:
    inner = group(app, "token", "List the tokens that let programs in, make one, or revoke one.", panel=PANEL)
    command(inner, "list", list_tokens)
    command(inner, "create", create)
    command(inner, "revoke", revoke)


def list_tokens(call: Call) -> None:
    """List tokens, the oldest first. The tokens themselves are not kept and cannot be shown again."""

    async def read(memory: Memory) -> list[AccessToken]:
        return await memory.store.tokens()

    tokens = call.run(read)
    time = call.screen.time
    rows = [
        (each.id, each.name, each.scope, time(each.created_at), time(each.revoked_at) if each.revoked_at else "")
        for each in tokens
    ]
    columns = ("id", "~name", "scope", "created", "revoked")
    call.screen.items(tokens, columns, rows, empty="There are no tokens; `afterglow token create` makes one.")


def create(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for, such as the program's name.")],
    scope: Annotated[
        AccessScope,
        typer.Option(metavar="|".join(get_args(AccessScope)), help="owner may do all, agent may write, read may look."),
    ] = "agent",
) -> None:
    """Make a token and show it, this once."""
    check_name(name, "the token's name")

    async def act(memory: Memory) -> tuple[AccessToken, str]:
        from afterglow.clock import new_token

        secret = new_token(memory.store.clock)
        return await memory.store.add_token(name, scope, secret), secret

    token, secret = call.run(act)
    call.screen.answer({**asdict(token), "token": secret}, secret)
    call.screen.note(f"This is shown only once. `afterglow token revoke {token.id}` makes it worthless.")


def revoke(call: Call, token: Annotated[str, typer.Argument(metavar="ID", help="The id of the token.")]) -> None:
    """Revoke a token: it opens nothing any more."""

    async def act(memory: Memory) -> AccessToken:
        return await memory.store.revoke_token(token)

    revoked = call.run(act)
    assert revoked.revoked_at is not None
    call.screen.answer(
        revoked, f"{revoked.name} ({revoked.id}) is revoked since {call.screen.time(revoked.revoked_at)}."
    )
