"""Whether what a model says is a fact that the record proves. Every rule is code, and what fails is dropped.

The quote must stand in the turn it names, outside of recalled memory; whoever is said to have said it must have; every
number, name and day of the statement must come from what was said; and most of its words must too. A model that repeats an
example of its instructions, invents a person or miscounts is caught by one of these, and rather a fact too few is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from pydantic import BaseModel, Field, field_validator

from afterglow.facts import (
    CONFIDENCES,
    CONTENT_CHARS_MAX,
    FACT_TYPES,
    QUOTE_CHARS_MAX,
    Confidence,
    FactType,
    normalised,
)
from afterglow.facts.dates import made_absolute, unsupported_day, without_days
from afterglow.guard import strip_invisible
from afterglow.language import SMALL_WORDS
from afterglow.recalled import merged, ranges, without
from afterglow.turns import Role, Turn

Cut = Callable[[str], Sequence[str]]
"""Cuts a text into the terms it is compared by."""
CLAIMS_MAX = 5_000
"""So many claims are looked at; a model that makes more is not reading but talking."""
_QUOTE_CHARS_MIN = 4
_SUPPORTED_MIN = 0.5
_BY_ITSELF_MIN = 0.65
_SHORT_TERMS = 4
_NEIGHBOURS = 2
_SMALL_TALK = re.compile(
    r"(?:\w+ ){1,3}(?:thank|greet|agree[sd]? with|compliment|congratulat|apprecia|prais|said (?:hi|hello|good)"
    r"|wish(?:es|ed)? \w+ luck|is (?:happy|glad|excited) (?:for|to (?:see|hear))|looks? forward to (?:see|hear|talk))",
    re.IGNORECASE,
)
_SAID_OF = re.compile(r"^(?:the )?(user|owner|assistant|agent)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_SENTENCE = re.compile(r"(?<=[.!?。！？\n])")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_GERMAN = re.compile(
    r"\b(?:der|die|das|den|dem|und|nicht|ein|eine|einen|möchte|ist|hat|im|zu|vor|mit|auf|für|am|kein|keine|keinen|aber|oder|sich|nach|bei|wird|isst)\b",
    re.IGNORECASE,
)
_SPELLED = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905
}
_NO_NAMES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday user owner assistant agent the i english german french spanish
    polish italian portuguese russian chinese japanese korean dutch turkish czech ukrainian""".split()  # noqa: SIM905
)
"""Words with a capital that need not have been said: days are counted, and a language need not name itself."""
_FRAME = frozenset(
    """user owner assistant agent person speaker somebody say said tell told ask state mention note report explain describ
    prefer prefers preference like love hate want wish plan intend decid decide decision agre agree choos chose chosen feel
    think believ complet finish done need use have has had get got make made go went attend happen event task open thread
    still current live work name call
    nutzer nutzerin benutzer benutzerin usuario usuaria utilisateur utilisatric uzytkownik uzytkowniczka utent utente
    пользователь користувач kullanıcı kullanici uzivatel uzivatelka gebruiker wil chce chce zeby quiere mochte vuole veut
    желает хочет istiyor""".split()  # noqa: SIM905
)
"""How facts speak of what was said; such words prove nothing and need no proof. Stemmed, as they are compared."""
_SMALL = frozenset(normalised(word) for word in SMALL_WORDS)
_USER_UNSPACED = re.compile(r"ユーザーは?|用户|使用者|사용자[는은가]?")


