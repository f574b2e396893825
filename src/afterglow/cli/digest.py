"""`digest`: what somebody would be told if they wrote now, why or why not, and what they were told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command, group
from afterglow.cli.goals import PANEL, binding
from afterglow.cli.sessions import scope

if TYPE_CHECKING:
    from afterglow.digest import Digest
    from afterglow.memory import Memory
    from afterglow.returning import Preview
    from afterglow.settings.away import AwaySettings
    from afterglow.turns import Binding

_CHANNELS = "markdown, plain, html, telegram, whatsapp, slack or discord"


def add_to(app: typer.Typer) -> None:
    inner = group(
        app, "digest", "Show what somebody would be told of the time they were away, and what they were.", panel=PANEL
    )
    command(inner, "preview", preview)
    command(inner, "history", history)


def preview(
    call: Call,
    owner: OwnerOption = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="As if they had been away since then: 1d, 2026-03-02.")
    ] = None,
    channel: Annotated[
        str | None, typer.Option("--channel", metavar="CHANNEL", help=f"As it is sent there: {_CHANNELS}.")
    ] = None,
    why: Annotated[bool, typer.Option("--why", metavar="", help="Show each gate, and which one stops it.")] = False,
) -> None:
    """Show what somebody would be told if they wrote now. Nothing is sent, and nothing counts as told by it."""
    from afterglow.cli.summaries import window

    async def read(memory: Memory) -> tuple[Binding, Preview]:
        whose = await binding(memory, owner)
        start, _ = window(call, memory, since, None)
        return whose, await memory.preview_digest(whose, since=start)

    whose, found = call.run(read)
    parts = [part.text for part in _rendered(found.text, channel or "markdown")]
    gates = _gates(call, found, call.loaded.settings.away_of(whose))
    data = {
        "binding": whose,
        "preview": found,
        "parts": parts,
        "gates": [dict(zip(_COLUMNS, row, strict=True)) for row in gates],
    }
    shown: list[Any] = ["\n\n———\n\n".join(parts)] if parts else []
    if why:
        shown = [_table(gates), *(["", *shown] if shown else [])]
    call.screen.answer(data, *shown)
    if not parts:
        call.screen.note("Nothing has happened since they were last here.")
    if found.stopped_by is not None and not why and since is None:
        more = call.typed("digest", "--why", owner=owner)
        call.screen.note(f"It would not be sent: {_REASONS[found.stopped_by]}. `{more}` says more.")


def history(
    call: Call,
    owner: OwnerOption = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="AGENT", help="Only those of this agent.")] = None,
    full: Annotated[bool, typer.Option("--full", metavar="", help="With the words that were sent.")] = False,
    limit: LimitOption = 20,
) -> None:
    """List the digests that were sent, the newest first, and for absences without one the reason."""

    async def read(memory: Memory) -> list[Digest]:
        return await memory.digests(owner=await scope(memory, owner), agent=agent, limit=limit + 1)

    limit = min(limit, 999)
    every = call.run(read)
    found = every[:limit]
    if full and not call.as_json:
        return call.screen.answer(found, *(line for each in found for line in _whole(call, each)))
    rows = [_row(call, each) if owner else (each.owner, *_row(call, each)) for each in found]
    columns = (*(() if owner else ("~owner",)), "when", "away", "what", "events", "~why")
    return call.screen.items(found, columns, rows, empty="Nobody was told anything yet.", more=len(every) > limit)


_COLUMNS = ("gate", "open", "found")
_REASONS = {
    "disabled": "away_summary.enabled is false for this binding",
    "first": "they never wrote before; their first message only begins the count",
    "clock": "their last message is in the future: a clock went backwards",
    "too soon": "they were not away long enough",
    "nothing happened": "nothing happened since their last message",
}


def _gates(call: Call, found: Preview, away: AwaySettings) -> list[tuple[str, bool, str]]:
    """The four gates in their order, and what each sees."""
    seen = found.presence.seen_at if found.presence else None
    untold = found.presence.untold if found.presence else 0
    stopped = found.stopped_by
    gates = ["disabled", "first", "too soon", "nothing happened"]
    reached = gates.index("too soon" if stopped == "clock" else stopped) if stopped else len(gates)
    sees = [
        f"away_summary.enabled is {'true' if away.enabled else 'false'}",
        "nobody was seen yet" if seen is None else f"last seen {call.screen.time(seen)}",
        f"{away.threshold_hours:g} h are asked for" + (f"; {_REASONS['clock']}" if stopped == "clock" else ""),
        f"{untold:,} events since",
    ]
    names = ["wanted", "seen before", "away long enough", "something happened"]
    return [(name, place < reached, saw) for place, (name, saw) in enumerate(zip(names, sees, strict=True))]


def _table(gates: list[tuple[str, bool, str]]) -> Any:
    from afterglow.cli.screen import Styled, table

    closed = next((place for place, (_, is_open, _) in enumerate(gates) if not is_open), len(gates))
    rows = [(name, _mark(Styled(), place, closed).text, saw) for place, (name, _, saw) in enumerate(gates)]
    return table(("gate", "", "~what it sees"), rows)


def _mark(styled: Any, place: int, closed: int) -> Any:
    if place < closed:
        return styled.add("open", "green")
    return styled.add("closed", "red") if place == closed else styled.add("not reached", "dim")


def _rendered(text: str, channel: str) -> list[Any]:
    from afterglow.channels import CHANNELS, render

    if channel not in CHANNELS:
        raise typer.BadParameter(f"there is no channel {channel!r}; choose {_CHANNELS}")
    return render(text, channel) if text else []  # pyright: ignore[reportArgumentType]


def _row(call: Call, digest: Digest) -> tuple[Any, ...]:
    from afterglow.cli.screen import Styled
    from afterglow.digest import duration

    style = {"delivered": "green", "failed": "red"}.get(digest.status, "dim")
    what = digest.status if digest.kind == "return" else f"{digest.status} (daily)"
    events = f"{digest.shown:,} of {digest.total:,}" if digest.total > digest.shown else f"{digest.total:,}"
    away = duration(digest.at - digest.since)
    return call.screen.time(digest.at), away, Styled().add(what, style).text, events, digest.reason


def _whole(call: Call, digest: Digest) -> list[Any]:
    from afterglow.cli.screen import Styled, indented

    head = f"{call.screen.time(digest.at)}  {digest.owner}  {digest.status}  {digest.reason}".rstrip()
    return [Styled().add(head, "bold").text, indented(Styled().add(digest.text, lines=True).text, 2), ""]
