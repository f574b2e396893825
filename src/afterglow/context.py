"""What the model sees of a session. For now: as many of its newest exchanges as fit, word for word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afterglow.guard import strip_invisible
from afterglow.tokens import estimate, estimate_parts
from afterglow.turns import Part, Role, Turn, exchanges

HEAD_SHARE = 0.6


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
    messages: list[Message] = []
    invisible = 0
    for turn in kept:
        text, stripped = strip_invisible(turn.text)
        invisible += stripped
        messages.append(_message(turn, text))
    return Context(
        session=session,
        messages=tuple(messages),
        tokens=sum(message.tokens for message in messages),
        left_out=kept[0].seq - 1 if kept else 0,
        invisible=invisible,
    )


def excerpt(text: str, chars_max: int) -> str:
    """Head and tail of a text that is too long to show."""
    if len(text) <= chars_max:
        return text
    head = int(chars_max * HEAD_SHARE)
    tail = chars_max - head
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[… {left_out:,} of {len(text):,} characters are left out here …]\n{text[-tail:]}"


def excerpt_within(value: Any, chars_max: int) -> Any:
    """The same for every text inside lists and mappings, such as a tool call's arguments."""
    if isinstance(value, str):
        return excerpt(value, chars_max)
    if isinstance(value, Mapping):
        return {key: excerpt_within(inner, chars_max) for key, inner in value.items()}  # pyright: ignore
    if isinstance(value, Sequence):
        return [excerpt_within(inner, chars_max) for inner in value]  # pyright: ignore
    return value


def _message(turn: Turn, text: str) -> Message:
    if turn.cut:
        text += f"\n[turn {turn.seq} of session {turn.session} is too long to show: read it whole by that number]"
    return Message(seq=turn.seq, role=turn.role, text=text, parts=turn.parts, tokens=_shown_tokens(turn))


def _shown_tokens(turn: Turn) -> int:
    return estimate(turn.text) + estimate_parts(turn.parts) if turn.cut else turn.tokens
