"""`facts`: what is known, with its proof, and what the owner has to say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command, group
from afterglow.cli.search import TypeOption, recall
from afterglow.cli.sessions import find, scope
from afterglow.errors import BadInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rich.text import Text

    from afterglow.extraction import Outcome
    from afterglow.facts import Fact
    from afterglow.memory import Memory
    from afterglow.remembering import Proof
    from afterglow.turns import Session

PANEL = "What is known"
_STATUSES = "active, pending, superseded, forgotten or all"
_STYLES = {"active": "green", "pending": "yellow", "superseded": "dim", "forgotten": "dim"}

FactArgument = Annotated[str, typer.Argument(metavar="FACT", help="The fact's id; `afterglow facts` lists them.")]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="The fact, in one plain sentence.")]


def add_to(app: typer.Typer) -> None:
    inner = group(app, "facts", "List facts, see their proof, approve, edit or forget them.", panel=PANEL)
    command(inner, "list", list_facts)
    command(inner, "show", show)
    command(inner, "search", search)
    command(inner, "add", add)
    command(inner, "edit", edit)
    command(inner, "approve", approve)
    command(inner, "reject", reject)
    command(inner, "forget", forget)
    command(inner, "extract", extract)
    command(inner, "rebuild", rebuild)


def list_facts(
    call: Call,
    owner: OwnerOption = None,
    status: Annotated[str, typer.Option(metavar="STATUS", help=f"Only these: {_STATUSES}.")] = "active",
    type: TypeOption = None,
    since: Annotated[str | None, typer.Option(metavar="DAY", help="Only what was said on this day or later.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="Only what was said before this day.")] = None,
    session: Annotated[str | None, typer.Option(metavar="SESSION", help="Only what this session told.")] = None,
    limit: LimitOption = 50,
) -> None:
    """List facts, what was said last first."""
    wanted: dict[str, Any] = {"type": type, "since": since, "until": until, "session": session}
    wanted["status"] = None if status == "all" else status

    async def read(memory: Memory) -> tuple[list[Fact], dict[str, int], str]:
        whose = await scope(memory, owner)
        found = await memory.facts.list(whose, limit=limit + 1, **wanted)
        return found, await memory.store.fact_counts(whose), await _why_none(memory, whose) if not found else ""

    found, counts, why_none = call.run(read)
    rows = [(each.id, each.source_date, each.type, _content(each), each.status) for each in found[:limit]]
    columns = ("fact", "said on", "type", "~what is known", "status")
    call.screen.items(found[:limit], columns, rows, empty=why_none, more=len(found) > limit, counts=counts)
    if len(found) > limit:
        call.screen.note(f"These are the newest {limit:,}; --limit shows more.")
    if status != "pending" and counts.get("pending"):
        n = counts["pending"]
        waits = "1 more waits" if n == 1 else f"{n:,} more wait"
        call.screen.note(f"{waits} for your approval: `afterglow facts list --status pending`.")


async def _why_none(memory: Memory, whose: Any) -> str:
    counts = await memory.store.fact_counts(whose)
    if any(number for status, number in counts.items() if status != "forgotten"):
        return "No fact fits; --status, --type, --since, --until and --session narrow what is shown."
    return "No facts are known yet; `afterglow facts extract` reads what was said for them."


def _content(fact: Fact) -> Text:
    from afterglow.cli.screen import Styled

    line = Styled().add(fact.content or "(forgotten)", "" if fact.status == "active" else _STYLES[fact.status])
    return line.add("\n", lines=True).add(fact.why, "dim").text if fact.why else line.text


def show(call: Call, fact: FactArgument, owner: OwnerOption = None) -> None:
    """Show a fact with its proof: the turns around the words that it rests on."""

    async def read(memory: Memory) -> tuple[Fact, list[Proof]]:
        found = await memory.facts.show(await scope(memory, owner), fact)
        return found, await memory.facts.proofs(found) if found.status != "forgotten" else []

    found, proofs = call.run(read)
    lines = [*_whole(call, found), *(line for each in proofs for line in ("", *_proof(call, each)))]
    call.screen.answer({"fact": found, "proofs": proofs}, *lines)
    if found.status == "pending":
        call.screen.note(
            f"`afterglow facts approve {found.id}` believes it, `afterglow facts reject {found.id}` does not."
        )


def _whole(call: Call, fact: Fact) -> list[Any]:
    from afterglow.cli.screen import Styled, pairs

    rows: list[tuple[str, Any]] = [
        ("status", Styled().add(fact.status, _STYLES[fact.status]).add(f" ({fact.why})" if fact.why else "").text),
        ("type", f"{fact.type}, confidence {fact.confidence}"),
        ("said", f"{fact.source_date}, by {'the owner' if fact.trust == 'owner' else fact.trust}"),
        ("kept", f"{call.screen.time(fact.extracted_at)}, {_way(fact)}"),
        ("owner", fact.owner),
    ]
    rows += [("supersedes", fact.supersedes)] if fact.supersedes else []
    return [Styled().add(fact.content or "(forgotten)", "bold").text, pairs(rows)]


def _way(fact: Fact) -> str:
    ways = {"owner": "stated by the owner", "file": "from an edited file", "import": "imported"}
    return ways.get(fact.way) or ("found without a model" if fact.model == "offline" else f"found by {fact.model}")


def _proof(call: Call, proof: Proof) -> list[Any]:
    from afterglow.cli.screen import Styled, indented

    evidence = proof.evidence
    lines: list[Any] = [f"Proof: turn {evidence.seq:,} of {evidence.session}, {call.screen.time(evidence.at)}"]
    for turn in proof.turns:
        is_it = turn.seq == evidence.seq
        text = turn.text if len(turn.text) <= 600 else turn.text[:600] + " …"
        line = Styled().add(f"{turn.role} {turn.seq}: ", "bold" if is_it else "dim")
        before, quote, after = text.partition(evidence.quote) if is_it else (text, "", "")
        line.add(before, "" if is_it else "dim", lines=True).add(quote, "bold yellow", lines=True).add(
            after, lines=True
        )
        lines.append(indented(line.text, 2))
    return lines


def search(
    call: Call,
    text: Annotated[list[str], typer.Argument(metavar="TEXT…", help="What to look for, in any words.")],
    owner: OwnerOption = None,
    type: TypeOption = None,
    limit: LimitOption = 10,
) -> None:
    """Find facts by their words and their meaning."""
    recall(call, " ".join(text), owner, ("fact",), type, None, None, limit)


def add(call: Call, text: TextArgument, owner: OwnerOption = None, type: TypeOption = None) -> None:
    """State a fact yourself. It is believed at once, and your statement is its proof."""
    _change(call, owner, lambda memory, whose: memory.facts.add(whose, text, type=type or "other"), "Known")  # pyright: ignore


def edit(
    call: Call, fact: FactArgument, text: TextArgument, owner: OwnerOption = None, type: TypeOption = None
) -> None:
    """State a fact otherwise. The old one stays readable, superseded by the new."""

    async def act(memory: Memory, whose: str) -> Fact:
        return await memory.facts.edit(whose, fact, text, type=type)  # pyright: ignore[reportArgumentType]

    _change(call, owner, act, "Known now", fact)


def approve(call: Call, fact: FactArgument, owner: OwnerOption = None) -> None:
    """Believe a pending fact."""
    _change(call, owner, lambda memory, whose: memory.facts.approve(whose, fact), "Approved", fact)


def reject(call: Call, fact: FactArgument, owner: OwnerOption = None) -> None:
    """Do not believe a pending fact: it is forgotten, and does not come back."""
    _change(call, owner, lambda memory, whose: memory.facts.reject(whose, fact), "Rejected and forgotten", fact)


def forget(call: Call, fact: FactArgument, owner: OwnerOption = None) -> None:
    """Forget a fact. Nothing of it stays but a mark that keeps it from coming back; the turns it came from stay.

    `afterglow forget` forgets turns, sessions and owners, with all that came from them.
    """
    _change(call, owner, lambda memory, whose: memory.facts.forget(whose, fact), "Forgotten", fact)


def _change(
    call: Call, owner: str | None, act: Callable[[Memory, str], Awaitable[Fact]], done: str, fact: str | None = None
) -> None:
    async def change(memory: Memory) -> Fact:
        whose = await _owner_of(memory, owner, fact) if fact else await _one_owner(memory, owner)
        return await act(memory, whose)

    changed = call.run(change)
    content = f": {changed.content}" if changed.content else ""
    call.screen.answer({"fact": changed}, f"{done}: {changed.id}{content}")


async def _owner_of(memory: Memory, owner: str | None, fact: str) -> str:
    return (await memory.facts.show(await scope(memory, owner), fact)).owner


async def _one_owner(memory: Memory, owner: str | None) -> str:
    """The owner that is named, or the only one there is."""
    if owner is not None:
        return owner
    owners = await memory.owners()
    if not owners:
        raise NotFound("there is no owner yet; a fact belongs to one. Name it with --owner, as in kate/telegram/42")
    if len(owners) > 1:
        listed = ", ".join(each.id for each in owners[:10])
        raise BadInput(
            f"there are {len(owners)} owners ({listed}{', …' if len(owners) > 10 else ''}); name one with --owner"
        )
    return owners[0].id


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
    from afterglow.cli.screen import count
    from afterglow.cli.transfer import progress
    from afterglow.extraction import Outcome

    total = Outcome()

    async def act(memory: Memory) -> int:
        if session is not None:
            chosen = [await find(memory, session, owner)]
        else:
            chosen = await _unread(memory, await scope(memory, owner), anew)
        turns = sum(each.said_seq - (0 if anew else each.facts_seq) for each in chosen)
        with progress("reading", turns) as advance:
            for each in chosen:
                total.add(await memory.facts.extract(each, anew=anew, progress=_steps(advance)))
        return len(chosen)

    try:
        with logfile.aside(call.loaded.settings.data_dir):
            read = call.run(act)
    except KeyboardInterrupt:
        call.screen.note(f"Broken off: {_told(total)}. Running it again goes on with the rest.")
        raise
    done = (
        f"{count(read, 'session')} read: {_told(total)}."
        if read
        else "Everything was read before; there is nothing new."
    )
    call.screen.answer({"sessions": read, **_as_data(total)}, done)
    if total.pending:
        call.screen.note("`afterglow facts list --status pending` shows what waits for your approval.")
    if read and _is_offline(call):
        call.screen.note("There is no model, so only what was said in so many words was looked for; see docs/facts.md.")
    if total.dropped.total():
        why = ", ".join(f"{why} ({n})" for why, n in total.dropped.most_common() if n)
        call.screen.note(f"Not kept: {why}.")


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
    """Write the files of the memory folder anew from the database. What somebody edited in them is taken in as pending."""
    from afterglow.cli.screen import count

    async def act(memory: Memory) -> tuple[int, list[str]]:
        known = {each.id for each in await memory.owners()} | set(await memory.files.owners())
        owners = [owner] if owner is not None else sorted(known)
        done = [await memory.facts.rebuild(one) for one in owners]
        told = [note for each in done for note in each.notes]
        told += [f"{trouble.name} is left as it is: {trouble.problem}" for each in done for trouble in each.troubles]
        return len(owners), told

    done, trouble = call.run(act)
    folder = call.loaded.settings.data_dir / "memory"
    call.screen.answer(
        {"owners": done, "folder": str(folder), "trouble": trouble},
        f"The files of {count(done, 'owner')} are in {folder}.",
    )
    for each in trouble:
        call.screen.warn(each)
