"""Made-up talk for the tests of compaction: turns with tool calls, sessions with their counters, blocks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from afterglow.compaction import Block
from afterglow.turns import Folded, Session, Turn, begins_exchange
from tests.kit.records import KATE, NOON


def call(*ids: str) -> dict[str, Any]:
    """An assistant's turn that calls a tool by each of these ids."""
    parts = [{"type": "tool_call", "id": id, "name": "look", "arguments": {"q": id}} for id in ids]
    return {"role": "assistant", "parts": tuple(parts), "text": ""}


def result(id: str, content: str = "found") -> dict[str, Any]:
    """The turn of a tool that answers the call of this id."""
    return {
        "role": "tool",
        "parts": ({"type": "tool_result", "id": id, "name": "look", "content": content},),
        "text": "",
    }


def turns(*said: str | dict[str, Any], tokens: int = 100, first_seq: int = 1, minutes: int = 1) -> list[Turn]:
    """Turns in order, a minute apart: a role, or all that is special of it."""
    made: list[Turn] = []
    for seq, each in enumerate(said, first_seq):
        given: dict[str, Any] = {"role": each} if isinstance(each, str) else dict(each)
        role = given["role"]
        trust = {"user": "owner", "assistant": "agent", "tool": "external", "system": "agent"}[role]
        defaults: dict[str, Any] = {
            "owner": KATE.owner,
            "session": "s",
            "seq": seq,
            "text": f"{role} says something in turn {seq}",
            "at": NOON + timedelta(minutes=minutes * seq),
            "tokens": tokens,
            "trust": trust,
            "origin": "person" if role == "user" else "agent",
        }
        made.append(Turn(**{**defaults, **given}))
    return made


def session(log: Sequence[Turn], **more: Any) -> Session:
    """The session of these turns, with the counters that the log keeps."""
    begins = [
        turn.seq
        for before, turn in zip([None, *log], log, strict=False)
        if begins_exchange(turn.role, before.role if before else None)
    ]
    folded: Folded = more.pop("folded", Folded())
    last = begins[-1] if begins else 1
    counted: dict[str, Any] = {
        "turns": log[-1].seq if log else 0,
        "exchanges": len(begins),
        "tokens": sum(turn.tokens for turn in log),
        "tail_tokens": sum(turn.tokens for turn in log if turn.seq > folded.to_seq),
        "exchange_seq": last,
        "exchange_tokens": sum(turn.tokens for turn in log if turn.seq >= last),
    }
    return Session(
        owner=KATE.owner,
        id="s",
        binding=KATE,
        state="open",
        created_at=NOON,
        last_at=NOON,
        folded=folded,
        **{**counted, **more},
    )


def block(first_seq: int, last_seq: int, level: int = 0, **more: Any) -> Block:
    """A block over these turns."""
    given: dict[str, Any] = {
        "session": "s",
        "level": level,
        "first_seq": first_seq,
        "last_seq": last_seq,
        "first_at": NOON + timedelta(minutes=first_seq),
        "last_at": NOON + timedelta(minutes=last_seq),
        "text": f"what was said in turns {first_seq} to {last_seq}",
        "tokens": 12,
        "span_tokens": 500,
        "input_hash": "hash",
        "prompt": "fold-1",
        "model": "scripted",
        "reason": "interval",
    }
    return Block(**{**given, **more})
