"""Cutting what is too long to show: head and tail of a text, stubs of parts, the inside of a very long exchange."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from afterglow.tokens import estimate, estimate_parts
from afterglow.turns import Part, Turn

HEAD_SHARE = 0.6
_TEXT_CHARS_MIN = 200
_CHARS_MIN = 20
_STUBS_MAX = 100
_RESULTS_KEPT = 2
"""The newest results of tools in an exchange, which are shown as they are."""
_NOTE_TOKENS = 30
_CALM = 0.6
"""Once over the budget, results are put away until this share of it is left, so that it does not happen at every turn."""


def excerpt(text: str, chars_max: int) -> str:
    """Head and tail of a text that is too long to show."""
    if len(text) <= chars_max:
        return text
    head = int(chars_max * HEAD_SHARE)
    tail = chars_max - head
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[… {left_out:,} of {len(text):,} characters are left out here …]\n{text[-tail:]}"


def shorter_parts(parts: Sequence[Part], chars_max: int) -> list[Part]:
    """Parts that fit: their long texts cut, all by the same measure; if that is not enough, only what each is."""
    if json_bytes(parts) <= chars_max:
        return list(parts)
    each_max = max(_TEXT_CHARS_MIN, chars_max // max(1, _texts(parts)))
    short: list[Part] = each_text(parts, lambda text: excerpt(text, each_max))
    if json_bytes(short) <= 2 * chars_max:
        return short
    more = len(parts) - _STUBS_MAX
    note: list[Part] = [{"type": "left_out", "text": f"{more:,} more parts are left out here"}] if more > 0 else []
    return [*(_stub(part) for part in parts[:_STUBS_MAX]), *note]


def json_bytes(value: Any) -> int:
    """How large parts are when they are written down."""
    return len(json.dumps(value, ensure_ascii=False).encode()) if value else 0


def _stub(part: Part) -> Part:
    kept = {name: part[name] for name in ("type", "id", "name") if isinstance(part.get(name), str)}
    return {**{name: excerpt(text, _TEXT_CHARS_MIN) for name, text in kept.items()}, "left_out_bytes": json_bytes(part)}


def _texts(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(_texts(inner) for inner in value.values())  # pyright: ignore
    if isinstance(value, Sequence) and not isinstance(value, str):
        return sum(_texts(inner) for inner in value)  # pyright: ignore
    return int(isinstance(value, str))


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: each_text(inner, change) for key, inner in value.items()}  # pyright: ignore
    if isinstance(value, Sequence):
        return [each_text(inner, change) for inner in value]  # pyright: ignore
    return value


def shrunk(exchange: Sequence[Turn], tokens_max: int) -> tuple[list[Turn], int]:
    """The turns of one exchange as they are shown within a budget, and how many are changed or left out.

    Old results of tools become stubs first; then long texts are cut, each time shorter; then turns are left out after the
    first. It goes through the exchange as it grew, so that what was put away once is put away in every later context.
    """
    shown = list(exchange)
    if sum(turn.tokens for turn in shown) <= tokens_max:
        return shown, 0
    shown = _with_stubs(shown, tokens_max)
    chars_max = max(tokens_max * 4, _TEXT_CHARS_MIN)
    while sum(turn.tokens for turn in shown) > tokens_max and chars_max >= _CHARS_MIN:
        chars_max //= 2
        shown = [_cut(turn, chars_max) for turn in shown]
    shown = _without_the_middle(shown, tokens_max)
    said = {turn.seq: (turn.text, turn.parts) for turn in exchange}
    return shown, len(exchange) - sum((turn.text, turn.parts) == said[turn.seq] for turn in shown)


def as_shown(turn: Turn) -> Turn:
    """The turn with the tokens of what is shown of it, where that is only its head and tail."""
    return replace(turn, tokens=estimate(turn.text) + estimate_parts(turn.parts)) if turn.cut else turn


def _with_stubs(turns: Sequence[Turn], tokens_max: int) -> list[Turn]:
    shown: list[Turn] = []
    whole: deque[int] = deque()
    total = 0
    for turn in turns:
        if turn.role == "tool":
            whole.append(len(shown))
        shown.append(turn)
        total += turn.tokens
        if total > tokens_max:
            total = _put_away(shown, whole, total, tokens_max)
    return shown


def _put_away(shown: list[Turn], whole: deque[int], total: int, tokens_max: int) -> int:
    """Make stubs of the oldest results until there is calm again; the answer is how many tokens are left."""
    while total > tokens_max * _CALM and len(whole) > _RESULTS_KEPT:
        place = whole.popleft()
        stub = _result_stub(shown[place])
        total += stub.tokens - shown[place].tokens
        shown[place] = stub
    return total


def _result_stub(turn: Turn) -> Turn:
    text = f"[the result in turn {turn.seq}, {turn.tokens:,} tokens, is put away; expand turn {turn.seq} to read it]"
    if turn.tokens <= estimate(text) * 2:
        return turn
    parts: tuple[Part, ...] = tuple(
        {**{name: part[name] for name in ("type", "id", "name") if name in part}, "content": text}
        if part.get("type") == "tool_result"
        else part
        for part in turn.parts
    )
    return _with_tokens(replace(turn, text="" if parts else text, parts=parts))


def _cut(turn: Turn, chars_max: int) -> Turn:
    if len(turn.text) <= chars_max and json_bytes(turn.parts) <= chars_max:
        return turn
    return _with_tokens(
        replace(turn, text=excerpt(turn.text, chars_max), parts=tuple(shorter_parts(turn.parts, chars_max)))
    )


def _without_the_middle(turns: Sequence[Turn], tokens_max: int) -> list[Turn]:
    total = sum(turn.tokens for turn in turns)
    if total <= tokens_max or len(turns) < 3:
        return list(turns)
    begin = 1
    total += _NOTE_TOKENS
    while begin < len(turns) - 1 and total > tokens_max:
        total -= turns[begin].tokens
        begin += 1
    note = f"\n[turns {turns[1].seq} to {turns[begin - 1].seq} are left out here; expand them by their numbers]"
    return [_with_tokens(replace(turns[0], text=turns[0].text + note)), *turns[begin:]]


def _with_tokens(turn: Turn) -> Turn:
    return replace(turn, tokens=estimate(turn.text) + estimate_parts(turn.parts), cut=False)
