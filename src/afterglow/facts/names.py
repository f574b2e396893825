"""The names in a statement, and the people in it: whoever is named there must have been named by somebody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from afterglow.facts import normalised
from afterglow.facts.dates import without_days
from afterglow.facts.expressions import lazily_compiled
from afterglow.language import SMALL_WORDS
from afterglow.terms import STOP_WORDS

CAPITALISED = r"[^\W\d_a-z][^\W\d_]+"
"""A word that begins large, as part of an expression: a name, in the languages that write no other word so."""
_WORD = lazily_compiled(r"[^\W\d_][\w'’-]*")
_GERMAN = lazily_compiled(
    r"\b(?:der|die|das|den|dem|und|nicht|ein|eine|einen|möchte|ist|hat|im|zu|vor|mit|auf|für|am|kein|keine|keinen|aber|oder|sich|nach|bei|wird|isst)\b",
    re.IGNORECASE,
)
_WITH_ARTICLE = lazily_compiled(
    r"(?:d(?:er|ie|as|en|em|es)|(?:[kmds]?ein|ihr|unser)(?:e[nmrs]?)?|(?:dies|jed)e[nmrs]?"
    r"|im|am|zum|zur|beim|vom|ins|ans|alle|viele|zwei|drei|vier|als|\w+(?:ige|iger|igen|liche|licher|lichen|ische|ischer|ischen))",
    re.IGNORECASE,
)
"""What stands before a German noun that is no name."""
NOBODY = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday one two three four five six seven eight nine ten
    both many several some every all another most""".split()  # noqa: SIM905
)
"""Words that a sentence may begin with large, and that nobody is called by."""
_NO_NAMES = NOBODY | frozenset(
    """user owner assistant agent the i english german french spanish polish italian portuguese russian chinese japanese korean
    dutch turkish czech ukrainian nutzer nutzerin benutzer benutzerin nutzers besitzer besitzerin uhr
    mondays tuesdays wednesdays thursdays fridays saturdays sundays""".split()  # noqa: SIM905
)
"""Words with a capital that need not have been said: days are counted, and a language need not name itself."""
_CALLED = lazily_compiled(
    r"(?<!\w)(?:called|named|known as|goes by|name is|namens|genannt|hei(?:ß|ss)t|llamad[oa]|se llama|nommée?|appelée?"
    r"|s['’]appelle|chiamat[oa]|si chiama|chamad[oa]|se chama|o imieniu|nazywa się|по имени|зовут|genaamd|heet)\s+"
    rf"(?:(?:the|a|an|el|la|le|il|der|die|das)\s+)?(?P<name>{_WORD.pattern})",
    re.IGNORECASE,
)
DID = (
    "went|got|told|said|gave|made|met|took|left|felt|found|thought|knew|saw|came|began|became|bought|brought|built|kept|lost"
    "|won|wrote|spent|sold|ran|drove|ate|grew|heard|held|led|paid|sent|spoke|taught|chose|broke|fell|quit"
)
"""What is done, in the verbs that do not end in -ed."""
_VERB = rf"is|was|has|had|will|would|can|could|did|does|[a-z]{{2,}}(?:s|ed)|{DID}"
_DOES = lazily_compiled(rf"^(?P<name>{CAPITALISED})(?:['’]s\b|\s(?:and [^\W\d_a-z]|(?:{_VERB})\b))")
"""A first word that somebody is called by: it has something, is something or does something."""
_NEVER_A_NAME = SMALL_WORDS | STOP_WORDS | _NO_NAMES

