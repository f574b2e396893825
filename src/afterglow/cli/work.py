"""`work`: what is due, who has it, and what is parked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command, group
from afterglow.cli.sessions import scope
from afterglow.errors import NotFound
from afterglow.work import Kind, State, Work

if TYPE_CHECKING:
    from rich.text import Text

    from afterglow.memory import Memory

PANEL = "Behind the scenes"
_WAITING_READ = 10_000
"""How much of what waits is looked through for what waits because it failed."""


def add_to(app: typer.Typer) -> None:
    inner = group(app, "work", "List the work that is due, under way or parked, or try it again.", panel=PANEL)
    command(inner, "list", list_work)
    command(inner, "retry", retry)


KindOption = Annotated[Kind | None, typer.Option(metavar="|".join(get_args(Kind)), help="Only work of this kind.")]


def list_work(
    call: Call,
    state: Annotated[
        State | None, typer.Option(metavar="|".join(get_args(State)), help="Only work in this state.")
    ] = None,
    kind: KindOption = None,
    owner: OwnerOption = None,
    limit: LimitOption = 50,
) -> None:
    """List work: what is parked, then what failed and is tried again, is under way, or is due; what is ready first on top.

    What only waits for its time, such as the timer of every session that may go quiet, is shown with `--state waiting`.
    """

    async def read(memory: Memory) -> tuple[list[Work], int]:
        whose = await scope(memory, owner)
        if state is not None:
            return await memory.store.work_list(whose, state, limit + 1, kind=kind), 0
        return await _in_hand(memory, whose, kind, limit + 1)

    found, timers = call.run(read)
    several = len({each.owner for each in found[:limit]}) > 1
    rows = [
        (
            each.kind,
            *([each.owner] if several else []),
            _about(each),
            each.state,
            call.screen.time(each.ready_at),
            str(each.attempts),
        )
        for each in found[:limit]
    ]
    columns = ("kind", *(["~owner"] if several else []), "~about", "state", "ready", "#tries")
    more = {"more": len(found) > limit, "timers": timers}
    empty = "There is no such work." if state or kind else "There is no work to be done."
    call.screen.items(found[:limit], columns, rows, empty=empty, **more)
    if len(found) > limit:
        call.screen.note(f"These are the first {limit:,}; --limit shows more.")
    if timers:
        waits = "1 more waits" if timers == 1 else f"{timers:,} more wait"
        call.screen.note(f"{waits} for a time to come, as timers do; --state waiting shows that.")


async def _in_hand(memory: Memory, whose: Any, kind: Kind | None, limit: int) -> tuple[list[Work], int]:
    """What is parked, failed, claimed or due, in this order, and how much merely waits for its time."""
    store = memory.store
    waiting = await store.work_list(whose, "waiting", _WAITING_READ, kind=kind)
    failed = [each for each in waiting if each.attempts or each.last_error]
    timers = (await store.backlog(whose, kind)).waiting - len(failed)
    found = [*await store.work_list(whose, "parked", limit, kind=kind), *failed]
    for state in ("claimed", "due"):
        found += await store.work_list(whose, state, limit, kind=kind)
    return found[:limit], max(0, timers)


def _about(work: Work) -> Text:
    from afterglow.cli.screen import Styled

    about = Styled().add(work.subject)
    if work.state == "claimed" and work.holder:
        about.add("\n", lines=True).add(f"with {work.holder}", "dim")
    return about.add("\n", lines=True).add(work.last_error, "dim").text if work.last_error else about.text


def retry(
    call: Call,
    subject: Annotated[
        str | None, typer.Argument(metavar="SUBJECT", help="A session, a task or an owner; everything without it.")
    ] = None,
    kind: KindOption = None,
    owner: OwnerOption = None,
) -> None:
    """Make what failed or is parked due at once, with its failed tries forgotten."""

    async def act(memory: Memory) -> int:
        return await memory.store.retry(await scope(memory, owner), kind=kind, subject=subject)

    again = call.run(act)
    if subject is not None and not again:
        raise NotFound(f"no work about {subject!r} has failed; `afterglow work list` shows what there is")
    call.screen.answer({"retried": again}, f"{again:,} to be tried again.")
