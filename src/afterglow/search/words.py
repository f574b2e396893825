"""Search by words: turns and records ranked by their terms, and the part of a text that shows why.

A database only says which turns hold a term; everything that decides the order happens here, so that every
database gives the same answer. A turn is judged three times over: by its own words, together with the turn before
it (an answer seldom repeats its question's words), and by its whole session (what the talk was about). Each is
BM25; each is put on a scale of 0 to 1 among the candidates of the query; the score is their weighted sum.

The user's turns are counted apart from all the others, with their own lengths and frequencies. Otherwise long answers,
which repeat every word of their subject, drown the one short sentence in which somebody said the thing.

Facts, blocks and summaries are judged as a user's turn is, with the same worth of each term and their own usual length:
so what they score can be set beside what turns score.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log

from afterglow.store.search import GROUPS, Group, Indexed, Record, RecordKind, RecordStats, Stats, group_of
from afterglow.terms import CHARS_MAX, QUERY_TERMS_MAX, STOP_WORDS, TERM_CHARS_MAX, Spot, query_terms, spots, terms

SNIPPET_CHARS = 160

K1: Mapping[Group, float] = {"user": 0.9, "others": 0.2}
"""How much a repeated word adds: little where everything is said three times."""
B = 0.4
"""How much the length of a turn counts against it."""
WORTH: Mapping[Group, float] = {"user": 1.0, "others": 0.8}
"""One mention in a user's turn of usual length outweighs any number of them in an answer: (1 + 0.2) * 0.8 < 1."""
WEIGHTS = (0.25, 0.4, 0.35)
"""Of the turn, the pair and the session. Found by `benchmarks/search_locomo.py`."""
_SMOOTHING_TURNS = 50
"""A group smaller than this borrows the frequencies of the whole."""

_SPOTS_MAX = 500
_BLANK = re.compile(r"\s+")
_WORD_CHARS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """A turn that was found, its score, and the three it is made of: each between 0 and 1."""

    session: str
    seq: int
    score: float
    by_turn: float
    by_pair: float
    by_session: float


# Ranking

