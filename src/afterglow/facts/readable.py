"""Whether a text is in a language that the gate has lists for. What it cannot read, it cannot judge.

The commonest words tell: enough of them must be of one such language, more than of any other, with no long stretch in
between that has none. So a foreign language, letters from right to left and ciphers are all found without being known.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from importlib.resources import files

from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.seen import script_of
from afterglow.guard import strip_invisible

_KNOWN_SHARE_MIN = 0.3
_KNOWN_SHARE_MIN_OF = {"pl": 0.15, "ru": 0.15, "de": 0.25}
"""Where endings do what elsewhere small words do, there are fewer of them."""
_UNKNOWN_RUN_MAX = 5
_SHARED_MIN = 0.5
_FORM_CHARS = 4
_WORD = lazily_compiled(r"[^\W\d_]+")
_NAME = lazily_compiled(r"[^\W\d_][\w-]*(?:['’]s\b)?")
_PREPOSITIONS = frozenset(
    "of to in on at by for from with de des du di da do del della en a à na w z dla van voor в на с из для".split()  # noqa: SIM905
)
_POSSESSIVE = lazily_compiled(r"['’]s$")
_LETTERS = {
    "en": "",
    "de": "äöüß",
    "fr": "àâæçèéêëîïôœùûüÿ",
    "es": "áéíñóúü",
    "it": "àèéìíòóù",
    "pt": "àáâãçéêíóôõúü",
    "nl": "áéëïóöü",
    "pl": "ąćęłńóśźż",
    "ru": "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
}
_FOREIGN_MAX = 1
"""So many words may have letters of other languages, as `café` in English; names with a capital may always."""


def _lists() -> dict[str, frozenset[str]]:
    listed: dict[str, set[str]] = {}
    for line in files("afterglow.facts.signs").joinpath("tongues.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            language, *words = line.split()
            listed.setdefault(language, set()).update(words)
    return {language: frozenset(words) for language, words in listed.items()}


_WORDS = _lists()
COMMON = frozenset[str]().union(*(_WORDS[language] for language in _LETTERS))
"""The commonest words of all these languages, which everybody says of everything."""


def language_of(text: str) -> str | None:
    """The language with lists that it is in, all through; those of East Asia are known by their letters."""
    text = unicodedata.normalize("NFC", strip_invisible(text)[0])
    words = _WORD.findall(text)
    if script_of(text) == "EAST ASIAN":
        return "east asian"
    low = [word.casefold() for word in words]
    count, best = max((sum(word in _WORDS[language] for word in low), language) for language in _LETTERS)
    if not count or count < _KNOWN_SHARE_MIN_OF.get(best, _KNOWN_SHARE_MIN) * len(words):
        return None
    if any(_is_rather(language, best, low) for language in _WORDS if language.startswith("-")):
        return None
    return best if _is_spelled(words, best) and _unknown_run(low, _WORDS[best]) <= _UNKNOWN_RUN_MAX else None


def names_in(text: str, language: str) -> set[str]:
    """The names in it, of one word or several. In German every noun has a capital, so none is told apart.

    Whom it may be about: no short forms and no common words. `names.names` finds all that somebody must have said.
    """
    words = _NAME.findall(unicodedata.normalize("NFC", text) if language != "de" else "")
    if len(words) > 1 and words[1] in _PREPOSITIONS:
        del words[0]  # "Trains to Rome": who does something is followed by what is done
    names, name = set[str](), list[str]()
    for word in words:
        plain = _POSSESSIVE.sub("", word)
        name += [plain] if _is_name(plain) else []
        if plain != word or not _is_name(plain):
            names.add(" ".join(name))
            name = []
    return {*names, " ".join(name)} - {""}


def _is_name(word: str) -> bool:
    is_short = len(word) > 1 and word.isupper()
    return word[0].isupper() and not is_short and word.casefold() not in COMMON


def is_retold(quote: str, content: str) -> bool:
    """Whether most words of a short note are in the statement that was made of it."""
    told = {word[:_FORM_CHARS] for word in _WORD.findall(content.casefold())}
    words = _WORD.findall(quote.casefold())
    return sum(word[:_FORM_CHARS] in told for word in words) >= _SHARED_MIN * len(words)


def _is_rather(other: str, best: str, words: Sequence[str]) -> bool:
    """Whether the words that only one of two languages has speak for the other, or for neither more."""
    of_other = sum(word in _WORDS[other] and word not in _WORDS[best] for word in words)
    of_best = sum(word in _WORDS[best] and word not in _WORDS[other] for word in words)
    return of_other > 0 and of_other >= of_best


def _is_spelled(words: Sequence[str], language: str) -> bool:
    letters = _LETTERS[language]
    foreign = [
        word
        for word in words
        if not word[0].isupper() and any(not char.isascii() and char not in letters for char in word.casefold())
    ]
    return len(foreign) <= _FOREIGN_MAX


def _unknown_run(words: Sequence[str], known: frozenset[str]) -> int:
    longest = run = 0
    for word in words:
        run = 0 if word in known else run + 1
        longest = max(longest, run)
    return longest
