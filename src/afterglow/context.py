"""What the model sees of a session. For now: as many of its newest exchanges as fit, word for word."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afterglow.guard import strip_invisible
from afterglow.tokens import estimate, estimate_parts
from afterglow.turns import Part, Role, Turn, exchanges

HEAD_SHARE = 0.6
_TEXT_CHARS_MIN = 200
_STUBS_MAX = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn as a model is shown it."""

    seq: int
    role: Role
    text: str
    parts: tuple[Part, ...]
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """What the model sees, oldest first. `left_out` are the older turns that did not fit; they are still in the log."""

    session: str
    messages: tuple[Message, ...]
    tokens: int
    left_out: int
    invisible: int
    """How many invisible characters were stripped."""


def assemble(session: str, tail: Sequence[Turn], limit_tokens: int) -> Context:
    """The newest whole exchanges that fit; the last one is always there, so that a tool's result keeps its call."""
    kept: list[Turn] = []
    room = limit_tokens
    runs = exchanges(tail)
    if len(runs) > 1 and runs[0].turns[0].seq > 1:
        runs = runs[1:]  # its beginning may lie before the tail
    for exchange in reversed(runs):
        tokens = sum(_shown_tokens(turn) for turn in exchange.turns)
        if kept and tokens > room:
            break
        room -= tokens
        kept = [*exchange.turns, *kept]
    while kept and kept[0].role == "tool":
        kept = kept[1:]
    messages = [_message(turn) for turn in kept]
    stripped = sum(count for _, count in messages)
    return Context(
        session=session,
        messages=tuple(message for message, _ in messages),
        tokens=sum(message.tokens for message, _ in messages),
        left_out=kept[0].seq - 1 if kept else len(tail),
        invisible=stripped,
    )


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
    short: list[Part] = _each_text(parts, lambda text: excerpt(text, each_max))
    if json_bytes(short) <= 2 * chars_max:
        return short
    return [_stub(part) for part in parts[:_STUBS_MAX]]


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


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _each_text(inner, change) for key, inner in value.items()}  # pyright: ignore
    if isinstance(value, Sequence):
        return [_each_text(inner, change) for inner in value]  # pyright: ignore
    return value


def _message(turn: Turn) -> tuple[Message, int]:
    """The turn as a model is shown it, and how many invisible characters were taken out of it."""
    stripped = 0

    def visible(text: str) -> str:
        nonlocal stripped
        text, count = strip_invisible(text)
        stripped += count
        return text

    text, parts = visible(turn.text), tuple(_each_text(turn.parts, visible))
    if turn.cut:
        text += f"\n[turn {turn.seq} of session {turn.session} is too long to show: read it whole by that number]"
    return Message(seq=turn.seq, role=turn.role, text=text, parts=parts, tokens=_shown_tokens(turn)), stripped


def _shown_tokens(turn: Turn) -> int:
    return estimate(turn.text) + estimate_parts(turn.parts) if turn.cut else turn.tokens
