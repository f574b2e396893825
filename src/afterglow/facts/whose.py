"""Whether a statement about the owner is drawn from words about somebody else.

"The user is allergic to nuts" has all its words from "My sister is allergic to nuts". So where the clause that it has its words
from begins with somebody, the owner's or not, that somebody must be in the statement too, and so must be what sets them
apart: an ex-wife is no wife, and a cousin's wife is not the owner's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from afterglow.facts import normalised
from afterglow.facts.clauses import clauses, of_the_same
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.names import CAPITALISED, is_kin_said
from afterglow.facts.quoted import sentences_quoted
from afterglow.facts.said import Cut, Spoken
from afterglow.facts.signs import ABOUT_THE_OWNER

_LEAD = r"\W*(?:(?:and|but|so|also|well|yes|no|ok|because|since|und|aber|denn|mais|pero|ma|ale|но)\s|,\s)*"
_MY = (
    r"my|our|the|one of my|one of our|mein\w*|unser\w*|mon|ma|mes|notre|nos|mi|mis|nuestr\w+|(?:il |la )?(?:mio|mia)"
    r"|meus?|minhas?|nosso|nossa"
    r"|mój|moja|moje|nasz\w*|mijn|onze?|мо[йяеи]|наш\w*"
)
_OF_MINE = lazily_compiled(rf"{_LEAD}(?:{_MY})\s(?P<words>[^,;:.!?]*)", re.IGNORECASE)
_NAMED = lazily_compiled(
    rf"{_LEAD}(?!(?:We|That|This|These|There|It|My|Our|The|What|Here|Please|No|Yes|Not|Never|Always|If|When"
    r"|Ich|Wir|Je|Nous|Les|Yo|Nosotros|Los|Las|Io|Noi|Eu|Ik|Wij|Ja)\b)"
    rf"(?P<name>{CAPITALISED}) (?:would|wants?|asked|asks|said|says|told|is|was|has|had|will|can"
    r"|got|made|took|gave|went|came|bought|sold|left|lost|won"
    r"|met|broke|wrote|ran|drove|fell|found|kept|knows|(?!always|never)\w{2,}(?:s|ed))\b"
)
_APART = lazily_compiled(
    r"(?<!\w)(?:ex|former|late|deceased|estranged|future|almost|step|half|ehemalige\w*|frühere\w*|verstorbene\w*)(?!\w)",
    re.IGNORECASE,
)
_ANSWERED = lazily_compiled(
    r"(?<!\w)(?:ex|former\w*|late|died|dead|deceased|estranged|future|was|step|half|previous|ehemalig\w*|frühere\w*)(?!\w)",
    re.IGNORECASE,
)
_KIND = lazily_compiled(
    r"(?:very|best|good|old|older|oldest|new|young|younger|youngest|elder|eldest|big|bigger|little|dear|close|closest"
    r"|own|whole|entire"
    r"|first|second|third|other|only|ex|former|late|two|three|both|step|half|beste[rnsm]?|alte[rnsm]?|kleine[rnsm]?"
    r"|große[rnsm]?)(?:\s|-)",
    re.IGNORECASE,
)
_IS = r"(?:is|are|was|were|has|have|had|will|would|can|does|did|ist|hat|est|es|è|é|jest)(?!\w)"
_VERB = lazily_compiled(rf"\s{_IS}", re.IGNORECASE)
_BEGINS_WITH_VERB = lazily_compiled(_IS, re.IGNORECASE)
_ONESELF = lazily_compiled(
    r"(?:wife|husband|partner|sister|brother|friends?|team|family|\w+) and (?:i|me|myself)\b"
    r"|(?:\w+ )?(?:names?|nickname|favou?rites?|preferences?|choice|default|usual|go-to|hobby|hobbies|job|profession"
    r"|occupation|birthday|age"
    r"|plans?|goals?|aims?|dreams?|wish(?:es)?|opinion|advice|rules?|answer|decision|home|mother tongue"
    r"|native language|pronouns"
    r"|lieblings\w+|hobbys?|beruf|geburtstag|alter|wunsch|nombre|favorit\w+|préféré\w*|nom|imię)\b",
    re.IGNORECASE,
)
"""What is said of these is said of the owner."""
_ARTICLE = lazily_compiled(r"(?:the|der|die|des|el|la|le|l|il|lo|o|a|de|al) ")
_I = lazily_compiled(r"(?<!\w)(?:I|ich|je|yo|ja|я|ik)(?!\w)")


def is_of_another(content: str, text: str, quote: str, cut: Cut) -> bool:
    """Whether the statement is about the owner, and its words are about somebody whom it does not name."""
    if not ABOUT_THE_OWNER.match(_ARTICLE.sub("", normalised(content))):
        return False
    return any(_is_of_another(content, sentence, cut) for sentence in sentences_quoted(text, quote))


def _is_of_another(content: str, sentence: str, cut: Cut) -> bool:
    told = clauses(sentence)
    return any(
        _names_another(clause, content, cut) for each in clauses(content) for clause in of_the_same(each, told, cut)
    )


def _names_another(clause: str, content: str, cut: Cut) -> bool:
    named = _NAMED.match(clause)
    if named is not None:
        return not _is_named(named["name"], content, cut)
    mine = _OF_MINE.match(clause)
    if mine is None or _ONESELF.match(mine["words"]) or _I.search(mine["words"]):
        return False
    words = mine["words"]
    is_apart = _APART.search(" ".join(_VERB.split(words)[0].split()[:3])) and not _ANSWERED.search(content)
    whose = re.findall(r"(\w+)['’]s?\s", words)
    is_named = partial(_is_named, content=content, cut=cut)
    return bool(is_apart) or not any(map(is_named, _who(words))) or not all(map(is_named, whose))


def _who(words: str) -> Iterator[str]:
    """The word, or either of two, that says whom or what the clause is about."""
    while kind := _KIND.match(words):
        words = words[kind.end() :]
    first, _, rest = words.partition(" ")
    yield first
    second, _, rest = rest.partition(" ")
    if not _BEGINS_WITH_VERB.match(second) and (_BEGINS_WITH_VERB.match(rest) or is_kin_said(second, second)):
        yield second


def _is_named(word: str, content: str, cut: Cut) -> bool:
    """Whether the statement has the word, or another for the same relative."""
    if is_kin_said(word, content):
        return True
    spoken = Spoken(content, cut)
    return any(map(spoken.says, cut(word))) or not cut(word)
