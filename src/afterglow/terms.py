"""Text cut into terms: what is indexed, and what is looked for.

One function cuts for both databases and for both sides of a search, so that a word is found in whatever form it was said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import cast

import Stemmer  # pyright: ignore[reportMissingTypeStubs]

CHARS_MAX = 20_000
"""Only so much of a text is indexed: the rest of a giant turn is read, not searched."""
TERM_CHARS_MAX = 40
QUERY_TERMS_MAX = 32

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
_ASCII_CHUNK = re.compile(r"[A-Za-z0-9]+(?:[-_./:@#+][A-Za-z0-9]+)*")
"""The same of a text that is all ASCII, in half the time."""
_IS_PAIRED = re.compile(rf"[{_PAIRED}]")
# The parts of a segment: HTTP|Server, camel|Case, INC|4471.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+(?=[A-Z])|(?<![^\W_])[A-Za-z]+(?=[0-9]+(?![^\W_]))|[^\W_]+")
_CACHED_CHARS_MAX = 64

_UNMARKED = dict(
    zip("łŁđĐøØħĦıæÆœŒðÐþÞßẞ", "l L d D o O h H i ae AE oe OE d D th TH ss SS".split(), strict=True)  # noqa: SIM905
)


Spot = tuple[int, int, str]
"""From where to where a term stands in a text, and which."""


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeats included: what is indexed, and what is looked for.

    A term is made of letters and digits alone and has at most 40 of them. Case and accents are folded, Latin words are
    stemmed as English, stop words dropped. An identifier gives its parts and itself without its marks; Chinese,
    Japanese, Korean and Thai give every two neighbouring characters.
    """
    folded = _folded(text[:CHARS_MAX])
    return [term for chunk in _chunks_of(folded).findall(folded) for term in _terms_of(chunk)]


def query_terms(text: str) -> list[str]:
    """The terms to look for, each once, at most 32.

    A query of stop words alone gives none: the index does not hold them, so there is nothing they could match.
    """
    return list(dict.fromkeys(terms(text)))[:QUERY_TERMS_MAX]


def _chunks_of(folded: str) -> re.Pattern[str]:
    return _ASCII_CHUNK if folded.isascii() else _CHUNK


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


def _terms_of(chunk: str) -> tuple[str, ...]:
    return _met(chunk) if len(chunk) <= _CACHED_CHARS_MAX else _met.__wrapped__(chunk)


@lru_cache(maxsize=32_768)
def _met(chunk: str) -> tuple[str, ...]:
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


def spots(text: str, wanted: frozenset[str]) -> Iterator[Spot]:
    """Where the terms stand in the text as it was written."""
    folded, origins = _unfolded(text[:CHARS_MAX])
    for chunk in _chunks_of(folded).finditer(folded):
        held = _terms_of(chunk[0])
        if wanted.isdisjoint(held):  # most are not wanted, and known
            continue
        is_word = len(held) == 1 and chunk[0].isalpha()
        for start, end, term in [(0, len(chunk[0]), held[0])] if is_word else _located(chunk[0]):
            if term in wanted:
                last = chunk.start() + end
                yield origins[chunk.start() + start], max(origins[last - 1] + 1, origins[last]), term


def _unfolded(text: str) -> tuple[str, Sequence[int]]:
    """The text as it is compared, and where in the text as it was written each of its characters comes from."""
    if text.isascii():
        return text, range(len(text) + 1)
    folds = [_FOLDS[ord(char)] for char in text]
    origins = [at for at, fold in enumerate(folds) for _ in fold]
    return "".join(folds), [*origins, len(folds)]
