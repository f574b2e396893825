"""`sessions`: what was said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, LimitOption, OwnerOption, SessionArgument, command, group
from afterglow.errors import BadInput, NotFound

if TYPE_CHECKING:
    from rich.text import Text

    from afterglow.memory import Memory
    from afterglow.turns import Binding, Session, Turn

PANEL = "What was said"
SHOWN_TURNS = 50
_PAGE = 200
_SHOWN_CHARS = 2000
_PART_CHARS = 300
_OWNERS_LISTED = 20
_OWNERS_COMPARED = 1_000
ROLES = {"user": "bold cyan", "assistant": "bold green", "tool": "bold magenta", "system": "bold yellow"}


def add_to(app: typer.Typer) -> None:
    inner = group(app, "sessions", "List sessions, read one, close one, or undo that.", panel=PANEL)
    command(inner, "list", list_sessions)
    command(inner, "show", show)
    command(inner, "close", close)
    command(inner, "clear", clear)
    command(inner, "restore", restore)


def list_sessions(call: Call, owner: OwnerOption = None, limit: LimitOption = 20) -> None:
    """List sessions, the one with the newest turn first, each with the title of its summary where it has one."""
    from dataclasses import asdict

    async def read(memory: Memory) -> list[tuple[Session, str | None]]:
        found = await memory.sessions(owner=await scope(memory, owner), limit=limit + 1)
        return [(each, await _title(memory, each)) for each in found]

    found = call.run(read)
    shown = found[:limit]
    rows = [
        (each.id, _whose(each, title), each.state, f"{each.turns:,}", call.screen.time(each.last_at))
        for each, title in shown
    ]
    columns = ("session", "~owner, and what it was about", "state", "#turns", "newest turn")
    records = [{**asdict(each), "title": title} for each, title in shown]
    call.screen.items(records, columns, rows, empty="There are no sessions yet.", more=len(found) > limit)
    if len(found) > limit:
        call.screen.note(f"These are the newest {limit:,}; --limit shows more.")


async def _title(memory: Memory, session: Session) -> str | None:
    if not session.summary_seq:
        return None
    summary = await memory.store.summary_of(session.owner, session.id)
    return None if summary is None else summary.title


def _whose(session: Session, title: str | None) -> Text:
    from afterglow.cli.screen import Styled

    line = Styled().add(session.owner)
    return line.add("\n", lines=True).add(title, "dim").text if title else line.text


FullOption = Annotated[bool, typer.Option("--full", metavar="", help="Do not shorten long texts.")]


def show(
    call: Call,
    session: SessionArgument,
    owner: OwnerOption = None,
    turn: Annotated[int | None, typer.Option(metavar="N", min=1, help="This turn alone, whole.")] = None,
    first: Annotated[int | None, typer.Option(metavar="N", min=1, help="The first turn to show.")] = None,
    last: Annotated[int | None, typer.Option(metavar="N", min=1, help="The last turn to show.")] = None,
    full: FullOption = False,
) -> None:
    """Show the turns of a session: the newest 50, a run of them, or one of them whole."""
    if turn is not None:
        if first is not None or last is not None:
            raise typer.BadParameter("--turn shows one turn; leave out --first and --last")
        return show_whole(call, session, owner, turn)

    async def read(memory: Memory) -> tuple[Session, list[Turn]]:
        found = await find(memory, session, owner)
        return found, await turns_of(memory, found, *_range(found, first, last))

    found, turns = call.run(read)
    call.screen.answer({"session": found, "items": turns}, heading(found), *shown_turns(call, turns, full))
    if turns and len(turns) < found.turns:
        call.screen.note(
            f"Turns {turns[0].seq:,} to {turns[-1].seq:,} of {found.turns:,}; --first and --last show others."
        )
    return None


def close(call: Call, session: SessionArgument, owner: OwnerOption = None) -> None:
    """Close a session. Its turns stay; the next message on its binding opens another."""

    async def act(memory: Memory) -> Session:
        found = await find(memory, session, owner)
        return await memory.store.close_session(found.owner, found.id)

    closed = call.run(act)
    assert closed.closed_at is not None
    call.screen.answer({"session": closed}, f"{closed.id} is closed since {call.screen.time(closed.closed_at)}.")


def clear(call: Call, session: SessionArgument, owner: OwnerOption = None) -> None:
    """Clear a session's context and close it, as happens to one that is quiet for long.

    Turns, summary and facts stay, and its log says that it was cleared. The next message on its binding opens another
    session; `sessions restore` undoes it until then.
    """

    async def act(memory: Memory) -> tuple[Session, Session]:
        found = await find(memory, session, owner)
        return found, await memory.clear(found)

    before, cleared = call.run(act)
    assert cleared.closed_at is not None
    since = call.screen.time(cleared.closed_at)
    if before.state == "closed":
        return call.screen.answer({"session": cleared}, f"{cleared.id} was closed already, since {since}.")
    call.screen.answer({"session": cleared}, f"{cleared.id} is cleared, and closed since {since}.")
    call.screen.note(
        f"`{call.typed('sessions', 'restore', cleared.id, owner=owner)}` undoes it, until another follows."
    )
    return None


def restore(call: Call, session: SessionArgument, owner: OwnerOption = None) -> None:
    """Reopen a session that was closed, cleared or ended, while no other has followed it."""

    async def act(memory: Memory) -> Session:
        return await memory.restore(await find(memory, session, owner))

    restored = call.run(act)
    call.screen.answer({"session": restored}, f"{restored.id} is open again, with all its turns.")


async def scope(memory: Memory, owner: str | None) -> Any:
    """The owner named, if there is such a one, or everyone."""
    from afterglow.reading import is_owner
    from afterglow.store.transaction import EVERYONE

    if owner is None:
        return EVERYONE
    if await is_owner(memory.store, owner):
        return owner
    raise NotFound(f"there is no owner {owner!r}; {await those_there_are(memory, near=owner)}")


async def one_owner(memory: Memory, owner: str | None) -> str:
    """The owner named; else the only one there is; of several, whoever talks in this terminal."""
    from afterglow.reading import is_owner

    if owner is not None:
        return owner
    owners = await memory.store.owners(limit=2)
    if len(owners) == 1:
        return owners[0].id
    here = terminal().owner
    if await is_owner(memory.store, here):
        return here
    raise BadInput(f"say whose with --owner; {await those_there_are(memory)}")


async def owner_to_change(memory: Memory, owner: str | None, *, may_be_new: bool) -> str:
    """The owner named, if there is such a one or none at all yet; else the only one there is. Of several none is guessed."""
    from afterglow.reading import is_owner

    owners = await memory.store.owners(limit=2)
    if owner is None:
        if len(owners) == 1:
            return owners[0].id
        raise BadInput(f"say whose with --owner; {await those_there_are(memory)}")
    if may_be_new or not owners or await is_owner(memory.store, owner):
        return owner
    there = await those_there_are(memory, near=owner)
    raise NotFound(f"there is no owner {owner!r}; say --new-owner if it is to be made, or {there}")


def terminal() -> Binding:
    """Who is logged in here, as `afterglow chat` writes it down."""
    from getpass import getuser

    from afterglow.turns import Binding

    try:
        name = getuser()
    except (KeyError, OSError):  # no name for this number, as in some containers
        name = "me"
    return Binding(agent="assistant", channel="terminal", sender=name)


async def those_there_are(memory: Memory, near: str = "") -> str:
    """The owners to choose from, as part of a sentence; those first whose names are nearest to one that was mistyped."""
    from difflib import SequenceMatcher

    owners = [each.id for each in await memory.store.owners(limit=_OWNERS_COMPARED)]
    if not owners:
        return "there are none yet: an owner comes with the first turn"
    if near:
        owners.sort(key=lambda name: SequenceMatcher(None, name, near).ratio(), reverse=True)
    names = "".join(f"\n  {each}" for each in owners[:_OWNERS_LISTED])
    return f"choose from:{names}" + ("\n  … (`afterglow owners` lists all)" if len(owners) > _OWNERS_LISTED else "")


async def find(memory: Memory, session: str, owner: str | None) -> Session:
    """The session of this name. A name that several owners gave to a session of theirs needs the owner."""
    return await memory.session(session, owner=await scope(memory, owner))


def _range(session: Session, first: int | None, last: int | None) -> tuple[int, int]:
    from afterglow.turns import Span

    if first is None and last is None:
        return max(1, session.turns - SHOWN_TURNS + 1), session.turns
    span = Span(first_seq=first or 1, last_seq=max(session.turns, first or 1) if last is None else last)
    return span.first_seq, span.last_seq


async def turns_of(memory: Memory, session: Session, first: int, last: int) -> list[Turn]:
    """All turns of a run, however long it is."""
    found: list[Turn] = []
    while page := await memory.turns(session, first_seq=first, last_seq=last, limit=_PAGE):
        found += page
        first = page[-1].seq + 1
    return found


def show_whole(call: Call, session: str, owner: str | None, seq: int) -> None:
    """One turn, with nothing cut."""
    from afterglow.cli.screen import visible, write

    async def read(memory: Memory) -> Turn:
        return await memory.turn(await find(memory, session, owner), seq)

    turn = call.run(read)
    call.screen.note(f"turn {seq} of {session}, {turn.role}, {call.screen.time(turn.at)}, {turn.tokens:,} tokens")
    if call.as_json:
        return call.screen.answer(turn)
    # Not through a table or a wrapped text: this may be megabytes, and may go to a file.
    write(visible(turn.text, lines=True) + "\n")
    for part in turn.parts:
        write(visible(json.dumps(part, ensure_ascii=False, indent=2), lines=True) + "\n")
    return None


def heading(session: Session) -> Text:
    """A session in one line."""
    from afterglow.cli.screen import Styled, count

    line = Styled().add(session.id, "bold").add(f"  {session.owner}  {session.state}, {count(session.turns, 'turn')}, ")
    return line.add(f"{count(session.exchanges, 'exchange')}, {count(session.tokens, 'token')}").text


def shown_turns(call: Call, turns: list[Turn], full: bool) -> list[Any]:
    """Turns as people read them."""
    from rich.text import Text

    from afterglow.cli.screen import Styled, indented

    shown: list[Any] = []
    for turn in turns:
        line = Styled().add(f"{turn.seq:>4}  ", "dim").add(turn.role, ROLES[turn.role])
        shown.append(line.add(f"  {call.screen.time(turn.at)}" + (f"  {turn.model}" if turn.model else ""), "dim").text)
        is_stone = "forgotten" in turn.removed
        shown.append(indented(Text("(forgotten)", "dim") if is_stone else body(turn.text, turn.parts, full), 6))
        if turn.cut:
            whole = f"[{turn.bytes:,} bytes in all; --turn {turn.seq} shows them]"
            shown.append(indented(Styled().add(whole, "dim").text, 6))
    return shown


def body(text: str, parts: Any, full: bool) -> Text:
    """A text and its parts as people read them; shortened, since a model is shown more than fits on a screen."""
    from afterglow.cli.screen import Styled
    from afterglow.excerpts import excerpt

    body = Styled().add((text if full else excerpt(text, _SHOWN_CHARS)).rstrip("\n"), lines=True)
    for part in parts:
        line = json.dumps(part, ensure_ascii=False)
        line = line if full or len(line) <= _PART_CHARS else line[:_PART_CHARS] + "…"
        body.add(("\n" if body.text else "") + line, "dim", lines=True)
    return body.text
