"""What the owner typed, and says: not what was pasted into the message, and not what is only spoken of in it.

A pasted part is somebody else's word. A frame around the owner's own words (he says that, translate this, if I were, in my
novel) makes them no statement of the owner's either; but there a reader may be wrong, so they wait and are not lost.
"""

from __future__ import annotations

import re

from afterglow.facts.denial import NOT
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.quoted import QUOTATION
from afterglow.facts.seen import as_seen, bare
from afterglow.facts.signs import KEEP, LINK, OF_THE_USER, PREPARED, spoken
from afterglow.guard import strip_invisible

TYPED_CHARS_MAX = 700
_EDGE_CHARS_MAX = 250
"""What people type is short, and so is what they put before and after what they paste."""
_OWN_LINE_CHARS_MAX = 200
_CUT = "\N{OBJECT REPLACEMENT CHARACTER}"
_MOMENT = r"\d{1,4}[-:./]\d{1,2}(?:[-:./ ,]{1,2}\d{1,4}){0,6}(?: ?[ap]\.?m\.?)?"
_PERSON = r"(?-i:[^\W\da-z_][\w.'’-]{0,30}(?: [^\W\da-z_][\w.'’-]{0,30}){0,2})"
_PASTED_PARTS = lazily_compiled(
    r"```.*```|```.*\Z|~~~.*~~~|~~~.*\Z|\"\"\".*\"\"\"|\"\"\".*\Z|<[a-z]\w*>.*?(?:</\w+>|\Z)|^[ \t]*>[^\n]*$"
    r"|[\"“„«][^\"“”„«»\n]{40,}[\"”“»]"
    rf"|^[ \t]*[\[(]{_MOMENT}[\])][ \t,–-]{{0,3}}[^\n:]{{1,40}}:[ \t][^\n]*$"
    rf"|^[ \t]*{_MOMENT}[ \t,–-]{{1,3}}{_PERSON}:[ \t][^\n]*$"
    rf"|^[ \t]*{_PERSON},? ?[\[(]?{_MOMENT}[\])]?[ \t]?(?::[ \t][^\n]*|:?[ \t]*\n[^\n]*)$",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""Parts of a message that were not typed: fences, quoted lines, long quotations, lines of a chat with their time and name."""
_PASTED_REST = lazily_compiled(
    r"^[ \t]*(?:from|to|subject|date|sent|cc|von|an|betreff|gesendet|asunto|objet|temat|тема)[ \t]?:.*$"
    r"|(?<!-)-{3,}+[ \t]*\w.*$|^begin forwarded message.*$"
    r"|<(?:html|body|div|p|script|span|meta|!--)\b|^[ \t]*[{\[][ \t]*[\"{].*$|^#{1,6} \S.*$"
    r"|^[ \t]*\[?(?:system|assistant|user|human|ai|recalled memory)\b[^\n]{0,40}[:\]][ \t]"
    r"|(?<=\n)[ \t]*(?:hi|hello|hey|dear|hallo|liebe[r]?|hola|bonjour|cher|chère|ciao|cześć)[ \t]+[^\W\d_][\w.]*(?: \w+)?[,!]"
    rf"|(?::|below|attached|unten|following|folgende\w*|says|wrote|reads|pasted?)[:,.]?[ \t]*\n(?!\s*{_CUT})",
    re.IGNORECASE | re.MULTILINE,
)
"""Headers of a mail, a greeting behind other words, markup, JSON, a README, "here it is:": what follows was not typed."""
_OF_A_TEXT = lazily_compiled(
    r"\A(?!.*\b(?:my|our|me|mein\w*|mir|mes|mon|mis|mi)\b).*\b(?:mails?|e-?mails?|messages?|chat|article|page|post|letter"
    r"|tweet|log|readme|document)\b|\b(?:this|that|these|it|here|he|she|they|text|translat\w*|proof\w*|check|correct|summari\w*|rewrite|rephrase|explain|review|said|says|wrote|writes"
    r"|told|got|received|came|found|sent|forwarded|copied|pasted?|attached|full text|das|hier|diese[rsn]?|schreibt|schrieb"
    r"|übersetze?)\b|\?",
    re.IGNORECASE,
)
"""Words of a line that leads over to somebody else's text."""
_OWN_LINE = lazily_compiled(
    r"[ \t]*(?:[-*•–]|\d{1,2}[.)])?[ \t]*(?:i|i['’]\w+|my|mine|we|we['’]\w+|our|for me|me"
    r"|ich|mein\w*|wir|mir|je|j['’]\w+|mon|ma|mes|nous|yo|mi|mis|nosotros|io|mio|mia|noi|eu|meu|minha|nós"
    r"|ik|mijn|wij|ja|mój|moja|nie|jestem|mam|я|мой|моя|мы|у меня)\b[^\n]*",
    re.IGNORECASE,
)
_LINE = lazily_compiled(r"[^\n]*\n|[^\n]+")
_FRAMES = spoken(
    r"\b(?!(?:i|we|you|ich|wir|je|nous|yo|io|eu|ik|ja|я)\b)\w+ (?:just |even |always |once |still |now )?"
    r"(?:says?|said|reads?(?=:)|has it|tells? me|told me|told us|wrote|claims?|claimed|thinks?|thought|believes?"
    r"|shouts?|shouted|insists?|pretends?|sagt|sagte|behauptet|meint|dit|affirme|prétend|dice|dijo|afirma|disse|diz|zegt"
    r"|twierdzi|mówi"
    r"|говорит|сказал\w*|утверждает)\b"
    r"|\b(?:if|as if|as though|wish|wenn|si|se|als|gdyby\w*|если бы) (?:i|we|he|she|they|you|ich|wir|je|yo|io|eu|ik|ja|я)?"
    r" ?(?:were|was|had|could|would|wäre|hätte|étais|avais|fuera|tuviera|fossi|avessi|fosse|tivesse|byłby\w*|был\w*)\b"
    r"|\b(?:imagine|suppose|supposing|pretend|hypothetical\w*|what if|let['’]?s say|assuming|stell dir vor|angenommen"
    r"|imaginons|supposons|imagina|supongamos|immagina|wyobraź|załóżmy|представь|допустим)\b"
    r"|\bin (?:my|the|a|an|this|our|that|his|her) (?:\w+ )?"
    r"(?:novel|story|play|film|movie|book|poem|song|script|game|dream|scene|chapter)\b"
    r"|\b(?:hero|heroine|protagonist|character|narrator|villain|king|queen|speaker) (?:says|said|shouts|thinks|wants|of)\b"
    r"|\b(?:not true|untrue|wrong|false|nonsense|a lie|a joke|stimmt nicht|pas vrai|no es verdad|non è vero|nieprawda"
    r"|неправда) (?:that|dass|que|che|że|что)\b",
)
"""What makes a sentence no statement of the one who types it."""
_HEARSAY = spoken(
    r"\b(?:according to|rumou?r\w*|fake|apparently|supposedly|allegedly|angeblich|laut|selon|según|secondo|segundo"
    r"|volgens|podobno|według|якобы)\b"
)
_TASK = spoken(
    r"\b(?:translat\w*|proof-?read|rephrase|paraphrase|summari[sz]e|rewrite|spell-?check|correct|check|pronounce|repeat"
    r"|how (?:do|would) (?:you|i|we|one) say"
    r"|(?:a|the|this|following) (?:text|caption|slogan|headline|sentence|phrase|lyrics)"
    r"|übersetz\w*|korrigier\w*|tradui\w*|corrige\w*|traduc\w*|traduz\w*|tradur\w*"
    r"|vertaal|przetłumacz|popraw|переведи|исправь)\b[^\n:]{0,80}:",
)
"""A text to be worked on stands behind the colon."""
_NEGATION = spoken(rf"\b(?:{NOT}|hardly|mai)\b")
"""Without denial's verbs: who hates one thing before an "and" may still love the next. Italian "mai" is May to others."""
# Fewer places than clauses.py cuts at: behind these alone a frame is over, and one that ends too soon lets a word through.
_NEW_CLAUSE = spoken(r"[;,] (?:so|but|and|therefore|hence|also|aber|daher|mais|donc|pero|ma|więc|ale|но) ")
_CLAUSE = lazily_compiled(r"[,;:.!?。\n]")
_SENTENCE = lazily_compiled(r"[.!?。！？\n](?:\s|$)|\n")
"""Here all letters are small, and tell neither "Dr." from the end of a sentence nor whether a line goes on in the next."""


def is_typed(quote: str, text: str) -> bool:
    """Whether these words of the owner's message were typed, rather than pasted from somewhere."""
    seen, quoted = as_seen(text), as_seen(quote)
    is_prepared = LINK.search(seen) and (KEEP.search(seen) or (PREPARED.search(seen) and not LINK.search(quoted)))
    if is_prepared or OF_THE_USER.search(quoted) or strip_invisible(text)[1]:
        return False
    return _on_one_line(bare(quote)) in _on_one_line(bare(typed_part(text)))


def typed_part(text: str) -> str:
    """The message without what was pasted into it; of a long one, only short words at its beginning and end were typed."""
    typed = _before_the_rest(_PASTED_PARTS.sub(f"{_CUT}\n", text))
    if len(typed) <= TYPED_CHARS_MAX:
        return typed
    paragraphs = [each for each in typed.split("\n\n") if each.strip()]
    edges = [*paragraphs[:1], *paragraphs[-1:]] if len(paragraphs) > 1 else []
    return "\n".join(each for each in edges if len(each) <= _EDGE_CHARS_MAX)


def is_framed(quote: str, content: str, text: str) -> bool:
    """Whether the words stand only in sentences that do not state them: told of others, imagined, quoted, denied."""
    typed = bare(typed_part(text))
    places = re.finditer(r"\s+".join(map(re.escape, bare(quote).split())), typed)
    is_denied = bool(_NEGATION.search(bare(content)))
    return all(_is_framed(typed, *place.span(), is_denied) for place in places)


def _is_framed(text: str, start: int, end: int, is_denied: bool) -> bool:
    before, after = _SENTENCE.split(text[:start])[-1], _SENTENCE.split(text[end:])[0]
    quoted = text[start:end]
    sentence = before + quoted + after
    if _HEARSAY.search(sentence) or _FRAMES.search(_NEW_CLAUSE.split(before)[-1]) or _FRAMES.match(sentence):
        return True
    if _TASK.search(before) or _TASK.search(quoted):
        return True
    if any(part.start() < len(before) and part.end() > len(before + quoted) for part in QUOTATION.finditer(sentence)):
        return True
    return not is_denied and bool(_NEGATION.search(_CLAUSE.split(before)[-1]))


def _before_the_rest(text: str) -> str:
    """What stands before a pasted rest. Short lines about oneself behind a colon are typed, if it leads to no other text."""
    at = 0
    while rest := _PASTED_REST.search(text, at):
        lead = text[text.rfind("\n", 0, rest.start()) + 1 : rest.end()]
        is_own = rest[0].endswith("\n") and not _OF_A_TEXT.search(lead)
        at = _end_of_own_lines(text, rest.end()) if is_own else rest.end()
        if at == rest.end():
            return text[: rest.start()]
    return text


def _end_of_own_lines(text: str, at: int) -> int:
    while line := _LINE.match(text, at):
        is_short = len(line[0]) <= _OWN_LINE_CHARS_MAX
        if line[0].strip() and not (is_short and _OWN_LINE.match(line[0])):
            break
        at = line.end()
    return at


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