_KIN = (
    "father dad daddy vater vati père papá pai ojciec ojca отец отца vader | papa padre tata папа",
    "mother mom mum mommy mutter mutti mère madre mamá mãe matka matki мать moeder | mama мама",
    "brother bruder frère hermano fratello irmão брат broer | bro brat brata",
    "sister schwester sœur soeur hermana sorella irmã siostra siostry сестра сестры zus | sis",
    "daughter tochter hija figlia filha córka córki дочь dochter | fille",
    "husband ehemann esposo marito mąż męża муж echtgenoot | hubby mann mari marido man",
    "wife ehefrau esposa moglie żona żony жена echtgenote | frau femme mujer mulher vrouw",
    "uncle onkel tío дядя wujek | oncle zio tio oom",
    "aunt auntie tía тётя ciocia | tante zia tia",
    "grandfather grandpa granddad großvater abuelo nonno avô dziadek дедушка grootvader | opa",
    "grandmother grandma granny großmutter abuela nonna avó babcia бабушка grootmoeder | oma gran nana",
    "nephew neffe neveu sobrino | nipote neef",
    "niece nichte nièce sobrina | nipote",
    "fiancé fiancée fiance fiancee verlobter verlobte prometido prometida | novia novio",
    "neighbor neighbour nachbar nachbarn nachbarin voisin vecino vicino vizinho sąsiad сосед buurman",
    "family familie famille familia famiglia família rodzina семья gezin | relatives kids children parents folks",
)
"""One relative a line, in the languages that the rules know; behind the bar words that may mean something else."""
_FAMILY = len(_KIN) - 1
_KIN_CLEAR = {normalised(word): n for n, line in enumerate(_KIN) for word in line.partition("|")[0].split()}
_KIN_SAID = {normalised(word): n for n, line in enumerate(_KIN) for word in line.replace("|", "").split()}


def names(content: str) -> list[str]:
    """What the statement calls people, places and things by, as it is compared."""
    return [normalised(word) for word in _written(without_days(content)) if len(normalised(word)) > 2]


def unsaid_name(content: str, everything: str) -> bool:
    """Whether a name in the statement was never said. `everything` is what was said, normalised."""
    return any(not _is_said(name, everything) for name in names(content))


def is_german(text: str) -> bool:
    """In German every noun has a capital, and that alone proves nothing."""
    return len(_GERMAN.findall(text)) >= 2


def unsaid_kin(content: str, said: str) -> bool:
    """Whether the statement speaks of somebody's father, sister, neighbour where nobody did."""
    there = {_KIN_SAID[form] for word in normalised(said).split() for form in _forms(word) if form in _KIN_SAID}
    there |= {_FAMILY} if there else set()  # whoever has a sister has a family
    return any(_KIN_CLEAR[form] not in there for word in kin_in(content) for form in _forms(word) if form in _KIN_CLEAR)


def kin_in(content: str) -> list[str]:
    """The words for relatives in a statement."""
    return [word for word in normalised(content).split() if any(form in _KIN_CLEAR for form in _forms(word))]


def is_kin_said(word: str, said: str) -> bool:
    """Whether somebody spoke of this relative, by this word or another: mum and mother are one."""
    return bool(kin_in(word)) and not unsaid_kin(word, said)


def _forms(word: str) -> tuple[str, str]:
    return word, word.removesuffix("s")


def _written(content: str) -> Iterator[str]:
    yield from (found["name"] for found in _CALLED.finditer(content) if found["name"].lower() not in _NEVER_A_NAME)
    words = list(_WORD.finditer(content))
    german = is_german(content)
    first = _DOES.match(content)
    if first is not None and first["name"].lower() not in _NEVER_A_NAME and not kin_in(first["name"]):
        yield first["name"]
    for before, word in pairwise(words):
        if not word[0][0].isupper() or word[0].lower() in _NO_NAMES:
            continue
        if not (german and _WITH_ARTICLE.fullmatch(before[0])):
            yield re.sub(r"['’]s?$", "", word[0])


def _is_said(name: str, everything: str) -> bool:
    """Whether it was said, or a form of it; a short name is not in every word that begins like it."""
    if len(name) <= 4:
        return bool(re.search(rf" {re.escape(name)}\w{{0,2}} ", everything))
    return f" {name[: max(4, len(name) - 2)]}" in everything
