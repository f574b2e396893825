"""Turns from a few words, and what the checks make of a claim about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from afterglow.facts.checks import Claimed, check
from afterglow.terms import terms
from afterglow.turns import Draft, Role, Turn
from tests.kit.records import NOON

THAT_DAY = datetime(2026, 3, 4, 12, tzinfo=UTC)


def became(content: str, quote: str, *said: str, type: str = "event") -> str:
    """Why a claim on the last turn is dropped, or what is kept of it. A turn is its role and its words."""
    turns: list[Turn] = []
    for seq, each in enumerate(said, 1):
        role, _, text = each.partition(" ")
        turns.append(spoken_turn(seq, role, text))  # pyright: ignore[reportArgumentType]
    return checked(Claimed(turn=len(turns), quote=quote, content=content, type=type), turns)


def checked(claim: Claimed, turns: Sequence[Turn]) -> str:
    """Why this claim is dropped, or what is kept of it."""
    found = check([claim], turns, UTC, terms)
    return found.proved[0].content if found.proved else next(iter(found.dropped))


def spoken_turn(seq: int, role: Role, text: str, at: datetime = THAT_DAY) -> Turn:
    """A turn of one of the two."""
    trust = "owner" if role == "user" else "agent"
    return Turn(owner="o", session="s", seq=seq, role=role, text=text, at=at, tokens=1, trust=trust, origin="person")


def as_turns(drafts: Sequence[Draft]) -> list[Turn]:
    """The turns that these become in a log."""
    return [
        Turn(
            owner="o",
            session="s",
            seq=seq,
            role=draft.role,
            text=draft.text,
            at=draft.at or NOON,
            tokens=1,
            trust=draft.trust,
            origin=draft.origin,
            parts=tuple(draft.parts),
            recalled=tuple(draft.recalled),
        )
        for seq, draft in enumerate(drafts, 1)
    ]
