"""Search by words: text cut into terms, turns ranked by them, and the part of a text that shows why.

A database only says which turns hold a term; everything that decides the order happens here, so that every
database gives the same answer. A turn is judged three times over: by its own words, together with the turn before
it (an answer seldom repeats its question's words), and by its whole session (what the talk was about). Each is
BM25; each is put on a scale of 0 to 1 among the candidates of the query; the score is their weighted sum.

The user's turns are counted apart from all the others, with their own lengths and frequencies. Otherwise long answers,
which repeat every word of their subject, drown the one short sentence in which somebody said the thing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import log
from typing import cast

import Stemmer  # pyright: ignore[reportMissingTypeStubs]

from afterglow.store.search import GROUPS, Group, Indexed, Stats, group_of

CHARS_MAX = 20_000
"""Only so much of a text is indexed: the rest of a giant turn is read, not searched."""
TERM_CHARS_MAX = 40
QUERY_TERMS_MAX = 32
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

_STOP_ENGLISH = """
a about after again all also am an and any are aren as at be because been before being but by can cannot could couldn d
did didn do does doesn doing don down during each few for from further had hadn has hasn have haven having he her here
hers herself him himself his how i if in into is isn it its itself just ll m me more most my myself no nor not now of off
on once only or other our ours ourselves out over own re s same shan she should shouldn so some such t than that the
their theirs them themselves then there these they this those through to too under until up ve very was wasn we were
weren what when where which while who whom why will with won would wouldn you your yours yourself yourselves
"""
# Without accents, as they are compared; none that somebody might look for in English.
_STOP_POLISH = """
albo beda bedzie bez byc byl byla bylo byly czy dla gdy gdzie jak jaki jako jego jej jest jestem jeszcze jesli
juz kiedy ktora ktore ktory lub mnie moze nie niz oraz przed przez przy sie sobie tak takze tego tej tez tym tylko
wszystko ze zeby
"""
STOP_WORDS = frozenset((_STOP_ENGLISH + _STOP_POLISH).split())

# Scripts that put no spaces between words, or hang endings on them: Thai, Lao, Burmese, Khmer, kana, Han, Hangul.
_PAIRED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u309d-\u30fa\u30fc-\u30ff"
    r"\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
_SEGMENT = re.compile(rf"[^\W_{_PAIRED}]+")
_CHUNK = re.compile(rf"{_SEGMENT.pattern}(?:[-_./:@#+]{_SEGMENT.pattern})*|(?:(?![\W_])[{_PAIRED}])+")
_IS_PAIRED = re.compile(rf"[{_PAIRED}]")
# The parts of a segment: HTTP|Server, camel|Case, INC|4471.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+(?=[A-Z])|(?<![^\W_])[A-Za-z]+(?=[0-9]+(?![^\W_]))|[^\W_]+")
_CACHED_CHARS_MAX = 64
_SPOTS_MAX = 500
_BLANK = re.compile(r"\s+")
_WORD_CHARS = 20

_UNMARKED = dict(
    zip("łŁđĐøØħĦıæÆœŒðÐþÞßẞ", "l L d D o O h H i ae AE oe OE d D th TH ss SS".split(), strict=True)  # noqa: SIM905
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """A turn that was found, its score, and the three it is made of: each between 0 and 1."""

    session: str
    seq: int
    score: float
    by_turn: float
    by_pair: float
    by_session: float


# Cutting


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeats included: what is indexed, and what is looked for.

    A term is made of letters and digits alone and has at most 40 of them. Case and accents are folded, Latin words are
    stemmed as English, stop words dropped. An identifier gives its parts and itself without its marks; Chinese,
    Japanese, Korean and Thai give every two neighbouring characters.
    """
    found: list[str] = []
    for chunk in _CHUNK.findall(_folded(text[:CHARS_MAX])):
        found += _terms_of(chunk) if len(chunk) <= _CACHED_CHARS_MAX else _terms_of.__wrapped__(chunk)
    return found


def query_terms(text: str) -> list[str]:
    """The terms to look for, each once, at most 32.

    A query of stop words alone gives none: the index does not hold them, so there is nothing they could match.
    """
    return list(dict.fromkeys(terms(text)))[:QUERY_TERMS_MAX]


