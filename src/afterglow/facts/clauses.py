"""Clauses: what in a sentence is affirmed, denied or hoped for by itself, and which of them a statement is drawn from."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.quoted import sentences
from afterglow.facts.said import Cut
from afterglow.facts.support import own_terms

_SUBJECT = r"i|we|you|he|she|they|it|ich|wir|er|sie|es|yo|je|nous|il|elle|ja|я|мы|он|она|ik|wij|hij|zij"
_BUT = "but|however|although|though|whereas|so|aber|sondern|doch|mais|pero|sino|ma|però|mas|ale|lecz|но|а|maar"
_AND = "and|und|y|et|e|i|и|en"
_LIKING = (
    "likes?|liked|loves?|loved|hates?|hated|enjoys?|prefers?|preferred|adores?|dislikes?|mag|liebe|liebt|hasse|hasst|aime|déteste"
    "|adore|odio|odia|amo|adoro|wolę|lubię|kocham|люблю|ненавижу|houd|haat"
)
_CLAUSE = lazily_compiled(
    rf"\s*(?:[;；]|,?\s(?:{_BUT})(?!\w)|,?\s(?:{_AND})\s(?=(?:{_SUBJECT}|my|our|on|ona|{_LIKING})(?!\w))"
    r"|(?<=\w)\s[-–—]+\s|(?<=\w)(?:[-–—]{2,}(?=\w)|-\s))\s*",
    re.IGNORECASE,
)
_COMMA = lazily_compiled(
    rf",\s(?=(?:{_SUBJECT}|my|our|let|now|then|mein\w*|unser\w*|jetzt|ahora)(?!\w)|\w+\s(?:is|are|was|were)\s)",
    re.IGNORECASE,
)
_CONDITION = lazily_compiled(
    r"\W*(?:if|unless|when|whenever|once|wenn|falls|sobald|si|se|cuando|quand|jeśli|gdy|если|als)\b", re.IGNORECASE
)
"""What follows a comma then is said of this case alone, so it is one clause with it."""


def clauses(text: str, told_first: Callable[[str], Sequence[str]] = lambda clause: [clause]) -> list[str]:
    """The clauses of a text. `told_first` may cut them further."""
    whole = [clause for sentence in sentences(text) for clause in _cut(sentence)]
    return [part for clause in whole for part in told_first(clause) if part.strip()]


def of_the_same(clause: str, told: Sequence[str], cut: Cut) -> list[str]:
    """The clauses that speak of the same: with most of its words, then with its last; all, where that tells nothing."""
    words = own_terms(clause, cut) or list(dict.fromkeys(cut(clause)))
    there = [set(cut(each)) for each in told]
    shared = [len(has.intersection(words)) for has in there]
    most = [each for each, count in zip(told, shared, strict=True) if count == max(shared)]
    if len(most) > 1 and words:
        last = [each for each in most if words[-1] in cut(each)]
        return last if len(last) == 1 else list(told)
    return most


def is_conditional(clause: str) -> bool:
    """Whether it begins with the case that it is said of: "If I'm in a meeting, don't call"."""
    return bool(_CONDITION.match(clause))


def _cut(sentence: str) -> list[str]:
    parts = _CLAUSE.split(sentence)
    return [each for part in parts for each in ([part] if is_conditional(part) else _COMMA.split(part))]
