"""What a search finds, and the two ways to find it: by words, and by regular expression."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

from afterglow.clock import Deadline, to_us
from afterglow.errors import BadInput
from afterglow.search import memory_search, words
from afterglow.search.patterns import Pattern
from afterglow.store.contract import Store
from afterglow.store.search import Sought
from afterglow.turns import Role, Turn

_PAGE_ROWS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A turn that was found: where it stands, the part that shows why, and how well it fits."""

    owner: str
    session: str
    seq: int
    role: Role
    at: datetime
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """What matched, as ranges of the snippet."""
    score: float | None = None
    why: words.Scored | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The hits, and whether all of the log was looked through; if not, the newest part was."""

    hits: tuple[Hit, ...]
    complete: bool = True
    rows_read: int = 0


async def by_words(store: Store, owner: str, text: str, limit: int) -> Found:
    """The turns that fit the words best, best first."""
    terms = words.query_terms(text)
    if not terms:
        raise BadInput(f"there is no word to search for in {text[:80]!r}: it is empty, or of words such as 'the' alone")
    matches, _ = await memory_search.word_matches(store, owner, terms, Sought(kinds=("turn",)))
    ranked = words.rank(terms, matches.turns, matches.stats, limit)
    turns = await asyncio.gather(*(store.turn(owner, each.session, each.seq) for each in ranked))
    hits = [_hit(turn, terms, why) for turn, why in zip(turns, ranked, strict=True)]
    return Found(hits=tuple(hits), rows_read=len(matches.turns))


async def by_pattern(
    store: Store, owner: str, pattern: Pattern, limit: int, *, rows_max: int, seconds_max: float
) -> Found:
    """The newest turns that the expression matches, within a number of rows and a time."""
    deadline = Deadline(seconds_max)
    hits: list[Hit] = []
    read = 0
    before: tuple[int, str, int] | None = None
    while len(hits) < limit and not deadline.passed and read < rows_max:
        wanted = min(_PAGE_ROWS, rows_max - read)
        turns = await store.turns_before(owner, before, wanted)
        for turn in turns:
            whole = await store.turn(owner, turn.session, turn.seq) if turn.cut else turn
            span = await asyncio.to_thread(pattern.find, whole.text) if turn.cut else pattern.find(whole.text)
            if span is not None:
                hits.append(_around(whole, span))
        read += len(turns)
        if len(turns) < wanted:
            return Found(hits=tuple(hits[:limit]), rows_read=read)
        before = (to_us(turns[-1].at), turns[-1].session, turns[-1].seq)
    return Found(hits=tuple(hits[:limit]), complete=False, rows_read=read)


def _hit(turn: Turn, terms: list[str], why: words.Scored) -> Hit:
    snippet, marks = words.snippet(turn.text, terms)
    return Hit(
        owner=turn.owner,
        session=turn.session,
        seq=turn.seq,
        role=turn.role,
        at=turn.at,
        snippet=snippet,
        marks=tuple(marks),
        score=why.score,
        why=why,
    )


def _around(turn: Turn, span: tuple[int, int]) -> Hit:
    start = max(0, span[0] - words.SNIPPET_CHARS // 3)
    end = min(len(turn.text), start + words.SNIPPET_CHARS)
    before, after = "…" if start else "", "…" if end < len(turn.text) else ""
    shift = len(before) - start
    return Hit(
        owner=turn.owner,
        session=turn.session,
        seq=turn.seq,
        role=turn.role,
        at=turn.at,
        snippet=before + turn.text[start:end] + after,
        marks=((span[0] + shift, min(span[1], end) + shift),),
    )
