"""The tree as lines, which is what a chat shows, and what a long message is cut between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from afterglow.channels.tree import Block, Code, Listing, Paragraph, Quote, Run

QUOTE = ">"
BULLET = "- "


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line, and what it stands in.

    `lead` is what goes before it, outermost first: `QUOTE`, `BULLET`, a number such as `"3. "`, or the spaces that stand
    below one of these. `block` numbers the block of code it belongs to, from 1; 0 is text.
    """

    runs: tuple[Run, ...] = ()
    lead: tuple[str, ...] = ()
    apart: bool = False
    """An empty line goes before it."""
    block: int = 0
    language: str = ""

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


def lines_of(blocks: Iterable[Block]) -> list[Line]:
    """All lines of a message. The lines of one block of code have one number."""
    lines: list[Line] = []
    block = 0
    for line in _lines(blocks):
        block += line.block == 1
        lines.append(replace(line, block=block) if line.block else line)
    return lines


def _lines(blocks: Iterable[Block]) -> Iterator[Line]:
    """The lines of these blocks; a block of code begins with number 1 and goes on with 2."""
    for place, block in enumerate(blocks):
        apart = place > 0 and not block.close
        for number, line in enumerate(_lines_of(block)):
            yield replace(line, apart=apart) if number == 0 else line


def _lines_of(block: Block) -> Iterator[Line]:
    match block:
        case Paragraph():
            yield from (Line(runs=row) for row in block.rows)
        case Code():
            for number, text in enumerate(block.text.split("\n")):
                yield Line(runs=(Run(text),), block=1 if number == 0 else 2, language=block.language)
        case Quote():
            yield from (replace(line, lead=(QUOTE, *line.lead)) for line in _lines(block.blocks))
        case Listing():
            yield from _lines_of_items(block)


def _lines_of_items(listing: Listing) -> Iterator[Line]:
    for place, item in enumerate(listing.items):
        sign = BULLET if listing.first is None else f"{listing.first + place}. "
        lines = list(_lines(item))
        if not lines or lines[0].block:  # code has a line of its own, so its sign needs one too
            lines.insert(0, Line())
        apart = listing.loose and place > 0
        yield replace(lines[0], lead=(sign, *lines[0].lead), apart=apart)
        yield from (replace(line, lead=(" " * len(sign), *line.lead)) for line in lines[1:])
