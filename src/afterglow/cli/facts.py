"""`facts`: what is known, with its proof, and what the owner has to say about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command, group
from afterglow.cli.extracting import extract, rebuild
from afterglow.cli.forgotten import Replaced, VerboseOption, VerifyOption, YesOption, ask, proof_lines
from afterglow.cli.search import TypeOption, recall
from afterglow.cli.sessions import find, owner_to_change, scope
from afterglow.errors import BadInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rich.text import Text

    from afterglow.facts import Fact
    from afterglow.memory import Memory
    from afterglow.proof import Proof as ProofOfForgetting
    from afterglow.remembering import Proof, Stated

PANEL = "What is known"
_STATUSES = "active, pending, superseded, forgotten, or all but the forgotten ones: all"
_SPEAKERS = {
    "owner": "the owner",
    "agent": "the agent",
    "other": "another person",
    "external": "somebody else's text: a tool's answer, a page, a mail, a file",
}
_RETURNS = {"active": "counts again", "pending": "waits for your approval again"}
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
    since: Annotated[
        str | None, typer.Option(metavar="DAY", help="Only what was said on this day or later: 2026-03-02, 1d.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="DAY", help="Only what was said before this day.")] = None,
    session: Annotated[str | None, typer.Option(metavar="SESSION", help="Only what this session told.")] = None,
    limit: LimitOption = 50,
) -> None:
    """List facts, what was said last first."""
    _check_status(status)
    wanted: dict[str, Any] = {"type": type, "session": session}

    async def read(memory: Memory) -> tuple[list[Fact], dict[str, int], int, bool]:
        whose = await scope(memory, owner)
        several = owner is None and session is None and len(await memory.store.owners(limit=2)) > 1
        if session is not None:
            whose = (await find(memory, session, owner)).owner
        wanted["since"], wanted["until"] = _days(call, memory, since, until)
        most = memory.settings.facts.results_max
        shown = None if status == "all" else status
        found = await memory.facts.list(whose, status=shown, limit=limit + (limit < most), **wanted)  # pyright: ignore[reportArgumentType]
        counts = await memory.store.fact_counts(whose)
        waiting = counts.get("pending", 0) if status == "active" else 0
        if waiting and any(wanted.values()):
            waiting = len(await memory.facts.list(whose, status="pending", limit=most, **wanted))
        return found, counts, waiting, several

    found, counts, waiting, several = call.run(read)
    rows = [
        (each.id, each.source_date, each.type, _content(each), each.status, *([each.owner] if several else []))
        for each in found[:limit]
    ]
    columns = ("fact", "said on", "type", "~what is known", "status", *(["owner"] if several else []))
    why_none = "" if found else _why_none(counts, call.typed("facts", "extract", owner=owner))
    call.screen.items(found[:limit], columns, rows, empty=why_none, more=len(found) > limit, counts=counts)
    if len(found) > limit:
        call.screen.note(f"These are the newest {limit:,}; --limit shows more.")
    if waiting:
        given = {"--type": type, "--since": since, "--until": until, "--session": session}
        same = [part for option, value in given.items() if value is not None for part in (option, value)]
        pending = call.typed("facts", "list", "--status", "pending", *same, owner=owner)
        call.screen.note(
            f"{'1 more waits' if waiting == 1 else f'{waiting:,} more wait'} for your approval: `{pending}`."
        )


def _check_status(status: str) -> None:
    from afterglow.facts import STATUSES

    if status not in (*STATUSES, "all"):
        raise BadInput(f"status {status[:40]!r} is not known; use one of {', '.join(STATUSES)}, or all")


def _days(call: Call, memory: Memory, since: str | None, until: str | None) -> tuple[str | None, str | None]:
    """The days within which these moments lie: what is known of a fact is the day it was said, and no time of day."""
    from datetime import timedelta

    from afterglow.cli.summaries import window

    start, end = window(call, memory, since, until)
    after = None if end is None else end + timedelta(days=1, microseconds=-1)
    return start and start.date().isoformat(), after and after.date().isoformat()


def _why_none(counts: dict[str, int], extract: str) -> str:
    if any(number for status, number in counts.items() if status != "forgotten"):
        return "No fact fits; --status, --type, --since, --until and --session narrow what is shown."
    return f"No facts are known yet; `{extract}` reads what was said for them."


def _content(fact: Fact) -> Text:
    from afterglow.cli.screen import Styled

    line = Styled().add(fact.content or "(forgotten)", "" if fact.status == "active" else _STYLES[fact.status])
    return line.add("\n", lines=True).add(fact.why_in_words, "dim").text if fact.why else line.text


def show(call: Call, fact: FactArgument, owner: OwnerOption = None) -> None:
    """Show a fact with its proof: the turns around the words that it rests on."""

    async def read(memory: Memory) -> tuple[Fact, Fact | None, list[Proof]]:
        found = await memory.facts.show(await scope(memory, owner), fact)
        proofs = await memory.facts.proofs(found) if found.status != "forgotten" else []
        return found, await memory.facts.superseded_by(found), proofs

    found, newer, proofs = call.run(read)
    lines = [*_whole(call, found, newer), *(line for each in proofs for line in ("", *_proof(call, each)))]
    call.screen.answer({"fact": found, "superseded_by": newer, "proofs": proofs}, *lines)
    if found.status == "pending":
        yes, no = (call.typed("facts", verb, found.id, owner=owner) for verb in ("approve", "reject"))
        call.screen.note(f"`{yes}` believes it, `{no}` does not.")


def _whole(call: Call, fact: Fact, newer: Fact | None) -> list[Any]:
    from afterglow.cli.screen import Styled, pairs

    why = f" ({fact.why_in_words})" if fact.why else ""
    rows: list[tuple[str, Any]] = [
        ("status", Styled().add(fact.status, _STYLES[fact.status]).add(why).text),
        ("type", f"{fact.type}, confidence {fact.confidence}"),
        ("said on", fact.source_date),
        ("said by", _SPEAKERS[fact.trust]),
        ("kept", f"{call.screen.time(fact.extracted_at)}, {_way(fact)}"),
        ("owner", fact.owner),
    ]
    rows += [("supersedes", fact.supersedes)] if fact.supersedes else []
    if fact.status == "superseded":
        late = "what was said later, and was read before it or is forgotten"
        rows.append(("superseded by", late if newer is None else f"{newer.id}: {newer.content}"))
    return [Styled().add(fact.content or "(forgotten)", "bold").text, pairs(rows)]


def _way(fact: Fact) -> str:
    ways = {"owner": "stated by the owner", "file": "from an edited file", "import": "imported"}
    return ways.get(fact.way) or ("found without a model" if fact.model == "offline" else f"found by {fact.model}")


def _proof(call: Call, proof: Proof) -> list[Any]:
    from afterglow.cli.screen import Styled, indented

    evidence = proof.evidence
    what = "Proof" if evidence.proves else "Words from" if evidence.needed else "Also said in"
    lines: list[Any] = [f"{what}: turn {evidence.seq:,} of {evidence.session}, {call.screen.time(evidence.at)}"]
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


def add(
    call: Call,
    text: TextArgument,
    owner: OwnerOption = None,
    new_owner: Annotated[
        bool, typer.Option("--new-owner", metavar="", help="Make the owner, where there are others and not this one.")
    ] = False,
    type: TypeOption = None,
) -> None:
    """State a fact yourself. It is believed at once, and your statement is its proof."""
    from afterglow.cli import logfile

    async def act(memory: Memory) -> Stated:
        whose = await owner_to_change(memory, owner, may_be_new=new_owner)
        return await memory.facts.state(whose, text, type=type)  # pyright: ignore[reportArgumentType]

    with logfile.aside(call.loaded.settings.data_dir):
        stated = call.run(act)
    fact = stated.fact
    how = f"{'New fact' if stated.new else 'Known already'} of {fact.owner}"
    now = [*(["on your word now"] if stated.believed else []), *([f"{fact.type} now"] if stated.retyped else [])]
    told = f"{', and '.join([how, *now])}: {fact.id}: {fact.content}"
    call.screen.answer({"fact": fact, "new": stated.new, "changed": stated.changed}, told)


def edit(
    call: Call,
    fact: FactArgument,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The fact, in one plain sentence; needless with --type.")
    ] = None,
    owner: OwnerOption = None,
    type: TypeOption = None,
) -> None:
    """State a fact otherwise. The old one stays readable, superseded by the new; another type alone makes no new one.

    Whoever edits a pending fact states it: it is approved with that, also where its words or its type stay.
    """
    if text is None and type is None:
        raise BadInput("there is nothing to change; give the fact in other words, another --type, or both")

    async def act(memory: Memory, whose: str) -> Fact:
        return await memory.facts.edit(whose, fact, text, type=type)  # pyright: ignore[reportArgumentType]

    _change(call, owner, act, "Known now" if type is None else f"Known now as {type}", fact)


def approve(call: Call, fact: FactArgument, owner: OwnerOption = None) -> None:
    """Believe a pending fact."""
    _change(call, owner, lambda memory, whose: memory.facts.approve(whose, fact), "Approved", fact, "active")


def reject(call: Call, fact: FactArgument, owner: OwnerOption = None) -> None:
    """Do not believe a pending fact: it is forgotten, and does not come back."""
    done = "Rejected and forgotten"
    _change(call, owner, lambda memory, whose: memory.facts.reject(whose, fact), done, fact, "forgotten")


def forget(
    call: Call,
    fact: FactArgument,
    owner: OwnerOption = None,
    verify: VerifyOption = False,
    verbose: VerboseOption = False,
    yes: YesOption = False,
) -> None:
    """Forget a fact. Nothing of it stays but a mark that keeps it from coming back; the turns it came from stay.

    `afterglow forget` forgets turns, sessions and owners, with all that came from them.
    """
    from afterglow.cli import logfile
    from afterglow.proof import pieces, prove

    replaced = Replaced()

    async def act(memory: Memory) -> tuple[Fact, Fact, Fact | None, ProofOfForgetting | None]:
        before = await memory.facts.show(await scope(memory, owner), fact)
        if before.status == "forgotten":
            return before, before, None, None
        async with replaced.watched(memory):
            after = await memory.facts.forget(before.owner, fact)
        back = await _still_there(memory, before.owner, before.supersedes)
        if not verify:
            return before, after, back, None
        folder = memory.settings.data_dir
        proof = await prove(memory.store, pieces(before.content), owner=before.owner, data_dir=folder)
        return before, after, back, proof

    ask(f"fact {fact}", yes)
    with logfile.aside(call.loaded.settings.data_dir):
        before, after, back, proof = call.run(act)
    told = [f"{fact} was forgotten already." if before is after else f"Forgotten: {fact}"]
    if before.status == "active" and back is not None and back.status in ("active", "pending"):
        told.append(f"What it had taken the place of {_RETURNS[back.status]}: {back.id}: {back.content}")
    call.screen.answer({"fact": after, "proof": proof}, *told, *proof_lines(call, proof, verbose))
    replaced.tell(call)
    if proof is not None and not proof.clean:
        raise typer.Exit(1)


async def _still_there(memory: Memory, owner: str, fact: str | None) -> Fact | None:
    try:
        return None if fact is None else await memory.facts.show(owner, fact)
    except NotFound:
        return None


def _change(
    call: Call,
    owner: str | None,
    act: Callable[[Memory, str], Awaitable[Fact]],
    done: str,
    fact: str,
    end: str | None = None,
) -> None:
    """Change what is known, and say so; of a fact that is as it should be already, or has the status `end`, say that."""
    from afterglow.cli import logfile

    async def change(memory: Memory) -> tuple[Fact, bool]:
        found = await memory.facts.show(await scope(memory, owner), fact)
        after = found if found.status == end else await act(memory, found.owner)
        return after, after != found

    with logfile.aside(call.loaded.settings.data_dir):
        known, changed = call.run(change)
    told = f"{done}: {known.id}" if changed else f"{known.id} was {end or 'known so'} already; nothing was changed"
    content = f": {known.content}" if known.content else "" if changed else "."
    call.screen.answer({"fact": known, "changed": changed}, told + content)
