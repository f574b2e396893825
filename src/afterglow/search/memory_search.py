"""`memory_search`: by words and by meaning together, over facts, blocks, summaries and turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from heapq import nlargest
from typing import TypeVar

from afterglow.clock import from_us, moment_within, to_us
from afterglow.errors import BadInput, MissingPackage, ModelError
from afterglow.search import words
from afterglow.search.embedders import TEXT_CHARS_MAX
from afterglow.search.joined import Ranked, join
from afterglow.search.meaning import Asked, Meaning
from afterglow.store.contract import Store
from afterglow.store.recall import Content
from afterglow.store.search import KINDS, Indexed, Kind, Matches, Record, Sought
from afterglow.turns import Role

T = TypeVar("T")
_log = logging.getLogger(__name__)
FOLLOWED = 20
"""So many of the turns that fit best are seen together with the turns after them, which may answer them."""
NEAR_READ = 32
"""So many of what lies near are read: reading twice as many finds nothing more on LoCoMo."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreParts:
    """What a score is made of: each between 0 and 1. The last three are of turns, and 0 elsewhere."""

    by_words: float
    by_meaning: float
    by_turn: float
    by_pair: float
    by_session: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """Something that was found, and where it comes from.

    A turn has `session`, `seq` and `role`; a block `session` and `seq`, which is its number; a summary `session`; a fact
    `fact`, its id, its `type`, and the session it was drawn from.
    """

    owner: str
    kind: Kind
    session: str
    seq: int = 0
    fact: str = ""
    type: str = ""
    role: Role | None = None
    at: datetime
    text: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """What matched, as ranges of the snippet."""
    score: float
    why: ScoreParts


@dataclass(frozen=True, kw_only=True, slots=True)
class Recollection:
    """The hits, best first, and whether meaning had a part in it."""

    hits: tuple[Recalled, ...]
    by_meaning: bool


async def memory_search(
    store: Store,
    meaning: Meaning | None,
    owner: str,
    text: str,
    *,
    kinds: Sequence[Kind] = KINDS,
    types: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 10,
) -> Recollection:
    """What fits best of all that is remembered of the owner. `types` are those of facts; `until` itself is left out."""
    terms = words.query_terms(text)
    if not terms:
        raise BadInput(f"there is no word to search for in {text[:80]!r}: it is empty, or of words such as 'the' alone")
    sought = _sought(kinds, types, since, until)
    asked, (matches, scoring) = await _asked(
        meaning, owner, text[:TEXT_CHARS_MAX], partial(word_matches, store, owner, terms, sought)
    )
    known = {each.id for each in (*matches.turns, *matches.records)}
    cosines, near = await asked.near(known, sought) if asked else ({}, [])
    nearest = nlargest(NEAR_READ, near, key=lambda each: cosines.get(each, -1.0))

    def best(turns: Sequence[Indexed], records: Sequence[Record]) -> list[Ranked]:
        whole = replace(matches, turns=[*matches.turns, *turns], records=[*matches.records, *records])
        read = (each.id for each in (*whole.turns, *whole.records))
        told = {each: cosines[each] for each in read if each in cosines}
        return join(terms, whole, told, limit, sought=sought, scoring=scoring)

    found = await store.recalled(owner, sorted(set(nearest) - known), best)
    hits = tuple(_recalled(ranked, content, terms) for ranked, content in found)
    return Recollection(hits=hits, by_meaning=bool(cosines))


async def word_matches(store: Store, owner: str, terms: Sequence[str], sought: Sought) -> tuple[Matches, words.Scoring]:
    """What holds the words, and what follows those turns that hold them best; and what has judged them for that."""
    scorings: list[words.Scoring] = []

    def follow(matches: Matches) -> list[words.Place]:
        scorings.append(words.Scoring(terms, matches.stats))
        known = {(turn.session, turn.seq) for turn in matches.turns}
        best = words.best_alone(scorings[-1], matches.turns, FOLLOWED)
        return sorted({(session, seq + 1) for session, seq in best} - known)

    matches = await store.word_matches(owner, terms, sought, follow=follow)
    return matches, scorings[-1]


async def _asked(
    meaning: Meaning | None, owner: str, text: str, read: Callable[[], Awaitable[T]]
) -> tuple[Asked | None, T]:
    """The query by its meaning, and what is read meanwhile; none where the embedder fails, since words find as well."""
    if meaning is None:
        return None, await read()
    embedding = asyncio.ensure_future(meaning.early(owner, text))
    try:
        await asyncio.sleep(0)  # it begins first: it leaves Python to the threads that read, and those do not leave it
        found, known = await read(), await meaning.known(owner)  # nor do they to each other
        early = await embedding
    finally:
        embedding.cancel()
    try:
        return (await meaning.asked(text, known, early) if known else None), found
    except (ModelError, MissingPackage) as error:
        _log.warning("search is by words alone now: %s", error)
        return None, found


def _sought(kinds: Sequence[Kind], types: Sequence[str], since: datetime | None, until: datetime | None) -> Sought:
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        given = f"{unknown[0]!r} is no kind of what can be searched" if unknown else "no kind was named"
        raise BadInput(f"{given}; use one or more of {', '.join(KINDS)}")
    if any("," in each for each in types):
        raise BadInput("a type of fact has no comma in it; give several as a list")
    if types and "fact" not in kinds:
        raise BadInput(
            f"a type such as {types[0]!r} is one of facts, and no facts are searched; leave it out, or search facts"
        )
    if since is not None and until is not None and not _us(since, "since") < _us(until, "until"):
        raise BadInput(f"this is no span of time: since {since.isoformat()} is not before until {until.isoformat()}")
    every = Sought()
    return Sought(
        kinds=tuple(kinds),
        types=tuple(types),
        since_us=every.since_us if since is None else _us(since, "since"),
        until_us=every.until_us if until is None else _us(until, "until"),
    )


def _us(moment: object, what: str) -> int:
    if not isinstance(moment, datetime):
        raise BadInput(f"{what} is a datetime with a zone; {moment!r} is none")
    return to_us(moment_within(moment, what))


def _recalled(ranked: Ranked, content: Content, terms: Sequence[str]) -> Recalled:
    snippet, marks = words.snippet(content.text, terms)
    kind = ranked.kind
    role: Role | None = content.label if kind == "turn" else None  # pyright: ignore[reportAssignmentType] - as the log wrote it
    return Recalled(
        owner=ranked.owner,
        kind=kind,
        session=content.session,
        seq=ranked.seq,
        fact=ranked.place if kind == "fact" else "",
        type=content.label if kind == "fact" else "",
        role=role,
        at=from_us(ranked.at_us),
        text=content.text,
        snippet=snippet,
        marks=tuple(marks),
        score=ranked.score,
        why=ScoreParts(
            by_words=ranked.by_words,
            by_meaning=ranked.by_meaning,
            by_turn=ranked.by_turn,
            by_pair=ranked.by_pair,
            by_session=ranked.by_session,
        ),
    )
