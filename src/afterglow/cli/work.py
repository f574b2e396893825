"""`work`: what is due, who has it, and what is parked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command, group
from afterglow.cli.sessions import scope
from afterglow.errors import NotFound
from afterglow.work import State, Work

if TYPE_CHECKING:
    from rich.text import Text

    from afterglow.memory import Memory

PANEL = "Behind the scenes"


def add_to(app: typer.Typer) -> None:
    inner = group(app, "work", "List the work that is due, under way or parked, or try it again.", panel=PANEL)
    command(inner, "list", list_work)
    command(inner, "retry", retry)


def list_work(
    call: Call,
    state: Annotated[
        State | None, typer.Option(metavar="|".join(get_args(State)), help="Only work in this state.")
    ] = None,
    owner: OwnerOption = None,
    limit: LimitOption = 50,
) -> None:
    """List work, what is ready first at the top."""

    async def read(memory: Memory) -> list[Work]:
        return await memory.store.work_list(await scope(memory, owner), state, limit + 1)

    found = call.run(read)
    rows = [
        (each.kind, _about(each), each.state, call.screen.time(each.ready_at), str(each.attempts))
        for each in found[:limit]
    ]
    columns = ("kind", "~about", "state", "ready", "#tries")
    call.screen.items(found[:limit], columns, rows, empty="There is no such work.", more=len(found) > limit)
    if len(found) > limit:
        call.screen.note(f"These are the first {limit:,}; --limit shows more.")


def _about(work: Work) -> Text:
    from afterglow.cli.screen import Styled

    about = Styled().add(work.subject)
    return about.add("\n", lines=True).add(work.last_error, "dim").text if work.last_error else about.text


def retry(
    call: Call,
    subject: Annotated[
        str | None, typer.Argument(metavar="SUBJECT", help="A session, a task or an owner; everything without it.")
    ] = None,
    owner: OwnerOption = None,
) -> None:
    """Make what failed or is parked due at once, with its failed tries forgotten."""

    async def act(memory: Memory) -> int:
        return await memory.store.retry(await scope(memory, owner), subject=subject)

    again = call.run(act)
    if subject is not None and not again:
        raise NotFound(f"no work about {subject!r} has failed; `afterglow work list` shows what there is")
    call.screen.answer({"retried": again}, f"{again:,} to be tried again.")
