"""Whether a proved statement may be believed at once, must wait for the owner, or is not one to keep at all.

Preferences, instructions and identities come from the owner's own typed words alone: said by anybody else, by a tool, a mail,
a page, or pasted by the owner from one, they are dropped. What is left of others' words is kept at once only where it can be
read, being in a language that the lists know and in plain letters, and is a plain report of the world: without an order, a
link, an address or money, and not about the owner. Everything between waits, and so does what cannot be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from afterglow.facts.checks import Proved
from afterglow.facts.expressions import lazily_compiled
from afterglow.facts.names import is_kin_said
from afterglow.facts.people import says_who
from afterglow.facts.readable import is_retold, language_of, names_in
from afterglow.facts.said import raw_words_of
from afterglow.facts.seen import as_seen, is_masked, readings
from afterglow.facts.signs import (
    ABOUT_THE_OWNER,
    ADDRESS,
    AUTHORITY,
    COMMAND,
    CURRENCY,
    ENCODED,
    LINK,
    MONEY,
    OF_ONESELF,
    ORDER,
    OTHERS,
    SECRET,
    WANTING,
    WISH,
)
from afterglow.facts.typed import is_framed, is_typed
from afterglow.facts.whose import is_of_another
from afterglow.guard import strip_invisible
from afterglow.terms import terms

_NAMED = lazily_compiled(
    r"^(?:The )?(?:[Uu]ser|[Oo]wner)(?:'s name)? (?:is|was|goes by|is called) (?:the |an? )?[^\W\d_a-z]"
)
_TIME = lazily_compiled(
    r"\d|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun|yester)day\b"
    r"|\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|[年月日時点曜週周년월일시]"
)
_ONGOING = lazily_compiled(
    r"\b(?:since|as of|from [^.]{1,30} on|now|nowadays|has been|have been|these days|seit|depuis|desde|dal|sinds|od|с)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What becomes of a statement: active, pending, or dropped; and why it is not active."""

    status: Literal["active", "pending", "dropped"]
    why: str | None = None
    is_owners: bool = False
    """Whether the owner typed it: only then is it the owner's word."""


ACTIVE = Verdict(status="active")


def gate(proved: Proved) -> Verdict:
    """Whether it is believed."""
    turn = proved.turn
    is_owners = turn.trust == "owner" and turn.role == "user" and proved.by_itself and is_typed(proved.quote, turn.text)
    return replace(_of_the_owner(proved), is_owners=True) if is_owners else _of_others(proved)


def _of_the_owner(proved: Proved) -> Verdict:
    content, quote = as_seen(proved.content), as_seen(proved.quote)
    if _NAMED.search(proved.content) and not any(found["name"] in content for found in OF_ONESELF.finditer(quote)):
        return Verdict(status="pending", why="it says who the owner is, in words that do not")
    if is_of_another(proved.content, proved.turn.text, proved.quote, terms) or _is_of_them(proved, content):
        return Verdict(status="pending", why="it is said of the owner, in words about somebody else")
    if is_framed(proved.quote, proved.content, proved.turn.text) and _is_wish_or_order(proved, content):
        return Verdict(status="pending", why="the owner speaks of these words, and may not mean them")
    if any(not _is_said(claim.group(), proved.turn.text) for claim in AUTHORITY.finditer(content)):
        return Verdict(status="pending", why="it says who somebody is, in words that the owner did not use")
    marks = _marks(proved.content)
    if proved.type == "preference" or not marks:
        return ACTIVE
    return Verdict(status="pending", why=f"it holds {marks}")


def _of_others(proved: Proved) -> Verdict:
    if proved.type == "preference":
        return Verdict(status="dropped", why="a preference is the owner's to state")
    both = f"{readings(proved.content)}\n{readings(proved.quote)}"
    if WISH.search(both):
        return Verdict(status="dropped", why="what the owner wants is the owner's to say")
    if AUTHORITY.search(both):
        return Verdict(status="dropped", why="who somebody is, and what they may do, is the owner's to say")
    if ORDER.search(both) or COMMAND.search(both):
        return Verdict(status="dropped", why="an instruction is the owner's to give")
    if ENCODED.search(both) or strip_invisible(raw_words_of(proved.turn))[1]:
        return Verdict(status="dropped", why="it is written so that a reader would not see what it says")
    if proved.turn.trust != "owner" and not proved.by_itself:
        return Verdict(status="pending", why="the turn does not say all of it, and it is not the owner's")
    if marks := _marks(f"{proved.content}\n{proved.quote}"):
        return Verdict(status="pending", why=f"it holds {marks}, and the owner did not say it")
    if ABOUT_THE_OWNER.search(both) or WANTING.search(both):
        return Verdict(status="pending", why="it is about what somebody wants, and the owner did not say it")
    if SECRET.search(both):
        return Verdict(status="pending", why="it is about a key, a code or an account, and the owner did not say it")
    if is_masked(proved.content) or is_masked(proved.quote):
        return Verdict(status="pending", why="its letters are made to look like others, and the owner did not say it")
    language = language_of(proved.content)
    if language is None or not (language_of(proved.quote) or is_retold(proved.quote, proved.content)):
        return Verdict(status="pending", why="it is in no language that can be judged, and the owner did not say it")
    if proved.type == "person" or says_who(proved.content) or _is_of_people(proved, language):
        return Verdict(status="pending", why="it says how things stand with somebody, and the owner did not say it")
    return ACTIVE


def _is_of_people(proved: Proved, language: str) -> bool:
    """Whether it says for good who somebody is: by a full name, or by two names that it joins. What happened has a time.

    In the languages of East Asia names cannot be told from other words, so there any statement needs one.
    """
    happened = _TIME.search(proved.content) and not _ONGOING.search(proved.content)
    names = names_in(proved.content, language)
    is_of_people = language == "east asian" or len(names) > 1 or any(" " in name for name in names)
    return is_of_people and not happened


def _is_of_them(proved: Proved, content: str) -> bool:
    """Whether a statement about the owner, or an order, is drawn from a sentence about somebody who is not named."""
    return bool(OTHERS.match(as_seen(proved.quote))) and _is_wish_or_order(proved, content)


def _is_wish_or_order(proved: Proved, content: str) -> bool:
    """Whether it says what somebody wants, what is to be done, or something of the owner."""
    signs = (COMMAND, ORDER, WANTING, ABOUT_THE_OWNER)
    return proved.type == "preference" or any(sign.search(content) for sign in signs)


def _is_said(claim: str, text: str) -> bool:
    """Whether a claim of authority is made in the owner's own words: all of them, but for the smallest, stand there too."""
    seen = as_seen(text)
    words = [word for word in re.findall(r"\w{4,}", claim) if word not in ("user", "owner", "they", "your", "their")]
    return all(word[:5] in seen or is_kin_said(word, text) for word in words)


def _marks(text: str) -> str:
    seen = readings(text)
    found = [name for name, sign in (("a link", LINK), ("an address", ADDRESS), ("money", MONEY)) if sign.search(seen)]
    return " and ".join(found) or ("money" if CURRENCY.search(text) else "")
