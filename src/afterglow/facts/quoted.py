"""The whole sentences that a quote is taken from: what they say counts, and not only the words that were picked from them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import lru_cache

from afterglow.facts import normalised
from afterglow.facts.expressions import lazily_compiled
from afterglow.model.sentences import SHORTENED

_SHORT = "".join(rf"(?<!\b{re.escape(each)}\.)" for each in SHORTENED)
_END = lazily_compiled(
    rf"(?<=[.!?…]){_SHORT}(?=\s)|(?<=[.!?…][\"”'’)])(?=\s)|(?<=[。！？])|\n(?=[^\S\n]*\n)|\n(?![^\S\n]*[^\W\d_A-ZÀ-ÖØ-Þ])"
)
_PLACES_MAX = 20
QUOTATION = lazily_compiled(
    r"[\"“„«][^\"“”„«»\n]*[\"”“»]|(?<!\w)['‘](?:[^'‘’\n]|(?<=\w)['’](?=\w))*['’](?!\w)|[「『][^「『」』\n]*[」』]"
)
"""What stands in quotation marks."""
_ITEM = lazily_compiled(r"\s*(?:[-*•–]|\d{1,2}[.)])\s")
_UNSPACED = lazily_compiled(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
"""Letters of languages that put no space between words."""
_CLOSING = ".!?…。！？"


def sought(quote: str) -> str:
    """A quote as it is looked for in a normalised text with a space around it: whole words, where words are apart."""
    plain = normalised(quote)
    before, behind = ("" if _UNSPACED.match(edge) else " " for edge in (plain[:1], plain[-1:]))
    return f"{before}{plain}{behind}"


def as_written(text: str, quote: str) -> str:
    """The words of a quote as they stand in the text: who copies may change case and marks, and add what nobody sees."""
    (plain, places), wanted = _placed(text), sought(quote)
    at = plain.find(wanted)
    assert at >= 0, "it was found there"
    first, last = at + wanted.startswith(" "), at + len(wanted) - 1 - wanted.endswith(" ")
    end = places[last] + 1
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    if quote.endswith(tuple(_CLOSING)) and text[end : end + 1] in _CLOSING:
        end += 1
    return text[places[first] : end]


@lru_cache(maxsize=8)
def _placed(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and where in it each letter comes from. Many claims quote one turn."""
    letters, places = [" "], [0]
    for at, char in enumerate(text):
        for each in unicodedata.normalize("NFKD", char.casefold()):
            is_apart = not each.isalnum()
            if unicodedata.category(each)[0] == "M" or (is_apart and letters[-1] == " "):
                continue
            letters.append(" " if is_apart else each)
            places.append(at)
    return "".join([*letters, " "]), places


def sentences(text: str) -> list[str]:
    """The text in sentences. One may go on in the next line; an item of a list comes with the line that it is listed under."""
    found: list[str] = []
    head = ""
    for sentence in filter(str.strip, _END.split(text)):
        is_item = bool(_ITEM.match(sentence))
        head = head if is_item else sentence.strip() if sentence.rstrip().endswith((":", "：")) else ""
        found.append(f"{head} {sentence.strip()}" if is_item and head else sentence.strip())
    return found


def sentences_of_lines(text: str) -> list[str]:
    """The text in sentences that end with their line, as in a message typed without capitals and stops."""
    return [sentence for line in text.split("\n") for sentence in sentences(line)]


def sentences_quoted(text: str, quote: str) -> list[str]:
    """The sentences that a quote is taken from, at each of the first places where it stands in the text."""
    wanted = sought(quote)
    found, whole, ends = _compared(text)
    places: dict[str, None] = {}
    at = whole.find(wanted)
    for _ in range(_PLACES_MAX):
        if at < 0:
            break
        first, last = bisect_right(ends, at + 1), bisect_left(ends, at + len(wanted))
        places[" ".join(found[first : last + 1])] = None
        at = whole.find(wanted, at + 1)
    return list(places)


@lru_cache(maxsize=8)
def _compared(text: str) -> tuple[list[str], str, list[int]]:
    """The sentences of a text, the text as it is compared, and where in it each sentence ends. Many claims quote one turn."""
    found, whole, ends = sentences(text), " ", list[int]()
    for sentence in found:
        plain = normalised(sentence)
        whole += f"{plain} " if plain else ""
        ends.append(len(whole))
    return found, whole, ends
