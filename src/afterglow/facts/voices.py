"""Whether a statement gives what one said of oneself, or to somebody, to the wrong one of those who talk.

"I painted that lake" is about who says it, and "You would be a great counsellor" about who hears it. The turns tell which name
is whose: a label before the words ("Ana: …"), what somebody calls themselves, and whom they speak to or of, since people do not
call themselves by their name.
"""

from __future__ import annotations

import re
from typing import Literal

from afterglow.facts import normalised
from afterglow.facts.clauses import clauses, of_the_same
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.names import CAPITALISED, names
from afterglow.facts.quoted import sentences
from afterglow.facts.said import Cut, Said
from afterglow.facts.signs import OF_ONESELF, WANTING
from afterglow.turns import Turn

_LABEL = lazily_compiled(rf"^\W*(?P<name>{CAPITALISED}(?: {CAPITALISED})?)\s?:\s")
_SPEAKER = lazily_compiled(r"^(?:the )?(?:user|owner)\b", re.IGNORECASE)
_OF_ONESELF = lazily_compiled(r"(?<!\w)(?:I|[Ww]e|[Mm]e|[Mm]y|[Uu]s|[Oo]ur|[Mm]ine|[Mm]yself)(?!\w)")
_OF_THE_HEARER = lazily_compiled(r"(?<!\w)(?:you|your|yours|yourself)(?!\w)", re.IGNORECASE)
_OF_A_NAME = lazily_compiled(r"\w+['’]s ")
_AND_ANOTHER = lazily_compiled(rf"and {CAPITALISED}")
_OF_A_THIRD = lazily_compiled(r"(?<!\w)(?:he|she|they)(?!\w)|^\W*(?:\w+\s)?(?:his|her|their)(?!\w)", re.IGNORECASE)
_TO_SOMEBODY = lazily_compiled(r"(?:^|[.!?]\s+)You(?:r|rs|['’]\w+)?\s")
_TALKING = lazily_compiled(
    r"(?:\w+ ){1,4}?(?:"
    r"(?P<ask>ask|inquire|wonder)(?:s|d|ed|ing)? (?:[\w'’]+ ){0,4}?(?:for|about|how|what|whether|if|why|when|where|who)\b"
    r"|(?P<talk>discuss|talk|chat|convers)(?:e?s|e?d|ted)? (?!to )"
    r"|(?P<respond>respond|repl|react)(?:s|y|ies|ied|ed)? )",
    re.IGNORECASE,
)
_TALKED = {
    "ask": lazily_compiled(
        r"(?<!\w)(?:ask|inquir|wonder|question|request|fil|appl|e-?mail|wrote|check|(?:not |un)sure)", re.IGNORECASE
    ),
    "talk": lazily_compiled(
        r"(?<!\w)(?:discuss|talk|chat|convers|spoke|speak|call|met|meet|(?:go|went|going) (?:over|through))",
        re.IGNORECASE,
    ),
    "respond": lazily_compiled(r"(?<!\w)(?:respon|repl|react|answer|wrote|writ|e-?mail|said|say|told)", re.IGNORECASE),
}


def is_spoken_to(content: str) -> bool:
    """Whether the statement speaks to somebody, instead of about them: nobody can tell later who "you" was."""
    return bool(_TO_SOMEBODY.search(content))


def is_talk(content: str, sentence: str) -> bool:
    """Whether it only reports that somebody asked, talked or replied, which nobody told."""
    for each in sentences(content):
        found = _TALKING.match(each)
        if found and found.lastgroup and not _TALKED[found.lastgroup].search(sentence):
            return True
    return False


def is_anothers(content: str, sentence: str, turn: Turn, said: Said, cut: Cut) -> bool:
    """Whether the statement is about one of those who talk, and the words that it is drawn from about another of them."""
    sentence = _LABEL.sub("", sentence)
    is_speaker = bool(_SPEAKER.match(content)) and turn.role == "user"
    subject = _subject(content)
    if not is_speaker and (subject is None or subject in sentence):
        return False
    told = [clause for each in clauses(content) for clause in of_the_same(each, clauses(sentence), cut)]
    if any(_OF_A_THIRD.search(clause) for clause in told):
        return False
    whose = "the speaker's" if is_speaker or subject is None else _whose(subject, turn, said)
    if all(_OF_THE_HEARER.search(clause) and not _OF_ONESELF.search(clause) for clause in told):
        return whose == "the speaker's" and not WANTING.search(content.casefold())
    if whose == "another talker's" and not _OF_A_NAME.match(content):
        return not any(_OF_THE_HEARER.search(clause) for clause in told)
    return whose in ("another talker's", "a third's") and all(_OF_ONESELF.search(clause) for clause in told)


def _subject(content: str) -> str | None:
    """The name that the statement begins with, where it is about nobody else too."""
    first, _, rest = content.partition(" ")
    first = re.sub(r"(?:['’]s?)?,?$", "", first)
    return first if normalised(first) in names(content) and not _AND_ANOTHER.match(rest) else None


def _whose(name: str, speaker: Turn, said: Said) -> Literal["the speaker's", "another talker's", "a third's"] | None:
    """Whose name it is, as the turns tell: by labels and by what somebody calls themselves; None where they do not tell."""
    named = lazily_compiled(rf"(?<!\w){re.escape(name)}(?!\w)")
    is_anothers, is_spoken_of = False, False
    for turn in said.read:
        is_own = (turn.role, turn.trust) == (speaker.role, speaker.trust)
        text = said.words[turn.seq].text
        label = _LABEL.match(text)
        rest = text[label.end() :] if label else text
        calls_oneself = any(
            normalised(found["name"]) == normalised(name) for found in OF_ONESELF.finditer(rest.casefold())
        )
        if (label and named.search(label["name"])) or calls_oneself:
            if is_own:
                return "the speaker's"
            is_anothers = True
        elif is_own and named.search(rest):
            is_spoken_of = True
    return "another talker's" if is_anothers else "a third's" if is_spoken_of else None
