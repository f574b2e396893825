"""`forget`: turns, sessions and owners, with all that came from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from afterglow.cli.call import Call, OwnerOption, SessionArgument, command, group
from afterglow.cli.facts import FactArgument
from afterglow.cli.facts import forget as forget_fact
from afterglow.cli.forgotten import Replaced, VerboseOption, VerifyOption, YesOption, ask, proof_lines
from afterglow.cli.sessions import find, scope
from afterglow.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from afterglow.forgetting import Forgetting, Progress
    from afterglow.memory import Memory

PANEL = "What is known"


def add_to(app: typer.Typer) -> None:
    about = "Forget turns, sessions, owners or facts. It cannot be undone."
    inner = group(app, "forget", about, panel=PANEL)
    command(inner, "turn", turn)
    command(inner, "session", session)
    command(inner, "owner", owner)
    command(inner, "fact", fact)


def turn(
    call: Call,
    session: SessionArgument,
    seq: Annotated[int, typer.Argument(metavar="N", min=1, help="The turn's number.")],
    last: Annotated[int | None, typer.Argument(metavar="[LAST]", min=1, help="The last one of a run of turns.")] = None,
    owner: OwnerOption = None,
    verify: VerifyOption = False,
    verbose: VerboseOption = False,
    yes: YesOption = False,
) -> None:
    """Forget a turn, or a run of turns. An empty one stays in its place, and what came from it is removed or made anew."""

    async def act(memory: Memory, progress: Progress) -> Forgetting:
        found = await find(memory, session, owner)
        return await memory.forget.turns(found, seq, last, verify=verify, progress=progress)

    what = f"turn {seq:,}" if last in (None, seq) else f"turns {seq:,} to {last:,}"
    unproved = "; no word of it is left that could be looked for" if verify else ""
    already = f"Forgotten already: {what} of {session}{unproved}."
    _forget(call, f"{what} of {session}", act, yes, verbose, already)


def session(
    call: Call,
    session: SessionArgument,
    owner: OwnerOption = None,
    verify: VerifyOption = False,
    verbose: VerboseOption = False,
    yes: YesOption = False,
) -> None:
    """Forget a session: its turns, blocks, summary, and the facts that only it proves."""

    async def act(memory: Memory, progress: Progress) -> Forgetting:
        return await memory.forget.session(await find(memory, session, owner), verify=verify, progress=progress)

    _forget(call, f"session {session}", act, yes, verbose)


def owner(
    call: Call,
    owner: Annotated[str, typer.Argument(metavar="OWNER", help="Whose memory; `afterglow owners` lists them.")],
    leave_nothing: Annotated[
        bool,
        typer.Option("--leave-nothing", metavar="", help="Not even what keeps an import from bringing it back."),
    ] = False,
    verify: VerifyOption = False,
    verbose: VerboseOption = False,
    yes: YesOption = False,
) -> None:
    """Forget all that is an owner's: sessions, facts, and the files made of them."""

    from afterglow.turns import Owner

    async def act(memory: Memory, progress: Progress) -> Forgetting:
        try:
            return await memory.forget.owner(owner, keep_stones=not leave_nothing, verify=verify, progress=progress)
        except NotFound:
            if await memory.store.is_forgotten(Owner(id=owner, created_at=memory.store.clock.now())):
                rest = "`--leave-nothing` removes what keeps an import from bringing it back"
                raise NotFound(f"{owner} was forgotten before; {rest}") from None
            await scope(memory, owner)  # which says whose there are
            raise

    _forget(call, f"all that is known of {owner}", act, yes, verbose)


def fact(
    call: Call,
    fact: FactArgument,
    owner: OwnerOption = None,
    verify: VerifyOption = False,
    verbose: VerboseOption = False,
    yes: YesOption = False,
) -> None:
    """Forget a fact; the turns that prove it stay. The same as `afterglow facts forget`."""
    forget_fact(call, fact, owner, verify, verbose, yes)


def _forget(
    call: Call,
    what: str,
    act: Callable[[Memory, Progress], Awaitable[Forgetting]],
    yes: bool,
    verbose: bool,
    already: str = "",
) -> None:
    """Forget it and say so; `already` is what is said where none of its turns was left."""
    from afterglow.cli import logfile
    from afterglow.cli.screen import count
    from afterglow.cli.transfer import progress

    ask(what, yes)
    replaced = Replaced()

    async def run(memory: Memory) -> Forgetting:
        with progress("forgetting", None) as advance:
            told = 0

            def step(done: int, _: int) -> None:
                nonlocal told
                advance(done - told)
                told = done

            async with replaced.watched(memory):
                return await act(memory, step)

    with logfile.aside(call.loaded.settings.data_dir):
        done = call.run(run)
    forgotten = done.forgotten
    told = f"Forgotten: {what} ({count(forgotten.turns, 'turn')}, {count(forgotten.facts, 'fact')})."
    if already and not forgotten.turns:
        told = already
    call.screen.answer({"forgotten": forgotten, "proof": done.proof}, told, *proof_lines(call, done.proof, verbose))
    replaced.tell(call)
    if done.proof is not None and not done.proof.clean:
        raise typer.Exit(1)
