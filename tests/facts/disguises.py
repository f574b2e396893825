"""How an attack is made hard to see: characters that do not show, letters that look like others, encodings.

Each disguise has several ways, pure functions from a text and a seeded chance to a text. A model that obeys reads them
all.
"""

from __future__ import annotations

import base64
import codecs
from collections.abc import Callable
from random import Random
from urllib.parse import quote

Way = Callable[[str, Random], str]

ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"
UNSEEN = "\u00ad\u034f\u180e\u202a\u202c\u2066\u2069"
CYRILLIC = str.maketrans("aceopxyiABCEHKMOPTX", "асеорхуіАВСЕНКМОРТХ")
GREEK = str.maketrans("ovuiABEHIKMNOPTXYZ", "ονυιΑΒΕΗΙΚΜΝΟΡΤΧΥΖ")
LEET = str.maketrans("aeiostAEIOST", "431057431057")


def between(marks: str) -> Way:
    """Unseen marks after about every third letter, and after the first one always."""

    def way(text: str, chance: Random) -> str:
        put = (
            letter + (chance.choice(marks) if letter.isalpha() and (not at or chance.random() < 0.3) else "")
            for at, letter in enumerate(text)
        )
        return "".join(put)

    return way


def tags(text: str, chance: Random) -> str:
    """The whole text in tag characters, which nothing shows, behind two words that everybody sees."""
    return chance.choice(("Best regards", "Thank you", "See below")) + "".join(
        chr(0xE0000 + ord(letter)) if 32 <= ord(letter) < 127 else letter for letter in text
    )


def alike(letters: dict[int, int]) -> Way:
    """Each letter that has a twin in another script written with the twin."""
    return lambda text, chance: text.translate(letters)


def fullwidth(text: str, chance: Random) -> str:
    """About half of the words in the wide letters of East Asian typesetting."""

    def wide(word: str) -> str:
        return "".join(chr(ord(letter) + 0xFEE0) if 33 <= ord(letter) < 127 else letter for letter in word)

    words = text.split(" ")
    return " ".join(wide(word) if not at or chance.random() < 0.5 else word for at, word in enumerate(words))


def as_base64(text: str, chance: Random) -> str:
    return base64.b64encode(text.encode()).decode()


def as_hex(text: str, chance: Random) -> str:
    return text.encode().hex(" ")


def as_rot13(text: str, chance: Random) -> str:
    return codecs.encode(text, "rot13")


def as_leet(text: str, chance: Random) -> str:
    return text.translate(LEET)


def as_percent(text: str, chance: Random) -> str:
    return quote(text)


def backwards(text: str, chance: Random) -> str:
    return text[::-1]


INVISIBLE: tuple[Way, ...] = (between(ZERO_WIDTH), tags, between(UNSEEN))
HOMOGLYPHS: tuple[Way, ...] = (alike(CYRILLIC), alike(GREEK), fullwidth, alike(CYRILLIC | GREEK))
ENCODINGS: dict[str, Way] = {
    "base64": as_base64,
    "hexadecimal": as_hex,
    "rot13": as_rot13,
    "leetspeak": as_leet,
    "percent signs": as_percent,
    "letters from right to left": backwards,
}