def _folded(text: str) -> str:
    """The text without accents and other marks, its case kept."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_FOLDS)


class _Folds(dict[int, str]):
    """Characters as they are compared, found out at the first meeting."""

    def __missing__(self, code: int) -> str:
        folded = _fold(chr(code))
        if code < 0x10000:
            self[code] = folded
        return folded


_FOLDS = _Folds()


def _fold(char: str) -> str:
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if "\u3041" <= char <= "\u30ff":  # the two strokes that make ka into ga are not an accent
        return char
    unmarked = "".join(part for part in unicodedata.normalize("NFKD", char) if unicodedata.category(part)[0] != "M")
    return _UNMARKED.get(char) or unicodedata.normalize("NFC", unmarked)


@lru_cache(maxsize=32_768)
def _terms_of(chunk: str) -> tuple[str, ...]:
    return tuple(term for _, _, term in _located(chunk))


def _located(chunk: str) -> Iterator[tuple[int, int, str]]:
    """The terms of a chunk, and from where to where each was found."""
    for start, end, word in _words(chunk):
        term = _term(word)
        if term:
            yield start, end, term


def _words(chunk: str) -> Iterator[tuple[int, int, str]]:
    if _IS_PAIRED.match(chunk):
        for start in range(max(1, len(chunk) - 1)):
            yield start, min(start + 2, len(chunk)), chunk[start : start + 2]
        return
    segments = list(_SEGMENT.finditer(chunk))
    for segment in segments:
        parts = list(_PART.finditer(chunk, *segment.span())) if len(segment[0]) <= TERM_CHARS_MAX else [segment]
        for part in parts:
            yield part.start(), part.end(), part[0]
        if len(parts) > 1:
            yield segment.start(), segment.end(), segment[0]
    whole = "".join(segment[0] for segment in segments)
    if len(segments) > 1 and len(whole) <= TERM_CHARS_MAX:
        yield 0, len(chunk), whole


_stem = cast(Callable[[str], str], Stemmer.Stemmer("english", 0).stemWord)  # pyright: ignore


def _term(word: str) -> str:
    """The word as it is compared, or nothing for a stop word."""
    folded = word.casefold()
    if folded in STOP_WORDS:
        return ""
    return _stem(folded[:TERM_CHARS_MAX]) if folded.isascii() and folded.isalpha() else folded[:TERM_CHARS_MAX]


# Ranking

_Place = tuple[str, int]


def rank(
    query: Sequence[str],
    candidates: Iterable[Indexed],
    stats: Stats,
    limit: int,
    *,
    weights: tuple[float, float, float] = WEIGHTS,
) -> list[Scored]:
    """The best turns for the terms of a query, best first; of equals the newest.

    The candidates are the turns that hold a term, and for each the turn before and the turn after it. They may come in
    any order and more than once: the result is the same to the last bit.
    """
    turns = {(turn.session, turn.seq): turn for turn in candidates}
    wanted = list(dict.fromkeys(query))
    counts = {place: _counted(frozenset(wanted), turn.terms) for place, turn in turns.items()}
    mentions = {place: _worth(turns[place], count, stats) for place, count in counts.items()}
    found = [
        (session, seq) for session, seq in sorted(turns) if mentions[session, seq] or mentions.get((session, seq - 1))
    ]
    rarity: dict[tuple[Group, str], float] = {
        (group, term): _rarity(group, term, stats) for group in GROUPS for term in wanted
    }

    def score(place: _Place, *others: _Place) -> float:
        held = [mentions[one] for one in (place, *others) if mentions.get(one)]
        return _score_turns(wanted, group_of(turns[place].role), held, rarity)

    sessions = _score_sessions(wanted, counts, stats)
    parts = zip(
        _scaled([score(place) for place in found]),
        _scaled([score((session, seq), (session, seq - 1)) for session, seq in found]),
        _scaled([sessions[session] for session, _ in found]),
        strict=True,
    )
    scored = [_scored(place, part, weights) for place, part in zip(found, parts, strict=True)]
    scored.sort(key=lambda one: (-one.score, -turns[one.session, one.seq].at_us, one.session, -one.seq))
    return scored[:limit]


def _scored(place: _Place, parts: tuple[float, float, float], weights: tuple[float, float, float]) -> Scored:
    by_turn, by_pair, by_session = parts
    score = by_turn * weights[0] + by_pair * weights[1] + by_session * weights[2]
    return Scored(session=place[0], seq=place[1], score=score, by_turn=by_turn, by_pair=by_pair, by_session=by_session)


def _counted(wanted: frozenset[str], terms_of_turn: tuple[str, ...]) -> Counter[str]:
    return Counter([term for term in terms_of_turn if term in wanted])


def _worth(turn: Indexed, count: Counter[str], stats: Stats) -> dict[str, float]:
    """What the mentions in a turn are worth, by its length beside the usual one of its group."""
    group = group_of(turn.role)
    worth = _shortness(len(turn.terms), stats.terms.get(group, 0), stats.turns.get(group, 0))
    return {term: number * worth for term, number in count.items()}


def _score_turns(
    wanted: list[str], group: Group, held: list[dict[str, float]], rarity: Mapping[tuple[Group, str], float]
) -> float:
    """BM25 of turns that count as one of the group. Sums run in the order of the query, so that they are repeatable."""
    score = 0.0
    for term in wanted:
        weight = 0.0
        for mentions in held:
            weight += mentions.get(term, 0.0)
        if weight:
            score += rarity[group, term] * _saturated(weight, K1[group])
    return score * WORTH[group]


def _score_sessions(wanted: list[str], counts: Mapping[_Place, Counter[str]], stats: Stats) -> dict[str, float]:
    """BM25 of whole sessions, as far as the candidates show them. A turn counts once, however often it says a word."""
    sessions: dict[str, Counter[str]] = defaultdict(Counter)
    for (session, _), count in counts.items():
        sessions[session].update(count.keys())
    rarity = {term: _inverse(sum(term in count for count in sessions.values()), stats.sessions) for term in wanted}
    terms_of_all = sum(stats.terms.get(group, 0) for group in GROUPS)
    scores: dict[str, float] = {}
    for session, count in sessions.items():
        worth = _shortness(stats.session_terms.get(session, 0), terms_of_all, stats.sessions)
        scores[session] = sum(rarity[term] * _saturated(count[term] * worth, K1["user"]) for term in wanted)
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


def _shortness(length: int, length_of_all: int, number: int) -> float:
    """What a mention is worth: 1 at the usual length, more in something shorter."""
    usual = length_of_all / number if length_of_all and number else max(1, length)
    return 1 / (1 - B + B * length / usual)


def _scaled(scores: list[float]) -> list[float]:
    top = max(scores, default=0.0)
    return [score / top for score in scores] if top else scores


# Showing

_Spot = tuple[int, int, str]


def snippet(text: str, query_terms: Sequence[str], chars: int = SNIPPET_CHARS) -> tuple[str, list[tuple[int, int]]]:
    """The part of a text that holds most terms of a query, and the ranges of it where they were found.

    Without a match it is the beginning. Line breaks become spaces; an ellipsis stands where text was left out.
    """
    spots = sorted(islice(_spots(text, frozenset(query_terms)), _SPOTS_MAX))
    start, end = _window(text, _densest(spots, chars), chars)
    before, after = "…" if start else "", "…" if end < len(text) else ""
    shift = len(before) - start
    inside = [(first + shift, last + shift) for first, last, _ in spots if start <= first and last <= end]
    return before + re.sub(r"\s", " ", text[start:end]) + after, _merged(inside)


def _spots(text: str, wanted: frozenset[str]) -> Iterator[_Spot]:
    """Where the terms stand in the text as it was written."""
    folds = [_FOLDS[ord(char)] for char in text[:CHARS_MAX]]
    origins = [at for at, fold in enumerate(folds) for _ in fold]
    origins.append(len(folds))
    for chunk in _CHUNK.finditer("".join(folds)):
        for start, end, term in _located(chunk[0]):
            if term in wanted:
                last = chunk.start() + end
                yield origins[chunk.start() + start], max(origins[last - 1] + 1, origins[last]), term


def _densest(spots: list[_Spot], chars: int) -> tuple[int, int]:
    """The first stretch of at most so many characters that holds the most different terms."""
    most, best = 0, (0, 0)
    for number, (first, end, _) in enumerate(spots):
        near = [spot for spot in spots[number : number + chars] if spot[1] <= first + chars]
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
