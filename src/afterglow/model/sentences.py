"""Text cut into the pieces that an extract is chosen from: a sentence, a line of a list or of code, with who said it.

Every piece is a verbatim part of the text. A piece is never long: what has no sentences is cut at spaces, and what has no
spaces anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PIECE_CHARS_MAX = 400

_SPEAKER = re.compile(
    r"\[[^\[\]\n]{4,60}\]\s{1,4}(?P<timed>[^\s:][^:\n]{0,60}:)(?:\s|$)"
    r"|(?P<plain>(?:user|assistant|tool|system|human|ai)(?: \([^)\n]{1,40}\))?:)(?:\s|$)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*(```|~~~)")
# A sentence ends at a mark and a space before something that can begin one, or at a mark of Chinese or Japanese.
_END = re.compile(r"(?<=[.!?…])[\"')\]»”’*_]{0,4}\s+(?=[^\sa-zß-öø-ÿ,;:)\]])|(?<=[。！？；])[」』”’]?|(?<=[।؟۔])\s*")
SHORTENED = ("Dr", "Prof", "Mr", "Mrs", "Ms", "St", "No", "Nr", "vs", "cf", "approx", "ca", "bzw", "e.g", "i.e", "z.B")
"""No sentence ends behind the stop of these."""
_SHORTENED = "|".join(map(re.escape, SHORTENED))
_NO_END = re.compile(rf"(?:^|[\s(])(?:[A-Z]|[A-Z]\.[A-Z]|etc|Sr|Jr|{_SHORTENED}|\d{{1,3}})\.$")
_GAP = re.compile(r"[,;:，、；]\s*|\s+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A verbatim part of the text that can stand by itself."""

    text: str
    turn: int
    """Which turn or paragraph it is of: pieces of the same one are shown on one line."""
    speaker: str
    first: bool
    """Whether its turn begins with it."""
    code: bool


def pieces(text: str, chars_max: int = PIECE_CHARS_MAX) -> list[Piece]:
    """All pieces of the text, in order."""
    found: list[Piece] = []
    turn, speaker, code = 0, "", False
    for line in text.splitlines():
        if _FENCE.match(line):
            code = not code
            continue
        if said := _SPEAKER.match(line):
            turn, speaker, code = turn + 1, said["timed"] or said["plain"], False
            line = line[said.end() :]
        elif not speaker:
            turn += 1
        whole = [line.strip()] if code else _sentences(line)
        for part in whole:
            for short in _short(part, chars_max):
                first = not found or found[-1].turn != turn
                found.append(Piece(text=short, turn=turn, speaker=speaker, first=first, code=code))
    return found


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        if _NO_END.search(line[max(0, end.start() - 12) : end.start()]):
            continue
        yield line[start : end.end()].strip()
        start = end.end()
    yield line[start:].strip()


def _short(part: str, chars_max: int) -> Iterator[str]:
    """The part, in pieces of a length that can be chosen among."""
    while len(part) > chars_max:
        gaps = [gap.end() for gap in _GAP.finditer(part, chars_max // 2, chars_max)]
        cut = gaps[-1] if gaps else chars_max
        yield part[:cut].strip()
        part = part[cut:].strip()
    if part:
        yield part
