"""Whether what was only planned, wished for, nearly so or once so has become a plain fact in the statement.

"The user bought a Tesla" has all its words from "I almost bought a Tesla". So a word in the clause that is quoted which makes
it no plain fact must be answered by one of its kind in the statement: the same, or any that says as much.
"""

from __future__ import annotations

import re

from afterglow.facts.clauses import clauses, of_the_same
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.names import DID
from afterglow.facts.said import Cut
from afterglow.facts.support import own_terms


def _words(*listed: str) -> re.Pattern[str]:
    return lazily_compiled(rf"(?<!\w)(?:{'|'.join(listed)})(?!\w)", re.IGNORECASE)


_PLANNED = _words(
    r"might|maybe|perhaps|could(?! not|n['’]t)|would|wish(?:ed)?|if only|hop(?:e|ed|ing) to|dream\w* (?:of|about)"
    r"|(?:wan|mean)t(?:ed)? to(?! (?:let|tell|say|give|share|thank|ask|show)\b)",
    r"(?:i|we|you|they|he|she)['’]d (?:love|like|rather|prefer|be|want|\w+ if)|plan(?:s|ned|ning)? (?:to|on)|intend\w* to"
    r"|tempted to",
    r"(?:try|tried|trying|aim|aiming) to|(?:think|thinking|thought) (?:of|about) \w+ing|consider(?:s|ed|ing)?"
    r"|toying with",
    r"(?:was|were) going to|about to",
    r"vielleicht|würde|möchte|könnte|wollte|falls|plane|peut-être|voudrais|quizás|quisiera|forse|vorrei|talvez|może"
    r"|chciał\w+",
)
_IF = _words(r"(?<!even )(?<!know )(?<!as )if(?! not| only)|unless|falls|jeśli|если")
_DUE = _words(r"(?:have|has|need|needs|ought|supposed) to|should(?! have been)|muss|soll|dois|tengo que|devo|muszę")
"""What is to be done may be done every day, but was not done yet."""
_WILL = _words(r"will|going to|gonna|shall|\w+['’]ll")
_DID = lazily_compiled(
    r"(?:The )?(?:[^\W\d_][\w-]*['’]s [a-z]+|[^\W\d_][\w-]*(?!['’]))(?: and [^\W\d_][\w-]*)? "
    r"(?:(?:has|have|had|already|just|also|recently) )*"
    rf"(?P<deed>[a-z]{{2,}}ed|{DID}|shut|put|set|cut)(?!\w)"
)
"""A statement, in English, of what somebody has done."""
_NEARLY = _words("almost", "nearly", "beinahe", "presque", "casi", "quasi", "quase", "prawie", "почти", "bijna")
_ONCE = _words(
    r"used to(?! it| this| that| the| my)|formerly|in my (?:youth|childhood|twenties|thirties)",
    r"when (?:i|we) (?:was|were) (?:a |an )?(?:child|children|kids?|boy|girl|young\w*|little|small|student|teenager)",
)
_SOFT = _words(
    r"(?<!in )(?<!since )(?<!until )(?<!last )(?<!next )(?<!of )(?<!\d )may(?! \d)",  # not the month
    r"might|maybe|perhaps|possibly|probably|potential\w*|could|can|would|will|want\w*|offer\w*|wish\w*|hop(?:e|es"
    r"|ed|ing)|dream\w*|plan\w*",
    r"inten\w+|tempted|tr(?:y|ies|ied|ying)|aim\w*|think\w*|thought|consider\w*|going to|supposed|meant|about to"
    r"|has to|have to|had to",
    r"needs?|needed|must|should|ought|if|when|whenever|unless|until|whether|in case|likes?|liked|loves?|loved"
    r"|prefers?|preferred|rather",
    r"favou?r\w*|enjoy\w*|interest\w*|look(?:s|ing)? (?:for|into|at|to|forward)|open|undecided|unsure|idea|goal"
    r"|ambition|still|pending|yet",
    r"to-?do|to be|ask\w*|suggest\w*|propos\w*|recommend\w*|expect\w*|eager|keen|excited|upcoming|soon|saving|willing"
    r"|ready|believes?|feels?",
    r"vielleicht|würde|möchte|könnte|will|wollte|wenn|falls|plant|soll\w*|peut-être|voudrait|veut|souhaite|si|quizás"
    r"|quiere|quisiera",
    r"forse|vuole|vorrebbe|talvez|quer|gostaria|może|chce|chciał\w+|хочет",
)
_NOT_QUITE = _words(r"close|not|never|hardly|\w+n['’]t|nicht|kein\w*|fast", _NEARLY.pattern)
"""Not all that denies: who nearly had no money had some, and who nearly cancelled did not."""
_PAST = _words(
    r"used to|former\w*|previous\w*|once|past|earlier|no longer|any ?more|stopped|quit|ex-\w+|as a child|childhood"
    r"|was|were|had|did|\w+ed",
    r"went|drove|ran|wrote|taught|ate|drank|sang|rode|kept|left|grew|sold|spoke|swam|lent|spent|slept|made|took|got"
    r"|came|met|saw|felt|knew",
)
_CHANGES = lazily_compiled(
    r"(?<!\w)(?:left(?! from)|(?:moved|moving|switched|switching|changed|changing|transferred|went|postponed"
    r"|rescheduled|shifted) from) (?P<old>[^,;.]{1,200}?)"
    r" (?:for|to) (?P<new>[^,;.]{1,200})",
    re.IGNORECASE,
)
_LEAVING = _words(
    r"left|leav\w+|mov\w+|switch\w*|chang\w+|transfer\w*|postpone\w*|reschedule\w*|shift\w*|from|until|went|gave up"
    r"|instead|replac\w+|dropped",
    _PAST.pattern,
)


def is_hardened(content: str, said: str, cut: Cut) -> bool:
    """Whether a plain fact was made of what was said of a plan, a wish, a near miss, or of how things once were."""
    told = clauses(said)
    return any(_is_hardened(each, " ".join(of_the_same(each, told, cut)), cut) for each in clauses(content))


def _is_hardened(content: str, said: str, cut: Cut) -> bool:
    if (_IF.search(said) or _stands_before(_PLANNED, content, said, cut)) and not _SOFT.search(content):
        return True
    if _stands_before(_DUE, content, said, cut) and _PAST.search(content) and not _SOFT.search(content):
        return True
    did = _DID.match(content) if _stands_before(_WILL, content, said, cut) and not _SOFT.search(content) else None
    if did and did["deed"] not in said:  # "I will be late, I lost the keys"
        return True
    if _stands_before(_NEARLY, content, said, cut) and not _NOT_QUITE.search(content):
        return True
    if _stands_before(_ONCE, content, said, cut) and not _PAST.search(content):
        return True
    return any(_is_left(content, change, cut) for change in _CHANGES.finditer(said))


def _stands_before(hedge: re.Pattern[str], content: str, said: str, cut: Cut) -> bool:
    """Whether such a word stands before most of what the statement has from there: it is said of that, and not of the rest."""
    found, words = hedge.search(said), set(own_terms(content, cut))
    if found is None:
        return False
    before, behind = words & set(cut(said[: found.start()])), words & set(cut(said[found.end() :]))
    return len(behind) >= len(before)


def _is_left(content: str, change: re.Match[str], cut: Cut) -> bool:
    """Whether the statement is of what was left behind, and does not say so."""
    words = set(cut(content))
    old, new = set(cut(change["old"])) - set(cut(change["new"])), set(cut(change["new"]))
    return bool(words & old) and not words & new and not _LEAVING.search(content)
