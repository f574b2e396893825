"""Whether names and numbers have kept their places: who did it to whom, and which number is whose."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations

from afterglow.facts.dates import without_days

Cut = Callable[[str], Sequence[str]]

_NUMBER = re.compile(r"(?<!\w)\d+(?:[.,:]\d+)*(?!\w)")
_CAPITAL = re.compile(r"(?<!\w)[^\W\d_a-z][^\W\d_]+(?!\w)")
_USER = re.compile(r"(?<!\w)(?:the )?(?:user|owner)(?!\w)", re.IGNORECASE)
_I = re.compile(r"(?<!\w)(?:I|me)(?!\w)")
_PASSIVE = re.compile(r"(?<!\w)(?:by|from|von|par|por|da|przez|door|от)(?!\w)", re.IGNORECASE)


def is_swapped(content: str, said: str, cut: Cut) -> bool:
    """Whether two numbers have changed places and what they are of has not, or two names have around the same deed."""
    content, said = _USER.sub(" userhere ", without_days(content)), _I.sub(" userhere ", without_days(said))
    who = _shared([*_capitals(content, said), "userhere"], content, said)
    numbers = _shared(list(dict.fromkeys(_NUMBER.findall(content))), content, said)
    if len(numbers) > 1:
        if len(who) > 1:
            return _is_in_order(numbers, said) != _is_in_order(who, said)
        here, there = _counted(numbers, content), _counted(numbers, said)
        return any(here[one] == there[other] != there[one] for one, other in permutations(numbers, 2) if here[one])
    return any(_changed_places(one, other, content, said, cut) for one, other in pairwise(who))


def _capitals(content: str, said: str) -> list[str]:
    """What begins with a capital in both: names, in the languages that write them so."""
    both = set(_CAPITAL.findall(content)) & set(_CAPITAL.findall(said))
    return [word.casefold() for word in dict.fromkeys(_CAPITAL.findall(content)) if word in both]


def _shared(words: Sequence[str], content: str, said: str) -> list[str]:
    """Those that stand in both, once each, in the order of the statement."""
    both = [word for word in words if _at(word, said) >= 0 and _at(word, content) >= 0]
    return sorted(both, key=lambda word: _at(word, content))


def _at(word: str, text: str) -> int:
    """Where a word stands; nowhere, if it stands there twice."""
    found = list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", _plain(text)))
    return found[0].start() if len(found) == 1 else -1


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w.,:]", " ", text.casefold()).split())


def _counted(numbers: Sequence[str], text: str) -> dict[str, str]:
    """What stands behind each number."""
    found = {each: re.search(rf"(?<!\w){re.escape(each)}\s+(\w+)", _plain(text)) for each in numbers}
    return {number: match[1] if match else "" for number, match in found.items()}


def _is_in_order(words: Sequence[str], text: str) -> bool:
    places = [_at(word, text) for word in words]
    return places == sorted(places)


def _changed_places(one: str, other: str, content: str, said: str, cut: Cut) -> bool:
    """Whether the two stand the other way round there, with the same deed between them, and not in the passive."""
    if _at(one, said) < _at(other, said):
        return False
    here, there = _between(one, other, content), _between(other, one, said)
    is_passive = bool(_PASSIVE.search(here)) != bool(_PASSIVE.search(there))
    return not is_passive and bool(set(cut(here)) & set(cut(there)))


def _between(one: str, other: str, text: str) -> str:
    plain = _plain(text)
    return plain[_at(one, text) + len(one) : _at(other, text)]
