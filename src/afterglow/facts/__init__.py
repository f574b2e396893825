"""Facts: durable statements, each with the turns that prove it.

`checks` decides whether what a model says is proved, `gate` whether it may be believed without asking the owner. `dates` and
`spans` make "tomorrow" a day and "last month" a month; `quoted` finds the sentences of a quote, `clauses` their parts;
`support`, `names`, `numbers`, `denial`, `hedges` and `roles` say what of a statement they hold, `whose` and `people` of whom it
is. `likeness` says whether two facts are one, `received` whether a fact of an export is one. All of it is pure; extraction.py
brings it together.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Literal, get_args

from afterglow.facts.expressions import lazily_compiled
from afterglow.guard import strip_invisible
from afterglow.turns import Trust

FactType = Literal["preference", "decision", "task_completed", "open_thread", "person", "event", "other"]
Confidence = Literal["high", "medium", "low"]
Status = Literal["active", "pending", "superseded", "forgotten"]
Way = Literal["extracted", "owner", "file", "import"]
FACT_TYPES: tuple[FactType, ...] = get_args(FactType)
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)
STATUSES: tuple[Status, ...] = get_args(Status)
WAYS: tuple[Way, ...] = get_args(Way)

CONTENT_CHARS_MAX = 500
QUOTE_CHARS_MAX = 1_000
EVIDENCE_MAX = 20
"""A fact that is said again and again keeps its first proof and the newest of the others."""

APPROVED = "the owner approved it"
"""Why somebody else's fact is active that was pending. It counts as the owner's word."""

_APART = lazily_compiled(r"[\W_]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A turn that a fact rests on, and the words in it that count."""

    session: str
    seq: int
    quote: str
    at: datetime
    """When it was said."""
    proves: bool = True
    """Whether it states the fact. What says the same in other words is kept too, and does not hold the fact up alone."""
    needed: bool = False
    """Whether words of the fact come from here, such as a name: when this turn is forgotten, so is the fact."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One durable statement about an owner's world. What was forgotten keeps its id and its turns, and no word of them."""

    owner: str
    id: str
    type: FactType
    content: str
    confidence: Confidence
    source_date: str
    """The day it was said, in the owner's zone: 2026-03-02."""
    extracted_at: datetime
    trust: Trust
    """Whose word it is: that of the turn that proves it."""
    status: Status
    why: str | None
    """Why it is pending, or was until it was superseded; or that the owner approved it."""
    supersedes: str | None
    """The fact that this one takes the place of: at once where it is active, when it is approved where it is pending."""
    session: str
    way: Way
    """How it came in."""
    model: str
    prompt: str
    changed_at: datetime
    evidence: tuple[Evidence, ...] = ()

    @property
    def is_owners_word(self) -> bool:
        """Whether the owner said it, or approved what another said."""
        return self.trust == "owner" or self.why == APPROVED

    @property
    def why_in_words(self) -> str:
        """`why`, as it is told beside the status: that it waited is not why it was superseded."""
        if self.status != "superseded" or not self.why:
            return self.why or ""
        return f"before that, {self.why}" if self.why == APPROVED else f"before that it waited: {self.why}"


@dataclass(frozen=True, kw_only=True, slots=True)
class FactPlace:
    """Where a fact stands in a list, what was said last first; a list goes on behind it."""

    source_date: str
    id: str


def normalised(text: str) -> str:
    """The text as it is compared: without case, accents, marks, invisible characters and the space between words."""
    folded = unicodedata.normalize("NFKD", strip_invisible(text)[0].casefold())
    bare = "".join(char for char in folded if unicodedata.category(char)[0] != "M")
    return _APART.sub(" ", bare).strip()


def digest_of(owner: str, content: str) -> str:
    """What tells two facts of an owner apart by their words, and gives the words away to nobody."""
    return blake2b(normalised(content).encode(), key=blake2b(owner.encode()).digest(), digest_size=16).hexdigest()
