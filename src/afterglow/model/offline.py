"""A model that needs no key and no network: it picks the sentences that carry the most, and says nothing of its own.

Each sentence is worth the terms in it: a term counts the more, the more sentences come back to it, but for those that are
everywhere. Names, numbers, dates, paths and addresses count more, and so do requests, decisions and beginnings. The
sentences are chosen one by one, the one that adds the most for its length first. A term that is there already adds little,
and a sentence that nearly stands there already is passed over. The work stays near linear: a sentence is weighed anew
only when it comes up.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from afterglow.errors import ModelBadOutput
from afterglow.identifiers import identifiers
from afterglow.model import Completion, Request
from afterglow.model.sentences import PIECE_CHARS_MAX, Piece, pieces
from afterglow.spend import Usage
from afterglow.tokens import estimate

NAME = "offline"
WINDOW_TOKENS = 10_000_000

_AGAIN = 0.2
"""What a term is worth that is there already."""
_SHARED_MAX = 0.7
"""A sentence that shares more of its terms with one other is a repeat."""
_LABEL_TOKENS = 4
_LENGTH_POWER = 0.6
"""Between choosing by worth alone (0), which favours long sentences, and by worth per token (1), which favours short ones."""

_ASSISTANT = ("assistant", "ai")
_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff]")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_PLEA = re.compile(
    r"\b(please|can you|could you|would you|we need|i need|need to|must|should|remember|remind|don't forget|todo|deadline|due"
    r"|by (?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|decided?|agreed?|we'll|we will|i'll|i will|let's|instead|prefer"
    r"|always|never|important|blocked|waiting for|next step|because"
    r"|bitte|muss|müssen|entschieden|beschlossen|wichtig|por favor|hay que|decidimos|importante|s'il|il faut|décidé"
    r"|proszę|musimy|ustaliliśmy|пожалуйста|нужно|решили|важно)\b|请|請|需要|必须|決定|决定|记得|重要|ください|必要|부탁|해야",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"\W*(hi|hello|hey|thanks?|thank you|done|understood|ok(ay)?"
    r"|yes|no|sure|great|got it|cool|perfect|good (morning|night|evening)|bye"
    r"|you're welcome|no problem|danke|merci|gracias|好的|谢谢)\b[^\w]*(\w+[^\w]*){0,2}$",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"anything else|let me know|feel free|happy to help|glad (to|i could) help|how (can|may) i help|hope (this|that) helps"
    r"|you're welcome|is there something",
    re.IGNORECASE,
)


class OfflineModel:
    """Chooses from the material what to keep. It costs nothing, and the same material always gives the same answer."""

    name = NAME
    window_tokens = WINDOW_TOKENS

    async def complete(self, request: Request) -> Completion:
        if request.schema is not None:
            raise ModelBadOutput(f"the offline model writes no {request.schema.__name__}; name a model that can")
        text = await asyncio.to_thread(choose_sentences, request.material, request.tokens_max)
        if not text:
            raise ModelBadOutput("the offline model was given nothing to choose from")
        usage = Usage(input_tokens=estimate(request.material), output_tokens=estimate(text))
        return Completion(text=text, model=self.name, usage=usage, cost_usd=0.0)


def choose_sentences(text: str, tokens_max: int) -> str:
    """What carries the most of a text in so many tokens: verbatim pieces of it, in their order, each turn on a line.

    A text that fits is given back whole. From 20 tokens on there is always something of a text that is not blank.
    """
    text = text.strip()
    if estimate(text) <= tokens_max:
        return text
    found = pieces(text, PIECE_CHARS_MAX)
    kept = _choose(_weighed(found), tokens_max)
    if not kept:  # every sentence is too long
        found = pieces(text, max(16, tokens_max * 2))
        kept = _choose(_weighed(found), tokens_max)
    shown = _shown(found, kept)
    while estimate(shown) > tokens_max:
        kept = kept[: len(kept) * 9 // 10]
        shown = _shown(found, kept)
    return shown or _beginning(text, tokens_max)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Weighed:
    number: int
    terms: frozenset[str]
    factor: float
    extra: float
    tokens: int
    weights: Mapping[str, float]

    def worth(self, covered: set[str]) -> float:
        """What it would add to what is there already."""
        if not self.terms:
            return 0.0
        added = sum(self.weights[term] * (_AGAIN if term in covered else 1.0) for term in self.terms)
        return self.factor * (added + self.extra) / self.tokens**_LENGTH_POWER


def _weighed(found: Sequence[Piece]) -> list[_Weighed]:
    names = [frozenset(word.lower() for word in identifiers(piece.text)) for piece in found]
    terms = [names[number] | _words(piece.text) for number, piece in enumerate(found)]
    weights = _weights(terms, {name for each in names for name in each})
    typical = sum(weights.values()) / max(1, len(weights))
    last_turn = found[-1].turn if found else 0
    return [
        _Weighed(
            number=number,
            terms=terms[number],
            factor=_factor(piece),
            extra=typical * _extra(piece, len(names[number]), last_turn),
            tokens=estimate(piece.text) + 1 + (_LABEL_TOKENS if piece.first and piece.speaker else 0),
            weights=weights,
        )
        for number, piece in enumerate(found)
    ]


def _words(text: str) -> frozenset[str]:
    """Words by their first letters, which stands in for their endings; Chinese and Japanese as pairs of characters."""
    words = _WORD.findall(text)
    pairs = (first + second for first, second in pairwise(words) if _HAN.match(first + second))
    return frozenset([word.lower()[:7] for word in words if len(word) > 3 and not _HAN.match(word)] + list(pairs))


def _weights(terms: Sequence[frozenset[str]], names: set[str]) -> dict[str, float]:
    """What a term is worth: how rare it is, times how often it comes back, dampened."""
    counts = Counter(term for each in terms for term in each)
    total = len(terms) + 1
    return {
        term: math.log(total / count) * math.log2(1 + count) * (2.0 if term in names else 1.0)
        for term, count in counts.items()
    }


def _factor(piece: Piece) -> float:
    said_by = piece.speaker.lower()
    if _SMALL_TALK.match(piece.text) or (said_by.startswith(_ASSISTANT) and _POLITE.search(piece.text)):
        return 0.0
    by_a_tool = 0.6 if said_by.startswith(("tool", "system")) else 1.0
    by_a_person = 1.3 if said_by.startswith(("user", "human")) else 1.0
    return by_a_tool * by_a_person * (0.5 if piece.code else 1.0)


def _extra(piece: Piece, names: int, last_turn: int) -> float:
    """In terms of typical weight: for pleas and decisions, identifiers, the beginnings and the end."""
    plea = 3.0 if _PLEA.search(piece.text) else 0.0
    asks = piece.text.endswith(("?", "？")) and not piece.speaker.lower().startswith(_ASSISTANT)
    question = 1.0 if asks else 0.0
    first = (0.7 if piece.first else 0.0) + (1.5 if piece.turn <= 1 and piece.first else 0.0)
    recent = 1.0 if piece.turn >= last_turn - 1 else 0.0
    return plea + question + first + recent + 0.5 * min(names, 4)


def _choose(weighed: Sequence[_Weighed], tokens_max: int) -> list[int]:
    """The numbers of the pieces to keep, the most valuable first."""
    covered: set[str] = set()
    said: dict[str, list[int]] = {}
    heap = [(-each.worth(covered), each.number) for each in weighed]
    heapq.heapify(heap)
    kept: list[int] = []
    left = tokens_max
    while heap and left > 0:
        _, number = heapq.heappop(heap)
        each = weighed[number]
        if each.tokens > left:
            continue
        worth = each.worth(covered)
        if worth <= 0:
            continue
        if heap and worth < -heap[0][0]:
            heapq.heappush(heap, (-worth, number))  # less than it was: others come first
            continue
        if _is_repeat(each, said):
            continue
        kept.append(number)
        covered |= each.terms
        for term in each.terms:
            said.setdefault(term, []).append(number)
        left -= each.tokens
    return kept


def _is_repeat(each: _Weighed, said: Mapping[str, Sequence[int]]) -> bool:
    """Whether nearly all its terms stand together in one that is kept: the same but for a number, say."""
    shared = Counter(number for term in each.terms for number in said.get(term, ()))
    return max(shared.values(), default=0) > _SHARED_MAX * len(each.terms)


def _shown(found: Sequence[Piece], kept: Iterable[int]) -> str:
    lines: list[str] = []
    for _, same in groupby((found[number] for number in sorted(kept)), key=lambda piece: piece.turn):
        turn = list(same)
        label = f"{turn[0].speaker} " if turn[0].speaker else ""
        lines.append(label + ("\n" if turn[0].code else " ").join(piece.text for piece in turn))
    return "\n".join(lines)


def _beginning(text: str, tokens_max: int) -> str:
    """As much of the beginning as fits: for texts in which nothing can be told apart."""
    low, high = 0, min(len(text), tokens_max * 16)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle]) <= tokens_max else (low, middle - 1)
    return text[:low].strip()