class Claimed(BaseModel):
    """One fact as a model claims it."""

    turn: int = Field(description="The number of the turn that proves it")
    speaker: str = Field(default="", description="Who said it in that turn: user, assistant, tool")
    quote: str = Field(description="The words of that turn that prove it, copied exactly")
    content: str = Field(
        description="The fact in one plain sentence that can stand alone, with names and absolute dates"
    )
    type: str = Field(description=f"One of: {', '.join(FACT_TYPES)}")
    confidence: str = Field(default="medium", description="high, medium or low")

    @field_validator("turn", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        """`[12]`, `"12"` and 12 are one number."""
        found = re.search(r"\d+", value) if isinstance(value, str) else None
        return int(found[0][:9]) if found else value


class ClaimedFacts(BaseModel):
    """What a model says the record holds."""

    facts: list[Claimed] = Field(default=[], description="Empty where there is nothing worth keeping")


@dataclass(frozen=True, kw_only=True, slots=True)
class Proved:
    """A claim that the record proves."""

    type: FactType
    content: str
    confidence: Confidence
    quote: str
    turn: Turn
    by_itself: bool = True
    """Whether the turn says it all by itself, rather than with the turns that it answers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What of a model's claims holds, and how many did not, by reason."""

    proved: tuple[Proved, ...]
    dropped: Mapping[str, int]


def check(
    claims: Iterable[Claimed], turns: Sequence[Turn], zone: tzinfo, cut: Cut, before: Sequence[Turn] = ()
) -> Checked:
    """The claims that these turns prove. The turns before them say what they are about, and prove nothing themselves."""
    said = _Said(turns, before)
    proved: list[Proved] = []
    dropped: dict[str, int] = {}
    for number, claim in enumerate(claims):
        found = "too many" if number >= CLAIMS_MAX else _checked(claim, said, zone, cut)
        if isinstance(found, str):
            dropped[found] = dropped.get(found, 0) + 1
        else:
            proved.append(found)
    return Checked(proved=tuple(proved), dropped=dropped)


def words_of(turn: Turn) -> str:
    """All that a turn says in words, its tool results too, without recalled memory and what nobody would see."""
    return strip_invisible(raw_words_of(turn))[0]


def raw_words_of(turn: Turn) -> str:
    """The same with what nobody would see."""
    own = without(turn.text, merged(turn.recalled, ranges(turn.text)), put="\n")
    results = [_result(part.get("content", "")) for part in turn.parts if part.get("type") == "tool_result"]
    return "\n".join([own, *(without(result, ranges(result), put="\n") for result in results)])


class _Said:
    """What was said, turn by turn, as it is compared."""

    def __init__(self, turns: Sequence[Turn], before: Sequence[Turn]) -> None:
        self.turns = {turn.seq: turn for turn in turns}
        self.words = {turn.seq: words_of(turn) for turn in (*before, *turns)}
        self.plain = {seq: f" {normalised(text)} " for seq, text in self.words.items()}
        self._order = sorted(self.words)

    def around(self, seq: int) -> str:
        """The turn and those before it that it may answer."""
        place = self._order.index(seq)
        return "\n".join(self.words[each] for each in self._order[max(0, place - _NEIGHBOURS) : place + 1])

    def only_turn_with(self, plain: str) -> Turn | None:
        """The turn that holds these words, if exactly one does."""
        holding = [turn for seq, turn in self.turns.items() if plain in self.plain[seq]]
        return holding[0] if len(holding) == 1 else None

    def everything(self) -> str:
        return " ".join(self.plain.values())


def _checked(claim: Claimed, said: _Said, zone: tzinfo, cut: Cut) -> Proved | str:
    """The claim as it is kept, or why it is not."""
    kind, confidence = claim.type.strip().lower().replace(" ", "_"), claim.confidence.strip().lower()
    content, quote = _one_line(claim.content), claim.quote.strip().strip('"“”')
    if kind not in FACT_TYPES or confidence not in CONFIDENCES:
        return "unknown type or confidence"
    if (
        not (8 if content.isascii() else 4) <= len(content) <= CONTENT_CHARS_MAX
        or not _QUOTE_CHARS_MIN <= len(quote) <= QUOTE_CHARS_MAX
    ):
        return "too short or too long"
    plain = f" {normalised(quote)} "
    if len(plain) < _QUOTE_CHARS_MIN + 2:
        return "too short or too long"
    named = said.turns.get(claim.turn)
    is_there = named is not None and plain in said.plain[named.seq]
    turn = named if is_there else said.only_turn_with(plain)  # small models copy well and count badly
    if turn is None:
        return "no such turn" if named is None else "quote not in the turn"
    if not _is_speaker(claim.speaker, content, turn.role):
        return "wrong speaker"
    day = turn.at.astimezone(zone).date()
    content = made_absolute(content, day)
    if len(content) > CONTENT_CHARS_MAX:
        return "too short or too long"
    around = said.around(turn.seq)
    if unsupported_day(content, around, day):
        return "a day that was not said"
    if _unsaid_number(content, around, day.year):
        return "a number that was not said"
    if _unsaid_name(content, said.everything()):
        return "a name that was not said"
    if _SMALL_TALK.match(content):
        return "small talk"
    if _support(content, around, cut) < _SUPPORTED_MIN or _is_question(quote, turn):
        return "not in what was said"
    own_words = said.words[turn.seq]
    by_itself = _is_by_itself(content, own_words, cut) and not _unsaid_name(content, f" {normalised(own_words)} ")
    return Proved(type=kind, content=content, confidence=confidence, quote=quote, turn=turn, by_itself=by_itself)  # pyright: ignore[reportArgumentType]


def _is_speaker(speaker: str, content: str, role: Role) -> bool:
    """Who is named as speaker is who spoke; and what somebody wants, thinks or did is not another's to say."""
    named = speaker.strip().lower()
    if named in ("user", "assistant", "tool", "system", "owner", "agent"):
        named = {"owner": "user", "agent": "assistant"}.get(named, named)
        if named != role:
            return False
    subject = _SAID_OF.match(content)
    if subject is None:
        return True
    return role == "user" if subject[1].lower() in ("user", "owner") else role in ("assistant", "user")


def _unsaid_number(content: str, around: str, year: int) -> bool:
    """Whether a number in the content was never said. The year it was said in, and those beside it, go without saying."""
    folded = " ".join(_SPELLED.get(word, word) for word in around.casefold().split())
    numbers = {_bare(number) for number in _NUMBER.findall(folded)} | {str(year + step) for step in (-1, 0, 1)}
    digits = "".join(re.findall(r"\d", folded))
    return any(
        _bare(number) not in numbers and (len(number) < 3 or _bare(number) not in digits)
        for number in _NUMBER.findall(without_days(content))
    )


def _bare(number: str) -> str:
    return re.sub(r"\D", "", number).lstrip("0") or "0"


def _unsaid_name(content: str, everything: str) -> bool:
    """Whether a name in the content was never said. In German every noun has a capital, and that proves nothing."""
    if len(_GERMAN.findall(content)) >= 2:
        return False
    words = _WORD.findall(without_days(content))[1:]
    names = [normalised(word) for word in words if word[0].isupper() and word.lower() not in _NO_NAMES]
    return any(f" {name[: max(4, len(name) - 2)]}" not in everything for name in names if len(name) > 2)


def _own_terms(content: str, cut: Cut) -> list[str]:
    """The terms that a statement must have from what was said."""
    bare = _USER_UNSPACED.sub(" ", without_days(content))
    return [term for term in dict.fromkeys(cut(bare)) if term not in _FRAME and term not in _SMALL]


def _support(content: str, said: str, cut: Cut) -> float:
    """Which share of the statement's own words was said."""
    terms = set(cut(said))
    own = _own_terms(content, cut)
    return sum(term in terms or any(_is_form(term, each) for each in terms) for term in own) / len(own) if own else 1.0


def _is_form(one: str, other: str) -> bool:
    """Whether two words look like forms of one: not every language is stemmed."""
    shorter = min(len(one), len(other))
    return shorter > 3 and one[: max(3, shorter * 2 // 3)] == other[: max(3, shorter * 2 // 3)]


def _is_by_itself(content: str, said: str, cut: Cut) -> bool:
    """Whether what the turn states, not what it asks, is enough for the statement. A short one may have a word of its own."""
    needed = _SUPPORTED_MIN if len(_own_terms(content, cut)) <= _SHORT_TERMS else _BY_ITSELF_MIN
    stated = "".join(each for each in _SENTENCE.split(said) if not each.rstrip().endswith(("?", "？")))
    return _support(content, stated, cut) >= needed


def _is_question(quote: str, turn: Turn) -> bool:
    """A question states nothing."""
    at = turn.text.find(quote)
    end = turn.text[at + len(quote) :][:1] if at >= 0 else ""
    return (quote + end).rstrip().endswith("?") and "." not in quote


def _one_line(text: str) -> str:
    return " ".join(strip_invisible(text)[0].split())


def _result(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
