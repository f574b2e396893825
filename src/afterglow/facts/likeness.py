"""Whether two facts say the same, whether the newer takes the place of the older, or neither.

Cheap rules decide what is clear: words, numbers, names, negations. What they leave in doubt a model is asked; where there is
none, both stay. Nearness in meaning only raises a doubt, and settles none: "two cats" and "three cats" are as near as two
ways to say the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from afterglow.facts import normalised
from afterglow.facts.denial import NOT
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.names import CAPITALISED
from afterglow.facts.said import Cut
from afterglow.identifiers import identifiers

Likeness = Literal["same", "replaces", "different", "doubt"]

_SAME_SHARE = 0.75
_DOUBT_SHARE = 0.34
_DOUBT_COSINE = 0.7
_NO = lazily_compiled(rf"\b(?:{NOT}|ne|stopped|quit|cancell?ed|gave up|instead of|any ?more)\b", re.IGNORECASE)
"""Not all that denies: who hates tea and who does not hate it would then both deny, and be one."""
_CHANGED = lazily_compiled(
    r"\b(?:now|moved|changed|switched|no longer|instead|rescheduled|postponed|replaced|new|left|became|cancell?ed|jetzt|neu\w*|"
    r"umgezogen|verschoben|ahora|cambi\w+|maintenant|déménagé|teraz|przeprowadzi\w+)\b",
    re.IGNORECASE,
)
# Fewer than the words of support.py: who lives and who works in Rome are not one.
_FRAME = frozenset(("user", "owner", "want", "like", "prefer", "plan", "say", "said", "current", "now", "is", "has"))


@dataclass(frozen=True)
class Statement:
    """A fact's content as it is compared."""

    content: str
    cut: Cut

    @cached_property
    def plain(self) -> str:
        return normalised(self.content)

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(self.cut(self.content)) - _FRAME

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(re.findall(r"\d+", self.content))

    @cached_property
    def names(self) -> frozenset[str]:
        named = [name for name in identifiers(f"– {self.content}") if not any(char.isdigit() for char in name)]
        first = re.match(CAPITALISED, self.content)
        return frozenset(normalised(name) for name in [*named, *([first[0]] if first else [])]) - {"the", "user"}

    @cached_property
    def denies(self) -> bool:
        return bool(_NO.search(self.content))


def likeness(older: Statement, newer: Statement, nearness: float | None = None) -> Likeness:
    """How the newer fact stands to the older one. `nearness` is the cosine of their vectors, where they have any."""
    if older.plain == newer.plain:
        return "same"
    shared, whole = older.terms & newer.terms, older.terms | newer.terms
    share = len(shared) / len(whole) if whole else 0.0
    contained = len(shared) / max(1, min(len(older.terms), len(newer.terms)))
    if max(share, contained * 0.8) < _DOUBT_SHARE and (nearness is None or nearness < _DOUBT_COSINE):
        return "different"
    if older.numbers != newer.numbers or older.denies != newer.denies or _CHANGED.search(newer.content):
        return "doubt"
    if share >= _SAME_SHARE and older.names == newer.names:
        return "same"
    return "doubt"
