"""`audit`: who changed memory, what they did, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, command
from afterglow.cli.owners import PANEL
from afterglow.cli.sessions import scope

if TYPE_CHECKING:
    from afterglow.memory import Memory
    from afterglow.store.audit import AuditLine

_ABOUT_CHARS = 120


def add_to(app: typer.Typer) -> None:
    command(app, "audit", audit, panel=PANEL)


def audit(
    call: Call,
    owner: OwnerOption = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only from then on: 2026-03-02T09:15, 1d.")
    ] = None,
    limit: LimitOption = 50,
) -> None:
    """List who changed memory, what they did and when, the newest change first.

    It names sessions and numbers, and no word of what was said. Of an owner or a session that is forgotten a digest stays.
    """
    from afterglow.cli.summaries import window

    async def read(memory: Memory) -> list[AuditLine]:
        start, _ = window(call, memory, since, None)
        return await memory.audit(owner=await scope(memory, owner), since=start, limit=limit + 1)

    found = call.run(read)
    shown = found[:limit]
    columns = ("when", "who", "what", *(() if owner else ("~owner",)), "~session and what it was about")
    rows = [_row(call, line, with_owner=not owner) for line in shown]
    empty = "Nothing was changed yet." if since is None else "Nothing was changed since then."
    call.screen.items(shown, columns, rows, empty=empty, more=len(found) > limit)
    if len(found) > limit:
        call.screen.note(f"These are the newest {limit:,}; --limit shows more.")


def _row(call: Call, line: AuditLine, *, with_owner: bool) -> tuple[Any, ...]:
    owner = (line.owner or "everyone",) if with_owner else ()
    return call.screen.time(line.at), line.who, line.what.replace("_", " "), *owner, _about(line)


def _about(line: AuditLine) -> str:
    """`talk, turns 3, new 01J…, 01K…`."""
    said = [f"{name} {_listed(value)}" for name, value in line.about.items()]
    text = ", ".join([*([line.session] if line.session else []), *said])
    return text if len(text) <= _ABOUT_CHARS else text[:_ABOUT_CHARS] + "…"


def _listed(value: Any) -> str:
    return " ".join(map(str, cast(list[Any], value))) if isinstance(value, list) else str(value)
