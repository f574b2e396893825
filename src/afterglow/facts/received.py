"""Whether a fact that an export holds is one. A file may come from anywhere, and what is wrong in it must not get in."""

from __future__ import annotations

from datetime import date, datetime

from afterglow.errors import BadInput
from afterglow.facts import (
    CONFIDENCES,
    CONTENT_CHARS_MAX,
    EVIDENCE_MAX,
    FACT_TYPES,
    QUOTE_CHARS_MAX,
    STATUSES,
    WAYS,
    Evidence,
    Fact,
    digest_of,
    normalised,
)
from afterglow.facts.expressions import lazily_compiled
from afterglow.turns import TRUSTS, check_text

_ALLOWED = {"type": FACT_TYPES, "confidence": CONFIDENCES, "trust": TRUSTS, "status": STATUSES, "way": WAYS}
_DIGEST = lazily_compiled(r"[0-9a-f]{32}")


class Wordless(BadInput):
    """A fact that says nothing. Files could bring one in once, so that an older export may hold it."""


def received(fact: Fact, digest: object) -> str:
    """The digest of the fact: of its words, or where none are left the one given. BadInput where it is no fact."""
    for name, allowed in _ALLOWED.items():
        if getattr(fact, name) not in allowed:
            raise BadInput(f"a fact has {name} {getattr(fact, name)!r}; it is one of {', '.join(allowed)}")
    for name in ("owner", "id", "session", "content", "model", "prompt"):
        check_text(getattr(fact, name), f"the {name} of a fact")
    for name in ("why", "supersedes"):
        check_text(getattr(fact, name) or "", f"what a fact says in {name}")
    _check_day(fact.source_date)
    for name in ("extracted_at", "changed_at"):
        _check_moment(getattr(fact, name), f"{name} of a fact")
    if len(fact.evidence) > EVIDENCE_MAX:
        raise BadInput(f"a fact has {len(fact.evidence)} turns for proof; {EVIDENCE_MAX} are the most")
    for each in fact.evidence:
        _check_evidence(each)
    return _digest(fact, digest)


def _digest(fact: Fact, given: object) -> str:
    if fact.status != "forgotten":
        if len(fact.content) > CONTENT_CHARS_MAX:
            raise BadInput(f"a fact has 1 to {CONTENT_CHARS_MAX} characters; this has {len(fact.content)}")
        if not normalised(fact.content):
            raise Wordless(f"a fact has 1 to {CONTENT_CHARS_MAX} characters of words; this has no word")
        return digest_of(fact.owner, fact.content)
    if fact.content or fact.why or fact.supersedes or any(each.quote for each in fact.evidence):
        raise BadInput("a fact that was forgotten says nothing; this one still has words")
    if not isinstance(given, str) or not _DIGEST.fullmatch(given):
        raise BadInput(f"the digest of a forgotten fact has 32 digits of 0 to 9 and a to f; this is {given!r}")
    return given


def _check_evidence(evidence: Evidence) -> None:
    check_text(evidence.session, "the session of a proof")
    check_text(evidence.quote, "a quote")
    if len(evidence.quote) > QUOTE_CHARS_MAX:
        raise BadInput(f"a quote has {len(evidence.quote)} characters; {QUOTE_CHARS_MAX} are the most")
    if type(evidence.seq) is not int or evidence.seq < 1:
        raise BadInput(f"a proof names turn {evidence.seq!r}; turns are counted from 1")
    if type(evidence.proves) is not bool or type(evidence.needed) is not bool:
        raise BadInput("`proves` and `needed` of a proof are true or false")
    _check_moment(evidence.at, "the moment of a proof")


def _check_day(day: object) -> None:
    try:
        if not isinstance(day, str) or date.fromisoformat(day).isoformat() != day:
            raise ValueError(day)
    except ValueError:
        raise BadInput(f"the source_date of a fact is {day!r}; write a day as 2026-03-02") from None


def _check_moment(moment: object, what: str) -> None:
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise BadInput(f"{what} is {moment!r}; write a moment with its zone, as 2026-03-02T12:00:00+00:00")
