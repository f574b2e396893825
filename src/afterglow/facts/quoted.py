"""The whole sentences that a quote is taken from: what they say counts, and not only the words that were picked from them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

from afterglow.facts import normalised

_SHORT = "".join(
    rf"(?<!\b{each}\.)" for each in ("Dr", "Mr", "Mrs", "Ms", "St", "No", "Nr", "vs", r"e\.g", r"i\.e", "Prof")
)
"""No sentence ends behind these."""
_END = re.compile(
    rf"(?<=[.!?…]){_SHORT}(?=\s)|(?<=[.!?…][\"”'’)])(?=\s)|(?<=[。！？])|\n(?=\s*\n)|\n(?!\s*[^\W\d_A-ZÀ-ÖØ-Þ])"
)
_PLACES_MAX = 20
_ITEM = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s")


def sentences(text: str) -> list[str]:
    """The text in sentences. One may go on in the next line; an item of a list comes with the line that it is listed under."""
    found: list[str] = []
    head = ""
    for sentence in filter(str.strip, _END.split(text)):
        is_item = bool(_ITEM.match(sentence))
        head = head if is_item else sentence.strip() if sentence.rstrip().endswith((":", "：")) else ""
        found.append(f"{head} {sentence.strip()}" if is_item and head else sentence.strip())
    return found


def sentences_quoted(text: str, quote: str) -> list[str]:
    """The sentences that a quote is taken from, at each of the first places where it stands in the text."""
    wanted = f" {normalised(quote)} "
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
