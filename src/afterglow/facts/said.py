"""What was said, turn by turn, in the words that count as said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from afterglow.facts import normalised
from afterglow.facts.expressions import lazily_compiled
from afterglow.guard import strip_invisible
from afterglow.recalled import merged, ranges, without
from afterglow.turns import Turn

Cut = Callable[[str], Sequence[str]]
"""Cuts a text into the terms it is compared by."""
_NEIGHBOURS = 2
_BEGINNING_CHARS = 3
_SENTENCE = lazily_compiled(r"(?<=[.!?。！？\n])")


def words_of(turn: Turn) -> str:
    """All that a turn says in words, its tool results too, without recalled memory and what nobody would see."""
    return strip_invisible(raw_words_of(turn))[0]


def raw_words_of(turn: Turn) -> str:
    """The same with what nobody would see."""
    own = without(turn.text, merged(turn.recalled, ranges(turn.text)), put="\n")
    results = [_result(part.get("content", "")) for part in turn.parts if part.get("type") == "tool_result"]
    return "\n".join([own, *(without(result, ranges(result), put="\n") for result in results)])


def sentences(text: str) -> list[str]:
    """The text cut behind every line and mark, so that no question takes what is stated before it along.

    Together they are the text: what is taken from here as a quote stands in its turn. `quoted.sentences` cuts as a reader does.
    """
    return _SENTENCE.split(text)


@dataclass(frozen=True)
class Spoken:
    """A text that statements are compared with, one after another."""

    text: str
    cut: Cut

    def says(self, term: str) -> bool:
        """Whether the term is in it, or something that looks like another form of it: not every language is stemmed."""
        alike = self._by_beginning.get(term[:_BEGINNING_CHARS], ()) if len(term) > _BEGINNING_CHARS else ()
        return term in self._terms or any(_is_form(term, each) for each in alike)

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(self.cut(self.text))

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for term in self._terms:
            if len(term) > _BEGINNING_CHARS:
                found.setdefault(term[:_BEGINNING_CHARS], []).append(term)
        return found


def _is_form(one: str, other: str) -> bool:
    alike = max(_BEGINNING_CHARS, min(len(one), len(other)) * 2 // 3)
    return one[:alike] == other[:alike]


class Said:
    """What was said, turn by turn, as it is compared."""

    def __init__(self, turns: Sequence[Turn], before: Sequence[Turn], cut: Cut) -> None:
        self.turns = {turn.seq: turn for turn in turns}
        self._read = {turn.seq: turn for turn in (*before, *turns)}
        self.words = {turn.seq: Spoken(words_of(turn), cut) for turn in self._read.values()}
        self.plain = {seq: f" {normalised(words.text)} " for seq, words in self.words.items()}
        self._order = sorted(self.words)
        self._around: dict[int, Spoken] = {}
        self._cut = cut

    @property
    def read(self) -> Iterable[Turn]:
        """All turns that were read, those before them too."""
        return self._read.values()

    def around(self, seq: int) -> Spoken:
        """The turn and those before it that it may answer."""
        if seq not in self._around:
            place = self._order.index(seq)
            texts = [self.words[each].text for each in self._order[max(0, place - _NEIGHBOURS) : place + 1]]
            self._around[seq] = Spoken("\n".join(texts), self._cut)
        return self._around[seq]

    def asked_before(self, seq: int) -> str:
        """What the turn before asks, which this one may answer."""
        place = self._order.index(seq)
        before = self.words[self._order[place - 1]].text if place else ""
        return " ".join(each for each in sentences(before) if each.rstrip().endswith("?"))

    def only_turn_with(self, plain: str) -> Turn | None:
        """The turn that holds these words, if exactly one does."""
        holding = [turn for seq, turn in self.turns.items() if plain in self.plain[seq]]
        return holding[0] if len(holding) == 1 else None

    def everything(self) -> str:
        return " ".join(self.plain.values())

    def others(self, seq: int) -> Iterator[Turn]:
        """All other turns that were read: those before it, the nearest first, then those after it."""
        place = self._order.index(seq)
        yield from (self._read[each] for each in (*reversed(self._order[:place]), *self._order[place + 1 :]))


def _result(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
