"""Whether what a model says is a fact that the record proves. Every rule is code, and what fails is dropped.

The quote must stand in the turn it names, outside of recalled memory; whoever is said to have said it must have; every
number, name and day of the statement must come from what was said; most of its words must too; and the sentences that are
quoted must say it, and not its opposite. A model that repeats an example of its instructions, invents a person or miscounts is
caught by one of these, and rather a fact too few is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any, cast

from pydantic import (
    BaseModel,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from afterglow.facts import (
    CONFIDENCES,
    CONTENT_CHARS_MAX,
    FACT_TYPES,
    QUOTE_CHARS_MAX,
    Confidence,
    FactType,
)
from afterglow.facts.dates import left_relative, made_absolute, unsupported_days
from afterglow.facts.denial import is_turned_round
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.feelings import unsaid_feeling
from afterglow.facts.hedges import is_hardened
from afterglow.facts.names import unsaid_kin, unsaid_name
from afterglow.facts.quoted import as_written, sentences_quoted, sought
from afterglow.facts.roles import is_swapped
from afterglow.facts.said import Cut, Said, Spoken, sentences
from afterglow.facts.support import (
    SHORT_TERMS,
    Needed,
    adds,
    needed,
    own_terms,
    states,
    support,
    unsaid_numbers,
    without_names,
)
from afterglow.facts.voices import is_anothers, is_spoken_to, is_talk
from afterglow.facts.when import is_another_day
from afterglow.guard import strip_invisible
from afterglow.turns import Role, Turn

CLAIMS_MAX = 200
"""So many claims are looked at; a model that makes more is not reading but talking."""
_QUOTE_CHARS_MIN = 4
_SUPPORTED_MIN = 0.5
_BY_ITSELF_MIN = 0.65
_SMALL_TALK = lazily_compiled(
    r"(?:\w+ ){1,3}(?:(?:thank|greet|compliment|congratulate|praise)(?:s|d|ed)?\b|agree[sd]? with|apprecia\w+ \w+['’]s"
    r"|said (?:hi|hello|good)|wish(?:es|ed)? \w+ luck|looks? forward to (?:see|hear|talk)"
    r"|is (?:happy|glad|excited) (?:for \w+|to (?:see|hear) (?:you|her|him|them|it|that|of|about|from))\b)"
    r"|.* and (?:thank|greet|congratulate)(?:s|d|ed)? (?:her|him|them|(?-i:[A-Z])\w+)(?: for [^.]*)?\W*$",
    re.IGNORECASE,
)
_TOLD_OF = lazily_compiled(r"\b(?:thanked|greeted|complimented|congratulated|praised|agreed|wished)\b", re.IGNORECASE)
"""Whoever tells that they thanked somebody tells something."""
_SAID_OF = lazily_compiled(r"^(?:the )?(user|owner|assistant|agent)\b", re.IGNORECASE)


class Claimed(BaseModel):
    """One fact as a model claims it."""

    turn: int = Field(description="The number of the turn that proves it")
    quote: str = Field(description="The words of that turn that prove it, copied exactly")
    content: str = Field(
        description="The fact in one plain sentence that can stand alone, with names and absolute dates"
    )
    type: str = Field(description=f"One of: {', '.join(FACT_TYPES)}")
    confidence: str = Field(default="medium", description="high, medium or low")
    speaker: str = Field(default="", description="Who said it in that turn, if you say so: user, assistant, tool")

    @field_validator("turn", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        """`[12]`, `"12"` and 12 are one number."""
        found = re.search(r"\d+", value) if isinstance(value, str) else None
        return int(found[0][:9]) if found else value


class ClaimedFacts(BaseModel):
    """What a model says the record holds."""

    facts: list[Claimed] = Field(description="Empty where there is nothing worth keeping")
    _malformed: int = PrivateAttr(default=0)

    @property
    def malformed(self) -> int:
        """How many entries were no facts by their form, and left out."""
        return self._malformed

    @model_validator(mode="wrap")
    @classmethod
    def _entries_singly(cls, value: Any, handler: ModelWrapValidatorHandler[ClaimedFacts]) -> ClaimedFacts:
        """One bad entry does not spoil the others. Where none is good, the answer is of no use as a whole."""
        given: Any = cast(dict[str, Any], value).get("facts") if isinstance(value, dict) else None
        if not isinstance(given, list):
            return handler(value)
        entries = cast(list[Any], given)
        good = [each for each in entries if _is_claim(each)]
        found = handler({**value, "facts": good} if good else value)
        found._malformed = len(entries) - len(good)
        return found


def _is_claim(value: Any) -> bool:
    try:
        Claimed.model_validate(value)
    except ValidationError:
        return False
    return True


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
    needed: tuple[Needed, ...] = ()
    """Other turns that it has words from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What of a model's claims holds, and how many did not, by reason."""

    proved: tuple[Proved, ...]
    dropped: Mapping[str, int]


