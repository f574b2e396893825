"""Whether names and numbers have kept their places: who did it to whom, and which number is whose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, permutations

from afterglow.facts.dates import without_days
from afterglow.facts.denial import denies
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.names import CAPITALISED
from afterglow.facts.said import Cut

_NUMBER = lazily_compiled(r"(?<!\w)\d+(?:[.,:]\d+)*(?!\w)")
_CAPITAL = lazily_compiled(rf"(?<!\w){CAPITALISED}(?!\w)")
_USER = lazily_compiled(r"(?<!\w)(?:the )?(?:user|owner)(?!\w)", re.IGNORECASE)
_I = lazily_compiled(r"(?<!\w)(?:I|me)(?!\w)")
_PASSIVE = lazily_compiled(r"(?<!\w)(?:by|from|von|par|por|da|przez|door|от)(?!\w)", re.IGNORECASE)
_COMPARED = lazily_compiled(
    r"(?<!\w)(?:(?P<liked>(?:rather |more |better )?than|over|instead of|in favou?r of|prefer(?:s|red)?\s[^.;]{1,120}?\sto)"
    r"|(?P<measure>\w+er|less) than)(?!\w)",
    re.IGNORECASE,
)
"""Between the one of two things that comes first and the other: "tea over coffee", "older than Ben"."""
_LIKED = lazily_compiled(
    r"(?<!\w)(?:prefer\w*|rather|lik\w+|lov\w+|ch[oi]\w+|pick\w*|us\w+|decid\w+|better|favou?r\w*)(?!\w)", re.IGNORECASE
)


def is_swapped(content: str, said: str, cut: Cut) -> bool:
    """Whether two numbers have changed places and what they are of has not, or two names have around the same deed."""
    if _is_reversed(content, said, cut):
        return True
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


def _is_reversed(content: str, said: str, cut: Cut) -> bool:
    """Whether two things that were compared have changed places, or the one that came second is given alone."""
    there = _compared(said, cut)
    if there is None:
        return False
    first, second, measure = there
    here = _compared(content, cut)
    if here is not None:
        return here[2] == measure and first[-1] in here[1] and second[0] in here[0]
    words = set(cut(content))
    is_liked = not measure and bool(_LIKED.search(said)) and bool(_LIKED.search(content))
    return is_liked and second[0] in words and first[-1] not in words and not denies(content)


def _compared(text: str, cut: Cut) -> tuple[list[str], list[str], str] | None:
    """What comes first and what second, by the words in which the two differ, and by what measure if not by liking."""
    found = _COMPARED.search(text)
    if found is None:
        return None
    shared = re.match(r"prefer\w*(?P<between>.*)\sto$", found.group(), re.IGNORECASE | re.DOTALL)
    first, second = cut(shared["between"] if shared else text[: found.start()]), cut(text[found.end() :])
    first, second = (
        [each for each in first if each not in second and each != "rather"],
        [each for each in second if each not in first],
    )
    return (first, second, (found["measure"] or "").lower()) if first and second else None
