"""`sunset`: ending a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from afterglow.cli.call import Call, OwnerOption, SessionArgument, command
from afterglow.cli.sessions import find
from afterglow.cli.summaries import PANEL, SILENT, whole
from afterglow.errors import ClaimLost, ModelError

if TYPE_CHECKING:
    from afterglow.memory import Memory
    from afterglow.summaries import Summary
    from afterglow.turns import Session


def add_to(app: typer.Typer) -> None:
    command(app, "sunset", sunset, panel=PANEL)


def sunset(
    call: Call,
    session: SessionArgument,
    owner: OwnerOption = None,
    now: Annotated[bool, typer.Option("--now", metavar="", help="Make its summary at once, and wait for it.")] = False,
) -> None:
    """End a session: it is closed, and its summary is due at once.

    The primary makes it, as soon as there is one. The next message on its binding opens another session.
    """
    from afterglow.cli import logfile
    from afterglow.summaries import is_stale

    making = call.typed("summarize", session, owner=owner)

    async def act(memory: Memory) -> tuple[Session, Summary | None, str | None, str]:
        ended = await memory.sunset(await find(memory, session, owner))
        maker = None
        if now:
            maker = await _make_now(memory, ended, making)
        after = await memory.session(ended.id, owner=ended.owner)
        summary = None if is_stale(after) else await memory.store.summary_of(after.owner, after.id)
        holder = (await memory.health()).primary_holder
        return after, summary, holder, _who_makes_it(after, summary, maker, holder, making)

    with logfile.aside(call.loaded.settings.data_dir):
        ended, summary, holder, told = call.run(act)
    shown = whole(call, summary) if now and summary is not None else [told]
    data = {"session": ended, "summary": summary, "primaryHolder": holder}
    call.screen.answer(data, f"{ended.id} has ended.", *shown)


async def _make_now(memory: Memory, session: Session, making: str) -> str | None:
    """Make the summary, unless somebody else is about it, who is named then."""
    from afterglow.cli.explanation import work_of
    from afterglow.cli.screen import waiting

    try:
        with waiting(f"summarising {session.id}"):
            await memory.summarize(session)
    except ClaimLost:
        return next((each.holder for each in await work_of(memory, session) if each.kind == "summary"), None)
    except ModelError as error:
        raise ModelError(
            f"{session.id} has ended, and its summary could not be made now: {str(error).rstrip('.')}. It stays due; "
            f"`{making}` tries it again"
        ) from error
    return None


def _who_makes_it(session: Session, summary: Summary | None, maker: str | None, holder: str | None, making: str) -> str:
    if not session.said_seq:
        return SILENT
    if summary is not None:
        return "Its summary covers all that was said."
    if maker is not None:
        return f"{maker} is making its summary at this moment."
    if holder is not None:
        return f"Its summary is due; {holder} is primary, and sees to it."
    return (
        "Its summary is due, and no process is primary now. That is kept: it is made as soon as `afterglow serve` runs, or "
        f"at once by `{making}`."
    )
