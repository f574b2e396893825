"""What a statement rests on: which of its words, numbers and days were said, and in which turns.

A fact may have a name from the turn before the one that it quotes. Such a turn is needed for it: when it is forgotten, its
words must not live on in the fact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from afterglow.facts import QUOTE_CHARS_MAX, normalised
from afterglow.facts.dates import unsupported_days, without_days, years_beside, years_named
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.names import is_german, kin_in, names
from afterglow.facts.numbers import is_among, numbers_meant, numbers_written
from afterglow.facts.said import Cut, Said, Spoken, sentences
from afterglow.language import SMALL_WORDS
from afterglow.turns import Turn

_STATED_MIN = 1 / 3
_STATED_SHORT_MIN = 0.5
SHORT_TERMS = 4
"""A statement of no more than so many terms is a short one."""
_PART = lazily_compiled(r"[,;:]\s|\s(?:and|but|who|which|und|aber|y|et|e|i|и|en)\s", re.IGNORECASE)
_SHORT_YEAR = lazily_compiled(r"['’](\d\d)(?!\w)")
_FRAME = frozenset(
    """user owner assistant agent person speaker somebody say said tell told ask state mention note report explain describ
    prefer prefers preference like love hate want wish plan intend decid decide decision agre agree choos chose chosen feel
    think believ complet finish done need use have has had get got make made go went attend happen event task open thread
    still current live work name call
    nutzer nutzerin benutzer benutzerin usuario usuaria utilisateur utilisatric uzytkownik uzytkowniczka utent utente
    пользователь користувач kullanıcı kullanici uzivatel uzivatelka gebruiker wil chce zeby quiere mochte vuole veut
    quer deseja желает хочет istiyor""".split()  # noqa: SIM905
)
"""How facts speak of what was said; such words prove nothing and need no proof. Stemmed, as they are compared."""
_SMALL = frozenset(normalised(word) for word in SMALL_WORDS)
_OLD = lazily_compiled(r"\byears?[ -]old\b", re.IGNORECASE)
"""Who is five is five years old."""
_USER_UNSPACED = lazily_compiled(r"ユーザーは?|用户|使用者|사용자[는은가]?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Needed:
    """A turn that gives words to a statement it does not make, and the first sentence of it that does."""

    turn: Turn
    quote: str


def needed(content: str, turn: Turn, said: Said, day: date, cut: Cut) -> list[Needed]:
    """The other turns that the statement has words from, each word from the nearest that says it."""
    missing = lacking(content, said.words[turn.seq], day)
    found: list[Needed] = []
    for other in said.others(turn.seq):
        words = said.words[other.seq]
        given = missing - lacking(content, words, day) if missing else set[str]()
        if not given:
            continue
        giving = next(
            (each for each in sentences(words.text) if given - lacking(content, Spoken(each, cut), day)), words.text
        )
        missing -= given
        found.append(Needed(turn=other, quote=_quoted(giving)))
    return found


def lacking(content: str, spoken: Spoken, day: date) -> set[str]:
    """What in the statement is not said there: words, numbers and days."""
    words = {term for term in own_terms(content, spoken.cut) if not term.isdigit() and not spoken.says(term)}
    return words | unsaid_numbers(content, spoken.text, day) | unsupported_days(content, spoken.text, day)


def unsaid_numbers(content: str, text: str, said_on: date) -> set[str]:
    """The numbers in the content that were never said. A year may be one that a day or a span which was said lies in."""
    named = numbers_written(without_days(content))
    if not named:
        return set()
    years = years_named(text, said_on) | years_beside(content, text, said_on)
    meant = numbers_meant(text) | {str(year) for year in years} | {f"20{year}" for year in _SHORT_YEAR.findall(text)}
    return {number for number in named if not is_among(number, content, meant)}


def own_terms(content: str, cut: Cut) -> list[str]:
    """The terms that a statement must have from what was said."""
    bare = _USER_UNSPACED.sub(" ", _OLD.sub(" ", without_days(content)))
    return [term for term in dict.fromkeys(cut(bare)) if term not in _FRAME and term not in _SMALL]


def support(content: str, spoken: Spoken) -> float:
    """Which share of the statement's own words was said. Relatives and numbers have rules of their own."""
    kin = _kin_terms(content, spoken)
    own = [term for term in own_terms(content, spoken.cut) if spoken.says(term) or not (term in kin or term.isdigit())]
    return sum(map(spoken.says, own)) / len(own) if own else 1.0


def states(content: str, sentence: Spoken) -> bool:
    """Whether a quoted sentence states this: a third of its words stand there, of a short one half, and one at least.

    Names may come from other turns and are not counted. Who sums up several sentences quotes one of them, so no more is asked.
    """
    own = own_terms(content, sentence.cut)
    plain = without_names(own, content, sentence)
    said = sum(map(sentence.says, plain))
    enough = _STATED_MIN if len(plain) > SHORT_TERMS else _STATED_SHORT_MIN
    return said >= len(plain) * enough and (said > 0 or any(map(sentence.says, own or sentence.cut(content))))


def adds(content: str, spoken: Spoken) -> bool:
    """Whether a part of the statement, of two words or more, is made of words that nobody said."""
    parts = (without_names(own_terms(part, spoken.cut), content, spoken) for part in _PART.split(content))
    return any(len(plain) > 1 and not any(map(spoken.says, plain)) for plain in parts)


def without_names(own: Sequence[str], content: str, spoken: Spoken) -> list[str]:
    """The terms but for names, and for what was said in another way: relatives and numbers, which have rules of their own."""
    named = set[str]() if is_german(content) else {term for name in names(content) for term in spoken.cut(name)}
    kin = _kin_terms(content, spoken)
    return [term for term in own if term not in named and (spoken.says(term) or not (term in kin or term.isdigit()))]


def _kin_terms(content: str, spoken: Spoken) -> set[str]:
    return {term for word in kin_in(content) for term in spoken.cut(word)}


def _quoted(sentence: str) -> str:
    """The sentence as it is quoted; of a long one, whole words from its beginning."""
    sentence = sentence.strip()
    beginning = sentence[:QUOTE_CHARS_MAX]
    return sentence if sentence == beginning else beginning.rpartition(" ")[0] or beginning
