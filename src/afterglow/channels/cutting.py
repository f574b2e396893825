"""Cutting a long message into parts: between paragraphs, else between lines, words, characters.

What is cut is lines, before they are written for a channel, so a cut is never inside an escape or an entity, and bold
text or code that goes on in the next part is closed and opened again by itself. A piece is measured as it will be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from unicodedata import category, combining

from afterglow.channels.lines import QUOTE, Line
from afterglow.channels.tree import ADDRESS, CODE, Run

Size = Callable[[Line], int]


def units(text: str) -> int:
    """The length in UTF-16 units, as Telegram and every program in JavaScript count it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def cut(lines: Sequence[Line], size: Size, opening: Size, limit: int) -> list[list[Line]]:
    """The lines of each part. `size` is what a line takes up, `opening` what a block of code does besides its lines."""
    parts: list[list[Line]] = [[]]
    used = 0
    for paragraph in _paragraphs(lines):
        costs = [size(line) for line in paragraph]
        whole = sum(costs) + _openings(paragraph, opening)
        if parts[-1] and used + whole > limit >= whole:
            parts.append([])
            used = 0
        for line, cost in zip(paragraph, costs, strict=True):
            room = limit - opening(line)
            for piece, piece_cost in ((line, cost),) if cost <= room else _pieces(line, size, room):
                before = parts[-1][-1] if parts[-1] else None
                opens = opening(piece) if before is None or before.block != piece.block else 0
                if parts[-1] and used + piece_cost + opens > limit:
                    parts.append([])
                    used, opens = 0, opening(piece)
                parts[-1].append(piece)
                used += piece_cost + opens
    return parts if parts[-1] else parts[:-1]


def _paragraphs(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    begin = 0
    for place in range(1, len(lines) + 1):
        if place == len(lines) or lines[place].apart:
            yield lines[begin:place]
            begin = place


def _openings(lines: Sequence[Line], opening: Size) -> int:
    before = 0
    total = 0
    for line in lines:
        total += opening(line) if line.block != before else 0
        before = line.block
    return total


# --- One line that is too long --------------------------------------------------------------------------------------


def _pieces(line: Line, size: Size, room: int) -> Iterator[tuple[Line, int]]:
    """The line as several, each of which fits. The spaces at a cut are dropped, but not those of code."""
    rest = line
    lead = tuple(sign if sign == QUOTE else " " * len(sign) for sign in line.lead)
    count = room
    while rest.runs:
        window = _head(rest, min(room, 2 * count) + 1)
        if window.runs == rest.runs and (cost := size(rest)) <= room:
            yield rest, cost
            return
        count = _fitting(window, size, room)
        at = _place(window.text, count)
        head, tail = _split(rest.runs, at, keep=bool(line.block))
        if head:
            piece = replace(rest, runs=head)
            yield piece, size(piece)
        rest = replace(rest, runs=tail, apart=False, lead=lead)


def _head(line: Line, characters: int) -> Line:
    """The line's first characters."""
    runs: list[Run] = []
    for run in line.runs:
        if characters <= 0:
            break
        runs.append(run if len(run.text) <= characters else Run(run.text[:characters], run.marks))
        characters -= len(run.text)
    return replace(line, runs=tuple(runs))


def _fitting(line: Line, size: Size, room: int) -> int:
    """A number of its characters that fit, at least one, but not all. Guessing by proportion may miss the greatest."""
    count = len(line.text) - 1
    while count > 1:
        head, _ = _split(line.runs, count, keep=True)
        taken = size(replace(line, runs=head))
        if taken <= room:
            break
        count = max(1, min(count - 1, count * room // taken))
    return max(1, count)


def _place(text: str, fitting: int) -> int:
    """Where to cut so that at most `fitting` characters come before it: after a word, else after a whole character."""
    if fitting < len(text) and text[fitting].isspace():
        return fitting
    for place in range(fitting - 1, len(text) - len(text.lstrip()), -1):
        if text[place].isspace():
            return place + 1
    for place in range(fitting, 0, -1):
        if not _within_character(text, place):
            return place
    return fitting


_JOINER = "\u200d"
_VIRAMA = 9
"""The class of the signs that tie two letters of an Indian script together."""


def _within_character(text: str, place: int) -> bool:
    """Whether what a reader takes for one character begins before this place and ends after it."""
    if place >= len(text):
        return False
    before, after = text[place - 1], text[place]
    if after.isascii() and after not in "\r\n":
        return False
    return (
        before == _JOINER
        or combining(before) == _VIRAMA
        or category(after)[0] == "M"
        or after in "\u200c\u200d\u2060"
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # the tags of flags
        or "\u1160" <= after <= "\u11ff"  # vowels and endings of Korean syllables
        or (_regional(after) and _flags_before(text, place) % 2 == 1)
    )


def _regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, place: int) -> int:
    begin = place
    while begin and _regional(text[begin - 1]):
        begin -= 1
    return place - begin


def _split(runs: Sequence[Run], at: int, *, keep: bool) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
    """The runs before and after this character. An address that is cut is no address any more, so it becomes code."""
    head: list[Run] = []
    for place, run in enumerate(runs):
        if at <= len(run.text):
            marks = run.marks
            if 0 < at < len(run.text) and "address" in marks:
                marks = marks - ADDRESS | CODE
            tail = [Run(run.text[at:], marks), *runs[place + 1 :]]
            return _ended((*head, Run(run.text[:at], marks)), keep), _begun(tail, keep)
        head.append(run)
        at -= len(run.text)
    return tuple(head), ()


def _ended(runs: Sequence[Run], keep: bool) -> tuple[Run, ...]:
    last = runs[-1].text if keep else runs[-1].text.rstrip()
    return (*runs[:-1], Run(last, runs[-1].marks)) if last else tuple(runs[:-1])


def _begun(runs: Sequence[Run], keep: bool) -> tuple[Run, ...]:
    first = runs[0].text if keep else runs[0].text.lstrip()
    return (Run(first, runs[0].marks), *runs[1:]) if first else tuple(runs[1:])
