"""Whether a statement denies something, and whether it denies what was affirmed, or affirms what was denied.

"The user is allergic to peanuts" has all its words from "I am not allergic to peanuts", and says the opposite. So each clause
of a statement is held against the clause of what was said that it has most words from: both must deny, or neither. The
words are those of the languages that the other rules know, the commonest alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from afterglow.facts.quoted import sentences
from afterglow.language import language_of

Cut = Callable[[str], Sequence[str]]

_NOT_MEANT = (
    r"(?:not|nicht|no) (?:only|just|nur|solo|sólo)|no (?:doubt|problem|worries|matter|wonder|big deal|kidding)|no\.? ?\d",
    r"(?:can|could)(?:['’]t|not| not) (?:wait|help|agree more|be (?:more|better|happier|prouder))",
    r"never (?:been|felt) (?:more|so|better|happier)|(?:do(?:n['’]t| not)|never|not) (?:forget|worry|hesitate|alone)",
    r"why (?:not|don['’]t)|if not|not to mention|or not|whether or no|pas mal|nicht wahr|n['’]est[ -]ce pas",
    r"keine? (?:sorge|problem)|(?:wo|ca)n['’]t (?:believe|stop)",
    r"(?:is|are|was|were|do|does|did|have|has|wo|would|ca|could|should)n['’]t (?:it|you|they|he|she|we|i)[.?!]",
    r"stop(?:s|ped|ping)? (?:by|at|in|over|for)|(?<![^.!?\n] )(?:no|nope|nein|non|não|nie|нет|nee)(?=[,!.…] )",
    r"なければな|ないといけ|なくてはな|しかない|かもしれない|不错|不過|不过|差不多|对不起|不仅|不只",
)
"""Denials that deny nothing."""
_WORDS = (
    r"\w+n['’]t|not|cannot|no|none|nobody|nothing|nowhere|never|neither|nor|no longer|any ?more|unable|hardly",
    r"refus\w+|declin\w+|reject\w+|avoid\w*|dislik\w+|hat(?:e|es|ed)|detest\w*|loath\w+|cancel\w*|lacks?|lacking|except",
    r"quit|stops? (?=\w+ing\b|it\b|that\b|this\b|my\b)|stopped|stopping|gave up|giv(?:e|es|ing|en) up|forget",
    r"den(?:y|ies|ied)|fail(?:s|ed)? to|can(?:no|')t stand|against (?:using|having|buying|taking|it)",
    r"(?:decid|vot|argu|advis|speak|am|are|is|was|were|be|i['’]m|we['’]re)\w* (?:\w+ly )?against",
    r"nicht|kein\w*|nie|niemals|niemand|nichts|nirgends|weder|weiger\w*|verweiger\w*|hasse|hassen|hasst|vermeid\w*|meide\w*",
    r"abgesagt|abgelehnt|lehn\w+ .{0,40}\bab|gegen .{0,40}entschieden|entschieden .{0,15}gegen|aufgehört|dagegen",
    r"ne|pas|jamais|rien|aucune?|ni|déteste\w*|évite\w*|n['’](?=[aeiouyhéèêàœ])\w+|arrêté|annulé\w*|décidé contre",
    r"nunca|jamás|nada|nadie|ningún|ninguna?|tampoco|rechaz\w+|odi[oa]\w*|evit\w+|en contra|decid\w+ contra|ya no|dejé",
    r"non(?!-stop)|niente|nessun\w*|né|neanche|rifiut\w+|annullat\w+|smesso|contrari\w+",
    r"não|nem|nenhum\w*|ninguém|recus\w+|deixei de|deixou de|parei",
    r"nigdy|ani|żad\w+|nikt|nic|odm[aó]w\w+|nienawidz\w+|unika\w*|przeciw\w*|przesta\w+|odwoła\w+|(?:z?rezygn)\w+",
    r"не|нет|никогда|ни|никто|ничего|нельзя|против|отказ\w+|ненави\w+|избега\w+|перестал\w*|отменил\w*|бросил\w*",
    r"niet|geen|nooit|niets|haat|besloten .{0,30}tegen|gestopt|afgezegd|vermijd\w*",
)
_UNSPACED = (
    "不|没|沒|无|無|未|别|勿|拒绝|讨厌|避免|取消|ない|ません|なかった|なく|嫌い|やめ|断っ"
    r"|(?<!\w)안 |않|못|없|싫|거절|지 마|말아"
)
_WITHOUT = re.compile(r"(?<!\w)(?:without|ohne|sans|sin|senza|sem|bez|без|zonder)(?!\w)", re.IGNORECASE)
"""A denial by itself; behind another one it takes that back: never without asking."""
_IDIOM = re.compile(rf"(?<!\w)(?:{'|'.join(_NOT_MEANT)})", re.IGNORECASE)
_DENIAL = re.compile(rf"(?<!\w)(?:{'|'.join(_WORDS)})(?!\w)|{_UNSPACED}", re.IGNORECASE)
_PORTUGUESE_NO = re.compile(r"(?<!\w)nos?(?!\w)", re.IGNORECASE)
_SUBJECT = "i|we|you|he|she|they|it|ich|wir|er|sie|es|yo|je|nous|il|elle|ja|my|on|ona|я|мы|он|она|ik|wij|hij|zij"
_BUT = "but|however|although|though|whereas|so|aber|sondern|doch|mais|pero|sino|ma|però|mas|ale|lecz|но|а|maar"
_CLAUSE = re.compile(
    rf"\s*(?:[;；]|,?\s(?:{_BUT})(?!\w)|,?\s(?:and|und|y|et|e|i|и|en)\s(?=(?:{_SUBJECT})(?!\w)))\s*", re.IGNORECASE
)
_TELLS = re.compile(
    rf"(?<!\w)(?:(?:{_SUBJECT})(?: |['’])\w|(?:is|are|was|were|has|have|had|ist|sind|hat|est|es|è|é|jest)\s)",
    re.IGNORECASE,
)
_ELLIPTIC = re.compile(rf"(?:{'|'.join(_WORDS)})[\s.!]*$", re.IGNORECASE)
"""As in "but Ben is not": what is denied stands in another clause."""


def denies(text: str) -> bool:
    """Whether there is a denial in it."""
    text = _IDIOM.sub(" ", text)
    if "ã" in text or "õ" in text or language_of(text) == "Portuguese":
        text = _PORTUGUESE_NO.sub(" ", text)  # "in the"
    denial, without = _DENIAL.search(text), _WITHOUT.search(text)
    return bool(denial or without) and not (denial and without and denial.end() < without.start())


def is_turned_round(content: str, said: str, cut: Cut) -> bool:
    """Whether the statement denies what was affirmed there, or affirms what was denied."""
    here, there = _clauses(content), _clauses(said)
    if len(here) != len(there) and denies(content) == denies(said):
        return False
    told = [(set(cut(clause)), denies(clause)) for clause in there]
    return any(denies(clause) != _denied(set(cut(clause)), told) for clause in here)


def _clauses(text: str) -> list[str]:
    """The text in clauses that can be affirmed and denied by themselves; whole where one of them is not complete."""
    found = [part for sentence in sentences(text) for clause in _CLAUSE.split(sentence) for part in _told_first(clause)]
    return [text] if any(_ELLIPTIC.search(clause) for clause in found) else [each for each in found if each.strip()]


def _told_first(clause: str) -> Iterator[str]:
    """What is told before a comma is not denied by what comes after it."""
    first, comma, rest = clause.partition(", ")
    if comma and _TELLS.search(first) and not denies(first) and denies(rest):
        yield first
        yield rest
    else:
        yield clause


def _denied(words: set[str], told: Sequence[tuple[set[str], bool]]) -> bool:
    """Whether that is denied which speaks of the same: the clause with most of these words; any, where several have as many."""
    shared = [len(words & there) for there, _ in told]
    most = [denied for (_, denied), count in zip(told, shared, strict=True) if count == max(shared)]
    return most[0] if len(most) == 1 else any(denied for _, denied in told)
