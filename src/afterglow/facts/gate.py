"""Whether a proved statement may be believed at once, must wait for the owner, or is not one to keep at all.

Preferences, instructions and identities come from the owner's own typed words alone: said by anybody else, by a tool, a mail,
a page, or pasted by the owner from one, they are dropped. What is left of others' words is kept at once only where it is a
plain report of the world: without an order, a link, an address or money, and not about the owner. Everything between waits.

The words are looked at as a reader would see them: look-alike letters are one letter, and what cannot be seen is gone.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Literal

from afterglow.facts.checks import Proved
from afterglow.facts.said import raw_words_of
from afterglow.facts.signs import (
    ABOUT_THE_OWNER,
    ADDRESS,
    AUTHORITY,
    COMMAND,
    CUT,
    ENCODED,
    KEEP,
    LIKE_LETTERS,
    LINK,
    MONEY,
    OF_ONESELF,
    OF_THE_USER,
    ORDER,
    OTHERS,
    PASTED_PARTS,
    PASTED_REST,
    PREPARED,
    WANTING,
    WISH,
)
from afterglow.guard import strip_invisible

TYPED_CHARS_MAX = 700
_EDGE_CHARS_MAX = 250
"""What people type is short, and so is what they put before and after what they paste."""
_NAMED = re.compile(
    r"^(?:The )?(?:[Uu]ser|[Oo]wner)(?:'s name)? (?:is|was|goes by|is called) (?:the |an? )?[^\W\d_a-z]"
)
_SUBJECT = re.compile(
    r"\W*(?!(?:We|That|This|There|It|My|Our|The|What|Here)\b)(?P<name>[^\W\d_a-z][^\W\d_]+) "
    r"(?:would|wants?|likes?|prefers?|asked|asks|said|says|told|is|was|has|had)\b"
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


def is_typed(quote: str, text: str) -> bool:
    """Whether these words of the owner's message were typed, rather than pasted from somewhere."""
    seen, quoted = as_seen(text), as_seen(quote)
    is_prepared = LINK.search(seen) and (KEEP.search(seen) or (PREPARED.search(seen) and not LINK.search(quoted)))
    if is_prepared or OF_THE_USER.search(quoted) or strip_invisible(text)[1]:
        return False
    return _on_one_line(quoted) in _on_one_line(as_seen(typed_part(text)))


def typed_part(text: str) -> str:
    """The message without what was pasted into it; of a long one, only short words at its beginning and end were typed."""
    typed = PASTED_REST.split(PASTED_PARTS.sub(f"{CUT}\n", text))[0]
    if len(typed) <= TYPED_CHARS_MAX:
        return typed
    paragraphs = [each for each in typed.split("\n\n") if each.strip()]
    edges = [*paragraphs[:1], *paragraphs[-1:]] if len(paragraphs) > 1 else []
    return "\n".join(each for each in edges if len(each) <= _EDGE_CHARS_MAX)


def as_seen(text: str) -> str:
    """The text as a reader takes it: no invisible characters, look-alike letters as the ones they look like."""
    folded = unicodedata.normalize("NFKC", strip_invisible(text)[0])
    return "".join(_unmasked(word) for word in re.split(r"(\W+)", folded)).casefold()


def _unmasked(word: str) -> str:
    """A word that mixes scripts, or is Greek or Cyrillic of look-alikes alone, in Latin letters."""
    if word.isascii():
        return word
    latin = word.translate(LIKE_LETTERS)
    return latin if latin.isascii() or any(char.isascii() and char.isalpha() for char in word) else word


def _of_the_owner(proved: Proved) -> Verdict:
    content, quote = as_seen(proved.content), as_seen(proved.quote)
    if _NAMED.search(proved.content) and not any(found["name"] in content for found in OF_ONESELF.finditer(quote)):
        return Verdict(status="pending", why="it says who the owner is, in words that do not")
    if _is_of_another(proved, content):
        return Verdict(status="pending", why="it is said of the owner, in words about somebody else")
    if any(not _is_said(claim.group(), proved.turn.text) for claim in AUTHORITY.finditer(content)):
        return Verdict(status="pending", why="it says who somebody is, in words that the owner did not use")
    marks = _marks(content)
    if proved.type == "preference" or not marks:
        return ACTIVE
    return Verdict(status="pending", why=f"it holds {marks}")


def _of_others(proved: Proved) -> Verdict:
    if proved.type == "preference":
        return Verdict(status="dropped", why="a preference is the owner's to state")
    content, quote = as_seen(proved.content), as_seen(proved.quote)
    both = f"{content}\n{quote}"
    if WISH.search(both):
        return Verdict(status="dropped", why="what the owner wants is the owner's to say")
    if AUTHORITY.search(both):
        return Verdict(status="dropped", why="who somebody is, and what they may do, is the owner's to say")
    if ORDER.search(both) or COMMAND.match(content) or COMMAND.match(quote):
        return Verdict(status="dropped", why="an instruction is the owner's to give")
    if ENCODED.search(both) or _is_masked(proved):
        return Verdict(status="dropped", why="it is written so that a reader would not see what it says")
    if marks := _marks(both):
        return Verdict(status="pending", why=f"it holds {marks}, and the owner did not say it")
    if ABOUT_THE_OWNER.search(both) or WANTING.search(both):
        return Verdict(status="pending", why="it is about what somebody wants, and the owner did not say it")
    return ACTIVE


def _is_of_another(proved: Proved, content: str) -> bool:
    """Whether a statement about the owner, or an order, is drawn from a sentence about somebody whom it does not name."""
    quote = as_seen(proved.quote)
    subject = _SUBJECT.match(proved.quote)
    about_another = bool(OTHERS.match(quote)) or (subject is not None and as_seen(subject["name"]) not in content)
    is_command = bool(COMMAND.match(content) or ORDER.search(content))
    is_wish = proved.type == "preference" or bool(WANTING.search(content))
    return about_another and (is_command or is_wish or bool(ABOUT_THE_OWNER.search(content)))


def _is_said(claim: str, text: str) -> bool:
    """Whether a claim of authority is made in the owner's own words: all of them, but for the smallest, stand there too."""
    seen = as_seen(text)
    words = [word for word in re.findall(r"\w{4,}", claim) if word not in ("user", "owner", "they", "your", "their")]
    return all(word[:5] in seen for word in words)


def _marks(text: str) -> str:
    found = [name for name, sign in (("a link", LINK), ("an address", ADDRESS), ("money", MONEY)) if sign.search(text)]
    return " and ".join(found)


def _is_masked(proved: Proved) -> bool:
    """Whether the turn holds characters that nobody sees, or the quote letters that look like others."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", proved.quote))
    return bool(strip_invisible(raw_words_of(proved.turn))[1]) or any(_unmasked(word) != word for word in words)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
