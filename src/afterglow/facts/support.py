"""What a statement rests on: which of its words, numbers and days were said, and in which turns.

A fact may have a name from the turn before the one that it quotes. Such a turn is needed for it: when it is forgotten, its
words must not live on in the fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from afterglow.facts import QUOTE_CHARS_MAX, normalised
from afterglow.facts.dates import unsupported_days, without_days
from afterglow.facts.said import Cut, Said, Spoken, sentences
from afterglow.language import SMALL_WORDS
from afterglow.turns import Turn

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SPELLED = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905
}
_FRAME = frozenset(
    """user owner assistant agent person speaker somebody say said tell told ask state mention note report explain describ
    prefer prefers preference like love hate want wish plan intend decid decide decision agre agree choos chose chosen feel
    think believ complet finish done need use have has had get got make made go went attend happen event task open thread
    still current live work name call
    nutzer nutzerin benutzer benutzerin usuario usuaria utilisateur utilisatric uzytkownik uzytkowniczka utent utente
    пользователь користувач kullanıcı kullanici uzivatel uzivatelka gebruiker wil chce chce zeby quiere mochte vuole veut
    желает хочет istiyor""".split()  # noqa: SIM905
)
"""How facts speak of what was said; such words prove nothing and need no proof. Stemmed, as they are compared."""
_SMALL = frozenset(normalised(word) for word in SMALL_WORDS)
_USER_UNSPACED = re.compile(r"ユーザーは?|用户|使用者|사용자[는은가]?")


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
    return words | unsaid_numbers(content, spoken.text, day.year) | unsupported_days(content, spoken.text, day)


def unsaid_numbers(content: str, text: str, year: int) -> set[str]:
    """The numbers in the content that were never said. The year it was said in, and those beside it, go without saying."""
    named = _NUMBER.findall(without_days(content))
    if not named:
        return set()
    folded = " ".join(_SPELLED.get(word, word) for word in text.casefold().split())
    numbers = {_bare(number) for number in _NUMBER.findall(folded)} | {str(year + step) for step in (-1, 0, 1)}
    digits = "".join(re.findall(r"\d", folded))
    return {
        number for number in named if _bare(number) not in numbers and (len(number) < 3 or _bare(number) not in digits)
    }


def _bare(number: str) -> str:
    return re.sub(r"\D", "", number).lstrip("0") or "0"


def own_terms(content: str, cut: Cut) -> list[str]:
    """The terms that a statement must have from what was said."""
    bare = _USER_UNSPACED.sub(" ", without_days(content))
    return [term for term in dict.fromkeys(cut(bare)) if term not in _FRAME and term not in _SMALL]


def support(content: str, spoken: Spoken) -> float:
    """Which share of the statement's own words was said."""
    own = own_terms(content, spoken.cut)
    return sum(map(spoken.says, own)) / len(own) if own else 1.0


def _quoted(sentence: str) -> str:
    """The sentence as it is quoted; of a long one, whole words from its beginning."""
    sentence = sentence.strip()
    beginning = sentence[:QUOTE_CHARS_MAX]
    return sentence if sentence == beginning else beginning.rpartition(" ")[0] or beginning
