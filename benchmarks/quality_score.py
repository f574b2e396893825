"""What a summary kept of the turns it stands for, and what it made up, counted by form alone, not by rules of Afterglow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import mean
from typing import Any

from afterglow.tokens import estimate
from afterglow.turns import Role

KINDS = ("names", "numbers", "dates")
STEM_CHARS = 5

_SPELLED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {word: str(number) for number, word in enumerate(_SPELLED, 2)}
_DATES = re.compile(
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
_NOT_NAMES = re.compile(r"i(?:['’]\w+)?|ok|okay|user|assistant|open|named|asked|conversation|summary")
_WORD = re.compile(r"[A-Za-z][\w'’&-]*|\d+(?:[.,:]\d+)*")
_BEGINS = re.compile(r"(?:^|[.!?:;…\n\"“(—–-]\s*|[^\x00-\x7f]\s*)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One turn of a dialogue, with what its annotators found worth noting in it."""

    role: Role
    text: str
    at: datetime
    noted: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What a text names, in small letters and digits."""

    names: frozenset[str]
    numbers: frozenset[str]
    dates: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.names | self.numbers | self.dates


def found_in(text: str) -> Found:
    """Names are capitalised words inside a sentence; numbers are digits and two to twelve; dates are months and weekdays."""
    names, numbers, dates = set[str](), set[str](), set[str]()
    for match in _WORD.finditer(text):
        word = _bare(match[0])
        if word[0].isdigit() or word in _NUMBERS:
            numbers.add(_NUMBERS.get(word, word))
        elif not match[0][0].isupper() or _NOT_NAMES.fullmatch(word):
            continue
        elif _DATES.fullmatch(word):
            dates.add(word)
        elif not _BEGINS.search(text[max(0, match.start() - 4) : match.start()]):
            names.add(word)
    return Found(names=frozenset(names), numbers=frozenset(numbers), dates=frozenset(dates))


def score(text: str, folded: Sequence[Said], everything: Sequence[Said]) -> dict[str, Any]:
    """The names, numbers and dates of what was folded that stand in the text, and those that nobody ever said.

    Also the share of the annotators' words that stand in it, a mean over what they noted; words count by their first letters.
    """
    wanted, kept = found_in("\n".join(each.text for each in folded)), words_of(text)
    noted = [found for each in folded for note in each.noted if (found := stems_of(note))]
    stems = stems_of(text)
    return {
        "tokens": estimate(text),
        "wanted": len(wanted.all),
        "kept": len(wanted.all & kept),
        **{kind: [len(getattr(wanted, kind) & kept), len(getattr(wanted, kind))] for kind in KINDS},
        "noted": round(mean(len(note & stems) / len(note) for note in noted), 3) if noted else None,
        "invented": sorted(found_in(text).all - may_be_said(everything)),
    }


def may_be_said(said: Sequence[Said]) -> frozenset[str]:
    """What a summary may name: what was said, and the days and times around, since it makes a date of "yesterday"."""
    allowed = set(words_of("\n".join(each.text for each in said)))
    for each in said:
        for days in range(-7, 8):
            day = each.at + timedelta(days=days)
            allowed |= words_of(f"{day:%A %B %Y} {day.day}")
        allowed |= {f"{each.at:%H:%M}", f"{each.at:%I:%M}".lstrip("0"), f"{each.at.hour}", f"{each.at:%M}"}
    return frozenset(allowed)


def words_of(text: str) -> frozenset[str]:
    """Every word and number, wherever it stands."""
    words = map(_bare, _WORD.findall(text))
    return frozenset(_NUMBERS.get(word, word) for word in words)


def stems_of(text: str) -> frozenset[str]:
    """The beginnings of the longer words, so that `painted` and `painting` are the same."""
    return frozenset(word[:STEM_CHARS] for word in words_of(text) if len(word) >= STEM_CHARS or word[0].isdigit())


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word).lower()
