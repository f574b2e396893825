"""`context`, `compact` and `expand`: what the model sees of a session, folding it now, and looking through what was folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from afterglow.cli.call import Call, OwnerOption, SessionArgument, command
from afterglow.cli.sessions import ROLES, FullOption, body, find, show_whole, shown_turns, turns_of
from afterglow.errors import BadInput

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from afterglow.cli.explanation import Explanation
    from afterglow.compaction import Block
    from afterglow.context import Context, Portion
    from afterglow.memory import Memory
    from afterglow.turns import Session, Turn

PANEL = "What the model sees"
_BAR_COLUMNS = 30


def add_to(app: typer.Typer) -> None:
    command(app, "context", context, panel=PANEL)
    command(app, "compact", compact, panel=PANEL)
    command(app, "expand", expand, panel=PANEL)


def context(
    call: Call,
    session: SessionArgument,
    owner: OwnerOption = None,
    at: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="What it saw when turn N was the newest; else now.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", metavar="", help="Show how each part was made, and when it folds next.")
    ] = False,
    full: FullOption = False,
) -> None:
    """Show what the model sees of a session: the size of each part, then every message.

    Older turns are folded into blocks, which are summaries; the newest are the tail, word for word. `afterglow expand`
    shows the turns behind a block.
    """

    async def read(memory: Memory) -> tuple[Session, Context, int, Explanation | None]:
        found = await find(memory, session, owner)
        shown = await memory.context(found, at=at)
        limit = memory.frame_of(found.binding.agent).limits.context_limit_tokens
        if not explain:
            return found, shown, limit, None
        from afterglow.cli.explanation import explanation

        return found, shown, limit, await explanation(memory, found, at)

    found, shown, limit, explained = call.run(read)
    lines: list[Any] = [_size(shown, limit)]
    if at is not None:
        lines.insert(0, f"When turn {at:,} of {found.turns:,} was the newest:")
    if shown.portions:
        lines += [_in_a_sentence(shown), "", _parts(shown), ""]
    if explained is not None:
        lines += explained.lines(call.screen.time)
    lines += _messages(shown, full)
    call.screen.answer(_data(shown, limit, explained), *lines)
    _note_what_is_not_shown(call, shown, owner)


def _data(shown: Context, limit: int, explained: Explanation | None) -> dict[str, Any]:
    from dataclasses import asdict

    more = {} if explained is None else {"explained": explained}
    return {**asdict(shown), "limit_tokens": limit, **more}


def _size(shown: Context, limit: int) -> RenderableType:
    from afterglow.cli.screen import Styled, bar, count

    line = Styled().add(f"{shown.tokens:,} of {limit:,} tokens", "bold")
    line.add(f" in {count(len(shown.messages), 'message')}")
    over = shown.tokens > limit
    return line.add(f"  {bar(shown.tokens / limit, _BAR_COLUMNS)}", "bold red" if over else "green").text


def _in_a_sentence(shown: Context) -> str:
    from afterglow.cli.screen import count

    blocks = [each for each in shown.portions if each.block is not None]
    tail = next((each for each in shown.portions if each.name == "tail"), None)
    folded = f"Turns {blocks[0].first_seq:,} to {blocks[-1].last_seq:,} are folded into " if blocks else ""
    said = [f"{folded}{count(len(blocks), 'block')}"] if blocks else []
    if tail is not None:
        said.append(f"{'turns' if said else 'Turns'} {tail.first_seq:,} to {tail.last_seq:,} stand word for word")
    return "; ".join(said) + "." if said else ""


def _parts(shown: Context) -> Table:
    """Each part of a context with its tokens, and a bar of its share."""
    from rich.text import Text

    from afterglow.cli.screen import bar, table

    rows = [
        (
            _part_name(each),
            f"{each.first_seq:,}–{each.last_seq:,}" if each.first_seq and each.last_seq else "",
            f"{each.tokens:,}",
            Text(bar(each.tokens / max(1, shown.tokens), _BAR_COLUMNS, rest=""), "green"),
        )
        for each in shown.portions
    ]
    return table(("~part", "turns", "#tokens", "share"), rows)


def _part_name(portion: Portion) -> str:
    if portion.block is not None:
        return f"block {portion.block} (level {portion.level})"
    plain = portion.name in ("tail", "around the record")
    return portion.name if plain else f"source {portion.name}"


def _messages(shown: Context, full: bool) -> list[Any]:
    from afterglow.cli.screen import Styled, count, indented

    lines: list[Any] = []
    for each in shown.messages:
        line = Styled().add(f"{each.seq or '':>4}  ", "dim").add(each.role, ROLES[each.role])
        record = "" if each.seq else ", the record of what came before"
        lines.append(line.add(f"  {count(each.tokens, 'token')}{record}", "dim").text)
        lines.append(indented(body(each.text, each.parts, full), 6))
    return lines


def _note_what_is_not_shown(call: Call, shown: Context, owner: str | None) -> None:
    from afterglow.cli.screen import count

    blocks = [each for each in shown.portions if each.block is not None]
    if blocks:
        newest = blocks[-1].block
        expand = call.typed("expand", shown.session, str(newest), owner=owner)
        call.screen.note(f"`{expand}` shows the turns behind block {newest}.")
    if shown.left_out:
        first = ((blocks[-1].last_seq or 0) if blocks else 0) + 1
        span = ("--first", str(first), "--last", str(first + shown.left_out - 1))
        show = call.typed("sessions", "show", shown.session, *span, owner=owner)
        call.screen.note(f"{count(shown.left_out, 'older turn')} did not fit; `{show}` shows them.")
    if shown.put_away:
        put_away = count(shown.put_away, "turn is", "turns are")
        expand = call.typed("expand", shown.session, "--turn", "N", owner=owner)
        call.screen.note(f"{put_away} shown shorter; `{expand}` shows one whole.")
    if shown.invisible:
        call.screen.note(f"{count(shown.invisible, 'invisible character')} were stripped.")


def compact(call: Call, session: SessionArgument, owner: OwnerOption = None) -> None:
    """Fold what can be folded of a session now, and wait for it.

    The newest turns stay as they are, and nothing is removed from the log.
    """
    from afterglow.cli import logfile
    from afterglow.cli.folding import Folding, fold
    from afterglow.cli.screen import waiting

    async def act(memory: Memory) -> Folding:
        found = await find(memory, session, owner)
        model = memory.means_of(found.binding.agent).model.name
        with waiting(f"folding {found.id} with {model}"):
            return await fold(memory, found, call.screen.time)

    with logfile.aside(call.loaded.settings.data_dir):
        done = call.run(act)
    call.screen.answer(done, *done.lines())
    if done.left_out:
        names = ", ".join(done.left_out)
        call.screen.warn(f"These sources did not answer: {names}. `{call.typed('sources', 'check')}` says why.")


def expand(
    call: Call,
    session: SessionArgument,
    number: Annotated[
        int | None, typer.Argument(metavar="[NUMBER]", min=1, help="A block; `afterglow context` shows their numbers.")
    ] = None,
    owner: OwnerOption = None,
    blocks: Annotated[
        bool, typer.Option("--blocks", metavar="", help="The blocks that it was made from, not the turns.")
    ] = False,
    turn: Annotated[int | None, typer.Option(metavar="N", min=1, help="One turn whole, in place of a block.")] = None,
    full: FullOption = False,
) -> None:
    """Show what a block stands for: its turns, or the blocks it was made from; or one turn, whole."""
    if (number is None) == (turn is None) or (turn is not None and blocks):
        raise typer.BadParameter("give the number of a block, or --turn and the number of a turn; one of the two")
    if turn is not None:
        return show_whole(call, session, owner, turn)
    assert number is not None

    async def read(memory: Memory) -> tuple[Block, list[Block], list[Turn]]:
        found = await find(memory, session, owner)
        block = await memory.store.block(found.owner, found.id, number)
        if not blocks:
            return block, [], await turns_of(memory, found, block.first_seq, block.last_seq)
        if not block.children:
            raise BadInput(f"block {number} was made from turns, not from blocks; leave out --blocks to see them")
        return block, [await memory.store.block(found.owner, found.id, child) for child in block.children], []

    block, children, turns = call.run(read)
    lines: list[Any] = _block(call, block, full)
    for child in children:
        lines += ["", *_block(call, child, full)]
    call.screen.answer(
        {"block": block, "items": children if blocks else turns},
        *lines,
        *([""] if turns else []),
        *shown_turns(call, turns, full),
    )
    return None


def _block(call: Call, block: Block, full: bool) -> list[Any]:
    from afterglow.cli.screen import Styled, indented

    time = call.screen.time
    line = Styled().add(f"block {block.number}", "bold").add(f" (level {block.level})  ", "dim")
    line.add(f"turns {block.first_seq:,}–{block.last_seq:,}, {time(block.first_at)} to {time(block.last_at)}, ", "dim")
    return [line.add(f"{block.tokens:,} tokens", "dim").text, indented(body(block.text, (), full), 6)]
