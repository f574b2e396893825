"""Whether a statement gives what one said of oneself, or to somebody, to the wrong one of those who talk.

"I painted that lake" is about who says it, and "You would be a great counsellor" about who hears it. The turns tell which name
is whose: a label before the words ("Ana: …"), what somebody calls themselves, and whom they speak to or of, since people do not
call themselves by their name.
"""

from __future__ import annotations

import re

from afterglow.facts import normalised
from afterglow.facts.clauses import clauses, of_the_same
from afterglow.facts.names import CAPITALISED, names
from afterglow.facts.said import Cut, Said
from afterglow.facts.signs import OF_ONESELF, WANTING
from afterglow.turns import Turn

_LABEL = re.compile(rf"^\W*(?P<name>{CAPITALISED}(?: {CAPITALISED})?)\s?:\s")
_SPEAKER = re.compile(r"^(?:the )?(?:user|owner)\b", re.IGNORECASE)
_OF_ONESELF = re.compile(r"(?<!\w)(?:I|[Ww]e|[Mm]e|[Mm]y|[Uu]s|[Oo]ur|[Mm]ine|[Mm]yself)(?!\w)")
_OF_THE_HEARER = re.compile(r"(?<!\w)(?:you|your|yours|yourself)(?!\w)", re.IGNORECASE)
_OF_A_THIRD = re.compile(r"(?<!\w)(?:he|she|they)(?!\w)|^\W*(?:\w+\s)?(?:his|her|their)(?!\w)", re.IGNORECASE)
_TO_SOMEBODY = re.compile(r"(?:^|[.!?]\s+)You(?:r|rs|['’]\w+)?\s")
_ASKING = re.compile(
    r"(?:\w+ ){1,3}(?:ask(?:s|ed)|inquire[sd]?|wonder(?:s|ed)) (?:[\w'’]+ ){0,4}?"
    r"(?:about|how|what|whether|if|why|when|where|who)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(r"(?<!\w)(?:ask|inquir|wonder|question)", re.IGNORECASE)


def is_spoken_to(content: str) -> bool:
    """Whether the statement speaks to somebody, instead of about them: nobody can tell later who "you" was."""
    return bool(_TO_SOMEBODY.search(content))


def is_asking(content: str, sentence: str) -> bool:
    """Whether it only reports that somebody asked, which nobody told."""
    return bool(_ASKING.match(content)) and not _ASKED.search(sentence)


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
    if all(_OF_THE_HEARER.search(clause) and not _OF_ONESELF.search(clause) for clause in told):
        is_wish = bool(WANTING.search(content.casefold()))
        return not is_wish and (is_speaker or _is_called(subject, turn, said) is True)
    is_of_oneself = all(_OF_ONESELF.search(clause) for clause in told)
    return is_of_oneself and not is_speaker and _is_called(subject, turn, said) is False


def _subject(content: str) -> str | None:
    """The name that the statement begins with."""
    first = re.sub(r"(?:['’]s?)?,?$", "", content.split(maxsplit=1)[0])
    return first if normalised(first) in names(content) else None


def _is_called(name: str | None, speaker: Turn, said: Said) -> bool | None:
    """Whether who speaks has this name; None where the turns do not tell."""
    if name is None:
        return None
    named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    of_others = False
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
                return True
            of_others = True
        elif is_own and named.search(rest):
            of_others = True
    return False if of_others else None