def check(
    claims: Iterable[Claimed], turns: Sequence[Turn], zone: tzinfo, cut: Cut, before: Sequence[Turn] = ()
) -> Checked:
    """The claims that these turns prove. The turns before them say what they are about, and prove nothing themselves."""
    said = Said(turns, before, cut)
    proved: list[Proved] = []
    dropped: dict[str, int] = {}
    for number, claim in enumerate(claims):
        found = "too many" if number >= CLAIMS_MAX else _checked(claim, said, zone, cut)
        if isinstance(found, str):
            dropped[found] = dropped.get(found, 0) + 1
        else:
            proved.append(found)
    return Checked(proved=tuple(proved), dropped=dropped)


def with_needed(
    proved: Iterable[Proved], turns: Sequence[Turn], zone: tzinfo, cut: Cut, before: Sequence[Turn] = ()
) -> list[Proved]:
    """The same, each with the other turns that it has words from."""
    said = Said(turns, before, cut)
    return [
        replace(each, needed=tuple(needed(each.content, each.turn, said, each.turn.at.astimezone(zone).date(), cut)))
        for each in proved
    ]


def _checked(claim: Claimed, said: Said, zone: tzinfo, cut: Cut) -> Proved | str:
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
    plain = sought(quote)
    if len(plain.strip()) < (_QUOTE_CHARS_MIN if plain.isascii() else 2):
        return "too short or too long"
    named = said.turns.get(claim.turn)
    is_there = named is not None and plain in said.plain[named.seq]
    turn = named if is_there else said.only_turn_with(plain)  # small models copy well and count badly
    if turn is None:
        return "no such turn" if named is None else "quote not in the turn"
    own = said.words[turn.seq].text
    quote = as_written(own, quote)
    if len(quote) > QUOTE_CHARS_MAX:
        return "too short or too long"
    if not _is_speaker(claim.speaker, content, turn.role):
        return "wrong speaker"
    day = turn.at.astimezone(zone).date()
    content = made_absolute(content, day)
    if len(content) > CONTENT_CHARS_MAX:
        return "too short or too long"
    if left_relative(content):
        return "a day that cannot be told later"
    around = said.around(turn.seq)
    if unsupported_days(content, around.text, day):
        return "a day that was not said"
    if unsaid_numbers(content, around.text, day):
        return "a number that was not said"
    if unsaid_name(content, said.everything()) or unsaid_kin(content, around.text):
        return "a name that was not said"
    if unsaid_feeling(content, f"{said.asked_before(turn.seq)} {own}"):
        return "a feeling that was not said"
    if (_SMALL_TALK.match(content) and not _TOLD_OF.search(own)) or is_spoken_to(content):
        return "small talk"
    if support(content, around) < _SUPPORTED_MIN or _is_question(quote, turn) or adds(content, around):
        return "not in what was said"
    for sentence in sentences_quoted(own, quote) or [own]:
        if not states(content, Spoken(sentence, cut)):
            return "not in the sentence it quotes"
        if is_talk(content, sentence):
            return "small talk"
        if is_anothers(content, sentence, turn, said, cut):
            return "said of somebody else"
        if is_turned_round(content, sentence, cut):
            return "the opposite of what was said"
        if kind != "open_thread" and is_hardened(content, sentence, cut):
            return "a plan, a wish or the past as a fact"
        if is_another_day(content, sentence, day, cut):
            return "a day that was not said"
        if is_swapped(content, sentence, cut):
            return "who and how many are not as they were said"
    by_itself = _is_by_itself(content, own, cut) and not unsaid_name(content, said.plain[turn.seq])
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


def _is_by_itself(content: str, said: str, cut: Cut) -> bool:
    """Whether what the turn states, not what it asks, is enough for the statement. A short one may have a word of its own."""
    needed = _SUPPORTED_MIN if len(own_terms(content, cut)) <= SHORT_TERMS else _BY_ITSELF_MIN
    stated = Spoken("".join(each for each in sentences(said) if not each.rstrip().endswith(("?", "？"))), cut)
    plain = without_names(own_terms(content, cut), content, stated)  # whoever speaks is named by a label for nothing
    return support(content, stated) >= needed and sum(map(stated.says, plain)) >= needed * len(plain)


def _is_question(quote: str, turn: Turn) -> bool:
    """A question states nothing."""
    at = turn.text.find(quote)
    end = turn.text[at + len(quote) :][:1] if at >= 0 else ""
    return (quote + end).rstrip().endswith("?") and "." not in quote


def _one_line(text: str) -> str:
    return " ".join(strip_invisible(text)[0].split())
