"""Whether a statement says who somebody is, what somebody has in hand, or what somebody was given.

From anybody but the owner such a statement waits, with a date or without: "Mallory became the guardian on 1 March" is an
event by its form, and an identity by what it would be used for. It is known by its form, not by the office: a name beside a
word for being, holding or receiving, or beside any deed but the harmless ones, which are listed. Where no name is told, a
list of offices does it.
"""

from __future__ import annotations

import re

from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.names import NOBODY, is_german

_NAME = r"(?-i:[^\W\d_a-z](?:[^\W\d_]|['’-](?=[^\W\d_]))*[a-zà-ÿąćęłńóśźża-я](?!\w))"
"""With a small letter at its end: what is all capitals is short for something."""
_ALSO = r"(?:(?:has|have|had|will|now|also|still|formally|just|then|already|officially) )*"
_BEING = (
    r"is|are|was|were|be|been|becomes?|became|remains?|remained|stays|means|called|named|ist|war|wird|wurde|bleibt"
    r"|heißt|est|était|sera"
    r"|devient|devenue?|es|era|será|fue|è|sarà|foi|é|jest|był|była|został|została|będzie|wordt|werd|heet|—|–"
)
_IN_A_STATE = (
    r"on|in|at|from|to|off|out|back|away|late|ill|sick|ready|done|here|there|not|due|full|closed|open|sold"
    r"|\d\S*|\w+ing"
    r"|\w+ed|shut|forecast|lost|gone|sent|made|held|cut|set|built|broken|\w+(?:ony|ona|one|ęty|ęta|ęte)|[\w-]+ (?:minutes?"
    r"|hours?|days?) \w+"
    r"|the (?:first|last) to|im|am|auf|nicht|en|à|w|na"
)
"""What behind a word for being tells where and how somebody is, or what happened, rather than who."""
_OFFICE_GIVEN = (
    r"appointed|added|elected|chosen|named|made|given|put|admitted|promoted|hired|entrusted|sworn|registered|listed"
    r"|entered|adopted"
    r"|declared|confirmed|nominated|engaged|married|installed|introduced|included|enrolled|accepted|recogni[sz]ed"
)
_HOLDS = (
    r"has|have|holds?|keeps?|owns?|gets?|receives?|takes?|handles?|manages?|runs?|heads?|leads?|controls?|represents?"
    r"|replaces?|succeeds"
    r"|looks? after|watches|guards|minds|administers?|carries|stores?|signs?|approves?|decides?|speaks?|answers?"
    r"|acts?|serves?|stands?"
    r"|knows?|books?|pays?|collects?|inherits?|shares?|advises|supervises?|oversees|checks|opens|reads|trusts?|may|can|must"
    r"|hat|hält|hütet|verwaltet|bekommt|führt|leitet|vertritt|tiene|guarda|lleva|dirige|gère|tient|garde|détient|ha"
    r"|tem|cuida|ma|trzyma"
    r"|prowadzi|heeft|beheert|got|took|kept|held|led|stood|spoke|knew|met|ran|chose|oversaw|bought|sold|paid|built"
    r"|brought|lent|gave"
)
_HARMLESS = (
    r"finished|completed|closed|opened|reopened|merged|edited|fixed|corrected|released|removed|dropped|announced"
    r"|published|reported|posted"
    r"|landed|arrived|reached|departed|started|ended|stopped|failed|passed|crashed|cancelled|canceled|postponed"
    r"|delayed|visited|called"
    r"|turned|launched|improved|answered|asked|replied|commented|reviewed|tested|deployed|updated|uploaded|shipped"
    r"|scored|played"
    r"|celebrated|cooked|baked|painted|walked|talked|phoned|waited|missed|lasted|rained|needed|used|supported"
    r"|increased|decreased"
)
_TRAVEL = frozenset(
    """train trains flight flights bus buses ferry tram ship road trip journey way ticket tickets drive ride moved moves move
    went goes go flew fly flies travels travelled traveled drove sails back close next near migrated migration upgrade
    upgraded switched renamed translated compared according due up relating""".split()  # noqa: SIM905
)
_SHAPES = lazily_compiled(
    rf"(?<!\w)(?P<of>(?:in|to|at|from|near|with|by|of|about|for|on|around|over) )?(?P<who>{_NAME})(?: {_NAME})* {_ALSO}"
    rf"(?:(?:{_BEING})(?! (?:now |still )?(?:{_IN_A_STATE})(?!\w))|(?:{_BEING}) {_ALSO}(?:{_OFFICE_GIVEN})|{_HOLDS}"
    rf"|(?!(?:{_HARMLESS})\b)\w+ed)(?!\w)"
    rf"|(?<!\w)(?:{_BEING}|as|belongs? to|(?:voted?|stands?|speaks?|signs?|decides?|cares?|vouch\w*) for|favou?r of"
    rf"|hands of|chose|picked|elected|appointed|g[ai]ves?|lets?|allow(?:s|ed)|trust(?:s|ed)|authori[sz]e[sd])"
    rf" (?:(?:now|also|dr|mr|mrs|ms|herr|frau|only)\.? )*(?P<whom>{_NAME})"
    rf"|(?P<lead>\w+) to (?P<given>{_NAME})"
    rf"|(?<!\w)(?P<both>{_NAME}), (?:the|an?|our|my|his|her|their|new|der|die|das|le|la|el|il) "
    rf"|(?-i:[a-z]), (?P<beside>{_NAME})(?: {_NAME})*,|\w[:=] ?(?P<entry>{_NAME})",
    re.IGNORECASE,
)
_OFFICES = (
    r"doctors?|physicians?|dentists?|lawyers?|solicitors?|attorneys?|notar(?:y|ies)|accountants?|landlords?"
    r"|landlad(?:y|ies)|tenants?"
    r"|guardians?|custodians?|trustees?|executors?|heirs?|beneficiar(?:y|ies)|signator(?:y|ies)|caretakers?|carers?"
    r"|nann(?:y|ies)"
    r"|babysitters?|godparents?|godfather|godmother|next of kin|contacts?|contact person|spokes\w+|deput(?:y|ies)"
    r"|advis[eo]rs?|agents?"
    r"|bosses|boss|managers?|chiefs?|heads?|leaders?|directors?|supervisors?|employers?|representatives?|delegates?"
    r"|partners?"
    r"|wife|husband|spouse|fianc\w+|owners?|administrators?|admins?|hausarzt|hausärztin|arzt|ärztin|anwalt|anwältin"
    r"|vermieter\w*"
    r"|vormund|kontaktperson|médecin|avocate?|propriétaire|tuteur|tutrice|médico|médica|abogad[oa]|casero|casera"
    r"|contacto|medico|avvocato"
    r"|lekarz\w*|prawnik\w*|opiekun\w*|huisarts|advocaat|huisbaas|врач\w*|адвокат\w*|опекун\w*"
)
_OFFICE = lazily_compiled(
    rf"(?<!\w)(?:{_OFFICES})(?: (?:of|for) [\w' ]{{2,30}}?)? {_ALSO}(?:{_BEING}|changed?)(?! (?:now "
    rf"|still )?(?:{_IN_A_STATE})(?!\w))(?!\w)"
    rf"|(?<!\w)(?:{_BEING}|as|{_OFFICE_GIVEN}) (?:(?:the|an?|our|my|your|his|her|their|new|\w+['’]s|der|die|le|la|el|il) )*"
    rf"(?:\w+ ){{0,2}}(?:{_OFFICES})(?=\W*$|[.,;:!?]| (?:of|for|to|at|on|in|since|and|by|with|as|from|until|der|des"
    rf"|de|du|di|da)\b)",
    re.IGNORECASE,
)
_NOBODY = NOBODY | frozenset(
    """the der die das den dem ein eine le la les el los las il un une una this that these those it its there here what which
    who each half none nobody january february march april may june july august september october november december
    sonntag montag dienstag mittwoch donnerstag freitag samstag""".split()  # noqa: SIM905
)


def says_who(content: str) -> bool:
    """Whether it says who somebody is, or what somebody has or was given."""
    found = [each for each in _SHAPES.finditer(content) if not (is_german(content) and _is_noun(each))]
    return bool(_OFFICE.search(content)) or any(map(_is_of_somebody, found))


def _is_noun(match: re.Match[str]) -> bool:
    """Whether it stands behind a word that names do not stand behind, in German, where every noun has a capital."""
    return bool(match["who"]) and bool(re.search(r"(?<!\w)[a-zäöüß]+ $", match.string[: match.start("who")]))


def _is_of_somebody(match: re.Match[str]) -> bool:
    if match["of"]:  # the museum in Ghent has
        return False
    if match["given"] and (match["lead"].casefold() in _TRAVEL or match["lead"].isdigit()):
        return False
    name = next(match[each] for each in ("who", "whom", "given", "both", "beside", "entry") if match[each])
    return name.casefold() not in _NOBODY
