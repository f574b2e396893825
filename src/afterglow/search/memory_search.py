"""`memory_search`: by words and by meaning together, over facts, blocks, summaries and turns."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nlargest

from afterglow.clock import from_us, moment_within, to_us
from afterglow.errors import BadInput, MissingPackage, ModelError
from afterglow.search import words
from afterglow.search.embedders import TEXT_CHARS_MAX
from afterglow.search.joined import Ranked, join
from afterglow.search.meaning import InUse, Meaning
from afterglow.store.contract import Store
from afterglow.store.recall import Content
from afterglow.store.search import KINDS, Kind, Matches, Sought
from afterglow.turns import Role

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """What may be the answer, how near those are to the query that have a vector, and what has judged some by their words."""

    matches: Matches
    scoring: words.Scoring
    cosines: Mapping[int, float] = field(default_factory=dict[int, float])

    def ids(self) -> list[int]:
        """Those of their rows in the index."""
        return [each.id for each in (*self.matches.turns, *self.matches.records)]


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
    found = await candidates(store, meaning, owner, text, terms, sought)
    ranked = join(terms, found.matches, found.cosines, limit, sought=sought, scoring=found.scoring)
    contents = await store.contents(owner, [(each.owner, each.kind, each.place, each.seq) for each in ranked])
    # What was removed since it was found is left out.
    hits = [_recalled(each, content, terms) for each, content in zip(ranked, contents, strict=True) if content]
    return Recollection(hits=tuple(hits), by_meaning=bool(found.cosines))


async def candidates(
    store: Store, meaning: Meaning | None, owner: str, text: str, terms: Sequence[str], sought: Sought
) -> Candidates:
    """What holds the words, what follows those that hold them best, and what lies near; and how near all of it is."""
    in_use = await meaning.in_use(owner) if meaning else None
    if meaning is None or in_use is None:
        return await _by_words(store, owner, terms, sought)

    # Embedding begins first, and words are looked for meanwhile.
    vector, signs, found = await asyncio.gather(
        _vector(in_use, text), meaning.signs(owner, in_use), _by_words(store, owner, terms, sought)
    )
    if vector is None:
        return found
    known = set(found.ids())
    near = await meaning.nearest(signs, vector, sought)
    cosines = await meaning.cosines(owner, in_use, signs, vector, known.union(near))
    nearest = nlargest(NEAR_READ, near, key=lambda each: cosines.get(each, -1.0))
    turns, records = await store.indexed(owner, sorted(set(nearest) - known))
    found.matches.turns.extend(turns)
    found.matches.records.extend(records)
    return replace(found, cosines={each: cosines[each] for each in found.ids() if each in cosines})


async def _vector(in_use: InUse, text: str) -> Sequence[float] | None:
    """That of the query; none where the embedder fails, since words find as well."""
    try:
        (vector,) = await in_use.embedder.embed([text[:TEXT_CHARS_MAX]])
    except (ModelError, MissingPackage) as error:
        _log.warning("search is by words alone now: %s", error)
        return None
    return vector


async def _by_words(store: Store, owner: str, terms: Sequence[str], sought: Sought) -> Candidates:
    matches = await store.word_matches(owner, terms, sought)
    scoring = words.Scoring(terms, matches.stats)
    known = {(turn.session, turn.seq) for turn in matches.turns}
    places = words.best_alone(scoring, matches.turns, FOLLOWED)
    after = {(session, seq + 1) for session, seq in places} - known
    matches.turns.extend(await store.turns_at(owner, sorted(after)))
    return Candidates(matches=matches, scoring=scoring)


def _sought(kinds: Sequence[Kind], types: Sequence[str], since: datetime | None, until: datetime | None) -> Sought:
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        given = f"{unknown[0]!r} is no kind of what can be searched" if unknown else "no kind was named"
        raise BadInput(f"{given}; use one or more of {', '.join(KINDS)}")
    if any("," in each for each in types):
        raise BadInput("a type of fact has no comma in it; give several as a list")
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
