"""`owners`: whose memories there are, and which of them are one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from afterglow.cli.call import Call, command, group
from afterglow.turns import Owner, check_name

if TYPE_CHECKING:
    from afterglow.memory import Memory

PANEL = "People and programs"
_LISTED_MAX = 10_000

OwnerArgument = Annotated[str, typer.Argument(metavar="OWNER", help="The owner's name.")]
ToArgument = Annotated[str, typer.Argument(metavar="TO", help="The owner that it becomes part of.")]


def add_to(app: typer.Typer) -> None:
    inner = group(app, "owners", "List owners, join two into one memory, or part them again.", panel=PANEL)
    command(inner, "list", list_owners)
    command(inner, "join", join)
    command(inner, "part", part)


def list_owners(call: Call) -> None:
    """List owners by name, each with those that are joined to it."""

    async def read(memory: Memory) -> list[Owner]:
        return await memory.store.owners(limit=_LISTED_MAX)

    owners = call.run(read)
    rows = [(each.id, call.screen.time(each.created_at), ", ".join(each.joined)) for each in owners]
    columns = ("~owner", "since", "~joined to it")
    call.screen.items(owners, columns, rows, empty="There are no owners yet: an owner comes with the first turn.")


def join(call: Call, owner: OwnerArgument, to: ToArgument) -> None:
    """Make two owners one memory: the first becomes part of the second.

    Nothing that was said is rewritten, and `owners part` undoes it.
    """
    for name in (owner, to):
        check_name(name, "the owner's name")

    async def act(memory: Memory) -> Owner:
        return await memory.join(owner, to)

    joined = call.run(act)
    call.screen.answer(joined, f"{', '.join([joined.id, *joined.joined])} are one memory now.")


def part(call: Call, owner: OwnerArgument) -> None:
    """Undo `owners join`: the owner stands for itself again."""

    async def act(memory: Memory) -> Owner:
        return await memory.part(owner)

    parted = call.run(act)
    call.screen.answer(parted, f"{parted.id} stands for itself again.")
