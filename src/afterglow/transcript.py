"""How turns read to a summariser: who said what and when, one line for each, tool results cut short."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Any

from afterglow.excerpts import excerpt
from afterglow.guard import strip_invisible
from afterglow.turns import Part, Turn

RESULT_CHARS_MAX = 2_000
ARGUMENTS_CHARS_MAX = 400
_NEW_LINE = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def transcript(turns: Iterable[Turn], zone: tzinfo) -> str:
    """The turns as lines, with the day where it changes and the time where somebody speaks first."""
    return "\n".join(_lines(turns, zone))


def said_by_user(turns: Iterable[Turn]) -> str:
    """What the user said: not what others said, and not what was only recalled into it."""
    return "\n".join(own_text(turn) for turn in turns if turn.role == "user" and turn.trust == "owner")


def said_by_anybody(turns: Iterable[Turn]) -> str:
    """All that was said and called, as lines with who said it and without the time."""
    lines = [line for turn in turns for line in (_labelled(turn), *_parts(turn.parts, _spoken(turn)))]
    return "\n".join(line for line in lines if line)


def own_text(turn: Turn) -> str:
    """The turn's text without the recalled memory in it, which must not be remembered again."""
    kept: list[str] = []
    place = 0
    for start, end in sorted(turn.recalled):
        kept.append(turn.text[place:start])
        place = max(place, end)
    return strip_invisible("".join([*kept, turn.text[place:]]))[0].strip()


def day_text(moment: datetime) -> str:
    """A day with its name and year, as in: Monday 2 March 2026."""
    return f"{moment:%A} {moment.day} {moment:%B %Y}"


def _lines(turns: Iterable[Turn], zone: tzinfo) -> Iterator[str]:
    day: datetime | None = None
    for turn in turns:
        at = turn.at.astimezone(zone)
        if day is None or at.date() != day.date():
            yield f"— {day_text(at)} —"
        day = at
        text = _spoken(turn)
        if text:
            yield f"{at:%H:%M} {_speaker(turn)}: {text}"
        yield from (f"{at:%H:%M} {line}" for line in _parts(turn.parts, text))


def _spoken(turn: Turn) -> str:
    """The turn's text, its later lines set in, so that none of them passes for a line of somebody else."""
    text = own_text(turn)
    text = excerpt(text, RESULT_CHARS_MAX) if turn.role == "tool" else text
    return _NEW_LINE.sub("\n    ", text)


def _labelled(turn: Turn) -> str:
    return f"{_speaker(turn)}: {_spoken(turn)}" if _spoken(turn) else ""


def _speaker(turn: Turn) -> str:
    if turn.role == "user" and turn.trust == "other":
        return "somebody else"
    return turn.role if turn.origin in ("person", "agent", "import") else f"{turn.role} ({turn.origin})"


def _parts(parts: Sequence[Part], text: str) -> Iterator[str]:
    for part in parts:
        name = str(part.get("name", "a tool"))
        if part.get("type") == "tool_call":
            yield f"assistant calls {name}({_short(part.get('arguments', ''), ARGUMENTS_CHARS_MAX)})"
        elif part.get("type") == "tool_result":
            result = _short(part.get("content", ""), RESULT_CHARS_MAX)
            if result and result != text:
                yield f"result of {name}: {result}"


def _short(value: Any, chars_max: int) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _NEW_LINE.sub("\n    ", excerpt(strip_invisible(text)[0], chars_max))
