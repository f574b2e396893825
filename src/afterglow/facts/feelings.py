"""Whether a statement gives somebody a feeling that nobody spoke of.

Models like to add how somebody must have felt. A feeling may be told in another word than it was said in, but not where no
word of its kind, glad or sad, was said, nor asked just before. This knows English alone; what was said in another language
passes.
"""

from __future__ import annotations

import re

from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.readable import language_of

_GLAD = lazily_compiled(
    r"""\b(?:pleased|happy|happiness|glad|delight(?:ed)?|thrilled|excited|excitement|proud|pride|joy|joyful|thankful
    |grateful|gratitude|relieved|satisfied|cheerful|passionate|enthusiastic|elated|ecstatic|hopeful|optimistic)\b""",
    re.VERBOSE,
)
"""In small letters: Joy and Pride are names."""
_SAD = lazily_compiled(
    r"""\b(?:sad|sadness|upset|unhappy|angry|anger|annoyed|frustrated|frustration|disappointed|disappointment|worried
    |anxious|anxiety|nervous|afraid|scared|lonely|stressed|depressed|heartbroken|grief|devastated|overwhelmed|exhausted
    |guilty|ashamed|embarrassed|jealous)\b""",
    re.VERBOSE,
)
_SAYS_GLAD = lazily_compiled(
    r"""\b(?:pleas(?:ed|ure)|happ(?:y|ily|ier|iest|iness)|glad\w*|delight\w*|thrill\w*|excit\w*|proud\w*|pride|joy\w*
    |enjoy\w*|thank\w*|grateful|gratitude|appreciat\w*|relie[vf]\w*|satisf\w*|content|cheer\w*|passion\w*|enthusias\w*
    |amaz\w*|lov(?:e|es|ed|ing|ely)|lik(?:e|es|ed|ing)|stoked|pumped|fun|awesome|great|good|best|wonderful|fantastic
    |brilliant|blessed|blast|reward\w*|fulfil\w*|inspir\w*|motivat\w*|hop(?:e|es|ed|eful|ing)|optimis\w*|confiden\w*
    |comfort\w*|calm\w*|peace\w*|relax\w*|hyped|psyched|elated|ecstatic|eager\w*|keen|over[ ]the[ ]moon|forward[ ]to
    |can['’]?t[ ]wait|ador\w*|crazy|obsess\w*|fan|favou?rite|treats[ ]me|well|yay|woo\w*|hooray|phew)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SAYS_SAD = lazily_compiled(
    r"""\b(?:sad\w*|upset\w*|unhapp\w*|ang(?:ry|er|ered|rily)|mad|furious|annoy\w*|frustrat\w*|disappoint\w*|worr\w*|anxi\w*
    |nerv\w*|afraid|scar(?:e|es|ed|ing|y)|fear\w*|terrif\w*|lone\w*|alone|stress\w*|pressure|depress\w*|hurt\w*|heart\w*
    |griev\w*|grief|devastat\w*|overwhelm\w*|exhaust\w*|tired|worn|drained|guilt\w*|asham\w*|embarrass\w*|jealous\w*|envy
    |envious|regret\w*|miss(?:es|ed|ing)?|bad|worse|worst|tough|hard|difficult\w*|struggl\w*|bumm\w*
    |(?:feel|feeling|felt|so|get|gets|got)[ ]down
    |phobi\w*|panic\w*|freak\w*|creep\w*|pissed|rage|raging|w(?:ept|eep\w*)|sob\w*|wip(?:e|es|ed|ing)|knackered|pain\w*|tears?|cry
    |crying|cried|hat(?:e|es|ed|ing)|concern\w*|shock\w*|sucks?|sorry|awful|terrible|horrible|rough|too[ ]much)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def unsaid_feeling(content: str, said: str) -> bool:
    """Whether the statement tells of a feeling, glad or sad, and what was said has no word of that kind."""
    unsaid = any(
        told.search(content) and not says.search(said) for told, says in ((_GLAD, _SAYS_GLAD), (_SAD, _SAYS_SAD))
    )
    return unsaid and _is_english(said)


def _is_english(text: str) -> bool:
    language = language_of(text)
    return language == "en" or (language is None and text.isascii())
