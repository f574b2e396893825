"""`facts extract` and `facts rebuild`: reading what was said for facts, and writing the memory files anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, OwnerOption
from afterglow.cli.sessions import find, scope
from afterglow.errors import ModelError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from afterglow.cli.summarising import Troubles
    from afterglow.extraction import Outcome
    from afterglow.memory import Memory
    from afterglow.memory_files import Agreed
    from afterglow.turns import Session

MEND = "mend it, or move it away and run `afterglow facts rebuild`"
"""What to do about a memory file that nobody can read."""
_FAILED_SHOWN = 20


def extract(
    call: Call,
    session: Annotated[str | None, typer.Argument(metavar="[SESSION]", help="One session; without it, all.")] = None,
    owner: OwnerOption = None,
    anew: Annotated[
        bool, typer.Option("--anew", metavar="", help="Read from the beginning, not only what is new.")
    ] = False,
) -> None:
    """Read what was said since the last time for facts, now.

    Each part is kept as it is read, so that it can be broken off, and run again for the rest.
    """
    from afterglow.cli import logfile
    from afterglow.cli.summarising import Troubles
    from afterglow.cli.transfer import progress
    from afterglow.extraction import Outcome

    total, troubles = Outcome(), Troubles()

    async def act(memory: Memory) -> int:
        if session is not None:
            chosen = [await find(memory, session, owner)]
        else:
            chosen = await _unread(memory, await scope(memory, owner), anew)
        turns = sum(each.said_seq - (0 if anew else each.facts_seq) for each in chosen)
        with progress("reading", turns) as advance:
            for each in chosen:
                with troubles.of(each, "reading"):
                    await memory.facts.extract(each, anew=anew, progress=_steps(advance), outcome=total)
                if troubles.stopped is not None:
                    raise troubles.stopped
        return len(chosen)

    try:
        with logfile.aside(call.loaded.settings.data_dir):
            chosen = call.run(act)
    except (KeyboardInterrupt, StoreError):
        call.screen.note(f"Broken off: {_told(total)}. Running it again goes on with the rest.")
        raise
    read = chosen - len(troubles.failed) - troubles.elsewhere
    done = _done(read, total, troubles) if chosen else "Everything was read before; there is nothing new."
    if not troubles.failed:
        call.screen.answer({"sessions": read, "elsewhere": troubles.elsewhere, **_as_data(total)}, done)
    if total.pending:
        pending = call.typed("facts", "list", "--status", "pending", owner=owner)
        call.screen.note(f"`{pending}` shows what waits for your approval.")
    if read and _is_offline(call):
        call.screen.note("There is no model, so only what was said in so many words was looked for; see docs/facts.md.")
    if total.dropped.total():
        why = ", ".join(f"{why} ({n})" for why, n in total.dropped.most_common() if n)
        call.screen.note(f"Not kept: {why}.")
    if troubles.failed:
        raise ModelError(_failure(chosen, done, troubles))


def _done(read: int, total: Outcome, troubles: Troubles) -> str:
    from afterglow.cli.screen import count

    elsewhere = (
        f"; {count(troubles.elsewhere, 'is', 'are')} being read by another process, or one that was killed held it: "
        "`afterglow work` says until when"
        if troubles.elsewhere
        else ""
    )
    return f"{count(read, 'session')} read: {_told(total)}{elsewhere}."


def _failure(chosen: int, done: str, troubles: Troubles) -> str:
    from afterglow.cli.screen import count

    failed = troubles.failed
    told = f"{len(failed):,} of {count(chosen, 'session')} could not be read; run this again for the rest. {done}"
    lines = [f"  {each.session}: {each.error}" for each in failed[:_FAILED_SHOWN]]
    more = [f"  and {len(failed) - _FAILED_SHOWN:,} more"] if len(failed) > _FAILED_SHOWN else []
    return "\n".join([told, *lines, *more])


def _is_offline(call: Call) -> bool:
    import os

    from afterglow.cli.models import chosen_models

    return next(chosen_models(call.loaded, os.environ)).name == "offline"


def _steps(advance: Callable[[int], None]) -> Callable[[int, int], None]:
    """Turns a count of all that is done into steps."""
    done = 0

    def step(now: int, _: int) -> None:
        nonlocal done
        advance(now - done)
        done = now

    return step


def _told(total: Outcome) -> str:
    from afterglow.cli.screen import count

    kept = f"{count(total.stored, 'new fact')}" + (f" ({total.pending:,} pending)" if total.pending else "")
    again = f", {total.again:,} said again" if total.again else ""
    dropped = total.dropped.total()
    return f"{kept}{again}" + (f", {dropped:,} not kept" if dropped else "")


def _as_data(total: Outcome) -> dict[str, Any]:
    return {
        "claimed": total.claimed,
        "stored": total.stored,
        "pending": total.pending,
        "again": total.again,
        "dropped": {why: number for why, number in total.dropped.items() if number},
    }


async def _unread(memory: Memory, whose: Any, anew: bool) -> list[Session]:
    """Every session that has something new to read, the oldest first."""
    found: list[Session] = []
    after: Session | None = None
    while page := await memory.store.sessions_by_name(whose, limit=200, after=after):
        found += [each for each in page if each.said_seq > (0 if anew else each.facts_seq)]
        after = page[-1]
    return sorted(found, key=lambda each: each.created_at)


def rebuild(call: Call, owner: OwnerOption = None) -> None:
    """Write the files of the memory folder anew from the database. What somebody edited in them is taken in as pending.

    A file that cannot be read is left as it is and named; then the exit code is 1.
    """
    from afterglow.cli import logfile
    from afterglow.cli.screen import count

    async def act(memory: Memory) -> list[Agreed]:
        known = {each.id for each in await memory.owners()} | set(await memory.files.owners())
        if owner is not None and owner not in known:
            await scope(memory, owner)  # which says whose there are
        return [await memory.facts.rebuild(one) for one in ([owner] if owner is not None else sorted(known))]

    with logfile.aside(call.loaded.settings.data_dir):
        done = call.run(act)
    folder = call.loaded.settings.data_dir / "memory"
    taken = [fact for each in done for fact in each.taken]
    told = [f"The files of {count(len(done), 'owner')} are in {folder}."]
    told += [f"Taken in as pending: {len(taken):,}"] if taken else []
    told += [f"  {fact.id}  {fact.content}" for fact in taken]
    notes = list(dict.fromkeys(note for each in done for note in each.notes))
    notes += [
        f"{trouble.name} of {trouble.owner} is left as it is: {trouble.problem}; {MEND}"
        for trouble in dict.fromkeys(trouble for each in done for trouble in each.troubles)
    ]
    call.screen.answer({"owners": len(done), "folder": str(folder), "taken": taken, "trouble": notes}, *told)
    if taken:
        pending = call.typed("facts", "list", "--status", "pending", owner=owner)
        call.screen.note(f"`{pending}` shows what waits for your approval.")
    for each in notes:
        call.screen.warn(each)
    if any(each.troubles for each in done):
        raise typer.Exit(1)
