"""Whether a statement denies something, and whether it denies what was affirmed, or affirms what was denied.

"The user is allergic to peanuts" has all its words from "I am not allergic to peanuts", and says the opposite. So each clause
of a statement is held against the clause of what was said that it has most words from: both must deny, or neither. The
words are those of the languages that the other rules know, the commonest alone.
"""

from __future__ import annotations

import re

from afterglow.facts.clauses import clauses, is_conditional, of_the_same
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.said import Cut
from afterglow.facts.support import own_terms
from afterglow.language import language_of

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
_BARE = r"not|no|nicht|kein\w*|pas|non(?!-stop)|não|nie|не|niet|geen"
NOT = rf"{_BARE}|\w+n['’]t|cannot|never|jamais|nunca|nooit|никогда"
"""Words that deny and say nothing else, as part of an expression. "No longer", "ya no" and "już nie" hold one of them."""
_WORDS = (
    NOT,
    r"none|nobody|nothing|nowhere|neither|nor|any ?more|unable|hardly",
    r"refus\w+|declin\w+|reject\w+|avoid\w*|dislik\w+|hat(?:e|es|ed)|detest\w*|loath\w+|cancel\w*|lacks?|lacking|except",
    r"quit|stops? (?:\w+ing|it|that|this|my)|stopped|stopping|gave up|giv(?:e|es|ing|en) up|forget|forgot to",
    r"abstain\w*|skip(?:s|ped|ping)?|turn(?:s|ed|ing)? (?:\w+ ){0,3}?down|intoleran\w+|yet to",
    r"far from (?:\w+(?:ed|ing)|done|over|ready|sure|perfect|clear|it|the end|complete)",
    r"den(?:y|ies|ied)|fail(?:s|ed)? (?:to|the|my|an?|his|her|their)|drop(?:s|ped|ping)? out|can(?:no|')t stand"
    r"|against (?:using|having|buying|taking|it)",
    r"(?:decid|vot|argu|advis|speak|am|are|is|was|were|be|i['’]m|we['’]re)\w* (?:\w+ly )?against",
    r"niemals|niemand|nichts|nirgends|weder|weiger\w*|verweiger\w*|hasse|hassen|hasst|vermeid\w*|meide\w*",
    r"abgesagt|abgelehnt|lehn\w+ .{0,40}\bab|gegen .{0,40}entschieden|entschieden .{0,15}gegen|aufgehört|dagegen",
    r"ne|rien|aucune?|ni|déteste\w*|évite\w*|n['’](?=[aeiouyhéèêàœ])\w+|arrêté|annulé\w*|décidé contre",
    r"jamás|nada|nadie|ningún|ninguna?|tampoco|rechaz\w+|odi[oa]\w*|evit\w+|en contra|decid\w+ contra|dejé",
    r"niente|nessun\w*|né|neanche|rifiut\w+|annullat\w+|smesso|contrari\w+",
    r"nem|nenhum\w*|ninguém|recus\w+|deixei de|deixou de|parei",
    r"nigdy|ani|żad\w+|nikt|nic|odm[aó]w\w+|nienawidz\w+|unika\w*|przeciw\w*|przesta\w+|odwoła\w+|(?:z?rezygn)\w+",
    r"нет|ни|никто|ничего|нельзя|против|отказ\w+|ненави\w+|избега\w+|перестал\w*|отменил\w*|бросил\w*",
    r"niets|haat|besloten .{0,30}tegen|gestopt|afgezegd|vermijd\w*",
)
_UNSPACED = (
    "不|没|沒|无|無|未|别|勿|拒绝|讨厌|避免|取消|ない|ません|なかった|なく|嫌い|やめ|断っ"
    r"|(?<!\w)안 |않|못|없|싫|거절|지 마|말아"
)
_WITHOUT = lazily_compiled(r"(?<!\w)(?:without|ohne|sans|sin|senza|sem|bez|без|zonder)(?!\w)", re.IGNORECASE)
"""A denial by itself; behind another one it takes that back: never without asking."""
_IDIOM = lazily_compiled(rf"(?<!\w)(?:{'|'.join(_NOT_MEANT)})", re.IGNORECASE)
_DENIAL = lazily_compiled(rf"(?<!\w)(?:{'|'.join(_WORDS)})(?!\w)|{_UNSPACED}", re.IGNORECASE)
_PORTUGUESE_NO = lazily_compiled(r"(?<!\w)nos?(?!\w)", re.IGNORECASE)
_CORRECTS = lazily_compiled(rf", (?=(?:and )?(?:{_BARE})\s)", re.IGNORECASE)
_ELLIPTIC = lazily_compiled(rf"(?<!\w)(?:{NOT}|none)[\s.!]*$", re.IGNORECASE)
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
    if len(here) != len(there) and denies(content) == denies(said):  # it sums up, unless a clause says it all
        there = [clause for clause in there if any(set(own_terms(each, cut)) <= set(cut(clause)) for each in here)]
        here = here if len(here) == len(there) == 1 else []
    return any(denies(clause) != any(map(denies, of_the_same(clause, there, cut))) for clause in here)


def _clauses(text: str) -> list[str]:
    """The text in clauses that can be affirmed and denied by themselves; whole where one of them is not complete."""
    found = clauses(text, _told_first)
    return [text] if any(map(_ELLIPTIC.search, found)) else found


def _told_first(clause: str) -> list[str]:
    """What is told before a comma is not denied by what comes after it: "Sam, not Samuel"."""
    corrected = _CORRECTS.search(clause)
    first, _, rest = clause.partition(", ")
    if corrected and not denies(clause[: corrected.start()]):
        return [clause[: corrected.start()], clause[corrected.end() :]]
    if is_conditional(clause):
        return [clause]
    return [first, rest] if not denies(first) and denies(rest) else [clause]
