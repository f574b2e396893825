"""A search as people and programs are told of it: the hits, what their scores are made of, and whether there are more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from afterglow.memory import Memory
from afterglow.search.hits import Found
from afterglow.search.memory_search import Recalled
from afterglow.store.search import Kind
from afterglow.turns import Role


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreParts:
    """What a score is made of: each between 0 and 1. The last three are of turns, and 0 elsewhere."""

    by_words: float
    by_meaning: float
    by_turn: float
    by_pair: float
    by_session: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallHit:
    """Something that was found, and where it comes from.

    A turn has `session`, `seq` and `role`; a block `session` and `seq`, which is its number; a summary `session`; a fact
    `fact`, its id, its `type`, and the session it was drawn from.
    """

    owner: str
    kind: Kind
    session: str
    seq: int
    fact: str
    type: str
    role: Role | None
    at: datetime
    text: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """What matched, as ranges of the snippet."""
    score: float
    why: ScoreParts


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """The hits, best first; whether meaning had a part in it, and whether more fit than were asked for."""

    hits: tuple[RecallHit, ...]
    by_meaning: bool
    more: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundTurns(Found):
    """The same of turns alone."""

    more: bool


async def recall(memory: Memory, text: str, *, limit: int, **wanted: Any) -> Recall:
    """What `memory.recall` finds, for who shows it."""
    found = await memory.recall(text, limit=one_more(memory, limit), **wanted)
    hits = tuple(_told(hit) for hit in found.hits[:limit])
    return Recall(hits=hits, by_meaning=found.by_meaning, more=len(found.hits) > limit)


def turns_found(found: Found, limit: int) -> FoundTurns:
    """What a search of turns found that was asked for one more."""
    return FoundTurns(
        hits=found.hits[:limit], complete=found.complete, rows_read=found.rows_read, more=len(found.hits) > limit
    )


def one_more(memory: Memory, limit: int) -> int:
    """One more than is shown tells whether there are more; at the most that a search gives, nothing does."""
    return limit + (limit < memory.settings.search.results_max)


def _told(hit: Recalled) -> RecallHit:
    why = hit.why
    return RecallHit(
        owner=hit.owner,
        kind=hit.kind,
        session=hit.session,
        seq=hit.seq,
        fact=hit.fact,
        type=hit.type,
        role=hit.role,
        at=hit.at,
        text=hit.text,
        snippet=hit.snippet,
        marks=hit.marks,
        score=hit.score,
        why=ScoreParts(
            by_words=why.by_words,
            by_meaning=why.by_meaning,
            by_turn=why.by_turn,
            by_pair=why.by_pair,
            by_session=why.by_session,
        ),
    )