Place = tuple[str, int]
"""The session and the number of a turn."""
RecordPlace = tuple[RecordKind, str, int]
Mentions = Mapping[str, float]
"""For each term of the query that is there, what its mentions are worth."""
_NOTHING: Mentions = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What the words of a query say of turns, before it is put on a scale: for each place, and for each session."""

    by_turn: Mapping[Place, float]
    by_pair: Mapping[Place, float]
    by_session: Mapping[str, float]

    top_turn: float
    top_pair: float
    top_session: float
    """The best of each: what counts as 1. Where nothing was found it is 1 itself."""


def rank(
    query: Sequence[str],
    candidates: Iterable[Indexed],
    stats: Stats,
    limit: int,
    *,
    weights: tuple[float, float, float] = WEIGHTS,
) -> list[Scored]:
    """The best turns for the terms of a query, best first; of equals the newest.

    The candidates are the turns that hold a term, and those after them. They may come in any order and more than once: the
    result is the same to the last bit.
    """
    turns = {(turn.session, turn.seq): turn for turn in candidates}
    judged = judge(Scoring(query, stats), turns)
    scored = [scaled(judged, place, weights) for place in judged.by_turn]
    scored.sort(key=lambda one: (-one.score, -turns[one.session, one.seq].at_us, one.session, -one.seq))
    return scored[:limit]


def judge(scoring: Scoring, turns: Mapping[Place, Indexed]) -> Judged:
    """What the words say of those turns that hold one of them, or follow one that does."""
    alone = {place: scoring.alone(turn) for place, turn in turns.items()}
    held = {place: mentions for place, (mentions, _) in alone.items() if mentions}
    after = [(session, seq + 1) for session, seq in held]
    by_turn: dict[Place, float] = {}
    by_pair: dict[Place, float] = {}
    for place in {*held, *(place for place in after if place in turns)}:
        own, by_turn[place] = alone[place]
        before = held.get((place[0], place[1] - 1))
        by_pair[place] = scoring.pair(turns[place], own, before) if before else by_turn[place]
    by_session = scoring.sessions(held)
    return Judged(
        by_turn=by_turn,
        by_pair=by_pair,
        by_session=by_session,
        top_turn=max(by_turn.values(), default=0.0) or 1.0,
        top_pair=max(by_pair.values(), default=0.0) or 1.0,
        top_session=max(by_session.values(), default=0.0) or 1.0,
    )


def weighed(judged: Judged, place: Place, weights: tuple[float, float, float] = WEIGHTS) -> float:
    """The score alone, for the many that are not shown."""
    return (
        judged.by_turn.get(place, 0.0) / judged.top_turn * weights[0]
        + judged.by_pair.get(place, 0.0) / judged.top_pair * weights[1]
        + judged.by_session.get(place[0], 0.0) / judged.top_session * weights[2]
    )


def scaled(judged: Judged, place: Place, weights: tuple[float, float, float] = WEIGHTS) -> Scored:
    """The same on a scale of 0 to 1 among what was judged; nothing, for a turn that holds no word."""
    return Scored(
        session=place[0],
        seq=place[1],
        score=weighed(judged, place, weights),
        by_turn=judged.by_turn.get(place, 0.0) / judged.top_turn,
        by_pair=judged.by_pair.get(place, 0.0) / judged.top_pair,
        by_session=judged.by_session.get(place[0], 0.0) / judged.top_session,
    )


def best_alone(scoring: Scoring, turns: Sequence[Indexed], limit: int) -> list[Place]:
    """The places of the turns whose own words fit best: those whose answers are worth a look."""
    scores = {(turn.session, turn.seq): scoring.alone(turn)[1] for turn in turns}
    return sorted(scores, key=lambda place: (-scores[place], place))[:limit]


def judge_records(
    scoring: Scoring, records: Iterable[Record], of_kinds: Mapping[RecordKind, RecordStats]
) -> dict[RecordPlace, float]:
    """What the words say of facts, blocks and summaries, as if a user had said them."""
    usual = {kind: held.terms / held.records for kind, held in of_kinds.items() if held.records}
    return {
        (record.kind, record.place, record.seq): scoring.score(
            "user", scoring.of_terms(record.terms, usual.get(record.kind, 0.0))
        )
        for record in records
    }


class Scoring:
    """BM25 for the terms of one query. Mentions stand in the order of the query, so that sums of them are repeatable.

    It remembers what it has said of a turn: most are asked about twice, first for what follows them, then for their place.
    """

    def __init__(self, query: Sequence[str], stats: Stats) -> None:
        wanted = list(dict.fromkeys(query))
        self._stats = stats
        self._alone: dict[tuple[str, str, int], tuple[Mentions, float]] = {}
        self._wanted = wanted
        self._known = frozenset(wanted)
        self._rarity: dict[Group, dict[str, float]] = {
            group: {term: _rarity(group, term, stats) for term in wanted} for group in GROUPS
        }
        self._usual = {group: stats.terms.get(group, 0) / (stats.turns.get(group, 0) or 1) for group in GROUPS}

    def alone(self, turn: Indexed) -> tuple[Mentions, float]:
        """The mentions of a turn, and what they score."""
        place = turn.owner, turn.session, turn.seq
        known = self._alone.get(place)
        if known is None:
            group = group_of(turn.role)
            mentions = self.of_terms(turn.terms, self._usual[group])
            known = self._alone[place] = mentions, self.score(group, mentions)
        return known

    def of_terms(self, held: tuple[str, ...], usual: float) -> Mentions:
        """For each term of the query that is among these, what its mentions are worth, by length beside the usual one."""
        known = self._known.intersection(held)
        if not known:
            return _NOTHING
        worth = _shortness(len(held), usual)
        return {term: held.count(term) * worth for term in self._wanted if term in known}

    def pair(self, turn: Indexed, own: Mentions, before: Mentions) -> float:
        """What the mentions of a turn and of the one before it score together."""
        together = {
            term: own.get(term, 0.0) + before.get(term, 0.0) for term in self._wanted if term in own or term in before
        }
        return self.score(group_of(turn.role), together)

    def sessions(self, held: Mapping[Place, Mentions]) -> dict[str, float]:
        """What the mentions of each session score."""
        return _score_sessions(self._wanted, held, self._stats)

    def score(self, group: Group, mentions: Mentions) -> float:
        """What the mentions score in a turn of the group."""
        score, rarity, k1 = 0.0, self._rarity[group], K1[group]
        for term, weight in mentions.items():
            score += rarity[term] * _saturated(weight, k1)
        return score * WORTH[group]


def _score_sessions(wanted: list[str], held: Mapping[Place, Mentions], stats: Stats) -> dict[str, float]:
    """BM25 of whole sessions, as far as the candidates show them. A turn counts once, however often it says a word."""
    sessions: dict[str, dict[str, int]] = {}
    for (session, _), mentions in held.items():
        count = sessions.setdefault(session, {})
        for term in mentions:
            count[term] = count.get(term, 0) + 1
    holding = Counter(term for count in sessions.values() for term in count)
    rarity = {term: _inverse(holding[term], stats.sessions) for term in wanted}
    usual = sum(stats.terms.get(group, 0) for group in GROUPS) / (stats.sessions or 1)
    scores: dict[str, float] = {}
    for session, count in sessions.items():
        worth = _shortness(stats.session_terms.get(session, usual), usual)
        scores[session] = sum(
            rarity[term] * _saturated(count[term] * worth, K1["user"]) for term in wanted if term in count
        )
    return scores


def _rarity(group: Group, term: str, stats: Stats) -> float:
    """How much a term tells in a turn of the group. A small group leans on what the whole index shows."""
    turns = sum(stats.turns.get(one, 0) for one in GROUPS)
    share = sum(stats.holding.get((one, term), 0) for one in GROUPS) / max(1, turns)
    holding = stats.holding.get((group, term), 0) + _SMOOTHING_TURNS * share
    return _inverse(turns * holding / (stats.turns.get(group, 0) + _SMOOTHING_TURNS), turns)


def _inverse(holding: float, number: int) -> float:
    """The inverse document frequency of what `holding` out of `number` hold."""
    return log(1 + (max(0.0, number - holding) + 0.5) / (holding + 0.5))


def _saturated(weight: float, k1: float) -> float:
    return weight * (k1 + 1) / (weight + k1)


def _shortness(length: float, usual: float) -> float:
    """What a mention is worth: 1 at the usual length, more in something shorter."""
    return 1 / (1 - B + B * length / usual) if usual else 1.0


# Showing


def snippet(text: str, query_terms: Sequence[str], chars: int = SNIPPET_CHARS) -> tuple[str, list[tuple[int, int]]]:
    """The part of a text that holds most terms of a query, and the ranges of it where they were found.

    Without a match it is the beginning. Line breaks become spaces; an ellipsis stands where text was left out.
    """
    found = sorted(islice(spots(text, frozenset(query_terms)), _SPOTS_MAX))
    start, end = _window(text, _densest(found, chars), chars)
    before, after = "…" if start else "", "…" if end < len(text) else ""
    shift = len(before) - start
    inside = [(first + shift, last + shift) for first, last, _ in found if start <= first and last <= end]
    return before + re.sub(r"\s", " ", text[start:end]) + after, _merged(inside)


def _densest(found: list[Spot], chars: int) -> tuple[int, int]:
    """The first stretch of at most so many characters that holds the most different terms."""
    most, best = 0, (0, 0)
    for number, (first, end, _) in enumerate(found):
        near = [spot for spot in found[number : number + chars] if spot[1] <= first + chars]
        different = len({term for _, _, term in near})
        if different > most:
            most, best = different, (first, max([end, *(last for _, last, _ in near)]))
    return best


def _window(text: str, kept: tuple[int, int], chars: int) -> tuple[int, int]:
    """What is shown around the stretch that must be: a little before it, more after it, cut between words."""
    start = max(0, min(kept[0] - (chars - (kept[1] - kept[0])) // 3, len(text) - chars))
    end = min(len(text), start + chars)
    if start and (blank := _BLANK.search(text, start, min(kept[0], start + _WORD_CHARS))):
        start = blank.end()
    if end < len(text):
        blanks = list(_BLANK.finditer(text, max(kept[1], end - _WORD_CHARS), end))
        end = blanks[-1].start() if blanks else end
    return start, end


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


__all__ = [
    "CHARS_MAX",
    "QUERY_TERMS_MAX",
    "STOP_WORDS",
    "TERM_CHARS_MAX",
    "Scored",
    "Scoring",
    "query_terms",
    "rank",
    "snippet",
    "terms",
]
