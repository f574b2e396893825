"""`search`: find what is remembered by words and meaning, or turns by a regular expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command
from afterglow.cli.sessions import PANEL, one_owner, scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from afterglow.memory import Memory
    from afterglow.recollection import FoundTurns, Recall
    from afterglow.search.hits import Hit
    from afterglow.search.memory_search import Recalled

TypeOption = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Of facts: preference, decision, task_completed, open_thread, person, event or other.",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Whose:
    """Whose memory is searched, and whether it was chosen out of several without being named."""

    owner: str
    chosen: bool


def add_to(app: typer.Typer) -> None:
    command(app, "search", search, panel=PANEL)


def search(
    call: Call,
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="What to look for.")],
    owner: OwnerOption = None,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only fact, summary, block or turn; may be given again.")
    ] = None,
    type: TypeOption = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only from then on: 2026-03-02, 1d.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only from before then.")] = None,
    regex: Annotated[
        bool, typer.Option("--regex", "-e", metavar="", help="The words are a regular expression (RE2) for turns.")
    ] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", metavar="", help="With --regex: a is A.")] = False,
    limit: LimitOption = 10,
    explain: Annotated[bool, typer.Option("--explain", metavar="", help="Show how each score came about.")] = False,
) -> None:
    """Find facts, summaries, blocks and turns by words and meaning, the best first; or turns by a regular expression."""
    text = " ".join(words)
    if regex:
        if kind or type or since or until:
            raise typer.BadParameter("--regex looks through turns alone; leave out --kind, --type, --since and --until")
        return _grep(call, text, owner, ignore_case, limit)
    recall(call, text, owner, kind or (), type, since, until, limit, explain)
    return None


def recall(
    call: Call,
    text: str,
    owner: str | None,
    kinds: Sequence[str],
    type: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    explain: bool = False,
) -> None:
    """Search by words and meaning, and show what was found."""
    from afterglow import recollection
    from afterglow.cli.screen import indented
    from afterglow.cli.summaries import window
    from afterglow.store.search import KINDS

    async def look(memory: Memory) -> tuple[Recall, Whose]:
        whose = await _whose(memory, owner)
        start, end = window(call, memory, since, until)
        wanted: Any = tuple(kinds) or (("fact",) if type else KINDS)
        types = (type,) if type else ()
        times: Any = {"since": start, "until": end}
        found = await recollection.recall(
            memory, text, owner=whose.owner, kinds=wanted, types=types, limit=limit, **times
        )
        return found, whose

    found, whose = call.run(look)
    lines = [line for hit in found.hits for line in (_place(call, hit, explain), indented(_snippet(hit), 2))]
    call.screen.answer({"items": found.hits, "more": found.more, "by_meaning": found.by_meaning}, *lines)
    _say_whose(call, whose, any_found=bool(found.hits))
    if found.more:
        call.screen.note(f"These are the best {limit:,}; --limit shows more.")


def _grep(call: Call, text: str, owner: str | None, ignore_case: bool, limit: int) -> None:
    from afterglow import recollection
    from afterglow.cli.screen import indented

    async def look(memory: Memory) -> tuple[FoundTurns, Whose]:
        whose, asked = await _whose(memory, owner), recollection.one_more(memory, limit)
        found = await memory.grep(text, owner=whose.owner, limit=asked, ignore_case=ignore_case)
        return recollection.turns_found(found, limit), whose

    found, whose = call.run(look)
    lines = [line for hit in found.hits for line in (_where(call, hit), indented(_snippet(hit), 2))]
    looked = {"complete": found.complete, "rows_read": found.rows_read}
    call.screen.answer({"items": found.hits, "more": found.more, **looked}, *lines)
    _say_whose(call, whose, any_found=bool(found.hits))
    if found.more:
        call.screen.note(f"These are the newest {limit:,}; --limit shows more.")
    elif not found.complete and len(found.hits) < limit:
        call.screen.warn(
            f"Only the newest {found.rows_read:,} turns were looked through: the settings search.rows_max and "
            "search.seconds_max stop it there."
        )


async def _whose(memory: Memory, owner: str | None) -> Whose:
    """The owner named, if there is such a one; else the one that is meant."""
    if owner is not None:
        return Whose(owner=await scope(memory, owner), chosen=False)
    return Whose(owner=await one_owner(memory, None), chosen=len(await memory.store.owners(limit=2)) > 1)


def _say_whose(call: Call, whose: Whose, *, any_found: bool) -> None:
    if not any_found:
        call.screen.note(f"Nothing was found in the memory of {whose.owner}.")
    if whose.chosen:
        these = f"These are from the memory of {whose.owner}" if any_found else "There are other owners"
        call.screen.note(f"{these}; --owner names another, and `{call.typed('owners')}` lists them.")


def _where(call: Call, hit: Hit) -> Text:
    from afterglow.cli.screen import Styled

    line = Styled().add(hit.session, "bold").add(f"  turn {hit.seq:,}  {hit.role}  {call.screen.time(hit.at)}", "dim")
    return line.text


def _place(call: Call, hit: Recalled, explain: bool) -> Text:
    """Where it comes from, in the words that another command takes."""
    from afterglow.cli.screen import Styled

    about = {
        "turn": f"turn {hit.seq:,}  {hit.role}",
        "block": f"block {hit.seq:,}",
        "summary": "summary",
        "fact": f"fact {hit.fact}  {hit.type}",
    }[hit.kind]
    line = Styled().add(hit.session, "bold").add(f"  {about}  {call.screen.time(hit.at)}", "dim")
    if explain:
        why = hit.why
        parts = [f"words {why.by_words:.2f}", f"meaning {why.by_meaning:.2f}"]
        if hit.kind == "turn":
            beside = f"with its neighbour {why.by_pair:.2f}, session {why.by_session:.2f}"
            parts[0] += f" (turn {why.by_turn:.2f}, {beside})"
        line.add(f"\n  score {hit.score:.2f}: {', '.join(parts)}", "dim", lines=True)
    return line.text


def _snippet(hit: Hit | Recalled) -> Text:
    from afterglow.cli.screen import Styled

    line = Styled()
    at = 0
    for start, end in hit.marks:
        line.add(hit.snippet[at:start]).add(hit.snippet[start:end], "bold yellow")
        at = end
    return line.add(hit.snippet[at:]).text
