"""Which language a text is in, as far as its letters and its smallest words tell."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_SMALL_WORDS = {
    "English": "the and of to is was that it for you with on are have this what not they she be will would about",
    "German": "der die das und ist nicht ein eine ich du wir sie mit für auf den dem zu von im auch wird haben",
    "French": "le la les et est un une des que qui dans pour pas sur avec vous nous ce il elle au sont été",
    "Spanish": "el la los las y es un una que de en para con no por se su más pero está como muy",
    "Italian": "il lo la gli e è un una che di per con non sono del della si più anche questo come ha",
    "Portuguese": "o a os as e é um uma que de em para com não por se do da mais mas como foi está",
    "Dutch": "de het een en is van ik je niet dat met voor op zijn er maar ook aan wordt heeft naar",
    "Polish": "i w na z do się nie jest to że o po dla jak ale był była co tak przez oraz już",
}
_TELLING_WORDS = {
    "English": "my your from there when which could should were been his her them their but if",
    "Polish": "mnie mam ja czy od za tylko też jestem są bo żeby będzie może ich jego tego",
}
"""More words by which a language is known; they are not so small that they say nothing."""
_ALSO_ENGLISH = frozenset({"a", "as", "do", "i", "no", "on", "to"})
"""Small words of other languages that stand in any English text."""
_OWN_SHARE_MIN = 0.25
LANGUAGES = frozenset(_SMALL_WORDS)
"""The languages that are told apart by their words."""
SMALL_WORDS = frozenset(word for words in _SMALL_WORDS.values() for word in words.split())
"""The smallest words of these languages, which say nothing by themselves."""
_BY_WORD: dict[str, list[str]] = {}
for _language, _words in (*_SMALL_WORDS.items(), *_TELLING_WORDS.items()):
    for _word in _words.split():
        _BY_WORD.setdefault(_word, []).append(_language)

_WORD = re.compile(r"[^\W\d_]+")
_LETTERS_MIN = 30
_LETTERS_A_CHARACTER = 3
"""A Chinese or Japanese character says about as much as so many letters."""
_WORDS_MIN = 6
CHARS_MAX = 20_000


def language_of(text: str) -> str | None:
    """The language, or the script where that is not Latin; None where the text is too short or too mixed to tell."""
    text = text[:CHARS_MAX]
    scripts = Counter(_script(char) for char in text if char.isalpha())
    scripts["CJK"] *= _LETTERS_A_CHARACTER
    if scripts.total() < _LETTERS_MIN:
        return None
    script, count = scripts.most_common(1)[0]
    if count < 0.6 * scripts.total():
        return None
    return _latin_language(text) if script == "LATIN" else script.capitalize()


def _script(char: str) -> str:
    if char.isascii():
        return "LATIN"
    name = unicodedata.name(char, "").split(" ")[0]
    return "CJK" if name in ("CJK", "HIRAGANA", "KATAKANA") else name


def _latin_language(text: str) -> str | None:
    votes: Counter[str] = Counter()
    own: Counter[str] = Counter()
    for word in _WORD.findall(text.lower()):
        for language in _BY_WORD.get(word, []):
            votes[language] += 1
            own[language] += language == "English" or word not in _ALSO_ENGLISH
    # "I do", "to a": nothing but such words is no Polish and no Portuguese.
    votes = Counter({each: votes[each] for each in votes if own[each] >= _OWN_SHARE_MIN * votes[each]})
    ranked = votes.most_common(2)
    if not ranked or ranked[0][1] < _WORDS_MIN:
        return None
    clear = len(ranked) == 1 or ranked[0][1] >= 1.5 * ranked[1][1]
    return ranked[0][0] if clear else None
