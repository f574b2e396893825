"""`search`: find turns by words, or by a regular expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command
from afterglow.cli.sessions import PANEL, scope, those_there_are
from afterglow.errors import BadInput

if TYPE_CHECKING:
    from rich.text import Text

    from afterglow.memory import Memory
    from afterglow.search.hits import Found, Hit


def add_to(app: typer.Typer) -> None:
    command(app, "search", search, panel=PANEL)


def search(
    call: Call,
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="What to look for.")],
    owner: OwnerOption = None,
    regex: Annotated[
        bool, typer.Option("--regex", "-e", metavar="", help="The words are a regular expression (RE2).")
    ] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", metavar="", help="With --regex: a is A.")] = False,
    limit: LimitOption = 10,
    explain: Annotated[bool, typer.Option("--explain", metavar="", help="Show how each score came about.")] = False,
) -> None:
    """Find turns by their words, the best first; by a regular expression, the newest first."""
    from afterglow.cli.screen import indented

    text = " ".join(words)

    async def look(memory: Memory) -> Found:
        whose = await _whose(memory, owner)
        if regex:
            return await memory.grep(text, owner=whose, limit=limit, ignore_case=ignore_case)
        return await memory.search(text, owner=whose, limit=limit)

    found = call.run(look)
    lines = [line for hit in found.hits for line in (_where(call, hit, explain), indented(_snippet(hit), 2))]
    call.screen.answer({"items": found.hits, "complete": found.complete, "rows_read": found.rows_read}, *lines)
    if not found.hits:
        call.screen.note("Nothing was found.")
    if not found.complete and len(found.hits) < limit:
        call.screen.warn(
            f"Only the newest {found.rows_read:,} turns were looked through: the settings search.rows_max and "
            "search.seconds_max stop it there."
        )


async def _whose(memory: Memory, owner: str | None) -> str:
    """The owner named, or the only one there is."""
    if owner is not None:
        return await scope(memory, owner)
    owners = await memory.store.owners(limit=2)
    if len(owners) != 1:
        raise BadInput(f"say whose memory to search with --owner; {await those_there_are(memory)}")
    return owners[0].id


def _where(call: Call, hit: Hit, explain: bool) -> Text:
    from afterglow.cli.screen import Styled

    line = Styled().add(hit.session, "bold").add(f"  turn {hit.seq:,}  {hit.role}  {call.screen.time(hit.at)}", "dim")
    if explain and hit.why is not None:
        why = hit.why
        parts = f"turn {why.by_turn:.2f}, with its neighbour {why.by_pair:.2f}, session {why.by_session:.2f}"
        line.add(f"\n  score {why.score:.2f}: {parts}", "dim", lines=True)
    return line.text


def _snippet(hit: Hit) -> Text:
    from afterglow.cli.screen import Styled

    line = Styled()
    at = 0
    for start, end in hit.marks:
        line.add(hit.snippet[at:start]).add(hit.snippet[start:end], "bold yellow")
        at = end
    return line.add(hit.snippet[at:]).text
