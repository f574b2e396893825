"""Telegram: the text, and beside it entities that say which part of it is bold, code or a quote.

Nothing in the text has to be escaped, and nothing in it can be markup. But Telegram itself finds mentions, hashtags and
commands in it, so these are broken by a hidden character, except in code, where it does not look. A message holds 4096
UTF-16 units and 100 entities. Code stands in no other entity, so in a quote it is shown as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, groupby

from afterglow.channels.cutting import cut, units
from afterglow.channels.dialect import HIDDEN, bulleted, is_web, mail, quiet, web
from afterglow.channels.lines import QUOTE, Line
from afterglow.channels.message import Entity, Part
from afterglow.channels.tree import CODE, Mark, Run
from afterglow.channels.weaving import nested, spaced, spans_of

LIMIT = 4096
ENTITIES_MAX = 100
_ENTITY_UNITS = 1 + LIMIT // ENTITIES_MAX
"""What an entity takes up at least. So measured, a part that is short enough has few enough entities."""
_TYPES: dict[Mark, str] = {"bold": "bold", "italic": "italic", "strike": "strikethrough", "code": "code"}
_COMMAND = re.compile(r"(?<![\w/<>])/(?=[A-Za-z0-9_]{1,64}(?:@|(?![\w/])))")


def telegram_parts(lines: Sequence[Line]) -> list[Part]:
    """The messages, none of them over the limits."""
    return [_part(part) for part in cut(lines, _size, _opening, LIMIT)]


def _size(line: Line) -> int:
    text, entities = _line(line)
    count = len(entities) + (QUOTE in line.lead)
    return max(units(text), count * _ENTITY_UNITS) + 2  # the ends of this line and of an empty one


def _opening(line: Line) -> int:
    return _ENTITY_UNITS if line.block else 0


def _part(lines: Sequence[Line]) -> Part:
    """The lines below each other; those of one block of code, and those of one quote, share an entity."""
    pieces: list[str] = []
    entities: list[Entity] = []
    at = 0
    for (block, quoted), group in groupby(lines, lambda line: (line.block, _quoted(line))):
        begin = None
        for line in group:
            gap = ("\n\n" if line.apart else "\n") if pieces else ""
            shown, inner = _line(line)
            at += len(gap)
            begin = at if begin is None else begin
            entities += (replace(entity, offset=entity.offset + at) for entity in inner)
            pieces += (gap, shown)
            at += units(shown)
        if begin is not None and begin < at and (block or quoted):
            entities.append(_around(lines, block, begin, at))
    return Part(text="".join(pieces), entities=tuple(sorted(entities, key=lambda one: (one.offset, -one.length))))


def _around(lines: Sequence[Line], block: int, begin: int, end: int) -> Entity:
    language = next((line.language for line in lines if block and line.block == block), "")
    return Entity(type="pre" if block else "blockquote", offset=begin, length=end - begin, language=language or None)


def _quoted(line: Line) -> bool:
    return QUOTE in line.lead and not line.block


def _line(line: Line) -> tuple[str, list[Entity]]:
    """The line's text, and its entities counted from its own beginning."""
    if line.block:
        return line.text, []
    lead = bulleted(line.lead).removeprefix("> ")
    pieces = [piece for run in line.runs for piece in spaced(_shown(run, _quoted(line)))]
    places = list(accumulate((units(piece.text) for piece in pieces), initial=units(lead)))
    entities = [
        Entity(type=_TYPES[span.mark], offset=places[span.begin], length=places[span.end] - places[span.begin])
        for span in nested([span for mark in _TYPES for span in spans_of(pieces, mark)])
    ]
    return (lead + "".join(piece.text for piece in pieces)).rstrip(), entities


def _shown(run: Run, quoted: bool) -> Run:
    """The run as Telegram gets it: code has no other mark, and in a quote it is none."""
    if "code" in run.marks and not quoted:
        return Run(run.text, CODE)
    if "address" in run.marks:
        return Run(web(run.text) if is_web(run.text) else mail(run.text), run.marks)
    return Run(_COMMAND.sub("/" + HIDDEN, quiet(run.text)), run.marks - CODE)
