"""A text as a reader takes it, however its letters are written, and whether they are written so that he is deceived.

What cannot be seen is gone, accents and strokes are off, letters and digits that look like others are those: all that is
compared with the lists of signs goes through here, and so do the lists.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from afterglow.facts.expressions import lazily_compiled
from afterglow.guard import strip_invisible

_LIKE_LETTERS = str.maketrans(
    {
        **dict(zip("авсԁеѕіјкӏмнорԛгтѡху", "abcdesijklmhopqrtwxy", strict=True)),
        **dict(zip("АВСЕНІЈКМОРЅТХУ", "ABCEHIJKMOPSTXY", strict=True)),
        **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
        **dict(zip("αβγεικνορτυχω", "abyeikvoptuxw", strict=True)),
        **dict(zip("ՕՍօսոհցԼ", "OUounhgL", strict=True)),
        **dict(zip("ᎪᏴᏟᎠᎬᎢᎫᏦᏞᎷᏢᏒᏚᎳᏃᎻᏙ", "ABCDEIJKLMPRSWZHV", strict=True)),
    }
)
"""Letters of other alphabets that look like Latin ones."""
_LIKE_BARE = str.maketrans("łŁøØđĐħıȷŧɡʟᴀʙᴄᴅᴇꜰɢʜɪᴊᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "lLoOdDhijtglabcdefghijkmnoprstuvwyz")
"""Latin letters whose stroke or style no decomposition takes off."""
_LIKE_DIGITS = (str.maketrans("0134578@$", "oleastb" + "as"), str.maketrans("0134578@$", "oieastb" + "as"))
_STYLES = ("<font>", "<wide>", "<circle>", "<square>")
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"})
_WITH_MARKS = frozenset({"LATIN", "CYRILLIC", "GREEK"})
_WORD = lazily_compiled(r"[^\W\d_]+")
_IN_A_WORD = lazily_compiled(r"(?<=[^\W\d_])[-.·•*_|/~'’](?=[^\W\d_])")
_WITH_DIGITS = lazily_compiled(r"(?<![\w@$])(?=[\w@$]*[^\W\d_])[\w@$]*[\d@$][\w@$]*")
_DIGIT_INSIDE = lazily_compiled(r"[^\W\d_][0134578@$]+[^\W\d_]")
_HEXADECIMAL = lazily_compiled(r"[0-9a-f]{6,}", re.IGNORECASE)
_SPREAD = lazily_compiled(r"(?<!\w)[^\W\d_](?:[ .·*_-][^\W\d_]){3,}(?!\w)")
"""Letters of a word that are set apart."""


def bare(text: str) -> str:
    """The text without case, accents and styles. What is equal so, was written with the same letters."""
    decomposed = unicodedata.normalize("NFKD", strip_invisible(text)[0])
    marked = "".join(char for char in decomposed if not unicodedata.combining(char))
    return unicodedata.normalize("NFC", marked.translate(_LIKE_BARE)).casefold()


def as_seen(text: str) -> str:
    """The same, and masked words in the letters they look like."""
    text = strip_invisible(text)[0]
    text = unicodedata.normalize("NFKC", text)
    is_latin = _is_latin(text)
    return bare(_WORD.sub(lambda word: _unmasked(word[0], is_latin), text))


def readings(text: str) -> str:
    """All that a reader may take it for, one below the other: with words joined that are set apart, digits as letters."""
    seen = as_seen(text)
    joined = _SPREAD.sub(lambda letters: "".join(_WORD.findall(letters[0])), _IN_A_WORD.sub("", seen))
    spelled = [_WITH_DIGITS.sub(lambda word, like=like: word[0].translate(like), joined) for like in _LIKE_DIGITS]
    return "\n".join(dict.fromkeys((seen, joined, *spelled)))


def is_masked(text: str) -> bool:
    """Whether letters of it are written to look like others, or to be read by a machine alone."""
    text, plain = unicodedata.normalize("NFC", text), unicodedata.normalize("NFKC", text)
    is_latin = _is_latin(plain)
    if any(_is_masked(word, is_latin) for word in _WORD.findall(plain)):
        return True
    odd = sum(map(_is_digit_letter, _WITH_DIGITS.findall(text)))
    return odd > 1 or bool(_SPREAD.search(text)) or _is_styled(text)


def script_of(text: str) -> str | None:
    """The script of most of its letters; those of East Asia count as one."""
    scripts = Counter(_script(char) for char in text if char.isalpha())
    return scripts.most_common(1)[0][0] if scripts else None


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    if char.isascii():
        return "LATIN"
    first = unicodedata.name(unicodedata.normalize("NFKC", char)[0], "").split(" ")[0]
    return "EAST ASIAN" if first in _EAST_ASIAN else first


def _is_latin(text: str) -> bool:
    """Whether it is read as Latin. A word with any Latin letter is, however many of the others only look like it."""
    letters = Counter[bool]()
    for word in _WORD.findall(text):
        letters[word.isascii() or any(_script(char) == "LATIN" for char in word)] += len(word)
    return letters[True] > letters[False]


def _unmasked(word: str, is_latin: bool) -> str:
    return word.translate(_LIKE_LETTERS) if _is_masked(word, is_latin) else word


def _is_masked(word: str, is_latin: bool) -> bool:
    """A word that mixes scripts; among Latin words, one of look-alikes alone."""
    if word.isascii():
        return False
    scripts = {_script(char) for char in word}
    if len(scripts) > 1:
        return not scripts <= {"LATIN", "EAST ASIAN"}
    return is_latin and scripts != {"LATIN"} and word.translate(_LIKE_LETTERS).isascii()


def _is_styled(text: str) -> bool:
    """Whether letters have a style of their own, are phonetic signs, or carry marks that no language puts on them."""
    is_eastern = script_of(text) == "EAST ASIAN"
    before = ""
    for char in text:
        if char.isascii():
            before = char
            continue
        if unicodedata.combining(char) and before.isalpha() and _script(before) in _WITH_MARKS:
            return True
        if "\u0250" <= char <= "\u02af" or "\u1d00" <= char <= "\u1dbf" or "\ua720" <= char <= "\ua7ff":
            return True
        if not is_eastern and unicodedata.decomposition(char).startswith(_STYLES):
            return True
        before = char
    return False


def _is_digit_letter(word: str) -> bool:
    letters = sum(map(str.isalpha, word))
    return letters * 2 > len(word) and bool(_DIGIT_INSIDE.search(word)) and not _HEXADECIMAL.fullmatch(word)
