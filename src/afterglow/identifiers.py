"""The identifiers in a text: what a summary must not change by a letter, and is poorer without.

Addresses, paths, numbers, dates, times, code names, and the names of people, places and things. Found by form alone, in
any language that writes names with capitals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    "|Nov(?:ember)?|Dec(?:ember)?)"
)
_ENDING = "(?:py|js|ts|go|rs|md|toml|json|ya?ml|sql|txt|csv|pdf|sh|html|css)"
_FORMS = (
    r"""https?://[^\s<>"'`)\]}]{1,500}""",
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}",
    r"(?<![\w/])(?:~|\.{1,2})?/[\w.@~+-]{1,100}(?:/[\w.@~+-]{1,100}){1,20}/?|[A-Za-z]:\\[\w.\\-]{1,200}",
    r"(?<![\w/.-])[\w.-]{1,100}(?:/[\w-]{1,100}(?:\.[\w-]{1,100}){0,4}){1,20}",
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}\b(?:,?\s\d{{4}})?",
    rf"\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}})?",
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}",
    r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?|\b\d{1,2}\s?[AaPp][Mm]\b",
    r"[$€£¥]\s?\d{1,12}(?:[,.]\d{1,12}){0,6}|(?<![\d,.])\d{1,12}(?:[,.]\d{1,12}){0,6}\s?(?:USD|EUR|GBP|PLN|JPY|CHF|€|£|¥)",
    r"\b[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,10}\b|\b[a-z]{1,40}(?:[A-Z][a-z0-9]{1,40}){1,8}\b",
    r"\b[A-Z]{2,20}-?\d[\w-]{0,40}\b",
    rf"(?<![\w-])[\w-]{{1,60}}\.{_ENDING}\b",
    r"\bv?\d{1,6}(?:\.\d{1,6}){2,4}\b",
    r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b",
    r"(?<!\w)[@#][\w-]{2,}",
    r"(?<![\w.,])\+?\d{1,4}(?:[ -]\d{2,4}){2,5}(?![\w.,]\d|\w)",
    r"(?<![\w.,])\d{1,20}(?:[.,]\d{1,20}){0,8}\s?%?(?!\w)",
)
"""URLs, mail addresses, paths, days, times, money, names of code, files, versions, hashes, handles, telephones, numbers.

They are tried in this order.
"""
_EXACT = re.compile("|".join(_FORMS))
_NAME_WORD = re.compile(r"[^\W\d_][\w'’-]{0,60}")
_WITHIN_NAMES = {"of", "de", "van", "von", "da", "di"}
_SENTENCE_BEGIN = re.compile(r"(?:^|(?<!\nNamed)[.!?:;…。！？]|[\n\"“(\[*–—-])\s*$")
"""Behind `Named:` stand the names that a summary lost: what comes first there is one as well."""
_MONTHS_AND_DAYS = {
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"),
    *("december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
}
_EITHER = re.compile(r"[^\W\d_]+/[^\W\d_]+")
"""As in and/or: two words, and no path."""
_BARE_NUMBER = re.compile(r"\d+(?:[.,]\d+)*\s?%?")
_LEADING = re.compile(r"(?:(?<!\w)[^\W\d_A-ZÀ-ÖØ-Þ][^\W\d_]{0,14} ){1,3}$")
_LEADING_CHARS = 50
_NO_NAMES = {"I'm", "I'll", "I've", "I'd", "OK", "I"}
_TRAILING = ".,;:!?'\"’”)]}"
TEXT_CHARS_MAX = 200_000
IDENTIFIER_CHARS_MAX = 120


def identifiers(text: str) -> Counter[str]:
    """Every identifier in the text with how often it stands there. A number of one digit is none."""
    text = text[:TEXT_CHARS_MAX]
    found: Counter[str] = Counter()
    rest: list[str] = []
    place = 0
    for match in _EXACT.finditer(text):
        word = match.group().rstrip().rstrip(_TRAILING)
        rest.append(text[place : match.start()])
        rest.append(" \N{OBJECT REPLACEMENT CHARACTER} ")
        place = match.start() + len(word)
        if 1 < len(word) <= IDENTIFIER_CHARS_MAX and not _EITHER.fullmatch(word):
            found[word] += 1
    rest.append(text[place:])
    found.update(_names("".join(rest)))
    return found


def missing(wanted: Mapping[str, int], text: str) -> list[str]:
    """The identifiers that the text does not hold, the most frequent first."""
    folded = text.casefold()
    ranked = sorted(wanted, key=lambda word: -wanted[word])
    return [word for word in ranked if not _holds(folded, word.casefold())]


def _holds(text: str, word: str) -> bool:
    """Whether the text has the word; a number that is only a part of another is not there."""
    if word not in text or not _BARE_NUMBER.fullmatch(word):
        return word in text
    return re.search(rf"(?<![\d.,]){re.escape(word)}(?![\d%]|[.,]\d)", text) is not None


def in_words(word: str, text: str) -> str:
    """The identifier as it can stand alone: a bare number with the words around it in the text, anything else as it is."""
    if not _BARE_NUMBER.fullmatch(word):
        return word
    found = re.search(rf"(?:[^\W\d_]{{1,20}} )?(?<![\w.,]){re.escape(word)}(?!\w)(?: [^\W\d_]{{1,20}})?", text)
    return found.group() if found else word


def in_its_sentence(name: str, text: str) -> str:
    """A name with the few small words that lead to it in the text: `cat is called Mia`. Anything else as it is."""
    if not name[0].isupper() or not name.replace(" ", "").isalpha():
        return name
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text[:TEXT_CHARS_MAX])
    before = text[max(0, found.start() - _LEADING_CHARS) : found.start()] if found else ""
    leading = _LEADING.search(before)
    return f"{leading[0]}{name}" if leading else name


def _names(text: str) -> Counter[str]:
    """Capitalised words. One that begins a sentence counts only where it stands inside a sentence too."""
    inside: Counter[str] = Counter()
    begins: Counter[str] = Counter()
    for start, words in _runs(text):
        if _SENTENCE_BEGIN.search(text[max(0, start - 8) : start]):
            begins[words[0]] += 1
            words = words[1:]
        name = " ".join(words)
        if 2 <= len(name) <= IDENTIFIER_CHARS_MAX and name not in _NO_NAMES:
            inside[name] += 1
    for name, count in begins.items():
        if name in inside or name.lower() in _MONTHS_AND_DAYS:
            inside[name] += count
    return inside


def _runs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Capitalised words that follow each other, with where the first of them stands."""
    start, end = 0, -2
    words: list[str] = []
    for match in _NAME_WORD.finditer(text):
        word = match.group()
        goes_on = bool(words) and match.start() == end + 1 and text[end] == " " and len(words) < 8
        if word[0].isupper():
            if words and not goes_on:
                yield start, _trimmed(words)
            start, words = (start, [*words, word]) if goes_on else (match.start(), [word])
        elif goes_on and word in _WITHIN_NAMES:
            words.append(word)
        elif words:
            yield start, _trimmed(words)
            words = []
        end = match.end()
    if words:
        yield start, _trimmed(words)


def _trimmed(words: list[str]) -> list[str]:
    while words[-1] in _WITHIN_NAMES:
        words = words[:-1]
    return words
